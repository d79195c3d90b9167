/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fields_print.c - see fields_private.h: what a print format tells of single fields.
 *
 * The kernel writes it as the arguments of printf: "name=%s flags=%s", REC->name, __print_flags(REC->flags, "|", {1, "A"}).
 * Only what names one field is taken: lists of names, %x, %pS.  The text may be a recording's, so it is read here, by a
 * parser without a state, and not given to a library.
 */
#include "sampler/fields_private.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 512u
#define DEPTH_MAX 64u

/* --- pieces of text --- */

struct span {
	const char *at, *end;
};

static void trim(struct span *span)
{
	while (span->at < span->end && isspace((unsigned char)*span->at))
		span->at++;
	while (span->at < span->end && isspace((unsigned char)span->end[-1]))
		span->end--;
}

/* Behind the string that begins here. */
static const char *skip_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		if (*at == '\\' && at + 1 < end)
			at++;
	return at < end ? at + 1 : end;
}

/* Behind the bracket that closes the one that begins here; end where none does. */
static const char *skip_brackets(const char *at, const char *end)
{
	unsigned int depth = 0;

	while (at < end) {
		if (*at == '"') {
			at = skip_string(at, end);
			continue;
		}
		if (strchr("([{", *at))
			depth++;
		else if (strchr(")]}", *at) && depth && !--depth)
			return at + 1;
		at++;
	}
	return end;
}

/* The first of these characters outside of strings and brackets, or end. */
static const char *find_outside(const char *at, const char *end, const char *any)
{
	while (at < end) {
		if (*at && strchr(any, *at))
			return at;
		if (*at == '"')
			at = skip_string(at, end);
		else if (strchr("([{", *at))
			at = skip_brackets(at, end);
		else
			at++;
	}
	return end;
}

/* The next of what commas part. */
static bool next_part(struct span *rest, struct span *out)
{
	if (rest->at >= rest->end)
		return false;
	out->at = rest->at;
	out->end = find_outside(rest->at, rest->end, ",");
	rest->at = out->end + (out->end < rest->end);
	trim(out);
	return true;
}

/* A string without its quotes; false where it is no string. */
static bool get_string(struct span span, char **out)
{
	char *text;
	size_t n = 0;

	*out = NULL;
	trim(&span);
	if (span.end - span.at < 2 || *span.at != '"' || span.end[-1] != '"')
		return false;
	text = malloc((size_t)(span.end - span.at));
	if (!text)
		return false;
	for (const char *at = span.at + 1; at < span.end - 1; at++) {
		if (*at == '\\' && at + 1 < span.end - 1)
			text[n++] = *++at;
		else if (*at != '"')
			text[n++] = *at;
	}
	text[n] = '\0';
	*out = text;
	return true;
}

static void strip_brackets(struct span *span)
{
	trim(span);
	while (span->at < span->end && *span->at == '(' &&
		skip_brackets(span->at, span->end) == span->end && span->end[-1] == ')') {
		span->at++;
		span->end--;
		trim(span);
	}
}

/* --- constant expressions --- */

struct sum {
	const char *at, *end;
	unsigned int depth;
	bool failed;
};

static uint64_t evaluate_from(struct sum *sum, unsigned int level);

static void skip_space(struct sum *sum)
{
	while (sum->at < sum->end && isspace((unsigned char)*sum->at))
		sum->at++;
}

/* "(gfp_t)", "(unsigned long)" */
static bool is_cast(const char *at, const char *end)
{
	bool letters = false;

	for (at++; at < end && *at != ')'; at++) {
		if (isalpha((unsigned char)*at) || *at == '_')
			letters = true;
		else if (!(*at == ' ' || *at == '*' || (letters && isdigit((unsigned char)*at))))
			return false;
	}
	return letters && at < end;
}

static uint64_t evaluate_unary(struct sum *sum)
{
	uint64_t number = 0;
	char *end;

	skip_space(sum);
	if (sum->failed || sum->at >= sum->end || sum->depth >= DEPTH_MAX) {
		sum->failed = true;
		return 0;
	}
	sum->depth++;
	if (*sum->at == '~' || *sum->at == '-') {
		bool negate = *sum->at++ == '-';

		number = evaluate_unary(sum);
		number = negate ? 0 - number : ~number;
	} else if (*sum->at == '(' && is_cast(sum->at, sum->end)) {
		sum->at = skip_brackets(sum->at, sum->end);
		number = evaluate_unary(sum);
	} else if (*sum->at == '(') {
		struct sum inner = {
			sum->at + 1, skip_brackets(sum->at, sum->end) - 1, sum->depth, 0};

		sum->at = inner.end + 1;
		number = evaluate_from(&inner, 0);
		skip_space(&inner);
		sum->failed |= inner.failed || inner.at != inner.end;
	} else if (isdigit((unsigned char)*sum->at)) {
		number = strtoull(sum->at, &end, 0);
		while (end < sum->end && *end && strchr("uUlL", *end))
			end++;
		sum->at = end;
	} else {
		sum->failed = true;
	}
	sum->depth--;
	return number;
}

static uint64_t apply(char operator, uint64_t a, uint64_t b)
{
	switch (operator) {
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	case '&':
		return a & b;
	case '<':
		return b < 64 ? a << b : 0;
	case '>':
		return b < 64 ? a >> b : 0;
	case '+':
		return a + b;
	case '-':
		return a - b;
	default:
		return a * b;
	}
}

/* Operators by how tightly they bind, the loosest first. */
static uint64_t evaluate_from(struct sum *sum, unsigned int level)
{
	static const char *const operators[] = {"|", "^", "&", "<>", "+-", "*"};
	uint64_t number;

	if (level == sizeof(operators) / sizeof(*operators))
		return evaluate_unary(sum);
	number = evaluate_from(sum, level + 1);
	for (;;) {
		char operator;

		skip_space(sum);
		if (sum->failed || sum->at >= sum->end || !*sum->at ||
			!strchr(operators[level], *sum->at))
			return number;
		operator= * sum->at++;
		if (operator== '<' || operator== '>') {
			if (sum->at >= sum->end || *sum->at++ != operator) {
				sum->failed = true;
				return 0;
			}
		}
		number = apply(operator, number, evaluate_from(sum, level + 1));
	}
}

static bool evaluate(struct span span, uint64_t *out)
{
	struct sum sum = {span.at, span.end, 0, false};

	*out = evaluate_from(&sum, 0);
	skip_space(&sum);
	return !sum.failed && sum.at == sum.end;
}

/* --- fields in expressions --- */

/* The field that is named, or -1 where there are none, several, or more than its name. */
static int find_field(const struct fields *fields, struct span span, struct span *word)
{
	const char *at = memmem(span.at, (size_t)(span.end - span.at), "REC->", 5), *end;

	if (!at)
		return -1;
	for (end = at + 5; end < span.end && (isalnum((unsigned char)*end) || *end == '_');)
		end++;
	if (memmem(end, (size_t)(span.end - end), "REC->", 5))
		return -1;
	*word = (struct span){at, end};
	for (size_t i = 0; i < fields->n; i++)
		if (strlen(fields->at[i].name) == (size_t)(end - at) - 5 &&
			!memcmp(fields->at[i].name, at + 5, (size_t)(end - at) - 5))
			return (int)i;
	return -1;
}

/* A field and nothing else, but for brackets and casts. */
static int find_bare(const struct fields *fields, struct span span)
{
	struct span word;
	int field;

	strip_brackets(&span);
	while (span.at < span.end && *span.at == '(' && is_cast(span.at, span.end)) {
		span.at = skip_brackets(span.at, span.end);
		strip_brackets(&span);
	}
	field = find_field(fields, span, &word);
	return field >= 0 && word.at == span.at && word.end == span.end ? field : -1;
}

/* A field, or a field & a constant. */
static int find_masked(const struct fields *fields, struct span span, uint64_t *mask)
{
	struct span rest;
	int field = find_bare(fields, span);

	*mask = UINT64_MAX;
	if (field >= 0)
		return field;
	strip_brackets(&span);
	rest = (struct span){find_outside(span.at, span.end, "&"), span.end};
	if (rest.at == rest.end)
		return -1;
	field = find_bare(fields, (struct span){span.at, rest.at});
	rest.at++;
	return field >= 0 && evaluate(rest, mask) ? field : -1;
}

/* --- names --- */

void field_names_free(struct field_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->n; i++)
		free(names->at[i].text);
	free(names->at);
	free(names->zero);
	free(names->more);
	free(names);
}

/* { 0x1, "S" } */
static int add_name(struct field_names *names, struct span entry)
{
	struct field_name *grown;
	struct span value;
	uint64_t number;
	char *text;

	if (entry.end - entry.at < 2 || *entry.at != '{' || entry.end[-1] != '}' ||
		names->n == NAMES_MAX)
		return 0;
	entry.at++;
	entry.end--;
	if (!next_part(&entry, &value) || !evaluate(value, &number) || !get_string(entry, &text))
		return 0;
	grown = reallocarray(names->at, names->n + 1, sizeof(*grown));
	if (!grown) {
		free(text);
		return -ENOMEM;
	}
	names->at = grown;
	names->at[names->n++] = (struct field_name){number, text};
	return 0;
}

/* __print_flags(FIELD, "|", {1, "A"}, ...) or __print_symbolic(FIELD, {1, "A"}, ...); call is what is in its brackets. */
static int take_names(struct fields *fields, struct span call, bool flags, struct span after)
{
	struct field_names *names;
	struct span part;
	uint64_t mask;
	int field, err = 0;

	if (!next_part(&call, &part))
		return 0;
	field = find_masked(fields, part, &mask);
	if (field < 0 || fields->how[field].names ||
		(fields->at[field].kind != FIELD_SIGNED &&
			fields->at[field].kind != FIELD_UNSIGNED &&
			fields->at[field].kind != FIELD_HEX))
		return 0;
	names = calloc(1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	names->flags = flags;
	names->mask = mask;
	if (flags)
		next_part(&call, &part);
	while (!err && next_part(&call, &part))
		err = add_name(names, part);
	/* CONDITION ? __print_flags(...) : "R" */
	trim(&after);
	if (flags && after.at < after.end && *after.at == ':')
		get_string((struct span){after.at + 1, after.end}, &names->zero);
	if (err || !names->n) {
		field_names_free(names);
		return err;
	}
	fields->at[field].kind = FIELD_ENUM;
	fields->how[field].names = names;
	return 0;
}

/* FIELD & BIT ? "+" : "" */
static void take_more(struct fields *fields, struct span argument)
{
	const char *question = find_outside(argument.at, argument.end, "?"), *colon;
	char *more, *none;
	uint64_t mask;
	int field;

	if (question == argument.end)
		return;
	colon = find_outside(question, argument.end, ":");
	field = find_masked(fields, (struct span){argument.at, question}, &mask);
	if (field < 0 || !fields->how[field].names || fields->how[field].names->more ||
		colon == argument.end)
		return;
	if (!get_string((struct span){question + 1, colon}, &more))
		return;
	if (get_string((struct span){colon + 1, argument.end}, &none) && !*none) {
		fields->how[field].names->more_mask = mask;
		fields->how[field].names->more = more;
		more = NULL;
	}
	free(none);
	free(more);
}

/* %x and %p show a number in hexadecimal digits, %pS and its like an address of code. */
static void take_conversion(
	struct fields *fields, struct span argument, const char *conversion, const char *end)
{
	int field = find_bare(fields, argument);
	enum field_kind *kind;

	if (field < 0 || conversion >= end)
		return;
	kind = &fields->at[field].kind;
	if (*kind != FIELD_UNSIGNED && *kind != FIELD_SIGNED && *kind != FIELD_HEX)
		return;
	if (*conversion == 'x' || *conversion == 'X')
		*kind = FIELD_HEX;
	else if (*conversion == 'p')
		*kind = conversion + 1 < end && strchr("sSBfF", conversion[1]) &&
				fields->how[field].len == sizeof(uint64_t)
			? FIELD_CODE
			: FIELD_HEX;
	if (*kind != FIELD_SIGNED)
		fields->how[field].element = 0;
}

/* The letter of the next conversion; NULL after the last. */
static const char *next_conversion(const char **at, const char *end)
{
	while (*at < end) {
		const char *percent = memchr(*at, '%', (size_t)(end - *at));

		if (!percent)
			break;
		*at = percent + 1;
		if (*at < end && **at == '%') {
			(*at)++;
			continue;
		}
		while (*at < end && **at && strchr("-+ #0123456789.hlLqjzt", **at))
			(*at)++;
		return *at;
	}
	*at = end;
	return NULL;
}

static int take_argument(
	struct fields *fields, struct span argument, const char *conversion, const char *end)
{
	static const char flags[] = "__print_flags", symbolic[] = "__print_symbolic";
	size_t len = (size_t)(argument.end - argument.at);
	const char *at = memmem(argument.at, len, flags, strlen(flags)), *open, *close;
	bool is_flags = at;

	if (!at)
		at = memmem(argument.at, len, symbolic, strlen(symbolic));
	if (!at) {
		take_more(fields, argument);
		if (conversion)
			take_conversion(fields, argument, conversion, end);
		return 0;
	}
	open = memchr(at, '(', (size_t)(argument.end - at));
	if (!open)
		return 0;
	close = skip_brackets(open, argument.end);
	return take_names(fields, (struct span){open + 1, close - 1}, is_flags,
		(struct span){close, argument.end});
}

int fields_parse_print(struct fields *fields, const char *print)
{
	struct span rest = {print, print + strlen(print)}, format, argument;
	const char *conversion, *at;
	int err = 0;

	if (!next_part(&rest, &format))
		return 0;
	at = format.at;
	while (!err && next_part(&rest, &argument)) {
		conversion = next_conversion(&at, format.end);
		err = take_argument(fields, argument, conversion, format.end);
	}
	return err;
}

/* --- formatting --- */

static size_t add_text(char *out, size_t size, size_t len, const char *text)
{
	int more = snprintf(out + len, size - len, "%s%s", len ? "|" : "", text);

	return more < 0 || (size_t)more >= size - len ? size - 1 : len + (size_t)more;
}

static void format_flags(const struct field_names *names, uint64_t number, char *out, size_t size)
{
	char left[24];
	size_t len = 0;

	for (size_t i = 0; i < names->n && number; i++) {
		uint64_t value = names->at[i].value;

		if (!value || (number & value) != value)
			continue;
		len = add_text(out, size, len, names->at[i].text);
		number &= ~value;
	}
	if (!number)
		return;
	snprintf(left, sizeof(left), "0x%" PRIx64, number);
	add_text(out, size, len, left);
}

void field_names_format(const struct field_names *names, uint64_t number, char *out, size_t size)
{
	uint64_t masked = number & names->mask;
	size_t i = 0, len;

	out[0] = '\0';
	if (names->flags && masked) {
		format_flags(names, masked, out, size);
	} else {
		while (i < names->n && names->at[i].value != masked)
			i++;
		if (i < names->n)
			snprintf(out, size, "%s", names->at[i].text);
		else if (names->flags)
			snprintf(out, size, "%s", names->zero ? names->zero : "0");
		else
			snprintf(out, size, "0x%" PRIx64, masked);
	}
	len = strlen(out);
	if (names->more && number & names->more_mask)
		snprintf(out + len, size - len, "%s", names->more);
}
