/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * line_text.h - the text of a source line, for tables and for filters.
 */
#ifndef TUI_QUERY_LINE_TEXT_H
#define TUI_QUERY_LINE_TEXT_H

#include "tui/names/names.h"

#include <stddef.h>
#include <stdint.h>

#define LINE_TEXT_MAX 512

/* Returns the source line of a frame, that of its innermost function; requests it if necessary.
 * FRAME_NONE has no line.  If none is known, line is 0 and file is "".  symref is that of the
 * frame. */
struct names_line line_of(struct names *names, uint32_t frame);

/* Writes "/src/a.c:7", or "malloc (libc.so.6)" if no line is known; cleaned. */
void line_text(struct names *names, const struct names_line *line, char out[LINE_TEXT_MAX]);

#endif
