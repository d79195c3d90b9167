/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.c - see columns.h.
 */
#include "tui/views/columns.h"

#include <stddef.h>
#include <string.h>

#define SYMBOL_WANTED 30
#define SYMBOL_LEAST 14
#define BAR_WIDTH 4
#define SHARE_WIDTH 6
#define SAMPLES_WIDTH 8
#define TREND_WIDTH 10
#define SAMPLES_FROM 110 /* least width of the screen */
#define IMAGE_LEAST 8
#define IMAGE_MOST 30
#define GROUPED_LEAST 16
#define GAP 2

static int clamp(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

static int used(const struct column *column, int gap)
{
	return column->width ? column->width + gap : 0;
}

static int left_part(const struct columns *c)
{
	int width = 1 + used(&c->bar, 1) + used(&c->self, GAP) + used(&c->total, GAP) +
		used(&c->samples, GAP) + used(&c->trend, GAP);

	for (int i = 0; i < c->n_events; i++)
		width += used(&c->events[i], GAP);
	return width;
}

static int symbol_room(const struct columns *c, int width)
{
	return width - left_part(c) - (c->image.width ? c->image.width + GAP : 0) - 1;
}

static void place(struct columns *c, int width)
{
	struct column *order[] = {&c->bar, &c->self, &c->total, &c->samples, &c->trend};
	int x = 1;

	c->symbol.width = symbol_room(c, width);
	if (c->symbol.width < 1)
		c->symbol.width = 1;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		order[i]->x = x;
		x += used(order[i], order[i] == &c->bar ? 1 : GAP);
	}
	for (int i = 0; i < c->n_events; i++) {
		c->events[i].x = x;
		x += used(&c->events[i], GAP);
	}
	c->symbol.x = x;
	c->image.x = x + c->symbol.width + GAP;
}

static void shrink_image(struct columns *c, int width)
{
	int missing = SYMBOL_WANTED - symbol_room(c, width);

	if (missing > 0)
		c->image.width = clamp(c->image.width - missing, IMAGE_LEAST, IMAGE_MOST);
	if (symbol_room(c, width) < SYMBOL_LEAST)
		c->image.width = 0;
}

void columns_layout(struct columns *c, int width)
{
	memset(c, 0, sizeof(*c));
	c->bar.width = BAR_WIDTH;
	c->self.width = SHARE_WIDTH;
	c->total.width = SHARE_WIDTH;
	c->samples.width = width >= SAMPLES_FROM ? SAMPLES_WIDTH : 0;
	c->trend.width = TREND_WIDTH;
	c->image.width = clamp(width / 6, IMAGE_LEAST, IMAGE_MOST);
	if (symbol_room(c, width) < SYMBOL_WANTED)
		c->samples.width = 0;
	if (symbol_room(c, width) < SYMBOL_WANTED)
		c->trend.width = 0;
	if (symbol_room(c, width) < SYMBOL_WANTED)
		c->bar.width = 0;
	shrink_image(c, width);
	if (symbol_room(c, width) < SYMBOL_LEAST)
		c->total.width = 0;
	place(c, width);
}

void columns_layout_grouped(struct columns *c, int width, bool total, bool change, int beside)
{
	memset(c, 0, sizeof(*c));
	c->bar.width = BAR_WIDTH;
	c->self.width = SHARE_WIDTH;
	c->total.width = total ? SHARE_WIDTH : 0;
	c->samples.width = SAMPLES_WIDTH;
	c->trend.width = change ? TREND_WIDTH : 0;
	c->image.width = beside;
	if (symbol_room(c, width) < GROUPED_LEAST)
		c->samples.width = 0;
	if (symbol_room(c, width) < GROUPED_LEAST)
		c->bar.width = 0;
	if (symbol_room(c, width) < GROUPED_LEAST)
		c->image.width = 0;
	if (symbol_room(c, width) < SYMBOL_LEAST)
		c->trend.width = 0;
	if (symbol_room(c, width) < SYMBOL_LEAST)
		c->total.width = 0;
	place(c, width);
}

void columns_layout_events(struct columns *c, int width, const int *wants, int n)
{
	memset(c, 0, sizeof(*c));
	c->bar.width = BAR_WIDTH;
	c->image.width = clamp(width / 6, IMAGE_LEAST, IMAGE_MOST);
	for (int i = 0; i < n && i < COLUMNS_EVENTS_MAX; i++) {
		c->events[i].width = clamp(wants[i], SHARE_WIDTH + 1, 14);
		c->n_events = i + 1;
		if (i > 0 && symbol_room(c, width) < SYMBOL_WANTED) {
			c->events[i].width = 0;
			c->n_events = i;
			break;
		}
	}
	if (symbol_room(c, width) < SYMBOL_WANTED)
		c->bar.width = 0;
	shrink_image(c, width);
	place(c, width);
}
