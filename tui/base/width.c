/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * width.c - see width.h.
 */
#include "tui/base/width.h"

#include "tui/base/utf8.h"

#include <limits.h>
#include <stdbool.h>

struct range {
	uint32_t first, last;
};

/* The part of Unicode's East Asian Width and general category that command and symbol names use. */
static const struct range combining[] = {
	{0x0300, 0x036f},
	{0x0483, 0x0489},
	{0x0591, 0x05bd},
	{0x0610, 0x061a},
	{0x064b, 0x065f},
	{0x0900, 0x0902},
	{0x093c, 0x093c},
	{0x0941, 0x0948},
	{0x0e31, 0x0e31},
	{0x0e34, 0x0e3a},
	{0x1ab0, 0x1aff},
	{0x1dc0, 0x1dff},
	{0x200b, 0x200f},
	{0x202a, 0x202e},
	{0x2060, 0x206f},
	{0x20d0, 0x20ff},
	{0x3099, 0x309a},
	{0xfe00, 0xfe0f},
	{0xfe20, 0xfe2f},
	{0xfeff, 0xfeff},
	{0x1f3fb, 0x1f3ff},
	{0xe0000, 0xe0fff},
};

static const struct range wide[] = {
	{0x1100, 0x115f},
	{0x231a, 0x231b},
	{0x23e9, 0x23ec},
	{0x2e80, 0x303e},
	{0x3041, 0x33ff},
	{0x3400, 0x4dbf},
	{0x4e00, 0x9fff},
	{0xa000, 0xa4cf},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x1f300, 0x1f3fa},
	{0x1f400, 0x1f64f},
	{0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff},
	{0x20000, 0x3fffd},
};

static bool in_ranges(const struct range *ranges, size_t n, uint32_t glyph)
{
	for (size_t i = 0; i < n && ranges[i].first <= glyph; i++) {
		if (glyph <= ranges[i].last)
			return true;
	}
	return false;
}

int width_of_glyph(uint32_t glyph)
{
	if (glyph < 0x300)
		return 1;
	if (in_ranges(combining, sizeof(combining) / sizeof(*combining), glyph))
		return 0;
	return in_ranges(wide, sizeof(wide) / sizeof(*wide), glyph) ? 2 : 1;
}

uint32_t width_next_glyph(const char **text)
{
	uint32_t glyph = (unsigned char)**text;
	size_t bytes = 1;

	if (!glyph)
		return 0;
	if (glyph >= 0x80) {
		bytes = utf8_decode(*text, 4, &glyph);
		if (!bytes) {
			bytes = 1;
			glyph = 0xfffd;
		}
	}
	*text += bytes;
	return glyph;
}

int width_of(const char *text)
{
	int width = 0;
	uint32_t glyph;

	while ((glyph = width_next_glyph(&text)) && width < INT_MAX - 2)
		width += width_of_glyph(glyph);
	return width;
}

size_t width_prefix(const char *text, int width)
{
	const char *at = text;

	while (*at) {
		const char *next = at;

		width -= width_of_glyph(width_next_glyph(&next));
		if (width < 0)
			break;
		at = next;
	}
	return (size_t)(at - text);
}

size_t width_fit(const char *text, int width)
{
	const char *at = text, *blank = NULL;
	int used = 0;

	while (*at) {
		const char *next = at;
		uint32_t glyph = width_next_glyph(&next);

		used += width_of_glyph(glyph);
		if (used > width && at > text)
			return (size_t)((blank ? blank : at) - text);
		if (glyph == ' ')
			blank = next;
		at = next;
	}
	return (size_t)(at - text);
}
