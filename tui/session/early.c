/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * early.c - see early.h.
 *
 * A node is checked until its symbols and its callers' are known or known to be missing.  Nodes
 * with pending symbols are checked again once some symbols have arrived.  UI thread.
 */
#include "tui/session/early.h"

#include "tui/base/grow.h"

#include <errno.h>
#include <string.h>

#define AHEAD 8u

/* The highest generation maps to 0, which means not seen, so such a node is checked each time. */
static uint16_t mark_of(const struct stack_node *node)
{
	return (uint16_t)(node->generation + 1u);
}

static bool is_seen(const struct early *early, const struct stack_node *node, uint32_t id)
{
	return id < early->room && early->seen[id] && early->seen[id] == mark_of(node);
}

static int set_seen(struct early *early, const struct stack_node *node, uint32_t id)
{
	int ret = grow_zeroed((void **)&early->seen, id, &early->room, sizeof(*early->seen));

	if (!ret)
		early->seen[id] = mark_of(node);
	return ret;
}

/* A reused node may have any frame, so forget all requests for names.  A name that is missed is
 * requested when it is shown. */
static void forget_reused(struct early *early, uint32_t id)
{
	if (id < early->room && early->seen[id] && early->asked)
		memset(early->asked, 0, early->asked_room);
}

/* Requests a frame's name.  Many nodes share a frame, and frame data is scattered in memory, so a
 * bit caches the request.  Returns false if symbols are pending. */
static bool ask_frame(struct early *early, struct names *names, uint32_t frame)
{
	uint32_t at = frame / 8;
	uint8_t bit = (uint8_t)(1u << frame % 8);

	if (at < early->asked_room && early->asked[at] & bit)
		return true;
	if (!names_ask(names, frame))
		return false;
	/* If memory runs out, it is requested again. */
	if (!grow_zeroed((void **)&early->asked, at, &early->asked_room, 1))
		early->asked[at] |= bit;
	return true;
}

/* Requests the names of a stack.  Returns 0; 1 if some symbols are pending; or -ENOMEM. */
static int ask_stack(
	struct early *early, const struct stacks *stacks, struct names *names, uint32_t id)
{
	const struct stack_node *node;
	bool settled = true;
	int ret = 0;

	for (uint32_t at = id; at != STACK_ROOT; at = node->parent) {
		node = stacks_node(stacks, at);
		if (is_seen(early, node, at))
			break;
		forget_reused(early, at);
		settled &= ask_frame(early, names, node->frame);
	}
	if (!settled)
		return 1;
	for (; id != STACK_ROOT && !ret; id = node->parent) {
		node = stacks_node(stacks, id);
		if (is_seen(early, node, id))
			break;
		ret = set_seen(early, node, id);
	}
	return ret;
}

/* Prefetches scattered data. */
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
	free(early->asked);
	*early = (struct early){0};
}
