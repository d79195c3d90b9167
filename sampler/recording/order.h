/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.h - records of a file, put in order of time.
 *
 * perf writes the buffers of all CPUs in rounds, one after the other; at the end of a round everything up to the
 * latest time of the round before can be given out, since what comes later is newer.  Records are copied, so
 * that the caller's need not last.  Records of one time keep their order.  One thread.
 */
#ifndef SAMPLER_RECORDING_ORDER_H
#define SAMPLER_RECORDING_ORDER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_BYTES_MAX ((size_t)128 << 20)

struct order;

struct order_record {
	const struct perf_event_header *header; /* whole, 8-byte aligned */
	uint64_t time_ns;
	uint64_t offset; /* the caller's, as are the next three */
	uint64_t hint;
	uint32_t attr;
	bool has_attr;
};

/* Sees each record, valid only during the call; nonzero ends the giving out. */
typedef int order_fn(const struct order_record *record, void *ctx);

/* At most bytes_max are kept: beyond, the older half is given out at once.  0 or -ENOMEM. */
int order_new(struct order **out, size_t bytes_max, order_fn *fn, void *ctx);
void order_free(struct order *order); /* what was not given out is dropped; NULL is a no-op */

/* Keep a copy for its time.  0, -ENOMEM, or what fn returned. */
int order_add(struct order *order, const struct order_record *record);

/* A round has ended.  0, -ENOMEM, or what fn returned: the record that it saw is done with, all others stay. */
int order_round(struct order *order);

/* Give out everything. */
int order_flush(struct order *order);

/* Records that came after a later one had been given out; they are given out nevertheless. */
uint64_t order_late(const struct order *order);

#endif
