/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrows.c - see arrows.h.
 */
#include "tui/views/arrows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_MAX 1000 /* rows; longer lines are drawn only while their jump is selected */

struct jump {
	uint32_t from, to, span;
};

static int by_span(const void *left, const void *right)
{
	const struct jump *a = left, *b = right;

	if (a->span != b->span)
		return a->span < b->span ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static bool is_free(const struct arrows *arrows, const struct jump *jump, int level)
{
	uint32_t low = jump->from < jump->to ? jump->from : jump->to;

	for (uint32_t row = low; row <= low + jump->span; row++) {
		uint32_t owner = arrows->owners[row][level];

		if (owner && owner != jump->to + 1)
			return false;
	}
	return true;
}

static void place(struct arrows *arrows, const struct jump *jump)
{
	uint32_t low = jump->from < jump->to ? jump->from : jump->to;
	int level = 0;

	while (level < ARROWS_LEVELS && !is_free(arrows, jump, level))
		level++;
	arrows->level[jump->from] = (uint8_t)level;
	if (level == ARROWS_LEVELS)
		return;
	for (uint32_t row = low; row <= low + jump->span; row++)
		arrows->owners[row][level] = jump->to + 1;
	if (level >= arrows->levels)
		arrows->levels = level + 1;
}

int arrows_make(struct arrows *arrows, const struct annotate_row *rows, size_t n)
{
	struct jump *jumps;
	size_t n_jumps = 0;

	arrows_fini(arrows);
	if (!n)
		return 0;
	arrows->owners = calloc(n, sizeof(*arrows->owners));
	arrows->level = malloc(n);
	jumps = malloc(n * sizeof(*jumps));
	if (!arrows->owners || !arrows->level || !jumps) {
		free(jumps);
		arrows_fini(arrows);
		return -ENOMEM;
	}
	arrows->n = n;
	memset(arrows->level, ARROWS_LEVELS, n);
	for (size_t i = 0; i < n; i++) {
		uint32_t from = (uint32_t)i, to = rows[i].target_row - 1;

		if (!rows[i].target_row || rows[i].target_row > n || to == from)
			continue;
		jumps[n_jumps] = (struct jump){from, to, from < to ? to - from : from - to};
		n_jumps += jumps[n_jumps].span <= SPAN_MAX;
	}
	qsort(jumps, n_jumps, sizeof(*jumps), by_span);
	for (size_t i = 0; i < n_jumps; i++)
		place(arrows, &jumps[i]);
	/* A selected jump needs a column even if no jump has a line. */
	if (arrows->levels == 0)
		for (size_t i = 0; i < n && !arrows->levels; i++)
			arrows->levels = rows[i].target_row != 0;
	free(jumps);
	return 0;
}

void arrows_fini(struct arrows *arrows)
{
	free(arrows->owners);
	free(arrows->level);
	*arrows = (struct arrows){.n = 0};
}

static uint32_t owner_at(const struct arrows *arrows, size_t row, int level)
{
	return row < arrows->n ? arrows->owners[row][level] : 0;
}

static uint32_t corner(bool up, bool down, bool end)
{
	if (!end)
		return 0x2502; /* │ */
	if (up && down)
		return 0x251c; /* ├ */
	return up ? 0x2514 : 0x250c; /* └ ┌ */
}

/* The line of the selected jump, even if it has no column of its own. */
struct bright {
	bool here; /* crosses this row */
	bool end;
	size_t low, high;
	int level;
};

static struct bright find_bright(const struct arrows *arrows, const struct annotate_row *rows,
	size_t row, size_t selected, int levels)
{
	struct bright bright = {.here = false};
	size_t to;

	if (selected >= arrows->n || !rows[selected].target_row ||
		rows[selected].target_row > arrows->n || rows[selected].target_row == selected + 1)
		return bright;
	to = rows[selected].target_row - 1;
	bright.low = selected < to ? selected : to;
	bright.high = selected < to ? to : selected;
	bright.level = arrows->level[selected] < levels ? arrows->level[selected] : levels - 1;
	bright.here = row >= bright.low && row <= bright.high;
	bright.end = row == selected || row == to;
	return bright;
}

void arrows_draw(const struct arrows *arrows, const struct annotate_row *rows, size_t row,
	size_t selected, int levels, struct canvas *canvas, int x, int y)
{
	struct bright bright;
	enum style style = STYLE_BORDER, run = STYLE_BORDER;
	bool running = false, into = false, out = false;

	if (row >= arrows->n || levels <= 0)
		return;
	bright = find_bright(arrows, rows, row, selected, levels);
	for (int level = levels - 1; level >= 0; level--) {
		uint32_t owner = owner_at(arrows, row, level), glyph;
		bool up, down, end;

		style = STYLE_BORDER;
		if (bright.here && bright.level == level) {
			style = STYLE_ACCENT;
			/* Other jumps may share the line; only the selected part is bright. */
			up = row > bright.low ||
				(owner && owner_at(arrows, row - 1, level) == owner);
			down = row < bright.high ||
				(owner && owner_at(arrows, row + 1, level) == owner);
			end = bright.end;
		} else {
			up = owner && row > 0 && owner_at(arrows, row - 1, level) == owner;
			down = owner && owner_at(arrows, row + 1, level) == owner;
			end = owner && (owner == row + 1 || arrows->level[row] == level);
		}
		glyph = owner || style == STYLE_ACCENT ? corner(up, down, end) : 0;
		if (glyph) {
			if (running && !end)
				glyph = 0x253c; /* ┼ */
			canvas_glyph(canvas, x, y, glyph, style);
		} else if (running) {
			canvas_glyph(canvas, x, y, 0x2500, run);
		}
		if (glyph && end) {
			running = true;
			run = style == STYLE_ACCENT ? style : run;
			into |= owner == row + 1 ||
				(style == STYLE_ACCENT && rows[selected].target_row == row + 1);
			out = true;
		}
		x++;
	}
	if (into)
		canvas_glyph(canvas, x, y, 0x25b8, run); /* ▸ */
	else if (out)
		canvas_glyph(canvas, x, y, 0x2500, run);
}
