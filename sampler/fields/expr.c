/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expr.c - see private.h: evaluates the arguments of a print format.
 *
 * Arguments are C expressions over REC->field.  The format may come from a recording, so nothing in
 * it is trusted.  Numbers have the widths and signs of C.  An identifier or function known only to
 * the kernel makes its enclosing expression unknown.  The text of an unknown expression is the
 * expression itself, with the values of fields filled in.  Text that is not an expression is bad
 * and ends the line.
 */
#include "sampler/fields/private.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 100
#define SHOWN_MAX 160 /* length of one side of an unknown expression */

/* --- tokens --- */

void expr_skip_blanks(struct expr *expr)
{
	while (isspace((unsigned char)*expr->at))
		expr->at++;
}

bool expr_take(struct expr *expr, const char *token)
{
	size_t len = strlen(token);

	expr_skip_blanks(expr);
	if (strncmp(expr->at, token, len) != 0)
		return false;
	expr->at += len;
	return true;
}

void expr_want(struct expr *expr, const char *token)
{
	expr->bad = expr->bad || !expr_take(expr, token);
}

bool expr_take_word(struct expr *expr, const char **word, size_t *len)
{
	expr_skip_blanks(expr);
	*word = expr->at;
	*len = 0;
	if (isdigit((unsigned char)*expr->at))
		return false;
	while (isalnum((unsigned char)(*word)[*len]) || (*word)[*len] == '_')
		(*len)++;
	expr->at += *len;
	return *len;
}

void expr_skip(struct expr *expr)
{
	int open = 0;

	for (; *expr->at; expr->at++) {
		if (*expr->at == '"' || *expr->at == '\'') {
			char quote = *expr->at++;

			while (*expr->at && *expr->at != quote)
				expr->at += *expr->at == '\\' && expr->at[1] ? 2 : 1;
			if (!*expr->at)
				break;
		} else if (strchr("({[", *expr->at)) {
			open++;
		} else if (strchr(")}]", *expr->at)) {
			if (!open--)
				return;
		} else if (*expr->at == ',' && !open) {
			return;
		}
	}
	expr->bad = true;
}

bool expr_is_word(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

/* --- terms --- */

/* Returns the number as a register of `bits` bits holds it, extended to 64 bits. */
uint64_t expr_extend(uint64_t number, unsigned int bits, bool is_signed)
{
	uint64_t mask;

	if (bits >= 64)
		return number;
	mask = (1ull << bits) - 1;
	number &= mask;
	return is_signed && number >> (bits - 1) ? number | ~mask : number;
}

void expr_set_number(struct term *out, uint64_t number, unsigned int bits, bool is_unsigned)
{
	*out = (struct term){.kind = TERM_NUMBER,
		.number = expr_extend(number, bits, !is_unsigned),
		.bits = bits,
		.is_unsigned = is_unsigned};
}

void expr_take_room(struct expr *expr, size_t len)
{
	expr->room += len;
	expr->room_len -= len;
	expr->made += len;
	expr->bad |= expr->made > EXPR_MADE_MAX;
}

void expr_set_text(
	struct expr *expr, struct term *out, enum term_kind kind, const char *text, size_t len)
{
	if (len > expr->room_len)
		len = expr->room_len;
	if (len)
		memcpy(expr->room, text, len);
	*out = (struct term){.kind = kind,
		.bits = 64,
		.bytes = {(const uint8_t *)expr->room, len},
		.element = 1};
	expr_take_room(expr, len);
}

void expr_set_unknown(struct expr *expr, struct term *out, const char *format, ...)
{
	char text[3 * SHOWN_MAX];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	expr_set_text(expr, out, TERM_UNKNOWN, text,
		len < 0				     ? 0
			: (size_t)len < sizeof(text) ? (size_t)len
						     : sizeof(text) - 1);
}

void expr_show(const struct term *term, char *out, size_t size)
{
	struct line_text text = {out, size, 0, false};

	if (term->kind == TERM_BYTES)
		line_print(&text, "(%zu bytes)", term->bytes.len);
	else if (term->kind != TERM_NUMBER)
		line_print(&text,
			term->kind == TERM_TEXT	    ? "\"%.*s\""
				: term->is_composed ? "(%.*s)"
						    : "%.*s",
			(int)(term->bytes.len < size ? term->bytes.len : size),
			(const char *)term->bytes.at);
	else if (term->is_pointer)
		line_print(&text, "0x%" PRIx64, term->number);
	else if (term->is_unsigned)
		line_print(&text, "%" PRIu64, term->number);
	else
		line_print(&text, "%" PRId64, (int64_t)term->number);
}

static bool is_true(const struct term *term)
{
	return term->kind != TERM_NUMBER || term->number;
}

static unsigned int long_bits(const struct expr *expr)
{
	return 8 * expr->fields->long_bytes;
}

bool expr_is_array(const struct term *term)
{
	return term->kind == TERM_BYTES || term->kind == TERM_TEXT;
}

/* Returns an array from its element i on; empty beyond its end. */
static struct bytes bytes_from(const struct term *array, uint64_t i)
{
	size_t size = array->element ? array->element : 1, from;

	from = i < array->bytes.len / size ? (size_t)i * size : array->bytes.len;
	return (struct bytes){array->bytes.at + from, array->bytes.len - from};
}

/* Sets the number that the bytes begin with. */
static void set_from_bytes(const struct expr *expr, struct term *out, struct bytes bytes,
	uint32_t size, bool is_signed)
{
	size = size ? size : 1;
	expr_set_number(out,
		bytes.len >= size ? fields_load(expr->fields, bytes.at, size, is_signed) : 0,
		size > 4 ? 64 : 32, size >= 4 && !is_signed);
	out->bytes = bytes;
	out->element = size;
}

/* --- fields --- */

static int find_field(const struct fields *fields, const char *name, size_t len)
{
	for (size_t i = 0; i < fields->n; i++)
		if (fields->how[i].part == PART_NONE && expr_is_word(name, len, fields->at[i].name))
			return (int)i;
	return -1;
}

static void get_field(struct expr *expr, const char *name, size_t len, struct term *out)
{
	int i = find_field(expr->fields, name, len);
	const struct field_how *how = &expr->fields->how[i < 0 ? 0 : i];
	struct bytes bytes;

	if (i < 0) {
		expr_set_unknown(
			expr, out, "REC->%.*s", (int)(len < SHOWN_MAX ? len : SHOWN_MAX), name);
		return;
	}
	bytes = fields_bytes(expr->fields, how, expr->raw);
	if (how->is_array) {
		*out = (struct term){
			.kind = expr->fields->at[i].kind == FIELD_TEXT ? TERM_TEXT : TERM_BYTES,
			.bits = 64,
			.is_unsigned = !how->is_signed,
			.bytes = bytes,
			.element = how->element ? how->element : 1};
		return;
	}
	set_from_bytes(expr, out, bytes, how->len, how->is_signed);
	out->is_pointer = how->is_pointer;
}

static void take_index(struct expr *expr, struct term *out)
{
	char shown[SHOWN_MAX], by[SHOWN_MAX];
	struct term index;

	expr_eval(expr, &index);
	expr_want(expr, "]");
	if (expr->bad)
		return;
	if (!expr_is_array(out) || index.kind != TERM_NUMBER) {
		expr_show(out, shown, sizeof(shown));
		expr_show(&index, by, sizeof(by));
		expr_set_unknown(expr, out, "%s[%s]", shown, by);
	} else {
		/* 0 is the value after the end of a text, or if the record is too short. */
		set_from_bytes(
			expr, out, bytes_from(out, index.number), out->element, !out->is_unsigned);
	}
}

/* --- expressions --- */

static void unary(struct expr *expr, struct term *out);

static char take_escape(const char **at)
{
	static const char letters[] = "ntrbfav0", bytes[] = "\n\t\r\b\f\a\v";
	const char *letter = strchr(letters, **at);
	char c = **at;

	(*at)++;
	return letter && *letter ? bytes[letter - letters] : c;
}

/* Adjacent strings are concatenated. */
static void take_string(struct expr *expr, struct term *out)
{
	char *text = expr->room;
	size_t len = 0;

	while (expr_take(expr, "\"")) {
		while (*expr->at && *expr->at != '"') {
			char c = *expr->at++;

			if (c == '\\' && *expr->at)
				c = take_escape(&expr->at);
			if (len < expr->room_len)
				text[len++] = c;
		}
		expr_want(expr, "\"");
	}
	*out = (struct term){
		.kind = TERM_TEXT, .bits = 64, .bytes = {(const uint8_t *)text, len}, .element = 1};
	expr_take_room(expr, len);
}

static void take_char(struct expr *expr, struct term *out)
{
	char c = *++expr->at;

	expr->at += c != '\0';
	if (c == '\\' && *expr->at)
		c = take_escape(&expr->at);
	expr_set_number(out, (uint64_t)(int64_t)c, 32, false);
	expr_want(expr, "'");
}

static void take_number(struct expr *expr, struct term *out)
{
	bool is_decimal = *expr->at != '0', is_unsigned = false;
	unsigned int longs = 0, bits = 32;
	uint64_t number;
	char *end;

	number = strtoull(expr->at, &end, 0);
	if (end == expr->at)
		end++;
	for (; *end && strchr("uUlL", *end); end++) {
		is_unsigned |= *end == 'u' || *end == 'U';
		longs += *end == 'l' || *end == 'L';
	}
	expr->at = end;
	if (longs)
		bits = longs > 1 ? 64 : long_bits(expr);
	if (bits == 32 && number > UINT32_MAX)
		bits = 64;
	if (!is_unsigned && number >> (bits - 1)) {
		if (is_decimal)
			bits = 64;
		is_unsigned = !is_decimal || number >> 63;
	}
	expr_set_number(out, number, bits, is_unsigned);
}

/* Takes ({ TYPE name = VALUE; ... RESULT; }), after its first brackets. */
static void take_statements(struct expr *expr, struct term *out)
{
	size_t n = expr->n_locals;

	while (!expr->bad && !expr_take(expr, "}")) {
		const char *before = expr->at, *name = NULL, *word;
		size_t len = 0, n_words = 0, word_len;

		for (; expr_take_word(expr, &word, &word_len); n_words++) {
			name = word;
			len = word_len;
			expr_skip_typeof(expr, word, word_len);
			while (expr_take(expr, "*"))
				continue;
		}
		if (n_words > 1 && expr_take(expr, "=") && expr->n_locals < EXPR_LOCALS_MAX) {
			expr_eval(expr, out);
			expr->locals[expr->n_locals].name = name;
			expr->locals[expr->n_locals].len = len;
			expr->locals[expr->n_locals++].value = *out;
		} else {
			expr->at = before;
			expr_eval(expr, out);
		}
		expr_want(expr, ";");
	}
	expr->n_locals = n;
}

static bool take_local(struct expr *expr, const char *word, size_t len, struct term *out)
{
	for (size_t i = expr->n_locals; i-- > 0;)
		if (expr->locals[i].len == len && !memcmp(expr->locals[i].name, word, len)) {
			*out = expr->locals[i].value;
			return true;
		}
	return false;
}

static size_t size_of(const struct term *term)
{
	if (expr_is_array(term))
		return term->bytes.len;
	return term->kind != TERM_NUMBER ? 0 : term->element ? term->element : term->bits / 8;
}

/* Takes the operand of sizeof, a type or an expression, with or without brackets. */
static void take_sizeof(struct expr *expr, struct term *out)
{
	struct expr_type type;
	struct term of;
	const char *from;
	size_t size;
	ptrdiff_t len;

	expr_skip_blanks(expr);
	from = expr->at;
	if (expr_take_type(expr, &type)) {
		size = type.is_pointer ? expr->fields->long_bytes : type.size;
	} else {
		unary(expr, &of);
		size = size_of(&of);
	}
	if (size) {
		expr_set_number(out, size, long_bits(expr), true);
		return;
	}
	len = expr->at - from;
	while (len && isspace((unsigned char)from[len - 1]))
		len--;
	expr_set_unknown(expr, out, "sizeof%s%.*s", *from == '(' ? "" : " ",
		(int)(len < SHOWN_MAX ? len : SHOWN_MAX), from);
}

static void take_named(struct expr *expr, struct term *out)
{
	const char *word;
	size_t len;

	if (!expr_take_word(expr, &word, &len)) {
		expr->bad = true;
		return;
	}
	if (expr_is_word(word, len, "REC") && expr_take(expr, "->")) {
		expr->bad = !expr_take_word(expr, &word, &len);
		if (!expr->bad)
			get_field(expr, word, len, out);
	} else if (expr_is_word(word, len, "sizeof")) {
		take_sizeof(expr, out);
	} else if (expr_take(expr, "(")) {
		expr_call(expr, word, len, out);
	} else if (expr_is_word(word, len, "true") || expr_is_word(word, len, "false")) {
		expr_set_number(out, len == 4, 32, false);
	} else if (expr_is_word(word, len, "NULL")) {
		expr_set_number(out, 0, long_bits(expr), true);
	} else if (!take_local(expr, word, len, out)) {
		expr_set_unknown(expr, out, "%.*s", (int)(len < SHOWN_MAX ? len : SHOWN_MAX), word);
	}
}

static void take_member(struct expr *expr, const char *how, struct term *out)
{
	char shown[SHOWN_MAX];
	const char *word;
	size_t len;

	expr->bad = expr->bad || !expr_take_word(expr, &word, &len);
	if (expr->bad)
		return;
	expr_show(out, shown, sizeof(shown));
	expr_set_unknown(
		expr, out, "%s%s%.*s", shown, how, (int)(len < SHOWN_MAX ? len : SHOWN_MAX), word);
}

static void primary(struct expr *expr, struct term *out)
{
	expr_skip_blanks(expr);
	expr_set_number(out, 0, 32, false);
	if (*expr->at == '"') {
		take_string(expr, out);
	} else if (*expr->at == '\'') {
		take_char(expr, out);
	} else if (isdigit((unsigned char)*expr->at)) {
		take_number(expr, out);
	} else if (expr_take(expr, "(")) {
		if (expr_take(expr, "{"))
			take_statements(expr, out);
		else
			expr_eval(expr, out);
		expr_want(expr, ")");
	} else {
		take_named(expr, out);
	}
	while (!expr->bad) {
		if (expr_take(expr, "["))
			take_index(expr, out);
		else if (expr_take(expr, "->"))
			take_member(expr, "->", out);
		else if (expr_take(expr, "."))
			take_member(expr, ".", out);
		else
			break;
	}
}

static void apply_unary(struct expr *expr, char op, struct term *out)
{
	char shown[SHOWN_MAX];

	if (op == '&' && (out->kind != TERM_NUMBER || out->bytes.at)) {
		/* A number with a place in the raw data is an array of one element. */
		if (out->kind == TERM_NUMBER)
			out->kind = TERM_BYTES;
		return;
	}
	if (op == '!' && out->kind != TERM_UNKNOWN) {
		expr_set_number(out, !is_true(out), 32, false);
	} else if (op == '*' && expr_is_array(out)) {
		set_from_bytes(expr, out, out->bytes, out->element, !out->is_unsigned);
	} else if (out->kind != TERM_NUMBER || op == '*' || op == '&') {
		expr_show(out, shown, sizeof(shown));
		expr_set_unknown(expr, out, "%c%s", op, shown);
	} else {
		expr_set_number(out,
			op == '-'	    ? 0 - out->number
				: op == '~' ? ~out->number
					    : out->number,
			out->bits, out->is_unsigned);
	}
}

static void unary(struct expr *expr, struct term *out)
{
	struct expr_type type;

	expr_skip_blanks(expr);
	expr_set_number(out, 0, 32, false);
	if (expr->bad || ++expr->depth > DEPTH_MAX) {
		expr->bad = true;
		return;
	}
	if (*expr->at == '(' && expr_take_type(expr, &type)) {
		unary(expr, out);
		if (!expr->bad)
			expr_cast(expr, out, &type);
	} else if (*expr->at && strchr("!-~+*&", *expr->at)) {
		char op = *expr->at++;

		unary(expr, out);
		if (!expr->bad)
			apply_unary(expr, op, out);
	} else {
		primary(expr, out);
	}
	expr->depth--;
}

/* An operator precedes those that are its prefixes. */
static const struct operator
{
	const char *text;
	int level;
}
operators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8}, {"<=", 7},
	{">=", 7}, {"<", 7}, {">", 7}, {"|", 3}, {"^", 4}, {"&", 5}, {"+", 9}, {"-", 9}, {"*", 10},
	{"/", 10}, {"%", 10}};

static uint64_t divide(char op, uint64_t a, uint64_t b, bool is_unsigned)
{
	if (is_unsigned)
		return op == '/' ? a / b : a % b;
	if (b == UINT64_MAX)
		return op == '/' ? 0 - a : 0;
	return op == '/' ? (uint64_t)((int64_t)a / (int64_t)b)
			 : (uint64_t)((int64_t)a % (int64_t)b);
}

static bool is_less(uint64_t a, uint64_t b, bool is_unsigned)
{
	return is_unsigned ? a < b : (int64_t)a < (int64_t)b;
}

static uint64_t arithmetic(char op, uint64_t a, uint64_t b, bool is_unsigned)
{
	switch (op) {
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	case '&':
		return a & b;
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	default:
		return divide(op, a, b, is_unsigned);
	}
}

static bool compare(const char *op, uint64_t a, uint64_t b, bool u)
{
	switch (op[0] | op[1] << 8) {
	case '=' | '=' << 8:
		return a == b;
	case '!' | '=' << 8:
		return a != b;
	case '<' | '=' << 8:
		return !is_less(b, a, u);
	case '>' | '=' << 8:
		return !is_less(a, b, u);
	case '<':
		return is_less(a, b, u);
	default:
		return is_less(b, a, u);
	}
}

static void shift(char op, struct term *x, uint64_t by)
{
	uint64_t number = x->number;

	if (by >= x->bits)
		number = 0;
	else if (op == '<')
		number <<= by;
	else
		number = x->is_unsigned ? number >> by : (uint64_t)((int64_t)number >> by);
	expr_set_number(x, number, x->bits, x->is_unsigned);
}

/* Both operands must be numbers. */
static void compute(const struct operator* op, struct term *x, const struct term *y)
{
	unsigned int bits = x->bits > y->bits ? x->bits : y->bits;
	bool u = (x->is_unsigned && x->bits == bits) || (y->is_unsigned && y->bits == bits);
	uint64_t a = expr_extend(x->number, bits, !u), b = expr_extend(y->number, bits, !u);

	if (op->level == 8)
		shift(*op->text, x, y->number);
	else if (op->level == 6 || op->level == 7)
		expr_set_number(x, compare(op->text, a, b, u), 32, false);
	else
		expr_set_number(x, arithmetic(*op->text, a, b, u), bits, u);
}

static void combine(
	struct expr *expr, const struct operator* op, struct term *x, const struct term *y)
{
	char left[SHOWN_MAX], right[SHOWN_MAX];

	if (op->level <= 2 && x->kind != TERM_UNKNOWN && y->kind != TERM_UNKNOWN) {
		expr_set_number(x,
			op->level == 1 ? is_true(x) || is_true(y) : is_true(x) && is_true(y), 32,
			false);
		return;
	}
	if (x->kind == TERM_NUMBER && y->kind == TERM_NUMBER &&
		(op->level < 10 || *op->text == '*' || y->number)) {
		compute(op, x, y);
		return;
	}
	/* An array is the address of its first element. */
	if (*op->text == '+' && expr_is_array(x) && y->kind == TERM_NUMBER) {
		x->bytes = bytes_from(x, y->number);
		return;
	}
	/* The address of an array is never NULL. */
	if (op->level == 6 && x->kind != TERM_UNKNOWN && y->kind != TERM_UNKNOWN) {
		expr_set_number(x, *op->text == '!', 32, false);
		return;
	}
	expr_show(x, left, sizeof(left));
	expr_show(y, right, sizeof(right));
	expr_set_unknown(expr, x, "%s%s%s", left, op->text, right);
	x->is_composed = true;
}

static const struct operator* find_operator(struct expr *expr)
{
	expr_skip_blanks(expr);
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (!strncmp(expr->at, operators[i].text, strlen(operators[i].text)))
			return &operators[i];
	return NULL;
}

static void binary(struct expr *expr, int level, struct term *out)
{
	const struct operator* op;
	struct term right;

	unary(expr, out);
	while (!expr->bad && (op = find_operator(expr)) && op->level >= level) {
		expr->at += strlen(op->text);
		binary(expr, op->level + 1, &right);
		if (!expr->bad)
			combine(expr, op, out, &right);
	}
}

/* Takes "CONDITION ? YES : NO" after the question mark; out is the condition, then the result. */
static void choose(struct expr *expr, struct term *out)
{
	char shown[3][SHOWN_MAX];
	const struct expr_named before = expr->named;
	struct expr_named of_yes;
	struct term condition = *out, yes, no;

	/* "A ?: B" */
	if (expr_take(expr, ":")) {
		yes = condition;
	} else {
		expr_eval(expr, &yes);
		expr_want(expr, ":");
	}
	if (expr->bad)
		return;
	of_yes = expr->named;
	expr->named = before;
	expr_eval(expr, &no);
	if (is_true(&condition))
		expr->named = of_yes;
	if (condition.kind != TERM_UNKNOWN) {
		*out = is_true(&condition) ? yes : no;
		return;
	}
	expr_show(&condition, shown[0], sizeof(shown[0]));
	expr_show(&yes, shown[1], sizeof(shown[1]));
	expr_show(&no, shown[2], sizeof(shown[2]));
	expr_set_unknown(expr, out, "%s?%s:%s", shown[0], shown[1], shown[2]);
	out->is_composed = true;
}

void expr_eval(struct expr *expr, struct term *out)
{
	expr_set_number(out, 0, 32, false);
	if (++expr->depth > DEPTH_MAX)
		expr->bad = true;
	if (!expr->bad)
		binary(expr, 1, out);
	if (!expr->bad && expr_take(expr, "?"))
		choose(expr, out);
	expr->depth--;
}
