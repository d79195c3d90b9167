/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tracepoint.c - see private.h: fields from a tracepoint's format file.
 *
 * Its lines are "field:TYPE NAME; offset:X; size:Y; signed:Z;".  Arrays have [N] after their name.
 * Arrays of variable length have __data_loc or __rel_loc before the type: 16 bits of length, 16 of
 * offset.  The text may come from a recording, so nothing in it is trusted.
 */
#include "sampler/fields/private.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct piece {
	const char *at;
	size_t len;
};

static bool starts(struct piece piece, const char *with)
{
	size_t len = strlen(with);

	return piece.len >= len && !memcmp(piece.at, with, len);
}

static bool has(struct piece piece, const char *what)
{
	return memmem(piece.at, piece.len, what, strlen(what));
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Reads the number after "KEY:" in a line. */
static bool get_number(struct piece line, const char *key, uint32_t *out)
{
	const char *at = memmem(line.at, line.len, key, strlen(key));
	unsigned long number;
	char *end;

	if (!at)
		return false;
	at += strlen(key);
	if (at >= line.at + line.len || !isdigit((unsigned char)*at))
		return false;
	number = strtoul(at, &end, 10);
	if (number > UINT16_MAX)
		return false;
	*out = (uint32_t)number;
	return true;
}

/* Returns the last word before any [...]; the declaration keeps the type before it. */
static struct piece split_name(struct piece *declaration)
{
	struct piece name = {declaration->at, declaration->len};
	size_t end = declaration->len, start;

	while (end && declaration->at[end - 1] == ']') {
		while (end && declaration->at[end - 1] != '[')
			end--;
		end -= end > 0;
		while (end && declaration->at[end - 1] == ' ')
			end--;
	}
	/* a function pointer: "void (*name)(int)" */
	if (end && declaration->at[end - 1] == ')' && has(*declaration, "(*")) {
		const char *at = memmem(declaration->at, end, "(*", 2);

		start = (size_t)(at - declaration->at) + 2;
		for (end = start; end < declaration->len && is_word(declaration->at[end]);)
			end++;
	} else {
		for (start = end; start && is_word(declaration->at[start - 1]);)
			start--;
	}
	name = (struct piece){declaration->at + start, end - start};
	declaration->len = start;
	return name;
}

/* Returns the size of one element of a type such as "unsigned int", "const char *" or "u16[]"; 0 if
 * unknown.  A 9 in the table represents a long. */
static uint32_t element_size(struct piece type, unsigned int long_bytes)
{
	static const struct {
		const char *name;
		uint32_t size;
	} sizes[] = {{"char", 1}, {"int8", 1}, {"int16", 2}, {"u8", 1}, {"s8", 1}, {"bool", 1},
		{"short", 2}, {"u16", 2}, {"s16", 2}, {"be16", 2}, {"*", 9}, {"long long", 8},
		{"long", 9}, {"u64", 8}, {"s64", 8}, {"int64", 8}, {"uint64", 8}, {"size_t", 9},
		{"int", 4}, {"u32", 4}, {"s32", 4}, {"be32", 4}, {"pid_t", 4}, {"unsigned", 4}};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (has(type, sizes[i].name))
			return sizes[i].size == 9 ? long_bytes : sizes[i].size;
	return 0;
}

static bool is_text_type(struct piece type)
{
	return has(type, "char") && !has(type, "unsigned") && !has(type, "uchar") &&
		!has(type, "*");
}

static int add_line(struct fields *fields, struct piece line)
{
	struct piece type = {line.at, 0}, name;
	struct field_how how = {0};
	enum field_kind kind;
	uint32_t is_signed = 0, n = 0; /* elements, if the type has a number */
	bool is_array;
	const char *end = memchr(line.at, ';', line.len);

	if (!end)
		return -EBADMSG;
	type.len = (size_t)(end - line.at);
	line = (struct piece){end, line.len - type.len};
	if (!get_number(line, "offset:", &how.offset) || !get_number(line, "size:", &how.len))
		return -EBADMSG;
	get_number(line, "signed:", &is_signed);
	is_array = type.len && (type.at[type.len - 1] == ']' || has(type, "[]"));
	(void)get_number(type, "[", &n);
	name = split_name(&type);
	if (!name.len)
		return -EBADMSG;
	if (starts(name, "common_"))
		return 0;
	if (starts(type, "__data_loc"))
		how.place = FIELD_DATA_LOC;
	else if (starts(type, "__rel_loc"))
		how.place = FIELD_REL_LOC;
	is_array |= how.place != FIELD_FIXED;
	how.is_signed = how.shows_sign = is_signed;
	if (is_array && is_text_type(type)) {
		kind = FIELD_TEXT;
	} else if (is_array || (how.len != 1 && how.len != 2 && how.len != 4 && how.len != 8)) {
		kind = FIELD_BYTES;
		is_array = true;
		how.element = n && how.len % n == 0 ? how.len / n
						    : element_size(type, fields->long_bytes);
	} else if (has(type, "*")) {
		kind = FIELD_HEX;
		how.is_signed = how.shows_sign = false;
		how.is_pointer = true;
		how.is_text_pointer = has(type, "char");
	} else {
		kind = is_signed ? FIELD_SIGNED : FIELD_UNSIGNED;
	}
	how.is_array = is_array;
	fields_add(fields, name.at, name.len, kind, &how);
	return 0;
}

int fields_parse_tracepoint(struct fields *fields, const char *format)
{
	static const char print[] = "print fmt: ";
	bool any = false;
	int err = 0;

	for (const char *at = format; *at && !err;) {
		size_t len = strcspn(at, "\n");
		struct piece line = {at, len};

		at += len + (at[len] == '\n');
		while (line.len && isspace((unsigned char)*line.at))
			line = (struct piece){line.at + 1, line.len - 1};
		if (starts(line, "field:")) {
			any = true;
			err = add_line(fields,
				(struct piece){
					line.at + strlen("field:"), line.len - strlen("field:")});
		} else if (starts(line, print)) {
			/* The print format may have several lines. */
			fields->print = strdup(line.at + strlen(print));
			if (!fields->print)
				return -ENOMEM;
			return any ? 0 : -EBADMSG;
		}
	}
	return err || any ? err : -EBADMSG;
}
