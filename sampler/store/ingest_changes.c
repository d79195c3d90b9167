/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ingest_changes.c - applies changes of code to samples stored before they were known.
 *
 * Sampling thread.
 */
#include "sampler/store/ingest.h"

#include "sampler/store/slices.h"

/* If there are more than max changes, each cut represents several. */
static size_t find_cuts(void *ctx, uint64_t start_ns, uint64_t end_ns, uint64_t *cuts, size_t max)
{
	const struct changes_known *known = &((struct ingest *)ctx)->changes;
	const size_t first = changes_count(known, start_ns);
	const size_t in_all = changes_count(known, end_ns - 1) - first;
	const size_t step = (in_all + max - 1) / max;
	size_t n = 0;

	for (size_t i = 0; i < in_all; i += step)
		if (!n || known->times[first + i] > cuts[n - 1])
			cuts[n++] = known->times[first + i];
	return n;
}

#define MOVES_ALONE UINT64_MAX /* apply moves only, ignoring earlier code at the address */

struct code_place {
	uint32_t image;
	uint64_t offset;
};

/* Memory known to hold a file's code is mapped as that file from then on.  So all samples of this
 * memory are older, in a slice that began before. */
static struct code_place place_at(
	const struct ingest *ingest, const struct frame *frame, uint64_t from_ns, uint64_t to_ns)
{
	struct code_place place = {frame->image, frame->offset};

	if (frame->mode != FRAME_USER)
		return place;
	changes_follow(&ingest->changes, &place.image, &place.offset, from_ns);
	if (from_ns != MOVES_ALONE)
		place.offset = changes_offset(&ingest->changes, place.image, place.offset,
			from_ns + (to_ns - from_ns) / 2);
	return place;
}

static int rename_stack(
	void *ctx, uint32_t stack, uint64_t from_ns, uint64_t to_ns, uint32_t *renamed)
{
	struct ingest *ingest = ctx;
	struct stacks *stacks = ingest->stacks;
	uint32_t inward[STACK_DEPTH_MAX], frame, node = stack, from = stack;
	size_t n = 0, changed = 0;
	int err = 0;

	for (; node != STACK_ROOT && n < STACK_DEPTH_MAX;
		node = stacks_node(stacks, node)->parent) {
		const struct frame *at = stacks_frame_get(stacks, stacks_node(stacks, node)->frame);

		const struct code_place place = place_at(ingest, at, from_ns, to_ns);

		inward[n++] = node;
		if (place.image != at->image || place.offset != at->offset) {
			changed = n;
			from = stacks_node(stacks, node)->parent;
		}
	}
	*renamed = from;
	while (changed-- && !err) {
		const struct frame at =
			*stacks_frame_get(stacks, stacks_node(stacks, inward[changed])->frame);

		const struct code_place place = place_at(ingest, &at, from_ns, to_ns);

		err = stacks_frame(
			stacks, place.image, place.offset, (enum frame_mode)at.mode, &frame);
		if (!err && changed)
			err = stacks_child(stacks, *renamed, frame, renamed);
		else if (!err)
			err = stacks_leaf(stacks, *renamed, frame, renamed);
	}
	return err;
}

uint32_t ingest_stack_at(struct ingest *ingest, uint32_t stack, uint64_t time_ns)
{
	uint32_t renamed;

	return (ingest->changes.n_times || ingest->changes.n_moves) &&
			!rename_stack(ingest, stack, time_ns, time_ns, &renamed)
		? renamed
		: stack;
}

uint32_t ingest_stack_moved(struct ingest *ingest, uint32_t stack)
{
	uint32_t renamed;

	return ingest->changes.n_moves &&
			!rename_stack(ingest, stack, MOVES_ALONE, MOVES_ALONE, &renamed)
		? renamed
		: stack;
}

/* Takes over moves that the recording itself reports. */
static void tell_moves(struct ingest *ingest)
{
	struct code_move move;

	while (tasks_take_move(ingest->tasks, &move))
		if (ingest->changes.from)
			(void)changes_move(ingest->changes.from, &move);
}

bool ingest_settle(struct ingest *ingest)
{
	const struct slices_renaming renaming = {
		.cuts = find_cuts, .stack = rename_stack, .ctx = ingest};
	const uint64_t serial = ingest->changes.serial;
	const size_t n_moves = ingest->changes.n_moves;
	uint64_t from_ns;
	bool renamed;

	tell_moves(ingest);
	/* If memory runs out, some names stay those of other code. */
	if (changes_take(&ingest->changes, &from_ns) || serial == ingest->changes.serial)
		return false;
	for (size_t i = n_moves; i < ingest->changes.n_moves; i++)
		(void)tasks_move(ingest->tasks, &ingest->changes.moves[i]);
	renamed = from_ns != UINT64_MAX && store_rename(ingest->store, from_ns, &renaming) > 0;
	changes_settled(&ingest->changes);
	return renamed;
}
