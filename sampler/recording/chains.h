/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chains.h - samples get the user parts of their call chains that follow later in a recording.
 *
 * Linux 6.19 with attr.defer_callchain writes them in CALLCHAIN_DEFERRED records, when the thread
 * returns to user space.  The sample is passed on with one ordinary chain.  Owned and run by the
 * reading thread.
 */
#ifndef SAMPLER_RECORDING_CHAINS_H
#define SAMPLER_RECORDING_CHAINS_H

#include "sampler/recording/order.h"
#include "sampler/recording/reader.h"

/* A sample waits for its deferred record until one of these is reached, then it passes as it is. */
#define CHAINS_WAIT_NS 5000000000ull /* by the times of records */
#define CHAINS_WAITING_MAX 8192u /* samples */
#define CHAINS_BYTES_MAX \
	((size_t)32 << 20) /* of samples that wait and of all records behind them */

struct chains;

/* fn sees the records; see order_fn.  0 or -ENOMEM. */
int chains_new(struct chains **out, order_fn *fn, void *ctx);
void chains_free(struct chains *chains); /* records that still wait are dropped; NULL is a no-op */

/* Takes the next record in order of time; attr is its attribute, or NULL.  The records behind a
 * sample that waits wait too, so that their order stays.  Deferred records end here, unless they
 * are malformed.  Returns 0, -ENOMEM, or what fn returned. */
int chains_put(
	struct chains *chains, const struct order_record *record, const struct reader_attr *attr);

/* Passes on everything that waits: no more records come. */
int chains_flush(struct chains *chains);

#endif
