/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.h - text as a CSV cell that no spreadsheet runs as a formula, and the end of a row.
 *
 * Cells follow RFC 4180.  Rows end with LF unless CR LF, the end in that RFC, is requested: awk(1)
 * and cut(1) would keep a CR in the last field.
 *
 * Pure functions; any thread.
 */
#ifndef TUI_BASE_CSV_H
#define TUI_BASE_CSV_H

#include <stdbool.h>
#include <stdio.h>

struct csv_style {
	bool raw; /* do not protect text that begins like a formula */
	bool crlf; /* rows end with CR LF */
};

/* Writes one cell, in quotes if it needs them.  Unless style.raw is set, an apostrophe precedes
 * text that begins like a formula: with = + - @ (also full width), tab or carriage return.  A ';'
 * before such a beginning becomes ':'.  Numbers such as -5 stay as they are. */
void csv_put_text(FILE *out, const char *text, struct csv_style style);

void csv_end_row(FILE *out, struct csv_style style);

/* Returns true if csv_put_text() would write the apostrophe. */
bool csv_is_formula(const char *text);

#endif
