/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.h - strobe diff: what changed between recordings.
 *
 * UI thread; once per run of the program.
 */
#ifndef TUI_DIFF_H
#define TUI_DIFF_H

struct request;

/* request->files, the first being what the others are compared with; format, normal, terms and time hold for
 * each; rows (0: all) and percent_limit (a symbol below it in each recording is left out) for the table.  To standard
 * output, sentences to standard error.  Returns the exit status.
 * main.c: case CMD_DIFF: return diff_run(request); */
int diff_run(const struct request *request);

#endif
