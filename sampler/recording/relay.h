/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * relay.h - hands records from the thread that reads a file to the one that delivers them, many at a time.
 *
 * Two threads: the giver copies records into a pack, the taker gets packs that are full, in order.  The packs are
 * few, so that whoever is faster waits for the other; they are all the memory there is.
 */
#ifndef SAMPLER_RECORDING_RELAY_H
#define SAMPLER_RECORDING_RELAY_H

#include "sampler/recording/order.h"

#define RELAY_PACK_RECORDS 1024u
#define RELAY_PACK_BYTES ((size_t)192 << 10)

struct relay;

struct relay_pack {
	struct relay_pack *next;
	struct order_record records[RELAY_PACK_RECORDS]; /* their headers lie in bytes */
	size_t n;
	size_t used;
	uint64_t bytes[RELAY_PACK_BYTES / 8];
};

int relay_new(struct relay **out); /* 0 or -ENOMEM */
void relay_free(struct relay *relay); /* what was not taken is dropped; NULL is a no-op */

/* --- the giver --- */

/* Give a copy of a record.  Waits while all packs are full.  0, -ENOMEM, or the error of relay_stop(). */
int relay_put(struct relay *relay, const struct order_record *record);
/* More may come late: a taker who has nothing else to do gets what there is. */
void relay_pause(struct relay *relay);
/* Waits until the taker is done with all that was given, and waits in relay_take().  0 or the error of relay_stop(). */
int relay_settle(struct relay *relay);
void relay_end(struct relay *relay); /* that was all */

/* --- the taker --- */

/* The next pack, which stays until the next call; NULL after the last one.  Waits. */
struct relay_pack *relay_take(struct relay *relay);
/* Nothing is taken any more: the giver gets this error. */
void relay_stop(struct relay *relay, int error);

#endif
