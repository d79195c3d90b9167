/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * picture.h - what a canvas shows, as a file: text, or in the colours of a theme as HTML or SVG.
 *
 * Pure but for the stream; UI thread.
 */
#ifndef TUI_PICTURE_H
#define TUI_PICTURE_H

#include "tui/canvas.h"
#include "tui/theme.h"

#include <stdio.h>

enum picture_form { PICTURE_TEXT, PICTURE_HTML, PICTURE_SVG };

/* By the ending of a file's name: .html, .htm, .svg; text otherwise. */
enum picture_form picture_form_of(const char *path);

/* 0, -ENOMEM or -EIO (look at errno). */
int picture_write(
	FILE *out, const struct canvas *canvas, const struct theme *theme, enum picture_form form);

#endif
