/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys_bind.c - key bindings changed by a configuration.
 *
 * They are a copy of the table in keys.c, made at the first change.  A row of several views is
 * split before it is changed for one of them.  UI thread.
 */
#include "tui/controls/keys.h"

#include <errno.h>
#include <string.h>

#define BOUND_MAX 640

static struct binding bound[BOUND_MAX];
static bool rebound[BOUND_MAX]; /* the default keys have been removed */
static size_t n_bound; /* 0: the defaults are in force */

const struct binding *keys_table(size_t *n)
{
	if (!n_bound)
		return keys_defaults(n);
	*n = n_bound;
	return bound;
}

void keys_reset(void)
{
	n_bound = 0;
}

static int copy_defaults(void)
{
	size_t n;
	const struct binding *defaults = keys_defaults(&n);

	if (n_bound)
		return 0;
	if (n > BOUND_MAX)
		return -ENOSPC;
	memcpy(bound, defaults, n * sizeof(*bound));
	memset(rebound, 0, sizeof(rebound));
	n_bound = n;
	return 0;
}

/* Splits a row: `row` keeps this view, the next row gets the other views. */
static int split(size_t row, enum keys_view view)
{
	const unsigned int late = bound[row].views & KEYS_LATE;

	if ((bound[row].views & ~late) == (unsigned int)view)
		return 0;
	if (n_bound == BOUND_MAX)
		return -ENOSPC;
	memmove(&bound[row + 1], &bound[row], (n_bound - row) * sizeof(*bound));
	memmove(&rebound[row + 1], &rebound[row], (n_bound - row) * sizeof(*rebound));
	n_bound++;
	bound[row].views = (unsigned int)view | late;
	bound[row + 1].views &= ~(unsigned int)view;
	return 0;
}

static struct binding *find(enum keys_view view, enum action action)
{
	for (size_t i = 0; i < n_bound; i++) {
		if (bound[i].action == action && (bound[i].views & (unsigned int)view))
			return &bound[i];
	}
	return NULL;
}

static int holds(const struct binding *binding, uint32_t key)
{
	for (int i = 0; i < KEYS_PER_BINDING && binding->keys[i]; i++) {
		if (binding->keys[i] == key)
			return i;
	}
	return -1;
}

static int take_key(enum keys_view view, uint32_t key)
{
	for (size_t row = 0; row < n_bound; row++) {
		uint32_t *keys = bound[row].keys;
		int at = holds(&bound[row], key), ret;

		if (at < 0 || !(bound[row].views & (unsigned int)view))
			continue;
		ret = split(row, view);
		if (ret)
			return ret;
		memmove(keys + at, keys + at + 1,
			(size_t)(KEYS_PER_BINDING - 1 - at) * sizeof(*keys));
		keys[KEYS_PER_BINDING - 1] = 0;
		bound[row].label = NULL;
	}
	return 0;
}

int keys_bind(enum keys_view view, uint32_t key, enum action action)
{
	struct binding *binding;
	int ret = copy_defaults(), at;
	size_t row;

	if (ret)
		return ret;
	if (action == ACT_EVENT_NUMBER)
		return -EINVAL;
	binding = find(view, action);
	if (!binding)
		return -ENOENT;
	row = (size_t)(binding - bound);
	ret = split(row, view);
	if (ret)
		return ret;
	if (!rebound[row]) {
		rebound[row] = true;
		binding->label = NULL;
		memset(binding->keys, 0, sizeof(binding->keys));
	}
	/* The label of ACT_EARLIER names the keys of both actions. */
	if (action == ACT_LATER && find(view, ACT_EARLIER))
		find(view, ACT_EARLIER)->label = NULL;
	if (!key)
		return 0;
	ret = take_key(view, key);
	if (ret)
		return ret;
	binding = find(view, action);
	for (at = 0; at < KEYS_PER_BINDING && binding->keys[at]; at++)
		;
	if (at == KEYS_PER_BINDING)
		return -E2BIG;
	binding->keys[at] = key;
	return 0;
}
