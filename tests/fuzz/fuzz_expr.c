// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_expr.c - a filter's expression, a newline, then a symbol's name.
 *
 * An error is located within the text, and the name reads back as an unchanged term.
 */
#include "tui/names/called.h"
#include "tui/query/expr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_MAX 256 /* longer values are refused */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *copy_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static void check_term(const char *name, bool negated)
{
	const bool fits = *name && strlen(name) < VALUE_MAX;
	char term[2 * VALUE_MAX + 64];
	struct expr_error error;
	struct expr expr;

	expr_term(term, sizeof(term), negated, FILTER_SYMBOL, name);
	if (strnlen(term, sizeof(term)) == sizeof(term))
		abort();
	if (!fits || expr_parse(&expr, term, &error) == -ENOMEM)
		return;
	if (expr.n_terms != 1 || expr.n != 1 || expr.terms[0].negated != negated ||
		expr.terms[0].field != FILTER_SYMBOL || strcmp(expr.terms[0].text, name) != 0)
		abort();
	expr_fini(&expr);
}

static void check_expr(const char *text, const char *name)
{
	const struct symref symref = {.symbol = name};
	char described[64];
	struct expr_error error;
	struct expr expr;
	int ret = expr_parse(&expr, text, &error);

	if (ret) {
		if (ret == -EINVAL && (error.at > strlen(text) || !*error.what))
			abort();
		return;
	}
	if (!expr.n_terms || expr.n_terms > EXPR_TERMS_MAX || expr.first[expr.n_terms] != expr.n)
		abort();
	filter_describe(expr.terms, expr.n, described, sizeof(described));
	if (strnlen(described, sizeof(described)) == sizeof(described))
		abort();
	for (size_t i = 0; i < expr.n; i++)
		if (expr.terms[i].text && !expr.terms[i].regex)
			(void)called(expr.terms[i].text, &symref, CALLED_LAST);
	(void)expr_check_fields(&expr, NULL, 0, &error);
	expr_fini(&expr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = memchr(data, '\n', size);
	const size_t len = newline ? (size_t)(newline - data) : size;
	char *text = copy_text(data, len);
	char *name = copy_text(data + len + !!newline, size - len - !!newline);

	/* Nested repeats make glibc's regular expressions take unlimited memory. */
	if (!strchr(text, '{'))
		check_expr(text, name);
	check_term(name, size & 1);
	free(text);
	free(name);
	return 0;
}
