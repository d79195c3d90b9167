/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * times.c - see times.h.
 *
 * A block holds numbers of seven bits per byte.  Most fields are stored as the difference from the
 * sample before.
 */
#include "tui/session/times.h"

#include "tui/base/grow.h"

#include <errno.h>
#include <stdlib.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define NUMBER_MAX 10u /* bytes of one number */
#define FIELDS 6u

struct times {
	uint8_t **blocks;
	size_t n, room;
	size_t used; /* bytes used in the last block */
	size_t bytes_max;
	struct times_sample before;
	bool full;
};

int times_new(struct times **out, size_t bytes_max)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->bytes_max = bytes_max;
	return 0;
}

void times_free(struct times *times)
{
	if (!times)
		return;
	for (size_t i = 0; i < times->n; i++)
		free(times->blocks[i]);
	free(times->blocks);
	free(times);
}

/* Adds a block.  Zeros mark its end, since no sample begins with the byte 0. */
static bool add_block(struct times *times)
{
	if ((times->n + 1) * BLOCK_BYTES > times->bytes_max)
		return false;
	if (grow_items(&times->blocks, &times->room, times->n + 1, sizeof(*times->blocks)))
		return false;
	times->blocks[times->n] = calloc(1, BLOCK_BYTES);
	if (!times->blocks[times->n])
		return false;
	times->n++;
	times->used = 0;
	return true;
}

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
	for (; number > 127; number >>= 7)
		*at++ = (uint8_t)(number | 128);
	*at++ = (uint8_t)number;
	return at;
}

/* Maps small differences of either sign to small numbers. */
static uint64_t distance_between(uint64_t from, uint64_t to)
{
	uint64_t up = to - from;

	return up >> 63 ? ~(up << 1) : up << 1;
}

static uint64_t apply_distance(uint64_t from, uint64_t distance)
{
	return from + (distance & 1 ? ~(distance >> 1) : distance >> 1);
}

void times_add(struct times *times, const struct times_sample *sample)
{
	const struct times_sample *before = &times->before;
	uint8_t *at;

	if (times->full)
		return;
	if ((!times->n || times->used + FIELDS * NUMBER_MAX >= BLOCK_BYTES) && !add_block(times)) {
		times->full = true;
		return;
	}
	at = times->blocks[times->n - 1] + times->used;
	at = put_number(at, sample->event + 1u);
	at = put_number(at, distance_between(before->time_ns, sample->time_ns));
	at = put_number(at, distance_between(before->weight, sample->weight));
	at = put_number(at, distance_between(before->stack, sample->stack));
	at = put_number(at, distance_between(before->task, sample->task));
	at = put_number(at, sample->cpu);
	times->used = (size_t)(at - times->blocks[times->n - 1]);
	times->before = *sample;
}

int times_tap(const struct recording_sample *sample, void *ctx)
{
	times_add(ctx,
		&(const struct times_sample){.time_ns = sample->record->id.time_ns,
			.weight = sample->record->sample.period,
			.stack = sample->stack,
			.task = sample->label,
			.cpu = (uint16_t)sample->record->id.cpu,
			.event = sample->event});
	return 0;
}

static uint64_t get_number(const uint8_t **at)
{
	uint64_t number = 0;
	unsigned int shift = 0;

	for (; **at > 127; shift += 7)
		number |= (uint64_t)(*(*at)++ & 127) << shift;
	return number | (uint64_t) * (*at)++ << shift;
}

bool times_next(struct times_cursor *cursor, struct times_sample *out)
{
	const struct times *times = cursor->times;
	struct times_sample *before = &cursor->before;
	const uint8_t *at;
	uint64_t event;

	if (!times)
		return false;
	if (cursor->block < times->n &&
		(cursor->at == BLOCK_BYTES || !times->blocks[cursor->block][cursor->at])) {
		cursor->block++;
		cursor->at = 0;
	}
	if (cursor->block >= times->n || !times->blocks[cursor->block][cursor->at])
		return false;
	at = times->blocks[cursor->block] + cursor->at;
	event = get_number(&at);
	before->event = (uint8_t)(event - 1);
	before->time_ns = apply_distance(before->time_ns, get_number(&at));
	before->weight = apply_distance(before->weight, get_number(&at));
	before->stack = (uint32_t)apply_distance(before->stack, get_number(&at));
	before->task = (uint32_t)apply_distance(before->task, get_number(&at));
	before->cpu = (uint16_t)get_number(&at);
	cursor->at = (size_t)(at - times->blocks[cursor->block]);
	*out = *before;
	return true;
}
