/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clean.c - turns outside strings into valid UTF-8 without anything a terminal could obey.
 *
 * Pure functions; any thread.
 */
#include "tui/base/clean.h"

#include "tui/base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Returns true for characters that move the cursor, start a sequence, end a line, reorder text, or
 * are invisible.  These are controls, Default_Ignorable_Code_Point of Unicode 15, its other format
 * characters, and blank letters. */
static bool is_hidden(uint32_t glyph)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x7f, 0x9f}, {0xad, 0xad}, /* soft hyphen */
		{0x34f, 0x34f}, /* grapheme joiner */
		{0x61c, 0x61c}, /* Arabic letter mark */
		{0x115f, 0x1160}, /* Hangul fillers */
		{0x17b4, 0x17b5}, /* Khmer inherent vowels */
		{0x180b, 0x180f}, /* Mongolian selectors, vowel separator */
		{0x200b, 0x200f}, /* zero width, direction marks */
		{0x2028, 0x202e}, /* line ends, embeddings */
		{0x2060, 0x206f}, /* joiners, invisible operators, isolates */
		{0x2800, 0x2800}, /* blank Braille pattern */
		{0x3164, 0x3164}, /* Hangul filler */
		{0xfe00, 0xfe0f}, /* variation selectors */
		{0xfeff, 0xfeff}, /* byte order mark */
		{0xffa0, 0xffa0}, /* halfwidth Hangul filler */
		{0xfff0, 0xfffb}, /* annotations */
		{0x13430, 0x1343f}, /* hieroglyph format controls */
		{0x1bca0, 0x1bca3}, /* shorthand format controls */
		{0x1d159, 0x1d159}, /* null notehead */
		{0x1d173, 0x1d17a}, /* musical format controls */
		{0xe0000, 0xe0fff}, /* tags, variation selectors */
	};

	if (glyph < 0x20)
		return true;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges) && glyph >= ranges[i].first; i++)
		if (glyph <= ranges[i].last)
			return true;
	return false;
}

size_t clean_text(char *out, size_t size, const char *text, size_t len)
{
	size_t used = 0, at = 0;

	if (!size)
		return 0;
	len = strnlen(text, len);
	while (at < len) {
		uint32_t glyph = 0;
		size_t bytes = utf8_decode(text + at, len - at, &glyph);

		if (!bytes || is_hidden(glyph)) {
			if (used + 1 >= size)
				break;
			out[used++] = '?';
			at += bytes ? bytes : 1;
			continue;
		}
		if (used + bytes >= size)
			break;
		memcpy(out + used, text + at, bytes);
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

const char *clean_path(char out[CLEAN_PATH_BYTES], const char *path)
{
	static const char cut[] = "...";
	const size_t len = strlen(path), room = CLEAN_PATH_BYTES - sizeof(cut);

	if (len < CLEAN_PATH_BYTES)
		return clean_string(out, CLEAN_PATH_BYTES, path);
	path += len - room;
	/* A cut inside a character skips its rest, at most three bytes of UTF-8. */
	for (unsigned int i = 0; i < 3 && (*path & 0xc0) == 0x80; i++)
		path++;
	strcpy(out, cut);
	clean_string(out + strlen(cut), CLEAN_PATH_BYTES - strlen(cut), path);
	return out;
}
