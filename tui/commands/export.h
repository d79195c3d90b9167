/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export.h - strobe export: samples in the formats of other tools.
 *
 * UI thread; once per run of the program.
 */
#ifndef TUI_COMMANDS_EXPORT_H
#define TUI_COMMANDS_EXPORT_H

struct request;

/* Exports a recording, files[0], or a target as in a report.  Writes request->export_format to
 * request->output; NULL and "-" are standard output.  Reports errors to standard error.  Returns
 * the exit status. */
int export_run(const struct request *request);

#endif
