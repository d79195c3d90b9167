/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fold.h - stacks with texts in place of addresses, folded into one tree: for folded stacks and flame graphs.
 *
 * The first level are commands, below each the frames from the outermost on.  Frames of one text under one parent
 * are one node.  UI thread.
 */
#ifndef TUI_EXPORT_FOLD_H
#define TUI_EXPORT_FOLD_H

#include "tui/export/profile.h"
#include "tui/intern.h"

#include <stddef.h>
#include <stdint.h>

#define FOLD_TEXT_MAX 8192

struct fold_node {
	uint32_t parent; /* node 0 is the root */
	uint32_t label; /* of fold_text() */
	uint32_t symref; /* of one of its frames; 0 for commands */
	uint32_t depth; /* of the root: 0 */
	uint32_t first, next; /* child, sibling: by text; 0: none */
	uint64_t self, total; /* weights */
	uint64_t self_count, count; /* samples */
};

/* The text of a frame, into out (FOLD_TEXT_MAX bytes); "" leaves the frame out.  command: the one it is in, cleaned; asked
 * once for those that begin with "java" and once for all others. */
typedef void fold_text_fn(
	char *out, const struct profile *profile, const struct symref *symref, const char *command);

struct fold {
	struct fold_node *nodes; /* parents before their children */
	uint32_t n_nodes;
	struct intern texts;
	uint32_t depth; /* of the deepest node */
};

/* The tree of the profile's first event.  0 and *out for fold_fini(); -ENOMEM, -EINTR. */
int fold_make(struct fold *out, const struct profile *profile, fold_text_fn *text);
void fold_fini(struct fold *fold);

static inline const char *fold_text(const struct fold *fold, uint32_t label)
{
	return fold->texts.entries[label].bytes;
}

#endif
