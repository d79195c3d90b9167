/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * relay.h - passes records from the thread that reads a file to the thread that delivers them, in
 * packs.
 *
 * The giver copies records into a pack; the taker gets full packs, in order.  The number of packs
 * is small and limits the memory, so the faster thread waits for the slower one.
 */
#ifndef SAMPLER_RECORDING_RELAY_H
#define SAMPLER_RECORDING_RELAY_H

#include "sampler/perfdata/order.h"

#define RELAY_PACK_RECORDS 1024u
#define RELAY_PACK_BYTES ((size_t)192 << 10)

struct relay;

struct relay_pack {
	struct relay_pack *next;
	struct order_record records[RELAY_PACK_RECORDS]; /* their headers are in bytes */
	size_t n;
	size_t used;
	uint64_t bytes[RELAY_PACK_BYTES / 8];
};

int relay_new(struct relay **out); /* 0 or -ENOMEM */
void relay_free(struct relay *relay); /* drops records not taken yet; NULL is a no-op */

/* --- the giver --- */

/* Gives a copy of a record.  Waits while all packs are full.  Returns 0, -ENOMEM, or the error of
 * relay_stop(). */
int relay_put(struct relay *relay, const struct order_record *record);
/* Notes that the next record may come late.  An idle taker gets the records given before. */
void relay_pause(struct relay *relay);
/* Waits until the taker is done with all given records and waits in relay_take().  Returns 0 or the
 * error of relay_stop(). */
int relay_settle(struct relay *relay);
void relay_end(struct relay *relay); /* no more records come */

/* --- the taker --- */

/* Waits for the next pack, which stays valid until the next call.  Returns NULL after the last
 * one. */
struct relay_pack *relay_take(struct relay *relay);
/* Ends the taking.  The giver gets this error. */
void relay_stop(struct relay *relay, int error);

#endif
