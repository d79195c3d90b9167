/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_tree.h - strobe annotate --source-tree: every sampled source file, with the samples of
 * each line.
 *
 * All files are written below one directory, for any path in the debug information.  No file is
 * overwritten.  UI thread.
 */
#ifndef TUI_COMMANDS_ANNOTATE_TREE_H
#define TUI_COMMANDS_ANNOTATE_TREE_H

#include "tui/commands/annotate_report.h"
#include "tui/session/request.h"

/* Turns the name of a source file into a path below a directory, cleaned, with parts of bounded
 * length. "." and ".." are resolved and never lead above the directory.  Returns out. */
const char *annotate_tree_path(char *out, size_t size, const char *file);

/* Checks if the tree can be written to dir.  Returns 0, or -errno after reporting it. */
int annotate_tree_check(const char *dir);

/* Writes the tree below request->source_tree and reports errors.  Returns the exit status. */
int annotate_tree_write(struct annotate_report *report);

#endif
