/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.h - strobe diff: the changes between recordings.
 *
 * UI thread; once per run of the program.
 */
#ifndef TUI_COMMANDS_DIFF_H
#define TUI_COMMANDS_DIFF_H

struct request;

/* Compares request->files, the others with the first, and prints to standard output.  format,
 * normal, terms and time apply to each recording.  rows (0: all) and percent_limit apply to the
 * table: a symbol below the limit in every recording is left out.  Reports errors to standard
 * error.  Returns the exit status. */
int diff_run(const struct request *request);

#endif
