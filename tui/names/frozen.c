/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * frozen.c - a copy of the current names for another thread, for the stacks of a snapshot.
 *
 * The copy requests nothing and does not change.  Data that the original never changes (names of
 * images, paths of sources) is borrowed.  Names of symbols are copied, since the original may
 * replace them.
 */
#include "tui/base/grow.h"
#include "tui/names/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct freezing {
	struct names *from, *to;
	bool inlines;
	uint8_t *nodes, *symrefs; /* by node, by symref: 1 if already met */
	uint32_t nodes_room, symrefs_room;
	uint32_t lines_room, segments_room;
};

static int meet_symref(struct freezing *freezing, uint32_t symref)
{
	int ret = grow_zeroed((void **)&freezing->symrefs, symref, &freezing->symrefs_room, 1);

	if (!ret)
		freezing->symrefs[symref] = 1;
	return ret;
}

bool names_segment(
	const struct names *names, uint32_t image, uint64_t offset, struct symbols_segment *out)
{
	if (!names->is_frozen)
		return names->symbols && symbols_segment(names->symbols, image, offset, out);
	for (uint32_t i = 0; i < names->n_segments; i++) {
		*out = names->segments[i].segment;
		if (names->segments[i].image == image && offset >= out->offset &&
			offset - out->offset < out->len)
			return true;
	}
	return false;
}

uint64_t names_address(const struct names *names, uint32_t image, uint64_t offset)
{
	const struct image *of = images_get(names->images, image);
	struct symbols_segment segment;

	if (of && of->kind == IMAGE_ANON)
		return changes_plain(offset);
	return names_segment(names, image, offset, &segment)
		? segment.vaddr + (offset - segment.offset)
		: offset;
}

static int freeze_segment(struct freezing *freezing, const struct frame *frame)
{
	struct names *to = freezing->to;
	struct symbols_segment segment;
	int ret;

	if (names_segment(to, frame->image, frame->offset, &segment) ||
		!names_segment(freezing->from, frame->image, frame->offset, &segment))
		return 0;
	ret = grow_room((void **)&to->segments, to->n_segments, &freezing->segments_room,
		sizeof(*to->segments));
	if (!ret)
		to->segments[to->n_segments++] = (struct frozen_segment){frame->image, segment};
	return ret;
}

static int freeze_frame(struct freezing *freezing, uint32_t frame)
{
	struct names *to = freezing->to;
	struct names_line lines[NAMES_INLINED_MAX + 1];
	struct frozen_frame *frozen;
	size_t n = 1;
	int ret = grow_zeroed((void **)&to->frozen, frame, &to->n_frozen, sizeof(*to->frozen));

	if (ret || to->frozen[frame].n)
		return ret;
	frozen = &to->frozen[frame];
	if (freezing->inlines)
		n = names_lines(freezing->from, frame, lines);
	else
		lines[0] = (struct names_line){
			.symref = names_symref(freezing->from, frame), .file = ""};
	ret = freeze_segment(freezing, stacks_frame_get(to->stacks, frame));
	frozen->first = to->n_lines;
	for (size_t i = 0; i < n && !ret; i++) {
		ret = grow_room((void **)&to->lines, to->n_lines, &freezing->lines_room,
			sizeof(*to->lines));
		if (!ret) {
			to->lines[to->n_lines++] = lines[i];
			frozen->n++;
			ret = meet_symref(freezing, lines[i].symref);
		}
	}
	return ret;
}

static int freeze_stack(struct freezing *freezing, uint32_t node)
{
	const struct stacks *stacks = freezing->from->stacks;
	int ret = 0;

	while (node != STACK_ROOT && !ret) {
		const struct stack_node *at = stacks_node(stacks, node);

		ret = grow_zeroed((void **)&freezing->nodes, node, &freezing->nodes_room, 1);
		if (ret || freezing->nodes[node])
			break;
		freezing->nodes[node] = 1;
		ret = freeze_frame(freezing, at->frame);
		node = at->parent;
	}
	return ret;
}

static int copy_symrefs(struct freezing *freezing)
{
	struct names *from = freezing->from, *to = freezing->to;
	uint32_t limit = names_limit(from), n_chunks = (limit + NAMES_CHUNK - 1) / NAMES_CHUNK;

	to->chunks = calloc(n_chunks, sizeof(struct ref *));
	if (!to->chunks)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_chunks; i++) {
		to->chunks[i] = calloc(NAMES_CHUNK, sizeof(struct ref));
		if (!to->chunks[i])
			return -ENOMEM;
		to->n_refs = (i + 1) * NAMES_CHUNK;
	}
	to->n_refs = limit;
	for (uint32_t i = 0; i < limit; i++) {
		struct ref *ref = &to->chunks[i / NAMES_CHUNK][i % NAMES_CHUNK];
		bool met = !i || (i < freezing->symrefs_room && freezing->symrefs[i]);

		ref->kind = REF_WHOLE; /* pub.symbol is set, and kind no longer matters */
		ref->pub = *names_get(from, met ? i : 0);
		ref->pub.symbol = strdup(ref->pub.symbol);
		if (!ref->pub.symbol)
			return -ENOMEM;
	}
	return 0;
}

int names_freeze(
	struct names **out, struct names *names, const struct snapshot *snapshot, bool inlines)
{
	struct freezing freezing = {.from = names, .inlines = inlines};
	int ret = 0;

	*out = NULL;
	freezing.to = calloc(1, sizeof(*freezing.to));
	if (!freezing.to)
		return -ENOMEM;
	freezing.to->is_frozen = true;
	freezing.to->stacks = names->stacks;
	freezing.to->images = names->images;
	for (size_t s = 0; s < snapshot->n && !ret; s++)
		for (uint32_t i = 0; i < snapshot->slices[s]->cells && !ret; i++)
			ret = freeze_stack(&freezing, snapshot->slices[s]->stack[i]);
	if (!ret)
		ret = copy_symrefs(&freezing);
	free(freezing.nodes);
	free(freezing.symrefs);
	if (ret)
		names_free(freezing.to);
	else
		*out = freezing.to;
	return ret;
}
