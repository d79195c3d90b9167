/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * print.c - see private.h: names and kinds of single fields from a print format.
 *
 * The kernel writes the format as the arguments of printf: "name=%s flags=%s", REC->name,
 * __print_flags(REC->flags, "|", {1, "A"}).  Only parts that concern one field are used: lists of
 * names, %x, %pS.  The text may come from a recording, so a stateless parser reads it here, and no
 * library.
 */
#include "sampler/fields/private.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_ROOM 256

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

/* Returns the end of the string that begins at `at`. */
static const char *skip_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		if (*at == '\\' && at + 1 < end)
			at++;
	return at < end ? at + 1 : end;
}

/* Returns the position after the bracket that closes the one at `at`; `end` if none does. */
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

/* Returns the first of these characters outside of strings and brackets, or `end`. */
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

/* Takes the next of the parts separated by commas. */
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

#define LAYERS_MAX 64u /* each layer costs a scan; no kernel has more than three */

static void strip_brackets(struct span *span)
{
	trim(span);
	for (unsigned int layer = 0;
		layer < LAYERS_MAX && span->at < span->end && *span->at == '(' &&
		skip_brackets(span->at, span->end) == span->end && span->end[-1] == ')';
		layer++) {
		span->at++;
		span->end--;
		trim(span);
	}
}

/* --- values of expressions --- */

/* Evaluates an expression without fields; its text goes into room. */
static bool evaluate(
	const struct fields *fields, struct span span, char *room, size_t size, struct term *out)
{
	struct expr expr = {
		.fields = fields, .raw = {(const uint8_t *)"", 0}, .room = room, .room_len = size};
	char *copy;
	bool done;

	trim(&span);
	if (memmem(span.at, (size_t)(span.end - span.at), "REC->", 5))
		return false;
	/* The copy ends the expression at the span's end. */
	copy = strndup(span.at, (size_t)(span.end - span.at));
	if (!copy)
		return false;
	expr.at = copy;
	expr_eval(&expr, out);
	done = !expr.bad && !*expr.at;
	free(copy);
	return done;
}

static bool get_number(const struct fields *fields, struct span span, uint64_t *out)
{
	char room[NAME_ROOM];
	struct term term;

	if (!evaluate(fields, span, room, sizeof(room), &term) || term.kind != TERM_NUMBER)
		return false;
	*out = term.number;
	return true;
}

/* Evaluates a string; false if it is not one.  Ownership of *out passes to the caller. */
static bool get_string(const struct fields *fields, struct span span, char **out)
{
	char room[NAME_ROOM];
	struct term term;

	*out = NULL;
	if (!evaluate(fields, span, room, sizeof(room), &term) || term.kind != TERM_TEXT)
		return false;
	*out = strndup((const char *)term.bytes.at, term.bytes.len);
	return *out;
}

/* Returns whether a cast begins at `at`: "(gfp_t)", "(unsigned long)". */
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

/* --- fields in expressions --- */

/* Returns the only field in an expression, and its place; -1 if there is none or several. */
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

/* Returns the field if the expression is only a field or its address, with brackets and casts. */
static int find_bare(const struct fields *fields, struct span span)
{
	struct span word;
	int field;

	strip_brackets(&span);
	while (span.at < span.end && *span.at == '(' && is_cast(span.at, span.end)) {
		span.at = skip_brackets(span.at, span.end);
		strip_brackets(&span);
	}
	if (span.at < span.end && *span.at == '&') {
		span.at++;
		strip_brackets(&span);
	}
	field = find_field(fields, span, &word);
	return field >= 0 && word.at == span.at && word.end == span.end ? field : -1;
}

/* Returns the field of an expression that is a field, or a field & a constant. */
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
	return field >= 0 && get_number(fields, rest, mask) ? field : -1;
}

/* --- names --- */

static bool can_be_named(const struct fields *fields, int field)
{
	enum field_kind kind = fields->at[field].kind;

	return kind == FIELD_SIGNED || kind == FIELD_UNSIGNED || kind == FIELD_HEX;
}

/* Assigns a list of names to the field in its first argument.  If the argument has several lists
 * for one field, the choice of the list depends on another field. */
static void take_names(struct fields *fields, struct span argument, const struct field_names *names)
{
	struct span call = {names->call, names->end - 1}, part, after = {names->end, argument.end};
	uint64_t mask;
	int field = next_part(&call, &part) ? find_masked(fields, part, &mask) : -1;
	struct field_how *how = &fields->how[field < 0 ? 0 : field];

	if (field < 0 || !names->n)
		return;
	if (how->names && how->names->call >= argument.at && how->names->end <= argument.end) {
		how->argument = argument.at;
		fields->at[field].kind = FIELD_TEXT;
		return;
	}
	if (how->names || !can_be_named(fields, field))
		return;
	how->names = names;
	how->mask = mask;
	how->shows_sign = how->is_signed;
	/* CONDITION ? __print_flags(...) : "R" */
	trim(&after);
	if (names->flags && after.at < after.end && *after.at == ':')
		get_string(fields, (struct span){after.at + 1, after.end}, &how->zero);
	fields->at[field].kind = FIELD_ENUM;
}

/* Takes an added text such as FIELD & BIT ? "+" : "". */
static void take_more(struct fields *fields, struct span argument)
{
	const char *question = find_outside(argument.at, argument.end, "?"), *colon;
	struct field_how *how;
	char *more, *none;
	uint64_t mask;
	int field;

	if (question == argument.end)
		return;
	colon = find_outside(question, argument.end, ":");
	field = find_masked(fields, (struct span){argument.at, question}, &mask);
	if (field < 0 || colon == argument.end)
		return;
	how = &fields->how[field];
	if (!how->names || how->more ||
		!get_string(fields, (struct span){question + 1, colon}, &more))
		return;
	if (get_string(fields, (struct span){colon + 1, argument.end}, &none) && !*none) {
		how->more_mask = mask;
		how->more = more;
		more = NULL;
	}
	free(none);
	free(more);
}

/* %x and %p show a number in hexadecimal digits, %pS and similar an address of code, %s the text at
 * an address. */
static void take_conversion(
	struct fields *fields, struct span argument, const char *conversion, const char *end)
{
	int field = find_bare(fields, argument);
	struct field_how *how = &fields->how[field < 0 ? 0 : field];
	enum field_kind *kind;

	if (field < 0 || conversion >= end || !can_be_named(fields, field))
		return;
	kind = &fields->at[field].kind;
	if (*conversion == 'x' || *conversion == 'X')
		*kind = FIELD_HEX;
	else if (*conversion == 'p')
		*kind = conversion + 1 < end && strchr("sSBfF", conversion[1]) &&
				how->len == sizeof(uint64_t)
			? FIELD_CODE
			: FIELD_HEX;
	else if (*conversion == 's' && how->is_pointer && fields->texts)
		*kind = FIELD_ENUM;
	if (*kind != FIELD_SIGNED)
		how->shows_sign = false;
}

/* Returns the letter of the next conversion; NULL after the last. */
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
		while (*at < end && **at && strchr("-+ #0123456789.*hlLqjzt", **at))
			(*at)++;
		return *at;
	}
	*at = end;
	return NULL;
}

/* Returns the number of arguments for the conversion's width and precision. */
static unsigned int count_stars(const char *from, const char *to)
{
	unsigned int n = 0;

	while (to > from && strchr("-+ #0123456789.*hlLqjzt", to[-1]))
		n += *--to == '*';
	return n;
}

static void take_argument(
	struct fields *fields, struct span argument, const char *conversion, const char *end)
{
	bool any = false;

	for (size_t i = 0; i < fields->n_lists; i++) {
		const struct field_names *names = &fields->lists[i];

		if (!names->end || names->call < argument.at || names->end > argument.end)
			continue;
		take_names(fields, argument, names);
		any = true;
	}
	if (any)
		return;
	take_more(fields, argument);
	if (conversion)
		take_conversion(fields, argument, conversion, end);
}

int fields_parse_print(struct fields *fields)
{
	const char *print = fields->print;
	struct span rest = {print, print + strlen(print)}, format, argument;
	const char *conversion, *at;
	int err = fields_find_lists(fields);

	if (err || !next_part(&rest, &format))
		return err;
	at = format.at;
	while (next_part(&rest, &argument)) {
		const char *before = at;

		conversion = next_conversion(&at, format.end);
		for (unsigned int n = conversion ? count_stars(before, conversion) : 0; n; n--)
			if (!next_part(&rest, &argument))
				return 0;
		take_argument(fields, argument, conversion, format.end);
	}
	return 0;
}

/* --- formatting --- */

void fields_format_named(const struct fields *fields, const struct field_how *how, uint64_t number,
	char *out, size_t size)
{
	uint64_t all = how->len < 8 ? (1ull << 8 * how->len) - 1 : UINT64_MAX,
		 masked = number & how->mask, rest = number & ~(how->mask | how->more_mask) & all;
	const struct field_names *names = how->names;
	struct line_text text = {out, size, 0, false};
	bool is_zero = names && names->flags && !masked;
	const char *known;

	if (!size)
		return;
	line_put(&text, "", 0);
	if (!names) {
		known = fields_texts_find(fields->texts, number);
		if (known)
			line_put(&text, known, strlen(known));
		else
			line_print(&text, "0x%" PRIx64, number);
		return;
	}
	for (size_t i = 0; i < names->n && is_zero && !text.len; i++)
		if (!names->at[i].value)
			line_put(&text, names->at[i].text, strlen(names->at[i].text));
	if (is_zero && !text.len) {
		known = how->zero ? how->zero : "0";
		line_put(&text, known, strlen(known));
	}
	if (!is_zero) {
		field_names_format(names, masked, out, size);
		text.len = strlen(out);
	}
	if (how->more && number & how->more_mask)
		line_put(&text, how->more, strlen(how->more));
	/* Bits without a name are appended, so different numbers stay different. */
	if (rest)
		line_print(&text, "|0x%" PRIx64, rest);
}

size_t fields_name_by_others(
	const struct fields *fields, size_t i, struct bytes raw, char *room, size_t size)
{
	const struct field_how *how = &fields->how[i];
	struct bytes bytes = fields_bytes(fields, how, raw);
	uint64_t number =
		bytes.len >= how->len ? fields_load(fields, bytes.at, how->len, how->is_signed) : 0;
	char made[FIELDS_ROOM_MAX];
	struct expr expr = {.fields = fields,
		.raw = raw,
		.at = how->argument,
		.room = made,
		.room_len = sizeof(made)};
	struct line_text text = {room, size, 0, false};
	struct term term;

	if (!size)
		return 0;
	line_put(&text, "", 0);
	expr_eval(&expr, &term);
	if (!expr.bad && term.kind == TERM_TEXT && expr.named.list)
		line_put(&text, (const char *)term.bytes.at, term.bytes.len);
	if (!text.len || expr.named.number != number)
		line_print(&text, text.len ? "|0x%" PRIx64 : "0x%" PRIx64, number);
	return text.len;
}
