/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * type.c - see private.h: C types in print formats, and casts to them.
 *
 * A type is, for example, "(unsigned int)".  The kernel has thousands of names for number types.  A
 * cast to an unknown one changes nothing.
 */
#include "sampler/fields/private.h"

#include <ctype.h>
#include <string.h>

static const struct {
	const char *word;
	unsigned int size; /* 0: modifies other words */
	bool is_unsigned;
} types[] = {{"char", 1, false}, {"bool", 1, true}, {"u8", 1, true}, {"s8", 1, false},
	{"uint8_t", 1, true}, {"int8_t", 1, false}, {"short", 2, false}, {"u16", 2, true},
	{"s16", 2, false}, {"uint16_t", 2, true}, {"int16_t", 2, false}, {"umode_t", 2, true},
	{"be16", 2, true}, {"le16", 2, true}, {"ushort", 2, true}, {"int", 4, false},
	{"u32", 4, true}, {"s32", 4, false}, {"uint32_t", 4, true}, {"int32_t", 4, false},
	{"uint", 4, true}, {"be32", 4, true}, {"le32", 4, true}, {"pid_t", 4, false},
	{"dev_t", 4, true}, {"gfp_t", 4, true}, {"fmode_t", 4, true}, {"uid_t", 4, true},
	{"gid_t", 4, true}, {"enum", 4, true}, {"kernel_rwf_t", 4, false}, {"u64", 8, true},
	{"s64", 8, false}, {"uint64_t", 8, true}, {"int64_t", 8, false}, {"be64", 8, true},
	{"le64", 8, true}, {"loff_t", 8, false}, {"sector_t", 8, true}, {"ktime_t", 8, false},
	{"unsigned", 0, true}, {"signed", 0, false}, {"const", 0, false}, {"volatile", 0, false},
	{"struct", 0, false}, {"union", 0, false}, {"void", 0, false}, {"static", 0, false},
	{"force", 0, false}, {"user", 0, false}};

struct type_words {
	unsigned int size, longs;
	bool is_unsigned, is_known, is_int;
};

/* Adds a word of a type; returns false for an unknown word. */
static bool add_type_word(struct type_words *type, const char *word, size_t len, unsigned int longs)
{
	/* __u32, __kernel_loff_t */
	while (len > 2 && word[0] == '_' && word[1] == '_') {
		word += 2;
		len -= 2;
	}
	if (expr_is_word(word, len, "long") || expr_is_word(word, len, "size_t") ||
		expr_is_word(word, len, "ssize_t") || expr_is_word(word, len, "ulong") ||
		expr_is_word(word, len, "uintptr_t")) {
		type->size = type->longs++ ? 8 : longs;
		type->is_unsigned |= *word == 'u' || expr_is_word(word, len, "size_t");
		type->is_known = true;
		return true;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (!expr_is_word(word, len, types[i].word))
			continue;
		type->is_unsigned |= types[i].is_unsigned;
		/* "long int", "short int" */
		if (types[i].size && !(type->size && expr_is_word(word, len, "int")))
			type->size = types[i].size;
		if (!types[i].size &&
			(expr_is_word(word, len, "unsigned") || expr_is_word(word, len, "signed")))
			type->is_int = true;
		type->is_known = true;
		return true;
	}
	return false;
}

void expr_skip_typeof(struct expr *expr, const char *word, size_t len)
{
	if ((expr_is_word(word, len, "typeof") || expr_is_word(word, len, "__typeof__")) &&
		expr_take(expr, "(")) {
		expr_skip(expr);
		expr_want(expr, ")");
	}
}

/* Takes the words and stars of a type; false if there are none. */
static bool take_type_words(struct expr *expr, struct expr_type *type, bool *is_known)
{
	struct type_words words = {0};
	const char *word;
	size_t len, n = 0;

	for (; expr_take_word(expr, &word, &len); n++) {
		if (expr_is_word(word, len, "REC") || expr_is_word(word, len, "sizeof"))
			return false;
		expr_skip_typeof(expr, word, len);
		(void)add_type_word(&words, word, len, expr->fields->long_bytes);
	}
	*type = (struct expr_type){.size = words.size ? words.size
			: words.is_int		      ? 4
						      : 0,
		.is_signed = !words.is_unsigned,
		.is_known = words.size || words.is_int};
	*is_known = words.is_known || n > 1;
	while (n && expr_take(expr, "*")) {
		type->is_pointer = true;
		*is_known = true;
	}
	return n;
}

/* An unknown word counts as a type if the text after the bracket can be the operand of a cast. */
bool expr_take_type(struct expr *expr, struct expr_type *type)
{
	const char *before = expr->at;
	bool is_known;

	if (!expr_take(expr, "("))
		return false;
	if (take_type_words(expr, type, &is_known) && expr_take(expr, ")")) {
		expr_skip_blanks(expr);
		if (is_known || isalnum((unsigned char)*expr->at) ||
			(*expr->at && strchr("_(~!\"", *expr->at)))
			return true;
	}
	expr->at = before;
	return false;
}

void expr_cast(const struct expr *expr, struct term *term, const struct expr_type *type)
{
	if (term->kind == TERM_UNKNOWN)
		return;
	if (type->is_pointer) {
		if (term->kind == TERM_NUMBER) {
			expr_set_number(term, term->number, 8 * expr->fields->long_bytes, true);
		} else if (type->size) {
			term->kind = type->size == 1 && type->is_signed ? TERM_TEXT : TERM_BYTES;
			term->element = type->size;
			term->is_unsigned = !type->is_signed;
		}
		term->is_pointer = true;
		return;
	}
	if (term->kind != TERM_NUMBER || !type->is_known)
		return;
	expr_set_number(term, expr_extend(term->number, 8 * type->size, type->is_signed),
		type->size == 8 ? 64 : 32, type->size >= 4 && !type->is_signed);
}
