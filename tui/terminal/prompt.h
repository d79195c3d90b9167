/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prompt.h - a line of text that the user edits.  Plain data; UI thread.
 */
#ifndef TUI_TERMINAL_PROMPT_H
#define TUI_TERMINAL_PROMPT_H

#include "tui/terminal/canvas.h"

#include <stddef.h>
#include <stdint.h>

#define PROMPT_MAX 512

struct prompt {
	char label[24];
	char text[PROMPT_MAX]; /* UTF-8, no control characters */
	size_t len, cursor; /* in bytes */
};

enum prompt_result { PROMPT_SAME, PROMPT_CHANGED, PROMPT_DONE, PROMPT_CANCELLED };

void prompt_start(struct prompt *prompt, const char *label, const char *text);
enum prompt_result prompt_key(struct prompt *prompt, uint32_t key);
void prompt_draw(const struct prompt *prompt, struct canvas *canvas, int y);

#endif
