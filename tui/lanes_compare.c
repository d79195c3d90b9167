/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lanes_compare.c - lanes against those of a baseline.
 */
#include "tui/counterparts.h"
#include "tui/lanes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Ids alone tell threads, processes and CPUs; commands have none. */
static bool is_same(const struct lane *a, const struct lane *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu &&
		(a->pid || a->tid || !strcmp(a->name, b->name));
}

static struct counterpart counterpart_of(const struct lane *lane, enum query_group group)
{
	const bool thread = group == GROUP_THREAD;

	return (struct counterpart){
		thread ? lane->tid : lane->pid, lane->name, thread && lane->tid == lane->pid};
}

/* Processes or threads of another profile. */
static int compare_elsewhere(struct lanes *lanes, const struct lanes *base, enum query_group group)
{
	const size_t n = (size_t)lanes->n + base->n;
	struct counterpart *all = calloc(n + 1, sizeof(*all));
	uint32_t *places = calloc((size_t)base->n + 1, sizeof(*places));
	int ret = all && places ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < lanes->n && !ret; i++)
		all[i] = counterpart_of(&lanes->lane[i], group);
	for (uint32_t i = 0; i < base->n && !ret; i++)
		all[lanes->n + i] = counterpart_of(&base->lane[i], group);
	if (!ret)
		ret = counterparts_find(all, lanes->n, all + lanes->n, base->n, places);
	for (uint32_t i = 0; i < base->n && !ret; i++)
		if (places[i] != COUNTERPART_NONE)
			lanes->lane[places[i]].base += base->lane[i].weight;
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
	for (uint32_t i = 0; i < lanes->n; i++)
		lanes->lane[i].base = 0;
	if (is_elsewhere && (group == GROUP_PROCESS || group == GROUP_THREAD))
		return compare_elsewhere(lanes, base, group);
	for (uint32_t i = 0; i < lanes->n; i++)
		for (uint32_t k = 0; k < base->n; k++)
			if (is_same(&lanes->lane[i], &base->lane[k]))
				lanes->lane[i].base += base->lane[k].weight;
	return 0;
}
