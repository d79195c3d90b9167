/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * moments.c - samples with their times, if known: see profile.h.
 *
 * Slices list all samples and keep the numbers of stacks valid; times.h adds the times.  An event's
 * samples in a slice come from cells unless all of them have times.  Late samples beyond the limit
 * have none, nor do samples that lost their stacks.  UI thread.
 */
#include "tui/export/profile.h"

#include "sampler/control/config.h"
#include "tui/base/grow.h"

#include <errno.h>
#include <stdlib.h>

struct tally {
	uint64_t weight, count;
};

/* Finds a sample's cell.  Cells are sorted by stack. */
static bool find_cell(const struct slice *slice, const struct times_sample *sample, uint32_t *cell)
{
	uint32_t low = 0, high = slice->cells;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (slice->stack[middle] < sample->stack)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < slice->cells && slice->stack[low] == sample->stack; low++)
		if (slice->task[low] == sample->task && slice->cpu[low] == sample->cpu &&
			slice->event[low] == sample->event) {
			*cell = low;
			return true;
		}
	return false;
}

static int add_moment(struct profile_moments *list, const struct profile_moment *moment)
{
	int ret = grow_room((void **)&list->at, list->n, &list->room, sizeof(*list->at));

	if (!ret)
		list->at[list->n++] = *moment;
	return ret;
}

/* Takes the next sample counted before end_ns.  A late sample was counted in the slice open at that
 * time. */
static bool take_sample(struct profile_moments *list, uint64_t end_ns, struct times_sample *sample)
{
	if (!list->has_ahead)
		list->has_ahead = times_next(&list->cursor, &list->ahead);
	if (!list->has_ahead || list->ahead.time_ns >= end_ns)
		return false;
	*sample = list->ahead;
	list->has_ahead = false;
	return true;
}

static int add_timed(const struct profile *profile, uint32_t s, struct profile_moments *list,
	struct tally *tallies)
{
	const struct slice *slice = profile->snapshot->slices[s];
	struct times_sample sample;
	uint32_t cell, event;
	int ret = 0;

	while (!ret && take_sample(list, slice->end_ns, &sample)) {
		if (profile->recording)
			sample.stack = recording_stack_at(
				profile->recording, sample.stack, sample.time_ns);
		if (!find_cell(slice, &sample, &cell) ||
			!profile_pass(profile, slice, cell, &event))
			continue;
		tallies[event].count++;
		tallies[event].weight += sample.weight;
		ret = add_moment(list,
			&(const struct profile_moment){.stack = sample.stack,
				.task = sample.task,
				.event = event,
				.slice = s,
				.cpu = sample.cpu,
				.time_ns = sample.time_ns,
				.weight = sample.weight,
				.count = 1});
	}
	return ret;
}

/* For events without all times, replaces the timed samples by the slice's cells. */
static int add_untimed(const struct profile *profile, uint32_t s, struct profile_moments *list,
	uint32_t first, const struct tally *tallies)
{
	const struct slice *slice = profile->snapshot->slices[s];
	struct tally wanted[ENGINE_EVENTS_TOLD] = {{0}};
	bool timed[ENGINE_EVENTS_TOLD];
	uint32_t kept = first, event;
	int ret = 0;

	for (uint32_t i = 0; i < slice->cells; i++)
		if (profile_pass(profile, slice, i, &event)) {
			wanted[event].count += slice->count[i];
			wanted[event].weight += slice->weight[i];
		}
	for (size_t i = 0; i < profile->n_events; i++)
		timed[i] = tallies[i].count == wanted[i].count &&
			tallies[i].weight == wanted[i].weight;
	for (uint32_t i = first; i < list->n; i++)
		if (timed[list->at[i].event])
			list->at[kept++] = list->at[i];
	list->n = kept;
	for (uint32_t i = 0; i < slice->cells && !ret; i++) {
		if (!profile_pass(profile, slice, i, &event) || timed[event])
			continue;
		list->untimed += slice->count[i];
		ret = add_moment(list,
			&(const struct profile_moment){.stack = slice->stack[i],
				.task = slice->task[i],
				.event = event,
				.slice = s,
				.cpu = slice->cpu[i],
				.weight = slice->weight[i],
				.count = slice->count[i]});
	}
	return ret;
}

int profile_slice_moments(const struct profile *profile, uint32_t s, struct profile_moments *list)
{
	struct tally tallies[ENGINE_EVENTS_TOLD] = {{0}};
	const struct slice *slice = profile->snapshot->slices[s];
	struct times_sample before;
	uint32_t first = list->n;
	int ret;

	if (!s) {
		list->cursor.times = profile->times;
		while (take_sample(list, slice->start_ns, &before))
			continue;
	}
	ret = add_timed(profile, s, list, tallies);
	return ret ? ret : add_untimed(profile, s, list, first, tallies);
}

void profile_moments_fini(struct profile_moments *list)
{
	free(list->at);
	*list = (struct profile_moments){0};
}

static int by_task(const void *a, const void *b)
{
	const struct profile_moment *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

int profile_moments(const struct profile *profile, struct profile_moments *list)
{
	int ret = 0;

	*list = (struct profile_moments){0};
	for (size_t s = 0; s < profile->snapshot->n && !ret; s++)
		ret = profile_interrupted(profile)
			? -EINTR
			: profile_slice_moments(profile, (uint32_t)s, list);
	if (ret)
		profile_moments_fini(list);
	else if (list->n)
		qsort(list->at, list->n, sizeof(*list->at), by_task);
	if (!ret && profile->untimed)
		*profile->untimed = list->untimed;
	return ret;
}
