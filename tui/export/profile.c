/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * profile.c - see profile.h.
 */
#include "tui/export/profile.h"

#include "sampler/base/idtable.h"
#include "tui/base/grow.h"
#include "tui/query/sieve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

int profile_event(const struct profile *profile, uint8_t id)
{
	for (size_t i = 0; i < profile->n_events; i++)
		if (profile->events[i].id == id)
			return (int)i;
	return -1;
}

bool profile_is_idle(const struct profile *profile, uint32_t label, uint32_t stack)
{
	const struct symref *leaf = NULL;

	if (profile->idle_by_name)
		leaf = names_get(profile->names, profile_symref(profile, stack));
	return sieve_is_idle(profile->tasks, label, leaf, profile->idle_by_name);
}

bool profile_pass(
	const struct profile *profile, const struct slice *slice, uint32_t i, uint32_t *event)
{
	int number = profile_event(profile, slice->event[i]);

	if (number < 0)
		return false;
	if (profile->hide_idle && profile_is_idle(profile, slice->task[i], slice->stack[i]))
		return false;
	*event = (uint32_t)number;
	return !profile->filter || filter_pass(profile->filter, slice, i);
}

bool profile_interrupted(const struct profile *profile)
{
	return profile->interrupted && profile->interrupted(profile->ctx);
}

uint32_t profile_symref(const struct profile *profile, uint32_t node)
{
	if (node == STACK_ROOT)
		return 0;
	return names_symref(profile->names, stacks_node(profile->stacks, node)->frame);
}

size_t profile_frames(
	const struct profile *profile, uint32_t node, uint32_t out[PROFILE_FRAMES_MAX])
{
	size_t n = 0;

	if (profile->inlines && node != STACK_ROOT)
		n = names_inlined(profile->names, stacks_node(profile->stacks, node)->frame, out,
			NAMES_INLINED_MAX);
	out[n] = profile_symref(profile, node);
	return n + 1;
}

const char *profile_mark(
	const struct profile *profile, uint32_t symref, char out[PROFILE_MARK_BYTES])
{
	out[0] = '\0';
	if (symref < profile->namesakes.n && profile->namesakes.has[symref]) {
		const struct symref *at = names_get(profile->names, symref);

		snprintf(out, PROFILE_MARK_BYTES, " [0x%" PRIx64 "]",
			names_address(profile->names, at->image_id, at->start));
	}
	return out;
}

/* --- sums --- */

struct sums {
	struct profile_cell *cells;
	uint32_t n, room;
	struct idtable index; /* number + 1 of each cell */
};

static int add(struct sums *sums, const struct slice *slice, uint32_t i, uint32_t event)
{
	uint32_t stack = slice->stack[i], task = slice->task[i], id;
	uint32_t hash = idtable_mix((uint64_t)stack << 32 | task, event);
	struct profile_cell *cell;

	IDTABLE_FOR_EACH(&sums->index, hash, id)
	{
		cell = &sums->cells[id - 1];
		if (cell->stack == stack && cell->task == task && cell->event == event)
			break;
	}
	if (!id) {
		int ret = grow_room((void **)&sums->cells, sums->n, &sums->room, sizeof(*cell));

		if (!ret)
			ret = idtable_put(&sums->index, hash, sums->n + 1);
		if (ret)
			return ret;
		cell = &sums->cells[sums->n++];
		*cell = (struct profile_cell){.stack = stack, .task = task, .event = event};
	}
	cell->weight += slice->weight[i];
	cell->count += slice->count[i];
	return 0;
}

int profile_sum(const struct profile *profile, struct profile_cell **cells, size_t *n)
{
	struct sums sums = {0};
	uint32_t event;
	int ret = 0;

	for (size_t s = 0; s < profile->snapshot->n && !ret; s++) {
		const struct slice *slice = profile->snapshot->slices[s];

		if (profile_interrupted(profile))
			ret = -EINTR;
		for (uint32_t i = 0; i < slice->cells && !ret; i++)
			if (profile_pass(profile, slice, i, &event))
				ret = add(&sums, slice, i, event);
	}
	idtable_fini(&sums.index);
	if (ret) {
		free(sums.cells);
		sums.cells = NULL;
		sums.n = 0;
	}
	*cells = sums.cells;
	*n = sums.n;
	return ret;
}

int64_t profile_unix_start(bool recorded, uint64_t start_ns)
{
	struct timespec real, mono;

	if (recorded || clock_gettime(CLOCK_REALTIME, &real) ||
		clock_gettime(CLOCK_MONOTONIC, &mono))
		return 0;
	return ((int64_t)real.tv_sec - (int64_t)mono.tv_sec) * 1000000000 + real.tv_nsec -
		mono.tv_nsec + (int64_t)start_ns;
}
