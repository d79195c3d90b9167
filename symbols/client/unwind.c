/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind.c - images and their unwind tables, under one lock.
 */
#include "symbols/client/unwind.h"

#include "symbols/base/clock.h"
#include "symbols/client/again.h"
#include "symbols/client/private.h"
#include "symbols/client/unwind_tables.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct unwind_image {
	uint32_t key;
	enum symbols_state state;
	int error; /* positive errno of SYMBOLS_UNREADABLE */
	struct unwtab table; /* never changes once answered */
};

struct unwind_tables {
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t arrived; /* on the monotonic clock */
	/* Open addressing, at most half full; capacities are powers of two.  Images never move. */
	struct unwind_image **images;
	size_t n, cap;
	size_t bytes;
};

int unwind_tables_new(struct unwind_tables **out)
{
	struct unwind_tables *tables = calloc(1, sizeof(*tables));
	pthread_condattr_t monotonic;

	*out = NULL;
	if (!tables)
		return -ENOMEM;
	pthread_mutex_init(&tables->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&tables->arrived, &monotonic);
	pthread_condattr_destroy(&monotonic);
	*out = tables;
	return 0;
}

void unwind_tables_free(struct unwind_tables *tables)
{
	if (!tables)
		return;
	for (size_t i = 0; i < tables->cap; i++) {
		if (!tables->images[i])
			continue;
		unwtab_close(&tables->images[i]->table);
		free(tables->images[i]);
	}
	free(tables->images);
	pthread_cond_destroy(&tables->arrived);
	pthread_mutex_destroy(&tables->lock);
	free(tables);
}

/* Returns the slot of key, or the free slot for it. */
static struct unwind_image **find_slot(struct unwind_image **slots, size_t cap, uint32_t key)
{
	size_t i = (key * UINT32_C(2654435761)) & (cap - 1);

	while (slots[i] && slots[i]->key != key)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static struct unwind_image *find_image(const struct unwind_tables *tables, uint32_t key)
{
	return tables->cap ? *find_slot(tables->images, tables->cap, key) : NULL;
}

static int grow_slots(struct unwind_tables *tables)
{
	const size_t cap = tables->cap ? tables->cap * 2 : 64;

	if (tables->n < tables->cap / 2)
		return 0;
	struct unwind_image **slots = calloc(cap, sizeof(struct unwind_image *));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < tables->cap; i++)
		if (tables->images[i])
			*find_slot(slots, cap, tables->images[i]->key) = tables->images[i];
	free(tables->images);
	tables->images = slots;
	tables->cap = cap;
	return 0;
}

/* Adds a pending image.  Returns 0; -EEXIST if the key is known; -ENOMEM. */
static int add_image(struct unwind_tables *tables, uint32_t key)
{
	int ret = -EEXIST;

	pthread_mutex_lock(&tables->lock);
	if (!find_image(tables, key)) {
		struct unwind_image *image = calloc(1, sizeof(*image));
		ret = image ? grow_slots(tables) : -ENOMEM;
		if (ret < 0) {
			free(image);
		} else {
			image->key = key;
			image->state = SYMBOLS_PENDING;
			*find_slot(tables->images, tables->cap, key) = image;
			tables->n++;
		}
	}
	pthread_mutex_unlock(&tables->lock);
	return ret;
}

/* Stores an answer and wakes the threads that wait for it.  Runs in the loader thread. */
static void take_answer(struct loader_image *answer)
{
	struct unwind_tables *tables = answer->owner;

	pthread_mutex_lock(&tables->lock);
	struct unwind_image *image = find_image(tables, answer->key);
	image->state = answer->state;
	image->error = answer->error;
	image->table = answer->unwind;
	tables->bytes += answer->unwind.len;
	memset(&answer->unwind, 0, sizeof(answer->unwind));
	pthread_cond_broadcast(&tables->arrived);
	pthread_mutex_unlock(&tables->lock);
}

int symbols_unwind_ask(struct symbols *symbols, uint32_t key, const struct symbols_source *source)
{
	struct unwind_tables *tables = symbols_unwind_tables(symbols);
	struct loader_image *job = calloc(1, sizeof(*job));

	if (!job || source_copy(&job->source, source) < 0) {
		loader_image_free(job);
		return -ENOMEM;
	}
	const int ret = add_image(tables, key);
	if (ret < 0) {
		loader_image_free(job);
		return ret == -EEXIST ? 0 : ret;
	}
	job->key = key;
	job->want = LOADER_UNWIND;
	job->owner = tables;
	job->take = take_answer;
	loader_post_image(symbols_loader(symbols), job);
	return 0;
}

enum symbols_state symbols_unwind_state(
	struct symbols *symbols, uint32_t key, const struct unwtab **table)
{
	struct unwind_tables *tables = symbols_unwind_tables(symbols);

	pthread_mutex_lock(&tables->lock);
	const struct unwind_image *image = find_image(tables, key);
	const enum symbols_state state = image ? image->state : SYMBOLS_UNASKED;
	*table = (state == SYMBOLS_READY || state == SYMBOLS_NONE) && image->table.bytes
		? &image->table
		: NULL;
	pthread_mutex_unlock(&tables->lock);
	return state;
}

int symbols_unwind_error(struct symbols *symbols, uint32_t key)
{
	struct unwind_tables *tables = symbols_unwind_tables(symbols);

	pthread_mutex_lock(&tables->lock);
	const struct unwind_image *image = find_image(tables, key);
	const int error = image ? image->error : 0;
	pthread_mutex_unlock(&tables->lock);
	return error;
}

int symbols_unwind_wait(struct symbols *symbols, uint32_t key, unsigned int timeout_ms)
{
	struct unwind_tables *tables = symbols_unwind_tables(symbols);
	const struct timespec until = clock_after(timeout_ms);
	int ret = 0;

	pthread_mutex_lock(&tables->lock);
	const struct unwind_image *image = find_image(tables, key);
	while (image && image->state == SYMBOLS_PENDING && ret == 0)
		ret = pthread_cond_timedwait(&tables->arrived, &tables->lock, &until);
	const bool is_pending = image && image->state == SYMBOLS_PENDING;
	pthread_mutex_unlock(&tables->lock);
	return is_pending ? -ETIME : 0;
}

size_t symbols_unwind_bytes(struct symbols *symbols)
{
	struct unwind_tables *tables = symbols_unwind_tables(symbols);

	pthread_mutex_lock(&tables->lock);
	const size_t bytes = tables->bytes;
	pthread_mutex_unlock(&tables->lock);
	return bytes;
}
