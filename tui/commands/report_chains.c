/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_chains.c - counts the samples of a report by the end of their callchain.
 *
 * The outermost frame of a stack shows the end, so only samples that pass the filters count.
 * UI thread.
 */
#include "sampler/store/images.h"
#include "sampler/store/stacks.h"
#include "tui/base/grow.h"
#include "tui/commands/report_private.h"

#include <errno.h>
#include <stdlib.h>

enum chain_root {
	ROOT_UNSEEN,
	ROOT_WHOLE,
	ROOT_TRUNCATED, /* the outermost frame is [truncated] */
	ROOT_UNKNOWN, /* it is user code of a process without known mappings */
	ROOTS
};

struct roots {
	const struct stacks *stacks;
	const struct images *images;
	uint8_t *of; /* by node: enum chain_root */
	uint32_t room;
};

static enum chain_root judge_frame(const struct roots *roots, uint32_t id)
{
	const struct frame *frame = stacks_frame_get(roots->stacks, id);
	const struct image *image = images_get(roots->images, frame->image);

	if (frame->mode != FRAME_USER)
		return ROOT_WHOLE;
	if (frame->image == IMAGE_ID_UNKNOWN || !image)
		return ROOT_UNKNOWN;
	/* The only image of this kind in user space. */
	return image->kind == IMAGE_KSYMBOL ? ROOT_TRUNCATED : ROOT_WHOLE;
}

/* Finds the enum chain_root of a stack.  Walks each node once.  Returns 0 or -ENOMEM. */
static int find_root(struct roots *roots, uint32_t node, uint8_t *root)
{
	*root = ROOT_UNKNOWN;
	for (uint32_t at = node; at != STACK_ROOT; at = stacks_node(roots->stacks, at)->parent) {
		const struct stack_node *place = stacks_node(roots->stacks, at);

		if (grow_zeroed(&roots->of, at, &roots->room, sizeof(*roots->of)))
			return -ENOMEM;
		*root = roots->of[at];
		if (!*root && place->parent == STACK_ROOT)
			*root = (uint8_t)judge_frame(roots, place->frame);
		if (*root)
			break;
	}
	for (uint32_t at = node; at != STACK_ROOT && !roots->of[at];
		at = stacks_node(roots->stacks, at)->parent)
		roots->of[at] = *root;
	return 0;
}

static int count_roots(const struct report_source *source, uint64_t counts[][ROOTS])
{
	struct scan_question question = source->scan;
	struct roots roots = {.stacks = question.stacks, .images = session_images(source->session)};
	struct scan scan;
	int ret;

	question.by = SCAN_STACK;
	question.column = GROUP_KEYS;
	question.leave_unresolved = true;
	ret = scan_run(&question, &scan);
	for (uint32_t i = 0; i < scan.n_entries && !ret; i++) {
		const struct scan_entry *entry = &scan.entries[i];
		uint8_t root;

		ret = find_root(&roots, entry->node, &root);
		if (!ret)
			counts[scan.sides[entry->side].event][root] += entry->samples;
	}
	scan_fini(&scan);
	free(roots.of);
	return ret;
}

int report_gather_chains(struct report *report, const struct report_source *source)
{
	uint64_t counts[STORE_EVENTS_MAX][ROOTS] = {{0}};
	bool some = false;
	int ret;

	for (size_t i = 0; i < report->n_events; i++)
		some |= report->events[i].tells_chains;
	ret = some ? count_roots(source, counts) : 0;
	for (size_t i = 0; i < report->n_events && !ret; i++) {
		const uint64_t *of = counts[source->events[i]];

		if (!report->events[i].tells_chains)
			continue;
		report->events[i].chains = of[ROOT_WHOLE] + of[ROOT_TRUNCATED];
		report->events[i].chains_whole = of[ROOT_WHOLE];
	}
	return ret;
}
