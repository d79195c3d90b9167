/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fold.h - stacks with texts instead of addresses, folded into one tree: for folded stacks and
 * flame graphs.
 *
 * The first level are commands.  Below each command are the frames, from the outermost on.  Frames
 * of one text under one parent are one node.  The thread of the export.
 */
#ifndef TUI_EXPORT_FOLD_H
#define TUI_EXPORT_FOLD_H

#include "tui/base/intern.h"
#include "tui/export/profile.h"

#include <stddef.h>
#include <stdint.h>

#define FOLD_TEXT_MAX 8192

struct fold_node {
	uint32_t parent; /* node 0 is the root */
	uint32_t label; /* for fold_text() */
	uint32_t symref; /* a symref among its frames; 0 for commands */
	uint32_t depth; /* the root has 0 */
	uint32_t first, next; /* first child, next sibling; sorted by text; 0: none */
	uint64_t self, total; /* weights */
	uint64_t self_count, count; /* samples */
};

/* Writes the text of a frame to out (FOLD_TEXT_MAX bytes); "" leaves the frame out.  command:
 * cleaned.  Called once per symref for commands that begin with "java", and once for all others. */
typedef void fold_text_fn(
	char *out, const struct profile *profile, uint32_t symref, const char *command);

struct fold {
	struct fold_node *nodes; /* parents come before their children */
	uint32_t n_nodes;
	struct intern texts;
	uint32_t depth; /* depth of the deepest node */
};

/* Builds the tree of the profile's first event.  Returns 0 (release *out with fold_fini()), -ENOMEM
 * or -EINTR. */
int fold_make(struct fold *out, const struct profile *profile, fold_text_fn *text);
void fold_fini(struct fold *fold);

static inline const char *fold_text(const struct fold *fold, uint32_t label)
{
	return fold->texts.entries[label].bytes;
}

#endif
