/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prompt.c - a line editor with the common keys of readline.
 */
#include "tui/terminal/prompt.h"

#include "tui/base/utf8.h"
#include "tui/base/width.h"
#include "tui/controls/input.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void prompt_start(struct prompt *prompt, const char *label, const char *text)
{
	snprintf(prompt->label, sizeof(prompt->label), "%s", label);
	snprintf(prompt->text, sizeof(prompt->text), "%s", text);
	prompt->len = strlen(prompt->text);
	prompt->cursor = prompt->len;
}

static size_t before(const struct prompt *prompt, size_t at)
{
	while (at > 0 && ((unsigned char)prompt->text[--at] & 0xc0) == 0x80)
		;
	return at;
}

static size_t after(const struct prompt *prompt, size_t at)
{
	if (at < prompt->len)
		at++;
	while (at < prompt->len && ((unsigned char)prompt->text[at] & 0xc0) == 0x80)
		at++;
	return at;
}

static enum prompt_result cut(struct prompt *prompt, size_t from, size_t to)
{
	if (from == to)
		return PROMPT_SAME;
	memmove(prompt->text + from, prompt->text + to, prompt->len - to + 1);
	prompt->len -= to - from;
	prompt->cursor = from;
	return PROMPT_CHANGED;
}

static enum prompt_result insert(struct prompt *prompt, uint32_t key)
{
	char bytes[4];
	size_t n;

	if (key < ' ' || (key >= 0x7f && key < 0xa0) || key >= 0x110000 ||
		(key >= 0xd800 && key < 0xe000))
		return PROMPT_SAME;
	n = utf8_encode(key, bytes);
	if (prompt->len + n >= sizeof(prompt->text))
		return PROMPT_SAME;
	memmove(prompt->text + prompt->cursor + n, prompt->text + prompt->cursor,
		prompt->len - prompt->cursor + 1);
	memcpy(prompt->text + prompt->cursor, bytes, n);
	prompt->len += n;
	prompt->cursor += n;
	return PROMPT_CHANGED;
}

static size_t word_before(const struct prompt *prompt)
{
	size_t at = prompt->cursor;

	while (at > 0 && prompt->text[at - 1] == ' ')
		at--;
	while (at > 0 && prompt->text[at - 1] != ' ')
		at--;
	return at;
}

enum prompt_result prompt_key(struct prompt *prompt, uint32_t key)
{
	switch (key) {
	case INPUT_ENTER:
		return PROMPT_DONE;
	case INPUT_ESCAPE:
	case INPUT_CTRL('G'):
		return PROMPT_CANCELLED;
	case INPUT_BACKSPACE:
		/* In an empty line, backspace leaves the prompt, as in vi and less. */
		if (!prompt->len)
			return PROMPT_CANCELLED;
		return cut(prompt, before(prompt, prompt->cursor), prompt->cursor);
	case INPUT_DELETE:
	case INPUT_CTRL('D'):
		return cut(prompt, prompt->cursor, after(prompt, prompt->cursor));
	case INPUT_CTRL('U'):
		return cut(prompt, 0, prompt->cursor);
	case INPUT_CTRL('K'):
		return cut(prompt, prompt->cursor, prompt->len);
	case INPUT_CTRL('W'):
		return cut(prompt, word_before(prompt), prompt->cursor);
	case INPUT_LEFT:
	case INPUT_CTRL('B'):
		prompt->cursor = before(prompt, prompt->cursor);
		return PROMPT_SAME;
	case INPUT_RIGHT:
	case INPUT_CTRL('F'):
		prompt->cursor = after(prompt, prompt->cursor);
		return PROMPT_SAME;
	case INPUT_HOME:
	case INPUT_CTRL('A'):
		prompt->cursor = 0;
		return PROMPT_SAME;
	case INPUT_END:
	case INPUT_CTRL('E'):
		prompt->cursor = prompt->len;
		return PROMPT_SAME;
	default:
		return insert(prompt, key);
	}
}

void prompt_draw(const struct prompt *prompt, struct canvas *canvas, int y)
{
	char head[PROMPT_MAX];
	const char *text = prompt->text;
	int x, room, cursor;

	canvas_fill(canvas, 0, y, canvas->width, ' ', STYLE_INPUT);
	x = 1 + canvas_text(canvas, 1, y, canvas->width - 1, STYLE_KEY, prompt->label);
	room = canvas->width - x - 1;
	memcpy(head, text, prompt->cursor);
	head[prompt->cursor] = '\0';
	cursor = width_of(head);
	/* Cut a long text at the left, so that the cursor stays visible. */
	while (cursor > room && *text) {
		size_t step = after(prompt, (size_t)(text - prompt->text)) -
			(size_t)(text - prompt->text);

		text += step;
		memcpy(head, text, prompt->cursor - (size_t)(text - prompt->text));
		head[prompt->cursor - (size_t)(text - prompt->text)] = '\0';
		cursor = width_of(head);
	}
	canvas_text(canvas, x, y, room + 1, STYLE_INPUT, text);
	if (x + cursor < canvas->width) {
		if (prompt->cursor == prompt->len)
			canvas_glyph(canvas, x + cursor, y, 0x2588, STYLE_INPUT);
		else
			canvas_restyle(canvas, x + cursor, y, 1, STYLE_MATCH);
	}
}
