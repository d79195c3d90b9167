/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bytes.c - reads numbers and strings from bytes, never beyond their end.
 */
#include "symbols/dwarf/private.h"

#include <errno.h>
#include <stdlib.h>

void dwarf_skip(struct dwarf_cursor *cursor, uint64_t len)
{
	if (len > (uint64_t)(cursor->end - cursor->at)) {
		cursor->at = cursor->end;
		cursor->bad = true;
	} else {
		cursor->at += len;
	}
}

uint64_t dwarf_get(struct dwarf_cursor *cursor, unsigned int width)
{
	uint64_t value = 0;

	if (width > (uint64_t)(cursor->end - cursor->at)) {
		cursor->at = cursor->end;
		cursor->bad = true;
		return 0;
	}
	const uint8_t *at = cursor->at;
	cursor->at += width;
	if (cursor->swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__))
		for (unsigned int i = 0; i < width; i++)
			value = value << 8 | at[i];
	else
		for (unsigned int i = width; i > 0; i--)
			value = value << 8 | at[i - 1];
	return value;
}

uint64_t dwarf_get_uleb(struct dwarf_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; cursor->at < cursor->end; shift += 7) {
		uint8_t byte = *cursor->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->bad = true;
	return 0;
}

int64_t dwarf_get_sleb(struct dwarf_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; cursor->at < cursor->end;) {
		uint8_t byte = *cursor->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (byte & 0x40 && shift < 64)
			value |= UINT64_MAX << shift;
		return (int64_t)value;
	}
	cursor->bad = true;
	return 0;
}

const char *dwarf_get_string(struct dwarf_cursor *cursor)
{
	const char *text = (const char *)cursor->at;
	const uint8_t *nul = memchr(cursor->at, 0, (size_t)(cursor->end - cursor->at));

	if (!nul) {
		cursor->at = cursor->end;
		cursor->bad = true;
		return "";
	}
	cursor->at = nul + 1;
	return text;
}

unsigned int dwarf_get_length(struct dwarf_cursor *cursor)
{
	unsigned int width = 4;

	uint64_t len = dwarf_get(cursor, 4);
	if (len == 0xffffffff) {
		width = 8;
		len = dwarf_get(cursor, 8);
	} else if (len >= 0xfffffff0) {
		cursor->bad = true;
	}
	if (cursor->bad || len > (uint64_t)(cursor->end - cursor->at)) {
		cursor->bad = true;
		return 0;
	}
	cursor->end = cursor->at + len;
	return width;
}
