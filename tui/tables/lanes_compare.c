/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lanes_compare.c - compares lanes with those of a baseline.
 */
#include "tui/tables/counterparts.h"
#include "tui/tables/lanes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A lane of the profile or of the baseline. */
struct entry {
	struct lane *lane;
	bool here;
};

/* Threads, processes and CPUs are compared by their numbers; commands, which have none, by name. */
static int by_what(const struct lane *a, const struct lane *b)
{
	int order = (a->pid > b->pid) - (a->pid < b->pid);

	if (!order)
		order = (a->tid > b->tid) - (a->tid < b->tid);
	if (!order)
		order = (a->cpu > b->cpu) - (a->cpu < b->cpu);
	return order || a->pid || a->tid ? order : strcmp(a->name, b->name);
}

/* Lanes of the profile come before equal ones of the baseline. */
static int by_what_and_side(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = by_what(x->lane, y->lane);

	return order ? order : (int)y->here - (int)x->here;
}

/* Compares with another time of the same profile. */
static int compare_times(struct lanes *lanes, const struct lanes *base)
{
	const uint32_t n = lanes->n + base->n;
	struct entry *entries = calloc((size_t)n + 1, sizeof(*entries));
	struct lane *last = NULL;

	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < lanes->n; i++)
		entries[i] = (struct entry){&lanes->lane[i], true};
	for (uint32_t i = 0; i < base->n; i++)
		entries[lanes->n + i] = (struct entry){&base->lane[i], false};
	qsort(entries, n, sizeof(*entries), by_what_and_side);
	for (uint32_t i = 0; i < n; i++) {
		if (entries[i].here)
			last = entries[i].lane;
		else if (last && !by_what(last, entries[i].lane))
			last->base += entries[i].lane->weight;
	}
	free(entries);
	return 0;
}

static struct counterpart counterpart_of(const struct lane *lane, enum query_group group)
{
	const bool thread = group == GROUP_THREAD;

	return (struct counterpart){
		thread ? lane->tid : lane->pid, lane->name, thread && lane->tid == lane->pid};
}

/* Compares with processes or threads of another profile. */
static int compare_elsewhere(struct lanes *lanes, const struct lanes *base, enum query_group group)
{
	const size_t n = (size_t)lanes->n + base->n;
	struct counterpart *all = calloc(n + 1, sizeof(*all));
	uint32_t *places = calloc((size_t)base->n + 1, sizeof(*places));
	bool *unknown = calloc((size_t)lanes->n + 1, sizeof(*unknown));
	int ret = all && places && unknown ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < lanes->n && !ret; i++)
		all[i] = counterpart_of(&lanes->lane[i], group);
	for (uint32_t i = 0; i < base->n && !ret; i++)
		all[lanes->n + i] = counterpart_of(&base->lane[i], group);
	if (!ret)
		ret = counterparts_find(all, lanes->n, all + lanes->n, base->n, places, unknown);
	for (uint32_t i = 0; i < base->n && !ret; i++)
		if (places[i] < lanes->n)
			lanes->lane[places[i]].base += base->lane[i].weight;
	for (uint32_t i = 0; i < lanes->n && !ret; i++)
		lanes->lane[i].base_unknown = unknown[i];
	free(unknown);
	free(places);
	free(all);
	return ret;
}

int lanes_compare(
	struct lanes *lanes, const struct lanes *base, enum query_group group, bool is_elsewhere)
{
	lanes->base_ns = base->to_ns - base->from_ns;
	lanes->base_whole = 0;
	for (uint32_t i = 0; i < base->n; i++)
		lanes->base_whole += base->lane[i].weight;
	for (uint32_t i = 0; i < lanes->n; i++) {
		lanes->lane[i].base = 0;
		lanes->lane[i].base_unknown = false;
	}
	if (is_elsewhere && (group == GROUP_PROCESS || group == GROUP_THREAD))
		return compare_elsewhere(lanes, base, group);
	return compare_times(lanes, base);
}
