/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record.h - strobe record: a target is sampled into a perf.data file.
 *
 * UI thread; once per run of the program.
 */
#ifndef TUI_RECORD_H
#define TUI_RECORD_H

struct request;

#define RECORD_DEFAULT_FILE "strobe.data"

/* Into request->output, "-" being standard output and the pipe format, NULL strobe.data; compressed where
 * request->compress is set; until duration_s is over, the target ends, or a signal.  Sentences go to standard error.
 * Returns the exit status. */
int record_run(const struct request *request);

#endif
