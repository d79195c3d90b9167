/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expr.c - see expr.h.
 */
#include "tui/expr.h"

#include "sampler/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_MAX 256

struct parser {
	const char *text;
	size_t at;
	struct expr *expr;
	struct expr_error *error;
};

static int refuse(struct parser *parser, size_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct parser *parser, size_t at, const char *format, ...)
{
	va_list args;

	parser->error->at = at;
	va_start(args, format);
	vsnprintf(parser->error->what, sizeof(parser->error->what), format, args);
	va_end(args);
	return -EINVAL;
}

static void skip_blanks(struct parser *parser)
{
	parser->at += strspn(parser->text + parser->at, " \t");
}

static int add_term(struct parser *parser, const struct filter_term *term)
{
	struct expr *expr = parser->expr;
	struct filter_term *grown = reallocarray(expr->terms, expr->n + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	expr->terms = grown;
	grown[expr->n++] = *term;
	return 0;
}

/* One value, up to one of the ends; not empty. */
static int take_value(struct parser *parser, const char *ends, char out[VALUE_MAX])
{
	const char *text = parser->text;
	size_t len = 0, begin;

	skip_blanks(parser);
	begin = parser->at;
	if (text[parser->at] == '"') {
		for (parser->at++; text[parser->at] != '"'; parser->at++) {
			if (text[parser->at] == '\\' && text[parser->at + 1])
				parser->at++;
			if (!text[parser->at])
				return refuse(parser, begin, "the quotation is not ended");
			if (len + 1 < VALUE_MAX)
				out[len++] = text[parser->at];
		}
		parser->at++;
	} else {
		size_t n = strcspn(text + parser->at, ends);

		len = n;
		while (len && strchr(" \t", text[parser->at + len - 1]))
			len--;
		if (len >= VALUE_MAX)
			return refuse(parser, begin, "a value has at most %d bytes", VALUE_MAX - 1);
		memcpy(out, text + parser->at, len);
		parser->at += n;
	}
	out[len] = '\0';
	skip_blanks(parser);
	return len ? 0 : refuse(parser, begin, "a value is missing");
}

static int add_text(struct parser *parser, struct filter_term term, const char *value)
{
	int ret;

	term.text = strdup(value);
	if (!term.text)
		return -ENOMEM;
	ret = add_term(parser, &term);
	if (ret)
		free(term.text);
	return ret;
}

static int add_regex(struct parser *parser, struct filter_term term, const char *value, size_t at)
{
	char reason[96];
	int ret;

	term.regex = calloc(1, sizeof(*term.regex));
	if (!term.regex)
		return -ENOMEM;
	ret = regcomp(term.regex, value, REG_EXTENDED | REG_NOSUB);
	if (ret) {
		regerror(ret, term.regex, reason, sizeof(reason));
		free(term.regex);
		return refuse(parser, at, "not a regular expression: %s", reason);
	}
	ret = add_text(parser, term, value);
	if (ret) {
		regfree(term.regex);
		free(term.regex);
	}
	return ret;
}

static int add_cpus(struct parser *parser, struct filter_term term, const char *value, size_t at)
{
	size_t n, bad = 0;
	int *cpus, ret = proc_parse_cpu_list(value, &cpus, &n, &bad);

	if (ret == -EINVAL)
		return refuse(parser, at, "'%.60s' is not a list of CPUs such as 0-3,8", value);
	for (size_t i = 0; !ret && i < n; i++) {
		term.first = term.last = cpus[i];
		ret = add_term(parser, &term);
	}
	free(cpus);
	return ret;
}

static int add_id(struct parser *parser, struct filter_term term, const char *value, size_t at)
{
	char *end;
	long id;

	errno = 0;
	id = strtol(value, &end, 10);
	if (errno || end == value || *end || id < 0 || id > INT32_MAX)
		return refuse(parser, at, "'%.60s' is not a process or thread id", value);
	term.first = term.last = id;
	return add_term(parser, &term);
}

static int find_field(const char *name, size_t len)
{
	for (int i = 0; i < FILTER_FIELDS; i++) {
		const char *known = filter_field_name((enum filter_field)i);

		if (strlen(known) == len && !memcmp(known, name, len))
			return i;
	}
	return -1;
}

static int take_values(struct parser *parser, struct filter_term term)
{
	char value[VALUE_MAX];

	for (;;) {
		size_t at = parser->at;
		int ret = take_value(parser, "&|", value);

		if (ret)
			return ret;
		if (term.field == FILTER_CPU)
			ret = add_cpus(parser, term, value, at);
		else if (term.field == FILTER_PID || term.field == FILTER_TID)
			ret = add_id(parser, term, value, at);
		else
			ret = add_text(parser, term, value);
		if (ret || parser->text[parser->at] != '|')
			return ret;
		parser->at++;
	}
}

/* The symbol of any frame has the word in it. */
static int take_word(struct parser *parser, struct filter_term term)
{
	char value[VALUE_MAX], pattern[VALUE_MAX + 2];
	int ret = take_value(parser, "&", value);

	if (ret)
		return ret;
	term.field = FILTER_STACK;
	snprintf(pattern, sizeof(pattern), "*%s*", value);
	return add_text(parser, term, pattern);
}

static int take_term(struct parser *parser)
{
	struct filter_term term = {0};
	size_t begin, len, at;
	char value[VALUE_MAX];
	int field, ret;

	skip_blanks(parser);
	if (parser->text[parser->at] == '!') {
		term.negated = true;
		parser->at++;
		skip_blanks(parser);
	}
	begin = parser->at;
	len = strspn(parser->text + begin, "abcdefghijklmnopqrstuvwxyz");
	field = find_field(parser->text + begin, len);
	if (parser->text[begin + len] != '~' &&
		(parser->text[begin + len] != ':' || parser->text[begin + len + 1] == ':'))
		return take_word(parser, term);
	if (field < 0)
		return refuse(parser, begin,
			"there is no '%.*s': comm, pid, tid, cpu, image, symbol and stack can be "
			"asked for",
			(int)(len < 40 ? len : 40), parser->text + begin);
	term.field = (enum filter_field)field;
	parser->at = begin + len + 1;
	if (parser->text[begin + len] == ':')
		return take_values(parser, term);
	if (term.field == FILTER_PID || term.field == FILTER_TID || term.field == FILTER_CPU)
		return refuse(parser, begin + len, "numbers are given after ':'");
	skip_blanks(parser);
	at = parser->at;
	ret = take_value(parser, "&", value);
	return ret ? ret : add_regex(parser, term, value, at);
}

int expr_parse(struct expr *out, const char *text, struct expr_error *error)
{
	struct parser parser = {.text = text, .expr = out, .error = error};
	int ret;

	memset(out, 0, sizeof(*out));
	memset(error, 0, sizeof(*error));
	for (;;) {
		if (out->n_terms == EXPR_TERMS_MAX)
			ret = refuse(&parser, parser.at, "an expression has at most %d terms",
				EXPR_TERMS_MAX);
		else
			ret = take_term(&parser);
		if (ret)
			break;
		out->first[++out->n_terms] = out->n;
		if (!text[parser.at])
			return 0;
		if (text[parser.at] != '&') {
			ret = refuse(&parser, parser.at, "'&' is to stand between terms");
			break;
		}
		parser.at++;
	}
	expr_fini(out);
	return ret;
}

void expr_fini(struct expr *expr)
{
	for (size_t i = 0; i < expr->n; i++) {
		free(expr->terms[i].text);
		if (expr->terms[i].regex)
			regfree(expr->terms[i].regex);
		free(expr->terms[i].regex);
	}
	free(expr->terms);
	memset(expr, 0, sizeof(*expr));
}

int expr_filter(const struct expr *expr, const struct stacks *stacks, const struct tasks *tasks,
	struct names *names, struct filter **out)
{
	*out = NULL;
	for (size_t i = 0; i < expr->n_terms; i++) {
		struct filter *filter;
		int ret = filter_new(&filter, expr->terms + expr->first[i],
			expr->first[i + 1] - expr->first[i], stacks, tasks, names);

		if (ret) {
			filter_free(*out);
			*out = NULL;
			return ret;
		}
		*out = filter_and(*out, filter);
	}
	return 0;
}

char *expr_term(char *out, size_t size, bool negated, enum filter_field field, const char *text)
{
	bool quoted = !*text || strpbrk(text, "&|\"\\ \t");
	size_t len;

	len = (size_t)snprintf(out, size, "%s%s:%s", negated ? "!" : "", filter_field_name(field),
		quoted ? "\"" : "");
	for (; *text && len + 3 < size; text++) {
		if (strchr("\"\\", *text))
			out[len++] = '\\';
		out[len++] = *text;
	}
	if (quoted && len + 1 < size)
		out[len++] = '"';
	out[len < size ? len : size - 1] = '\0';
	return out;
}
