/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export.h - strobe export: samples in the forms of other tools.
 *
 * UI thread; once per run of the program.
 */
#ifndef TUI_EXPORT_H
#define TUI_EXPORT_H

struct request;

/* A recording, files[0], or a target as in a report, in request->export_format, into request->output (NULL and "-":
 * standard output).  Sentences go to standard error.  Returns the exit status.
 * main.c: case CMD_EXPORT: return export_run(request); */
int export_run(const struct request *request);

#endif
