/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * utf8.c - see utf8.h.
 */
#include "tui/base/utf8.h"

size_t utf8_decode(const char *text, size_t len, uint32_t *glyph)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *at = (const unsigned char *)text;
	size_t need;
	uint32_t value;

	if (!len)
		return 0;
	if (at[0] < 0x80) {
		*glyph = at[0];
		return 1;
	}
	if ((at[0] & 0xe0) == 0xc0) {
		need = 2;
		value = at[0] & 0x1fu;
	} else if ((at[0] & 0xf0) == 0xe0) {
		need = 3;
		value = at[0] & 0x0fu;
	} else if ((at[0] & 0xf8) == 0xf0) {
		need = 4;
		value = at[0] & 0x07u;
	} else {
		return 0;
	}
	if (len < need)
		return 0;
	for (size_t i = 1; i < need; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (at[i] & 0x3fu);
	}
	if (value < smallest[need] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*glyph = value;
	return need;
}

size_t utf8_encode(uint32_t glyph, char out[4])
{
	if (glyph < 0x80) {
		out[0] = (char)glyph;
		return 1;
	}
	if (glyph < 0x800) {
		out[0] = (char)(0xc0 | glyph >> 6);
		out[1] = (char)(0x80 | (glyph & 0x3f));
		return 2;
	}
	if (glyph < 0x10000) {
		out[0] = (char)(0xe0 | glyph >> 12);
		out[1] = (char)(0x80 | (glyph >> 6 & 0x3f));
		out[2] = (char)(0x80 | (glyph & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | glyph >> 18);
	out[1] = (char)(0x80 | (glyph >> 12 & 0x3f));
	out[2] = (char)(0x80 | (glyph >> 6 & 0x3f));
	out[3] = (char)(0x80 | (glyph & 0x3f));
	return 4;
}
