// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_text.c - a width, then any bytes as the name of a symbol, a file or a command.
 *
 * The shown text is valid UTF-8 without control characters, and no wider than its column.
 */
#include "tui/base/clean.h"
#include "tui/base/shorten.h"
#include "tui/base/width.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the length of a displayable character, else 0. */
static size_t shown_len(const uint8_t *at)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const size_t len = *at < 0x80  ? 1
		: (*at & 0xe0) == 0xc0 ? 2
		: (*at & 0xf0) == 0xe0 ? 3
		: (*at & 0xf8) == 0xf0 ? 4
				       : 0;
	uint32_t code = len == 1 ? *at : len ? *at & (0x7fu >> len) : 0;

	for (size_t i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < ' ' || (code >= 0x7f && code < 0xa0) || code < least[len] ||
		(code >= 0xd800 && code < 0xe000) || code > 0x10ffff ||
		(code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
		return 0;
	return len;
}

static void check_text(const char *text)
{
	size_t len;

	for (const uint8_t *at = (const uint8_t *)text; *at; at += len) {
		len = shown_len(at);
		if (!len)
			abort();
	}
}

static void check_shortened(
	const char *(*shorten)(char *, const char *, int), const char *name, int width)
{
	char out[SHORTEN_MAX];
	const char *shown = shorten(out, name, width);

	if (strnlen(shown, SHORTEN_MAX) == SHORTEN_MAX)
		abort();
	check_text(shown);
	if (width_of(shown) > width)
		abort();
}

static void check_pieces(const char *name, int width)
{
	const size_t prefix = width_prefix(name, width), fit = width_fit(name, width);

	if (prefix > strlen(name) || fit > strlen(name) || (*name && !fit))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char clean[4096], again[sizeof(clean)];
	int width;

	if (size < 2)
		return 0;
	width = data[0] ? data[0] : 1;
	size_t len =
		clean_text(clean, data[1] ? sizeof(clean) : 16, (const char *)data + 2, size - 2);
	if (len != strlen(clean))
		abort();
	check_text(clean);
	clean_string(again, sizeof(again), clean);
	if (strcmp(clean, again) != 0)
		abort();
	check_shortened(shorten_symbol, clean, width);
	check_shortened(shorten_file, clean, width);
	check_shortened(shorten_command, clean, width);
	check_pieces(clean, width);
	return 0;
}
