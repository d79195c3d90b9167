/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jsontext.h - writes JSON piece by piece, for documents that are too long to build in memory.  UI
 * thread.
 */
#ifndef TUI_EXPORT_JSONTEXT_H
#define TUI_EXPORT_JSONTEXT_H

#include <stdint.h>
#include <stdio.h>

/* Writes a string in quotes.  text: UTF-8, such as cleaned text (clean.h). */
void jsontext_string(FILE *out, const char *text);

/* Writes ns as milliseconds with six decimals. */
void jsontext_ms(FILE *out, uint64_t ns);

#endif
