/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * credit.h - limits how many overflows an event may take before the kernel stops it.
 *
 * PERF_EVENT_IOC_REFRESH adds overflows to an event's limit; at 0 the kernel disables the event.
 * Every overflow costs one, whether its record was delivered or lost.  The granted credit is
 * bounded by the event's share of the ring.  An idle consumer therefore loses nothing: the kernel
 * just takes no more samples.  Pure arithmetic.
 */
#ifndef SAMPLER_KERNEL_CREDIT_H
#define SAMPLER_KERNEL_CREDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CREDIT_MIN 2u

struct credit {
	uint32_t target; /* outstanding credit after a full grant */
	uint32_t outstanding; /* granted and not yet seen consumed */
};

/* Returns the target for one of n_events that share a ring of ring_bytes and write records of about
 * record_bytes; at least CREDIT_MIN.  An eighth of the ring stays free for side-band records. */
uint32_t credit_target(size_t ring_bytes, size_t n_events, size_t record_bytes);

/* Consumes n seen overflows.  Returns true if that was all outstanding credit: the event has
 * stopped or is about to.  A larger n (the event ran unlimited for a while) counts as all. */
bool credit_consume(struct credit *credit, uint64_t n);

/* Returns the credit to grant now, and counts it as granted.  If it is 0, REFRESH must not be
 * called: a refresh by 0 would make a spent event unlimited. */
uint32_t credit_grant(struct credit *credit);

/* Returns the credit that restarts an event which stopped with credit outstanding; never 0.
 * Causes: a refresh raced with the disabling, or overflows were lost without a record. */
uint32_t credit_restart(struct credit *credit, bool losses_are_known);

/* Returns a moving average of record sizes.  It rises fast and falls slowly, since the target must
 * hold for the largest records of the near future. */
uint32_t credit_record_bytes(uint32_t average, uint32_t seen);

#endif
