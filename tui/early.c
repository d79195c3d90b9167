/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * early.c - see early.h.
 *
 * Each node is looked at until it and its callers have symbols or will have none; those whose symbols were on their way are
 * looked at again when some have come.
 */
#include "tui/early.h"

#include "tui/grow.h"

#include <errno.h>

#define AHEAD 8u

/* The last generation of a node cannot be told from none, and is looked at each time. */
static uint16_t mark_of(const struct stacks *stacks, uint32_t node)
{
	return (uint16_t)(stacks_node(stacks, node)->generation + 1u);
}

static bool is_seen(const struct early *early, const struct stacks *stacks, uint32_t node)
{
	return node < early->room && early->seen[node] &&
		early->seen[node] == mark_of(stacks, node);
}

static int set_seen(struct early *early, const struct stacks *stacks, uint32_t node)
{
	int ret = grow_zeroed((void **)&early->seen, node, &early->room, sizeof(*early->seen));

	if (!ret)
		early->seen[node] = mark_of(stacks, node);
	return ret;
}

/* 1: some of its symbols are on their way. */
static int ask_stack(
	struct early *early, const struct stacks *stacks, struct names *names, uint32_t node)
{
	bool settled = true;
	int ret = 0;

	for (uint32_t at = node; at != STACK_ROOT && !is_seen(early, stacks, at);
		at = stacks_node(stacks, at)->parent)
		settled &= names_ask(names, stacks_node(stacks, at)->frame);
	if (!settled)
		return 1;
	for (; node != STACK_ROOT && !is_seen(early, stacks, node) && !ret;
		node = stacks_node(stacks, node)->parent)
		ret = set_seen(early, stacks, node);
	return ret;
}

/* What lies wide apart, before it is needed. */
static void fetch(const struct early *early, const struct stacks *stacks, uint32_t node)
{
	if (node < early->room)
		__builtin_prefetch(&early->seen[node]);
	__builtin_prefetch(stacks_node(stacks, node));
}

static int ask_slice(struct early *early, const struct stacks *stacks, struct names *names,
	const struct slice *slice)
{
	bool settled = true;
	int ret = 0;

	for (uint32_t i = 0; i < slice->cells && ret >= 0; i++) {
		if (i + AHEAD < slice->cells)
			fetch(early, stacks, slice->stack[i + AHEAD]);
		ret = ask_stack(early, stacks, names, slice->stack[i]);
		settled &= !ret;
	}
	return ret < 0 ? ret : !settled;
}

int early_ask(
	struct early *early, struct store *store, const struct stacks *stacks, struct names *names)
{
	bool again = early->has_unsettled && names_changes(names) != early->changes;
	struct snapshot snapshot;
	int ret = store_snapshot(
		store, again ? early->unsettled_ns : early->upto_ns, UINT64_MAX, &snapshot);

	if (ret)
		return ret;
	early->has_unsettled &= !again;
	early->changes = names_changes(names);
	for (size_t i = 0; i < snapshot.n && ret >= 0; i++) {
		const struct slice *slice = snapshot.slices[i];

		ret = ask_slice(early, stacks, names, slice);
		if (ret && !early->has_unsettled) {
			early->has_unsettled = true;
			early->unsettled_ns = slice->start_ns;
		}
		if (ret >= 0 && slice->end_ns > early->upto_ns)
			early->upto_ns = slice->end_ns;
	}
	snapshot_release(store, &snapshot);
	return ret < 0 ? ret : 0;
}

void early_fini(struct early *early)
{
	free(early->seen);
	*early = (struct early){0};
}
