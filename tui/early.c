/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * early.c - see early.h.
 *
 * Each node is looked at once.  One whose number was given out again is missed: it is asked for when it is named.
 */
#include "tui/early.h"

#include "tui/grow.h"

static bool is_seen(const struct early *early, uint32_t node)
{
	return node / 8 < early->room && early->seen[node / 8] & 1u << node % 8;
}

static int ask_stack(
	struct early *early, const struct stacks *stacks, struct names *names, uint32_t node)
{
	while (node != STACK_ROOT && !is_seen(early, node)) {
		const struct stack_node *at = stacks_node(stacks, node);

		if (grow_zeroed(
			    (void **)&early->seen, node / 8, &early->room, sizeof(*early->seen)))
			return -ENOMEM;
		early->seen[node / 8] |= (uint8_t)(1u << node % 8);
		names_ask(names, at->frame);
		node = at->parent;
	}
	return 0;
}

int early_ask(
	struct early *early, struct store *store, const struct stacks *stacks, struct names *names)
{
	struct snapshot snapshot;
	int ret = store_snapshot(store, early->upto_ns, UINT64_MAX, &snapshot);

	if (ret)
		return ret;
	for (size_t i = 0; i < snapshot.n && !ret; i++) {
		const struct slice *slice = snapshot.slices[i];

		for (uint32_t j = 0; j < slice->cells && !ret; j++)
			ret = ask_stack(early, stacks, names, slice->stack[j]);
		if (!ret && slice->end_ns > early->upto_ns)
			early->upto_ns = slice->end_ns;
	}
	snapshot_release(store, &snapshot);
	return ret;
}

void early_fini(struct early *early)
{
	free(early->seen);
	*early = (struct early){0};
}
