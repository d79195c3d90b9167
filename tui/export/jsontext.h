/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jsontext.h - JSON written as it comes, for what is too long to be built in memory first.
 */
#ifndef TUI_EXPORT_JSONTEXT_H
#define TUI_EXPORT_JSONTEXT_H

#include <stdint.h>
#include <stdio.h>

/* A string in its quotes; text is cleaned (clean.h).  Also fit to stand in a script element of HTML. */
void jsontext_string(FILE *out, const char *text);

/* ns as milliseconds, to the ns. */
void jsontext_ms(FILE *out, uint64_t ns);

#endif
