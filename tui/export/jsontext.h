/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jsontext.h - writes JSON piece by piece, for documents that are too long to build in memory.  UI
 * thread.
 */
#ifndef TUI_EXPORT_JSONTEXT_H
#define TUI_EXPORT_JSONTEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes a string in quotes.  text: UTF-8, such as cleaned text (clean.h). */
void jsontext_string(FILE *out, const char *text);

/* Writes a member of an object: its key, which needs no escapes, and a string. */
void jsontext_member(FILE *out, const char *key, const char *text);

/* Writes a member of an object: its key, which needs no escapes, and an array of strings. */
void jsontext_strings(FILE *out, const char *key, char *const *texts, size_t n);

/* Writes ns as milliseconds with six decimals. */
void jsontext_ms(FILE *out, uint64_t ns);

#endif
