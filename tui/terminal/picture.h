/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * picture.h - writes the content of a canvas as text, or in the colours of a theme as HTML or SVG.
 *
 * No side effects except on the stream; UI thread.
 */
#ifndef TUI_TERMINAL_PICTURE_H
#define TUI_TERMINAL_PICTURE_H

#include "tui/controls/theme.h"
#include "tui/terminal/canvas.h"

#include <stdio.h>

enum picture_form { PICTURE_TEXT, PICTURE_HTML, PICTURE_SVG };

/* Returns the form that a file name's ending selects: .html, .htm, .svg; else text. */
enum picture_form picture_form_of(const char *path);

/* Writes the canvas.  Returns 0, -ENOMEM, or -EIO with errno set. */
int picture_write(
	FILE *out, const struct canvas *canvas, const struct theme *theme, enum picture_form form);

#endif
