/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.h - text as a cell of CSV that a spreadsheet does not run as a formula, and the end of a row.
 *
 * Cells are those of RFC 4180.  Its rows end by CR LF, which leaves a CR in the last field of
 * awk(1) and cut(1); so they end by LF unless CR LF is asked for.
 *
 * Pure functions; any thread.
 */
#ifndef TUI_CSV_H
#define TUI_CSV_H

#include <stdbool.h>
#include <stdio.h>

struct csv_style {
	bool raw; /* text may begin like a formula */
	bool crlf; /* rows end by CR LF */
};

/* Write one cell, in quotes if it needs them.  Unless style.raw is set, an apostrophe precedes text
 * that begins like a formula: with = + - @ (also full width), tab or carriage return.  A ';' before
 * such a beginning becomes ':'.  Numbers such as -5 stay as they are. */
void csv_put_text(FILE *out, const char *text, struct csv_style style);

void csv_end_row(FILE *out, struct csv_style style);

/* Returns whether csv_put_text() writes the apostrophe. */
bool csv_is_formula(const char *text);

#endif
