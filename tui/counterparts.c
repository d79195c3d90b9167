/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counterparts.c - see counterparts.h.
 */
#include "tui/counterparts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of either side, by name. */
struct entry {
	struct counterpart of;
	uint32_t at; /* its place there */
	bool here;
};

static int by_kind(const struct entry *x, const struct entry *y)
{
	int order = strcmp(x->of.name, y->of.name);

	return order ? order : (int)x->of.is_main - (int)y->of.is_main;
}

/* By name, side and id. */
static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = by_kind(x, y);

	if (!order)
		order = (int)y->here - (int)x->here;
	if (!order)
		order = (x->of.id > y->of.id) - (x->of.id < y->of.id);
	return order;
}

static uint32_t run_length(const struct entry *entries, uint32_t n, bool here)
{
	uint32_t len = 0;

	while (len < n && entries[len].here == here && !by_kind(&entries[len], entries))
		len++;
	return len;
}

static bool is_one(const struct entry *entries, uint32_t n)
{
	return n && entries[0].of.id == entries[n - 1].of.id;
}

/* All of one name. */
static void pair(const struct entry *here, uint32_t n_here, const struct entry *there,
	uint32_t n_there, uint32_t *places)
{
	bool single = is_one(here, n_here) && is_one(there, n_there);
	uint32_t k = 0;

	for (uint32_t i = 0; i < n_there; i++) {
		while (k < n_here && here[k].of.id < there[i].of.id)
			k++;
		if (k < n_here && here[k].of.id == there[i].of.id)
			places[there[i].at] = here[k].at;
		else
			places[there[i].at] = single ? here[0].at : COUNTERPART_NONE;
	}
}

int counterparts_find(const struct counterpart *here, uint32_t n_here,
	const struct counterpart *there, uint32_t n_there, uint32_t *places)
{
	const uint32_t n = n_here + n_there;
	struct entry *entries = calloc((size_t)n + 1, sizeof(*entries));
	uint32_t len, len_here;

	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_here; i++)
		entries[i] = (struct entry){here[i], i, true};
	for (uint32_t i = 0; i < n_there; i++)
		entries[n_here + i] = (struct entry){there[i], i, false};
	qsort(entries, n, sizeof(*entries), by_name);
	for (uint32_t i = 0; i < n; i += len) {
		len_here = len = run_length(&entries[i], n - i, true);
		/* Behind them those of the same name that are there, if there are any. */
		if (len < n - i && !by_kind(&entries[i], &entries[i + len]))
			len += run_length(&entries[i + len], n - i - len, false);
		pair(&entries[i], len_here, &entries[i + len_here], len - len_here, places);
	}
	free(entries);
	return 0;
}
