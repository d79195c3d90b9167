/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.h - text as a cell of CSV (RFC 4180) that a spreadsheet does not run as a formula.
 *
 * Pure functions; any thread.
 */
#ifndef TUI_CSV_H
#define TUI_CSV_H

#include <stdbool.h>
#include <stdio.h>

/* Write one cell, in quotes if it needs them.  Unless raw is set, an apostrophe precedes text that
 * begins like a formula: with = + - @ (also full width), tab or carriage return.  A ';' before such
 * a beginning becomes ':'.  Numbers such as -5 stay as they are. */
void csv_put_text(FILE *out, const char *text, bool raw);

/* Returns whether csv_put_text() writes the apostrophe. */
bool csv_is_formula(const char *text);

#endif
