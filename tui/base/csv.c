/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.c - see csv.h.
 */
#include "tui/base/csv.h"

#include <stddef.h>
#include <string.h>

/* Returns true for a number in any locale: -5, +0.25, -1e9. */
static bool is_number(const char *text)
{
	static const char digits[] = "0123456789";
	size_t n;

	text += *text == '-' || *text == '+';
	n = strspn(text, digits);
	if (!n)
		return false;
	text += n;
	if (*text == '.') {
		n = strspn(++text, digits);
		if (!n)
			return false;
		text += n;
	}
	if (*text == 'e' || *text == 'E') {
		text++;
		text += *text == '-' || *text == '+';
		n = strspn(text, digits);
		if (!n)
			return false;
		text += n;
	}
	return !*text;
}

bool csv_is_formula(const char *text)
{
	/* U+FF1D, U+FF0B, U+FF0D, U+FF20: some spreadsheets read these as = + - @. */
	static const char *const wide[] = {
		"\357\274\235", "\357\274\213", "\357\274\215", "\357\274\240"};

	if (*text && strchr("=+-@\t\r", *text))
		return !is_number(text);
	for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
		if (!strncmp(text, wide[i], strlen(wide[i])))
			return true;
	return false;
}

/* In locales that separate lists by semicolons, a spreadsheet ends a cell at one. */
static bool begins_formula(const char *text)
{
	return *text == ';' && csv_is_formula(text + 1);
}

void csv_put_text(FILE *out, const char *text, struct csv_style style)
{
	bool formula = !style.raw && csv_is_formula(text);
	bool quoted = formula || strpbrk(text, ",\"\r\n\t");

	if (quoted)
		fputs(formula ? "\"'" : "\"", out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(!style.raw && begins_formula(text) ? ':' : *text, out);
	}
	if (quoted)
		fputc('"', out);
}

void csv_end_row(FILE *out, struct csv_style style)
{
	fputs(style.crlf ? "\r\n" : "\n", out);
}
