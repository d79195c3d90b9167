/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jsontext.h - JSON written as it comes, for what is too long to be built in memory first.
 */
#ifndef TUI_EXPORT_JSONTEXT_H
#define TUI_EXPORT_JSONTEXT_H

#include <stdint.h>
#include <stdio.h>

/* Writes a string in quotes; text is UTF-8, as cleaned text is (clean.h). */
void jsontext_string(FILE *out, const char *text);

/* ns as milliseconds, to the ns. */
void jsontext_ms(FILE *out, uint64_t ns);

#endif
