/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clean.c - strings from outside become valid UTF-8 without anything a terminal could obey.
 *
 * Pure functions; any thread.
 */
#include "tui/clean.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the well-formed UTF-8 character at text (RFC 3629), or 0. */
static size_t utf8_decode(const unsigned char *text, size_t len, uint32_t *glyph)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t need;
	uint32_t value;

	if (text[0] < 0x80) {
		*glyph = text[0];
		return 1;
	}
	if ((text[0] & 0xe0) == 0xc0) {
		need = 2;
		value = text[0] & 0x1fu;
	} else if ((text[0] & 0xf0) == 0xe0) {
		need = 3;
		value = text[0] & 0x0fu;
	} else if ((text[0] & 0xf8) == 0xf0) {
		need = 4;
		value = text[0] & 0x07u;
	} else {
		return 0;
	}
	if (len < need)
		return 0;
	for (size_t i = 1; i < need; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (text[i] & 0x3fu);
	}
	if (value < smallest[need] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*glyph = value;
	return need;
}

/* What moves the cursor, starts a sequence, ends a line, or shows text in another order than it has. */
static bool is_control(uint32_t glyph)
{
	return glyph < 0x20 || (glyph >= 0x7f && glyph <= 0x9f) || glyph == 0x061c ||
		glyph == 0x200e || glyph == 0x200f || (glyph >= 0x2028 && glyph <= 0x202e) ||
		(glyph >= 0x2066 && glyph <= 0x2069) || (glyph >= 0xe0000 && glyph <= 0xe007f);
}

size_t clean_text(char *out, size_t size, const char *text, size_t len)
{
	const unsigned char *in = (const unsigned char *)text;
	size_t used = 0, at = 0;

	if (!size)
		return 0;
	len = strnlen(text, len);
	while (at < len) {
		uint32_t glyph = 0;
		size_t bytes = utf8_decode(in + at, len - at, &glyph);

		if (!bytes || is_control(glyph)) {
			if (used + 1 >= size)
				break;
			out[used++] = '?';
			at += bytes ? bytes : 1;
			continue;
		}
		if (used + bytes >= size)
			break;
		memcpy(out + used, in + at, bytes);
		used += bytes;
		at += bytes;
	}
	out[used] = '\0';
	return used;
}

const char *clean_string(char *out, size_t size, const char *text)
{
	clean_text(out, size, text, SIZE_MAX);
	return out;
}
