/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * width.h - the columns that text takes on a terminal.  Wide characters take two, combining ones
 * none.
 *
 * Pure functions; any thread.
 */
#ifndef TUI_BASE_WIDTH_H
#define TUI_BASE_WIDTH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the columns that cleaned text takes. */
int width_of(const char *text);

/* Returns the bytes of text that fit in width columns; 0 if not even one character fits. */
size_t width_prefix(const char *text, int width);

/* Returns the bytes of text for one line of width columns, cut after a blank if there is one.  At
 * least one character, so that wrapping ends. */
size_t width_fit(const char *text, int width);

/* Returns the next UTF-8 character and advances *text; U+FFFD for an invalid byte; 0 at the end. */
uint32_t width_next_glyph(const char **text);

/* Returns the columns of a character: 0, 1 or 2. */
int width_of_glyph(uint32_t glyph);

#endif
