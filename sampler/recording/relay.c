/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * relay.c - passes packs of records between two threads; see relay.h.
 *
 * A pack belongs to the giver while it is filled, then to the queue, the taker and the spare list.
 * A mutex is held only while a pack changes hands.  A partly filled pack at a pause becomes ready.
 * The taker gets it after the queue, unless the giver takes it back first to fill it.
 */
#include "sampler/recording/relay.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Enough that neither thread waits while the other sorts a round or seals a slice. */
#define PACKS 6u

struct relay {
	pthread_mutex_t lock; /* guards all fields but the giver's own */
	pthread_cond_t given, taken;
	struct relay_pack *first, **last; /* full packs, in order */
	struct relay_pack *taking; /* the pack that the taker uses */
	struct relay_pack *spare;
	struct relay_pack *ready; /* partly filled at a pause; filling is NULL then */
	bool ended;
	int stopped;

	/* Owned by the giver. */
	struct relay_pack *filling;
	unsigned int n_packs; /* number of packs allocated */
};

int relay_new(struct relay **out)
{
	struct relay *relay = calloc(1, sizeof(*relay));

	*out = relay;
	if (!relay)
		return -ENOMEM;
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->given, NULL);
	pthread_cond_init(&relay->taken, NULL);
	relay->last = &relay->first;
	return 0;
}

static void free_packs(struct relay_pack *pack)
{
	struct relay_pack *next;

	for (; pack; pack = next) {
		next = pack->next;
		free(pack);
	}
}

void relay_free(struct relay *relay)
{
	if (!relay)
		return;
	free_packs(relay->first);
	free_packs(relay->spare);
	free(relay->taking);
	free(relay->ready);
	free(relay->filling);
	pthread_cond_destroy(&relay->given);
	pthread_cond_destroy(&relay->taken);
	pthread_mutex_destroy(&relay->lock);
	free(relay);
}

/* --- the giver --- */

/* Takes back the ready pack.  This and hand_over() need the lock. */
static void take_back(struct relay *relay)
{
	if (!relay->ready)
		return;
	relay->filling = relay->ready;
	relay->ready = NULL;
}

static void hand_over(struct relay *relay)
{
	struct relay_pack *pack = relay->filling;

	if (!pack || !pack->n)
		return;
	pack->next = NULL;
	*relay->last = pack;
	relay->last = &pack->next;
	relay->filling = NULL;
	pthread_cond_signal(&relay->given);
}

static bool has_room(const struct relay_pack *pack, size_t words)
{
	return pack->n < RELAY_PACK_RECORDS &&
		pack->used + words <= sizeof(pack->bytes) / sizeof(pack->bytes[0]);
}

/* Gets a pack with room for that many words.  Returns 0, -ENOMEM, or the error of relay_stop(). */
static int next_pack(struct relay *relay, size_t words)
{
	struct relay_pack *pack = NULL;
	bool make = false;
	int ret;

	pthread_mutex_lock(&relay->lock);
	take_back(relay);
	ret = relay->stopped;
	if (!ret && !(relay->filling && has_room(relay->filling, words))) {
		hand_over(relay);
		make = !relay->spare && relay->n_packs < PACKS;
		while (!make && !relay->spare && !relay->stopped)
			pthread_cond_wait(&relay->taken, &relay->lock);
		ret = relay->stopped;
		if (!make && !ret) {
			pack = relay->spare;
			relay->spare = pack->next;
		}
	}
	pthread_mutex_unlock(&relay->lock);
	if (ret || (!make && !pack))
		return ret;
	if (make) {
		pack = malloc(sizeof(*pack));
		if (!pack)
			return -ENOMEM;
		relay->n_packs++;
	}
	pack->n = pack->used = 0;
	relay->filling = pack;
	return 0;
}

int relay_put(struct relay *relay, const struct order_record *record)
{
	size_t words = (record->header->size + 7u) / 8;
	struct relay_pack *pack;
	struct order_record *copy;

	if (!relay->filling || !has_room(relay->filling, words)) {
		int ret = next_pack(relay, words);

		if (ret)
			return ret;
	}
	pack = relay->filling;
	copy = &pack->records[pack->n++];
	*copy = *record;
	memcpy(&pack->bytes[pack->used], record->header, record->header->size);
	copy->header = (const struct perf_event_header *)(const void *)&pack->bytes[pack->used];
	pack->used += words;
	return 0;
}

void relay_pause(struct relay *relay)
{
	pthread_mutex_lock(&relay->lock);
	if (relay->filling && relay->filling->n) {
		relay->ready = relay->filling;
		relay->filling = NULL;
		pthread_cond_signal(&relay->given);
	}
	pthread_mutex_unlock(&relay->lock);
}

int relay_settle(struct relay *relay)
{
	int stopped;

	pthread_mutex_lock(&relay->lock);
	take_back(relay);
	hand_over(relay);
	while ((relay->first || relay->taking) && !relay->stopped)
		pthread_cond_wait(&relay->taken, &relay->lock);
	stopped = relay->stopped;
	pthread_mutex_unlock(&relay->lock);
	return stopped;
}

void relay_end(struct relay *relay)
{
	pthread_mutex_lock(&relay->lock);
	take_back(relay);
	hand_over(relay);
	relay->ended = true;
	pthread_cond_signal(&relay->given);
	pthread_mutex_unlock(&relay->lock);
}

/* --- the taker --- */

struct relay_pack *relay_take(struct relay *relay)
{
	struct relay_pack *pack;

	pthread_mutex_lock(&relay->lock);
	if (relay->taking) {
		relay->taking->next = relay->spare;
		relay->spare = relay->taking;
		relay->taking = NULL;
		pthread_cond_signal(&relay->taken);
	}
	while (!relay->first && !relay->ready && !relay->ended)
		pthread_cond_wait(&relay->given, &relay->lock);
	pack = relay->first;
	if (pack) {
		relay->first = pack->next;
		if (!relay->first)
			relay->last = &relay->first;
	} else {
		pack = relay->ready;
		relay->ready = NULL;
	}
	relay->taking = pack;
	pthread_mutex_unlock(&relay->lock);
	return pack;
}

void relay_stop(struct relay *relay, int error)
{
	pthread_mutex_lock(&relay->lock);
	relay->stopped = error;
	pthread_cond_signal(&relay->taken);
	pthread_mutex_unlock(&relay->lock);
}
