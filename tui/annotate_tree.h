/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_tree.h - strobe annotate --source-tree: all source files that were sampled, each beside what fell on its lines.
 *
 * Files are written below one directory, whatever DWARF calls them, and only where nothing is yet.  UI thread.
 */
#ifndef TUI_ANNOTATE_TREE_H
#define TUI_ANNOTATE_TREE_H

#include "tui/annotate_report.h"

/* The name of a source file as a path below a directory: without "." and "..", which never lead above it, cleaned, with
 * parts of bounded length.  Returns out. */
const char *annotate_tree_path(char *out, size_t size, const char *file);

/* Can the tree be written there?  0, or -errno after a sentence. */
int annotate_tree_check(const char *dir);

/* Below request->source_tree.  Returns the exit status, after sentences. */
int annotate_tree_write(struct annotate_report *report);

#endif
