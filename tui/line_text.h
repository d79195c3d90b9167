/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * line_text.h - what a row by source line is called, for tables and for filters of what they show.
 */
#ifndef TUI_LINE_TEXT_H
#define TUI_LINE_TEXT_H

#include "tui/names.h"

#include <stddef.h>
#include <stdint.h>

#define LINE_TEXT_MAX 512

/* The line of a frame (FRAME_NONE: none), of the innermost function at it, asked for where it was not yet.  line is 0, and file
 * "", where none is known; symref is the frame's own. */
struct names_line line_of(struct names *names, uint32_t frame);

/* "/src/a.c:7"; "malloc (libc.so.6)" where no line is known; cleaned. */
void line_text(struct names *names, const struct names_line *line, char out[LINE_TEXT_MAX]);

#endif
