/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kallsyms.c - "ffffffff81000000 T _stext" and "ffffffffc0a01000 t nft_do_chain\t[nf_tables]".
 *
 * Skips lines that are no functions, too long or malformed.
 */
#include "symbols/wire/kallsyms.h"

#include <string.h>

void kallsyms_init(struct kallsyms *kallsyms, kallsyms_fn *fn, void *ctx)
{
	memset(kallsyms, 0, sizeof(*kallsyms));
	kallsyms->fn = fn;
	kallsyms->ctx = ctx;
	kallsyms->types = KALLSYMS_FUNCTIONS;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static void parse_line(struct kallsyms *kallsyms, const char *line, size_t len)
{
	struct kallsyms_symbol symbol = {0};
	const char *end = line + len, *p = line;
	int digit;

	for (; p < end && (digit = hex_digit(*p)) >= 0; p++) {
		if (p - line == 16)
			return;
		symbol.address = symbol.address << 4 | (unsigned int)digit;
	}
	if (p == line || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return;
	symbol.type = p[1];
	if (!symbol.type || !strchr(kallsyms->types, symbol.type))
		return;

	symbol.name = p + 3;
	const char *tab = memchr(symbol.name, '\t', (size_t)(end - symbol.name));
	symbol.name_len = (size_t)((tab ? tab : end) - symbol.name);
	if (symbol.name_len == 0)
		return;
	if (tab && end - tab > 3 && tab[1] == '[' && end[-1] == ']') {
		symbol.module = tab + 2;
		symbol.module_len = (size_t)(end - 1 - symbol.module);
	}
	kallsyms->functions++;
	kallsyms->shown |= symbol.address != 0;
	kallsyms->fn(&symbol, kallsyms->ctx);
}

void kallsyms_feed(struct kallsyms *kallsyms, const char *text, size_t len)
{
	while (len > 0) {
		const char *newline = memchr(text, '\n', len);
		size_t n = newline ? (size_t)(newline - text) : len;

		if (newline && kallsyms->len == 0 && !kallsyms->skipping) {
			if (n < sizeof(kallsyms->line))
				parse_line(kallsyms, text, n);
		} else {
			if (n >= sizeof(kallsyms->line) - kallsyms->len)
				kallsyms->skipping = true;
			if (!kallsyms->skipping) {
				memcpy(kallsyms->line + kallsyms->len, text, n);
				kallsyms->len += n;
			}
			if (newline)
				kallsyms_end(kallsyms);
		}
		n += newline ? 1 : 0;
		text += n;
		len -= n;
	}
}

void kallsyms_end(struct kallsyms *kallsyms)
{
	if (kallsyms->len && !kallsyms->skipping)
		parse_line(kallsyms, kallsyms->line, kallsyms->len);
	kallsyms->len = 0;
	kallsyms->skipping = false;
}
