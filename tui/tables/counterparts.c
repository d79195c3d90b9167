/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counterparts.c - see counterparts.h.
 */
#include "tui/tables/counterparts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An entry of either side. */
struct entry {
	struct counterpart of;
	uint32_t at; /* index in its array */
	bool here;
};

static int by_kind(const struct entry *x, const struct entry *y)
{
	int order = strcmp(x->of.name, y->of.name);

	return order ? order : (int)x->of.is_main - (int)y->of.is_main;
}

/* Orders by name, side and id. */
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

/* The entries of one side without an equal id on the other: number of distinct ids, and one of the
 * entries. */
struct left {
	uint32_t n, at;
	int64_t id;
};

static void leave(struct left *left, const struct entry *entry)
{
	if (!left->n || left->id != entry->of.id)
		left->n++;
	left->id = entry->of.id;
	left->at = entry->at;
}

/* Returns the first index from `at` on with an id not below id; ids rise. */
static uint32_t skip_below(const struct entry *run, uint32_t n, uint32_t at, int64_t id)
{
	while (at < n && run[at].of.id < id)
		at++;
	return at;
}

static bool is_at(const struct entry *run, uint32_t n, uint32_t at, int64_t id)
{
	return at < n && run[at].of.id == id;
}

/* Pairs the entries of one name. */
static void pair(const struct entry *here, uint32_t n_here, const struct entry *there,
	uint32_t n_there, uint32_t *places, bool *unknown)
{
	struct left left_here = {0}, left_there = {0};
	uint32_t otherwise = COUNTERPART_UNKNOWN, k = 0;

	for (uint32_t i = 0; i < n_there; i++) {
		k = skip_below(here, n_here, k, there[i].of.id);
		places[there[i].at] = COUNTERPART_UNKNOWN;
		if (is_at(here, n_here, k, there[i].of.id))
			places[there[i].at] = here[k].at;
		else
			leave(&left_there, &there[i]);
	}
	k = 0;
	for (uint32_t i = 0; i < n_here; i++) {
		k = skip_below(there, n_there, k, here[i].of.id);
		unknown[here[i].at] = !is_at(there, n_there, k, here[i].of.id);
		if (unknown[here[i].at])
			leave(&left_here, &here[i]);
	}
	if (!left_here.n || !left_there.n)
		otherwise = COUNTERPART_NONE;
	else if (left_here.n == 1 && left_there.n == 1)
		otherwise = left_here.at;
	if (otherwise == COUNTERPART_UNKNOWN)
		return;
	/* The remaining entries are known, too. */
	for (uint32_t i = 0; i < n_there; i++)
		if (places[there[i].at] == COUNTERPART_UNKNOWN)
			places[there[i].at] = otherwise;
	for (uint32_t i = 0; i < n_here; i++)
		unknown[here[i].at] = false;
}

int counterparts_find(const struct counterpart *here, uint32_t n_here,
	const struct counterpart *there, uint32_t n_there, uint32_t *places, bool *unknown)
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
		/* Entries of the same name on the other side follow, if there are any. */
		if (len < n - i && !by_kind(&entries[i], &entries[i + len]))
			len += run_length(&entries[i + len], n - i - len, false);
		pair(&entries[i], len_here, &entries[i + len_here], len - len_here, places,
			unknown);
	}
	free(entries);
	return 0;
}
