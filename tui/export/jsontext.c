/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jsontext.c - see jsontext.h.
 */
#include "tui/export/jsontext.h"

#include <inttypes.h>

void jsontext_string(FILE *out, const char *text)
{
	putc_unlocked('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20)
			fprintf(out, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else
			putc_unlocked(c, out);
	}
	putc_unlocked('"', out);
}

void jsontext_member(FILE *out, const char *key, const char *text)
{
	fprintf(out, "\"%s\":", key);
	jsontext_string(out, text);
}

void jsontext_strings(FILE *out, const char *key, char *const *texts, size_t n)
{
	fprintf(out, "\"%s\":[", key);
	for (size_t i = 0; i < n; i++) {
		if (i)
			putc(',', out);
		jsontext_string(out, texts[i]);
	}
	putc(']', out);
}

void jsontext_ms(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
}
