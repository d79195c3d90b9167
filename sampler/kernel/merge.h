/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge.h - merges the records of several rings in time order, within one drain round.
 *
 * A mapping must be known before the samples that fall into it, and a fork before the child's first
 * sample, even if their rings differ.  Owned by the thread that drains.
 */
#ifndef SAMPLER_KERNEL_MERGE_H
#define SAMPLER_KERNEL_MERGE_H

#include "sampler/kernel/record.h"
#include "sampler/kernel/ring.h"

#include <stddef.h>
#include <stdint.h>

struct merge_source {
	struct ring *ring; /* refreshed; borrowed */
	void *owner; /* passed to the callback */
	/* Internal to merge_drain(). */
	const struct perf_event_header *head;
	uint64_t time_ns;
};

/* Receives one whole record, valid only during the call.  A nonzero return ends the drain. */
typedef int merge_record_fn(const struct perf_event_header *record, void *owner, void *ctx);

/* Passes every record up to limit_ns to fn and consumes it, oldest first.  Records of one ring keep
 * the ring's order; a record without a time goes first.  Reorders the array.  Returns 0, or the
 * nonzero value that fn returned; that record is consumed.  The caller releases the rings. */
int merge_drain(struct merge_source *sources, size_t n, const struct record_format *format,
	uint64_t limit_ns, merge_record_fn *fn, void *ctx);

#endif
