/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record.h - strobe record: samples a target into a perf.data file.
 *
 * UI thread; once per run of the program.
 */
#ifndef TUI_COMMANDS_RECORD_H
#define TUI_COMMANDS_RECORD_H

struct request;

/* Records into request->output: "-" is standard output, in pipe format; NULL is strobe.data.
 * Compresses if request->compress is set.  Ends when duration_s is over, the target ends, or a
 * signal comes.  Messages go to standard error.  Returns the exit status. */
int record_run(const struct request *request);

#endif
