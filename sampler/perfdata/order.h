/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.h - sorts the records of a file by time.
 *
 * perf writes the buffers of all CPUs in rounds, one after the other.  At the end of a round,
 * records up to the latest time of the previous round can be passed on: later ones are newer.
 * Records are copied, so the caller's bytes need not last.  Records of equal time keep their order.
 * One thread.
 */
#ifndef SAMPLER_PERFDATA_ORDER_H
#define SAMPLER_PERFDATA_ORDER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_BYTES_MAX ((size_t)128 << 20)

struct order;

struct order_record {
	const struct perf_event_header *header; /* whole, 8-byte aligned */
	uint64_t time_ns;
	uint64_t offset; /* for the caller, like the next three */
	uint64_t hint;
	uint32_t attr;
	bool has_attr;
};

/* Receives each record, valid only during the call.  A nonzero return stops passing on. */
typedef int order_fn(const struct order_record *record, void *ctx);

/* Makes a queue of at most bytes_max.  Beyond that, the older half is passed on at once.  Returns 0
 * or -ENOMEM. */
int order_new(struct order **out, size_t bytes_max, order_fn *fn, void *ctx);
void order_free(struct order *order); /* drops queued records; NULL is a no-op */

/* Queues a copy of the record.  Returns 0, -ENOMEM, or the value that fn returned. */
int order_add(struct order *order, const struct order_record *record);

/* Ends a round, and passes on records.  Returns 0, -ENOMEM, or the value that fn returned.  The
 * record that fn returned it for is done; all others stay queued. */
int order_round(struct order *order);

/* Passes on all records.  Returns 0, -ENOMEM, or the value that fn returned. */
int order_flush(struct order *order);

/* Returns the number of records that came after a later one had been passed on.  They are passed on
 * too. */
uint64_t order_late(const struct order *order);

#endif
