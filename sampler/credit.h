/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * credit.h - how many overflows an event may take before the kernel stops it.
 *
 * PERF_EVENT_IOC_REFRESH adds overflows to an event's limit; at 0 the kernel disables the event.
 * Every overflow costs one, whether its record was delivered or lost.  What is given is bounded
 * by what the event's share of the ring can hold, so an idle consumer loses nothing: the kernel
 * just takes no more samples.  Pure arithmetic.
 */
#ifndef SAMPLER_CREDIT_H
#define SAMPLER_CREDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CREDIT_MIN 2u

struct credit {
	uint32_t target; /* outstanding when all was given back */
	uint32_t outstanding; /* given and not yet seen consumed */
};

/* The target for one of n_events that share a ring of ring_bytes and write records of about
 * record_bytes; at least CREDIT_MIN.  An eighth of the ring stays free for side-band records. */
uint32_t credit_target(size_t ring_bytes, size_t n_events, size_t record_bytes);

/* n overflows were seen.  True when that was all that had been given: the event has stopped or is
 * about to.  More than was given (the event ran unlimited for a while) counts as all. */
bool credit_consume(struct credit *credit, uint64_t n);

/* How much to give now, which then counts as given; 0: nothing, and REFRESH must not be called,
 * for a refresh by 0 of a spent event would make it unlimited. */
uint32_t credit_grant(struct credit *credit);

/* The event stands still though credit is outstanding: a refresh met the disabling half way, or
 * overflows were lost without trace.  How much to give to start it again, never 0. */
uint32_t credit_restart(struct credit *credit, bool losses_are_known);

/* A moving average of record sizes, rising at once and falling slowly, since the target must
 * hold for the largest records of the near future. */
uint32_t credit_record_bytes(uint32_t average, uint32_t seen);

#endif
