/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expr.c - see expr.h.
 */
#include "tui/query/expr.h"

#include "sampler/machine/proc.h"
#include "tui/base/grow.h"
#include "tui/query/field_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_MAX 256
#define REGEX_COST_MAX 1000u /* characters, including the copies by repetitions */
#define REGEX_DEPTH_MAX 32u

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

	if (grow_exact(&expr->terms, expr->n + 1, sizeof(*expr->terms)))
		return -ENOMEM;
	expr->terms[expr->n++] = *term;
	return 0;
}

/* Takes one value, up to one of the ends.  An empty value is an error. */
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

/* Adds a term with copies of value and of the field's name. */
static int add_text(struct parser *parser, struct filter_term term, const char *value)
{
	int ret = -ENOMEM;

	term.text = strdup(value);
	if (term.field_name)
		term.field_name = strdup(term.field_name);
	if (term.text && (term.field_name || term.field != FILTER_SAMPLE_FIELD))
		ret = add_term(parser, &term);
	if (ret) {
		free(term.text);
		free(term.field_name);
	}
	return ret;
}

/* Parses a number as C writes it, or a range of numbers: -3, 0x10, 100-200. */
static void take_range(struct filter_term *term, const char *value)
{
	char *end;

	errno = 0;
	term->first = term->last = strtoll(value, &end, 0);
	if (end == value || errno)
		return;
	if (*end == '-' && end[1]) {
		value = end + 1;
		term->last = strtoll(value, &end, 0);
	}
	term->has_range = !*end && end != value && !errno;
}

/* Returns the end of a bracket expression that begins at text: its ']', or the last byte. */
static const char *skip_brackets(const char *text)
{
	text++;
	if (*text == '^')
		text++;
	/* A ']' at the beginning is literal, and "[:" to ":]" is a class. */
	for (bool first = true; *text && (first || *text != ']'); first = false) {
		const char *class_end =
			*text == '[' && text[1] == ':' ? strstr(text + 2, ":]") : NULL;
		text = class_end ? class_end + 2 : text + 1;
	}
	return *text ? text : text - 1;
}

/* Returns how often the repetition at text copies its operand; 0 if there is no repetition.  *end:
 * its last byte. */
static uint64_t read_repetition(const char *text, const char **end)
{
	char *after = NULL;
	uint64_t most = 2;

	*end = text;
	if (*text == '*' || *text == '+' || *text == '?')
		return 2;
	if (*text != '{')
		return 0;
	while (*text && *text != '}') {
		const uint64_t number = strtoull(text + 1, &after, 10);
		most = number > most ? number : most;
		text = after > text + 1 ? after : text + 1;
	}
	*end = *text ? text : text - 1;
	return most <= REGEX_COST_MAX ? most : REGEX_COST_MAX + 1;
}

/* Nested copies in regcomp(3) could take all memory and time; so could back-references in
 * regexec(3). */
static bool is_affordable(const char *regex)
{
	uint64_t sums[REGEX_DEPTH_MAX] = {0}, last = 0, copies;
	/* regcomp(3) links all copies of an operand that can be empty, so these cost the square.
	 * empties: by open group; empty: the last operand. */
	bool empties[REGEX_DEPTH_MAX] = {false}, empty = false;
	size_t depth = 0;

	for (const char *at = regex; *at; at++) {
		if (*at == '(') {
			if (++depth == REGEX_DEPTH_MAX)
				return false;
			/* An empty group has a cost, too. */
			sums[depth] = 1;
			empties[depth] = false;
			last = 0;
			continue;
		}
		const char first = *at;
		const bool may_be_none = first == '*' || first == '?' ||
			(first == '{' && (at[1] == '0' || at[1] == ','));
		if (*at == ')' && depth) {
			empty = empties[depth];
			last = sums[depth--];
		} else if ((copies = read_repetition(at, &at)) != 0) {
			copies *= empty ? copies : 1;
			empty |= may_be_none;
			empties[depth] |= empty;
			sums[depth] += last * (copies - 1);
			last *= copies;
			if (last > REGEX_COST_MAX)
				return false;
			continue;
		} else {
			if (*at == '\\' && at[1]) {
				at++;
				if (*at >= '1' && *at <= '9')
					return false;
			} else if (*at == '[') {
				at = skip_brackets(at);
			}
			empty = first == '|';
			last = 1;
		}
		sums[depth] += last;
		empties[depth] |= empty;
		if (sums[depth] > REGEX_COST_MAX)
			return false;
	}
	return true;
}

static int add_regex(struct parser *parser, struct filter_term term, const char *value, size_t at)
{
	char reason[96];
	int ret;

	if (!is_affordable(value))
		return refuse(parser, at,
			"this regular expression repeats too much, or refers back: "
			"\\ before + * ? { takes them as they are");
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
		term.first = cpus[i];
		while (i + 1 < n && cpus[i + 1] == cpus[i] + 1)
			i++;
		term.last = cpus[i];
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
		else if (term.field == FILTER_SAMPLE_FIELD) {
			take_range(&term, value);
			ret = add_text(parser, term, value);
		} else
			ret = add_text(parser, term, value);
		if (ret || parser->text[parser->at] != '|')
			return ret;
		parser->at++;
	}
}

/* Adds a term that holds if the symbol of any frame contains the word. */
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

#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

/* Takes a field's name and the ':', '~' or '=' after it; false if none of these follows.  Any other
 * name before ':' or '~' is a field of samples; "operator=" is a word. */
static bool take_field(struct parser *parser, struct filter_term *term, char name[VALUE_MAX])
{
	const size_t prefix = strlen(FIELD_PREFIX);
	const char *begin = parser->text + parser->at;
	bool is_sample = !strncmp(begin, FIELD_PREFIX, prefix) && begin[prefix] != ':';
	size_t len;
	int field;

	begin += is_sample ? prefix : 0;
	len = strspn(begin, NAME_BYTES);
	if (!len || len >= VALUE_MAX)
		return false;
	field = is_sample ? -1 : find_field(begin, len);
	if (begin[len] != '~' && (begin[len] != ':' || begin[len + 1] == ':') &&
		(begin[len] != '=' || field < 0))
		return false;
	memcpy(name, begin, len);
	name[len] = '\0';
	term->field = field < 0 ? FILTER_SAMPLE_FIELD : (enum filter_field)field;
	term->field_name = field < 0 ? name : NULL;
	parser->at = (size_t)(begin - parser->text) + len;
	return true;
}

static int take_term(struct parser *parser)
{
	struct filter_term term = {0};
	char value[VALUE_MAX], name[VALUE_MAX];
	size_t at;
	int ret;

	skip_blanks(parser);
	parser->expr->at[parser->expr->n_terms] = parser->at;
	if (parser->text[parser->at] == '!') {
		term.negated = true;
		parser->at++;
		skip_blanks(parser);
	}
	if (!take_field(parser, &term, name))
		return take_word(parser, term);
	at = parser->at++;
	if (parser->text[at] == ':')
		return take_values(parser, term);
	if (term.field == FILTER_PID || term.field == FILTER_TID || term.field == FILTER_CPU)
		return refuse(parser, at, "numbers are given after ':'");
	term.exact = parser->text[at] == '=';
	if (term.exact)
		return take_values(parser, term);
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
		free(expr->terms[i].field_name);
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

int expr_check_fields(const struct expr *expr, const struct fields *const *schemas, size_t n,
	struct expr_error *error)
{
	char clause[sizeof(error->what) - 140];

	for (size_t i = 0; i < expr->n_terms; i++) {
		const char *name = expr->terms[expr->first[i]].field_name;

		if (!name || field_names_check(name, schemas, n, clause, sizeof(clause)))
			continue;
		error->at = expr->at[i];
		snprintf(error->what, sizeof(error->what),
			"there is no '%.30s': comm, pid, tid, cpu, image, symbol, stack, address, "
			"line can be asked for, or a field: %s",
			name, clause);
		return -EINVAL;
	}
	return 0;
}

static char *put_term(char *out, size_t size, bool negated, const char *prefix, const char *name,
	char relation, const char *text)
{
	/* Unquoted, "comm::7" would be a word, like "std::sort". */
	bool quoted = !*text || *text == ':' || strpbrk(text, "&|\"\\ \t");
	size_t len;

	len = (size_t)snprintf(out, size, "%s%s%s%c%s", negated ? "!" : "", prefix, name, relation,
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

char *expr_term(char *out, size_t size, bool negated, enum filter_field field, const char *text)
{
	/* A pattern could match other functions as well. */
	const char relation = field == FILTER_SYMBOL || field == FILTER_STACK ? '=' : ':';

	return put_term(out, size, negated, "", filter_field_name(field), relation, text);
}

char *expr_field_term(char *out, size_t size, bool negated, const char *name, const char *text)
{
	return put_term(out, size, negated, find_field(name, strlen(name)) < 0 ? "" : FIELD_PREFIX,
		name, ':', text);
}
