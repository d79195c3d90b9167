/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_tree_private.h - a source tree under construction.
 *
 * annotate_tree.c gathers the sums, annotate_tree_write.c writes the files.  UI thread.
 */
#ifndef TUI_COMMANDS_ANNOTATE_TREE_PRIVATE_H
#define TUI_COMMANDS_ANNOTATE_TREE_PRIVATE_H

#include "tui/base/intern.h"
#include "tui/commands/annotate_report.h"

#define TREE_SUMMARY "SUMMARY.txt"

/* An intern key: every byte counts, so there is no padding. */
struct tree_address {
	uint64_t offset, image;
};

struct tree_file {
	const char *raw; /* one of the file's names; borrowed from symbols */
	uint32_t image; /* an image that names it */
	uint64_t *sums; /* by event: weight, samples */
};

struct tree {
	struct annotate_report *report;
	size_t n_events;
	int dir_fd; /* root of the tree */
	struct intern addresses; /* struct tree_address */
	uint64_t *address_sums; /* by address and event: weight, samples */
	uint32_t address_room;
	struct intern paths; /* paths of files below the directory */
	struct tree_file *files;
	uint32_t files_room;
	struct intern line_keys; /* file, line: 32 bits each */
	uint64_t *line_sums; /* by line and event: weight, samples */
	uint32_t lines_room;
	uint64_t *known; /* by event: sums with a known file */
};

struct tree_address tree_address(const struct tree *tree, uint32_t id);

/* Writes all files and the summary.  Returns 0, or a negative value after reporting it. */
int tree_write_all(struct tree *tree);

#endif
