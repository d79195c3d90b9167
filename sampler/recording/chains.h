/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chains.h - joins samples with the user parts of their callchains that follow later in a
 * recording.
 *
 * With attr.defer_callchain, Linux 6.19 writes them in CALLCHAIN_DEFERRED records, when the thread
 * returns to user space.  The sample is passed on with one ordinary chain.  Owned and run by the
 * reading thread.
 */
#ifndef SAMPLER_RECORDING_CHAINS_H
#define SAMPLER_RECORDING_CHAINS_H

#include "sampler/perfdata/order.h"
#include "sampler/perfdata/reader.h"

/* Limits of waiting for a deferred record.  At the first one reached, the sample passes as it
 * is. */
#define CHAINS_WAIT_NS 5000000000ull /* ns, by the times of records */
#define CHAINS_WAITING_MAX 8192u /* samples */
#define CHAINS_BYTES_MAX \
	((size_t)32 << 20) /* bytes of waiting samples and all records after them */

struct chains;

/* fn receives the records; see order_fn.  Returns 0 or -ENOMEM. */
int chains_new(struct chains **out, order_fn *fn, void *ctx);
void chains_free(struct chains *chains); /* drops records that still wait; NULL is a no-op */

/* Takes the next record in time order; attr is its attribute, or NULL.  Records after a waiting
 * sample wait too, to keep their order.  Deferred records end here, unless they are malformed.
 * Returns 0, -ENOMEM, or the value that fn returned. */
int chains_put(
	struct chains *chains, const struct order_record *record, const struct reader_attr *attr);

/* Passes on all waiting records, at the end of the input. */
int chains_flush(struct chains *chains);

#endif
