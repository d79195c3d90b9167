/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.c - see private.h: the lists of names in a print format.
 *
 * The calls are __print_flags(NUMBER, "|", {1, "A"}, ...) and __print_symbolic(NUMBER, {1, "A"},
 * ...), or with the suffix _u64.  The lists are read once, since some have hundreds of entries.  A
 * list belongs to its call, since one field may have several lists.
 */
#include "sampler/base/grow.h"
#include "sampler/fields/private.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 1024u /* per list */
#define LISTS_MAX 64u /* per print format */

static char *copy_text(const struct term *term)
{
	return strndup((const char *)term->bytes.at, term->bytes.len);
}

/* Adds the entry "{ VALUE, NAME }"; its first brace was taken.  An entry with an unknown value is
 * ignored. */
static int add_name(struct field_names *names, struct expr *expr)
{
	struct term value, text;
	char *copy;

	expr_eval(expr, &value);
	expr_want(expr, ",");
	if (!expr->bad)
		expr_eval(expr, &text);
	expr_want(expr, "}");
	if (expr->bad || value.kind != TERM_NUMBER || text.kind != TERM_TEXT ||
		names->n == NAMES_MAX)
		return 0;
	if (grow_exact(&names->at, names->n + 1, sizeof(*names->at)))
		return -ENOMEM;
	copy = copy_text(&text);
	if (!copy)
		return -ENOMEM;
	names->at[names->n++] = (struct field_name){value.number, copy};
	return 0;
}

static int read_list(struct field_names *names, struct expr *expr)
{
	struct term between;
	int err = 0;

	expr_skip(expr);
	if (names->flags) {
		expr_want(expr, ",");
		if (!expr->bad)
			expr_eval(expr, &between);
		if (expr->bad || between.kind != TERM_TEXT)
			return 0;
		names->between = copy_text(&between);
		if (!names->between)
			return -ENOMEM;
	}
	while (!err && !expr->bad && expr_take(expr, ",") && expr_take(expr, "{")) {
		struct expr entry = *expr;

		/* "{ }" is a list without names. */
		if (expr_take(expr, "}"))
			continue;
		err = add_name(names, &entry);
		expr->at = entry.at;
		expr->bad = entry.bad;
	}
	while (!expr->bad && !expr_take(expr, ")")) {
		expr_skip(expr);
		if (!expr_take(expr, ",")) {
			expr_want(expr, ")");
			break;
		}
	}
	if (!expr->bad)
		names->end = expr->at;
	return err;
}

static int add_list(struct fields *fields, const char *call, bool flags)
{
	char room[FIELDS_ROOM_MAX];
	struct expr expr = {.fields = fields,
		.raw = {(const uint8_t *)"", 0},
		.at = call,
		.room = room,
		.room_len = sizeof(room)};
	struct field_names *names;

	if (grow_exact(&fields->lists, fields->n_lists + 1, sizeof(*fields->lists)))
		return -ENOMEM;
	names = &fields->lists[fields->n_lists++];
	*names = (struct field_names){.call = call, .flags = flags};
	return read_list(names, &expr);
}

/* Returns the end of the string that begins at `at`. */
static const char *skip_string(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		at += *at == '\\' && at[1];
	return at + (*at == '"');
}

int fields_find_lists(struct fields *fields)
{
	static const char flags[] = "__print_flags", symbolic[] = "__print_symbolic";
	int err = 0;

	for (const char *at = fields->print; *at && !err && fields->n_lists < LISTS_MAX;) {
		bool is_flags = !strncmp(at, flags, sizeof(flags) - 1);
		const char *call;

		if (*at == '"') {
			at = skip_string(at);
			continue;
		}
		if (!is_flags && strncmp(at, symbolic, sizeof(symbolic) - 1) != 0) {
			at++;
			continue;
		}
		call = at + (is_flags ? sizeof(flags) : sizeof(symbolic)) - 1;
		while (isalnum((unsigned char)*call) || *call == '_' || *call == ' ')
			call++;
		at = call;
		if (*call == '(')
			err = add_list(fields, call + 1, is_flags);
	}
	return err;
}

void fields_free_lists(struct fields *fields)
{
	for (size_t i = 0; i < fields->n_lists; i++) {
		struct field_names *names = &fields->lists[i];

		for (size_t k = 0; k < names->n; k++)
			free(names->at[k].text);
		free(names->at);
		free(names->between);
	}
	free(fields->lists);
}

const struct field_names *fields_list_at(const struct fields *fields, const char *call)
{
	for (size_t i = 0; i < fields->n_lists; i++)
		if (fields->lists[i].call == call)
			return fields->lists[i].end ? &fields->lists[i] : NULL;
	return NULL;
}

/* --- formatting --- */

static void format_flags(const struct field_names *names, uint64_t number, struct line_text *text)
{
	for (size_t i = 0; i < names->n && number; i++) {
		uint64_t bits = names->at[i].value;

		if ((number & bits) != bits)
			continue;
		line_print(text, "%s%s", text->len ? names->between : "", names->at[i].text);
		number &= ~bits;
	}
	if (number)
		line_print(text, "%s0x%" PRIx64, text->len ? names->between : "", number);
}

void field_names_format(const struct field_names *names, uint64_t number, char *out, size_t size)
{
	struct line_text text = {out, size, 0, false};

	line_put(&text, "", 0);
	if (names->flags) {
		format_flags(names, number, &text);
		return;
	}
	for (size_t i = 0; i < names->n; i++)
		if (names->at[i].value == number) {
			line_put(&text, names->at[i].text, strlen(names->at[i].text));
			return;
		}
	line_print(&text, "0x%" PRIx64, number);
}
