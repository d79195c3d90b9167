/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fields_line.c - see fields.h: a tracepoint's sample as a line, by its print format.
 *
 * The format is a string of printf(3) and its arguments in C, over REC->field and a few helpers.  It may be a recording's,
 * so anything: what is not understood makes no line.  Numbers have 64 bits; texts are those of values.h.
 */
#include "sampler/fields_private.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64
#define WORD_MAX 64

struct term {
	uint64_t number;
	bool is_unsigned;
	bool is_text;
	int field; /* that it is, and nothing else; -1 */
	char text[VALUE_TEXT_MAX + 1];
};

struct line {
	const struct fields *fields;
	const struct values *values;
	uint32_t id;
	const char *at;
	bool bad;
	int depth;
};

static void eval(struct line *line, struct term *out);

static void skip_blanks(struct line *line)
{
	while (*line->at == ' ' || *line->at == '\t')
		line->at++;
}

static bool take(struct line *line, const char *token)
{
	size_t len = strlen(token);

	skip_blanks(line);
	if (strncmp(line->at, token, len) != 0)
		return false;
	line->at += len;
	return true;
}

static void want(struct line *line, const char *token)
{
	line->bad |= !take(line, token);
}

static size_t word_len(const char *at)
{
	size_t len = 0;

	while (isalnum((unsigned char)at[len]) || at[len] == '_')
		len++;
	return len;
}

static bool take_word(struct line *line, char word[WORD_MAX])
{
	size_t len;

	skip_blanks(line);
	len = word_len(line->at);
	if (!len || len >= WORD_MAX || isdigit((unsigned char)*line->at))
		return false;
	memcpy(word, line->at, len);
	word[len] = '\0';
	line->at += len;
	return true;
}

static void set_number(struct term *out, uint64_t number, bool is_unsigned)
{
	out->number = number;
	out->is_unsigned = is_unsigned;
	out->is_text = false;
	out->field = -1;
}

/* --- types --- */

static bool is_type_word(const char *word)
{
	static const char *const words[] = {"unsigned", "signed", "int", "long", "char", "short",
		"void", "const", "struct", "union", "enum", "bool", "u8", "u16", "u32", "u64", "s8",
		"s16", "s32", "s64", "__u8", "__u16", "__u32", "__u64", "__s8", "__s16", "__s32",
		"__s64"};
	size_t len = strlen(word);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return len > 2 && !strcmp(word + len - 2, "_t");
}

struct type {
	unsigned int bits; /* 64: as it is */
	bool is_signed;
};

static void add_type_word(struct type *type, const char *word)
{
	if (strstr(word, "8") || !strcmp(word, "char"))
		type->bits = 8;
	else if (strstr(word, "16") || !strcmp(word, "short"))
		type->bits = 16;
	else if (strstr(word, "32") || !strcmp(word, "int") || !strcmp(word, "pid_t"))
		type->bits = type->bits == 16 ? 16 : 32;
	else if (!strcmp(word, "unsigned") && type->bits == 64)
		type->bits = 0; /* int, unless another word comes */
	else if (!strcmp(word, "long") || strstr(word, "64"))
		type->bits = 64;
	if (word[0] == 'u' || !strncmp(word, "__u", 3) || !strcmp(word, "size_t"))
		type->is_signed = false;
}

/* "(unsigned int)" and the like, and *after behind it; false where the parenthesis is of something else. */
static bool take_type(struct line *line, struct type *type)
{
	const char *before = line->at;
	char word[WORD_MAX];
	bool any = false;

	*type = (struct type){64, true};
	want(line, "(");
	while (take_word(line, word)) {
		if (!any && !is_type_word(word))
			break;
		any = true;
		add_type_word(type, word);
	}
	while (any && take(line, "*"))
		*type = (struct type){64, false};
	if (any && take(line, ")")) {
		type->bits = type->bits ? type->bits : 32;
		return true;
	}
	line->at = before;
	return false;
}

static void cast(struct term *term, struct type type)
{
	uint64_t number = term->number;

	if (type.bits < 64) {
		uint64_t mask = (1ull << type.bits) - 1;

		number &= mask;
		if (type.is_signed && number >> (type.bits - 1))
			number |= ~mask;
	}
	set_number(term, number, !type.is_signed);
}

/* --- fields --- */

static void get_field(struct line *line, const char *name, struct term *out)
{
	int i = fields_find(line->fields, name);
	struct value value;

	set_number(out, 0, false);
	if (i < 0 || line->fields->how[i].part != PART_NONE ||
		!values_get(line->values, line->id, (size_t)i, &value)) {
		line->bad = true;
		return;
	}
	out->field = i;
	out->number = value.number;
	out->is_unsigned = line->fields->at[i].kind != FIELD_SIGNED;
	if (!value.text)
		return;
	out->is_text = true;
	snprintf(out->text, sizeof(out->text), "%.*s", (int)value.text_len, value.text);
}

/* Element i of an array, whose text has blanks between hexadecimal numbers, or two digits for each byte. */
static void get_element(struct line *line, struct term *out, uint64_t i)
{
	const char *at = out->text;
	char byte[3];

	if (!out->is_text) {
		line->bad = true;
		return;
	}
	if (!strchr(at, ' ') && out->field >= 0 && line->fields->how[out->field].element <= 1) {
		if (i >= strlen(at) / 2) {
			line->bad = true;
			return;
		}
		memcpy(byte, at + 2 * i, 2);
		byte[2] = '\0';
		at = byte;
	} else {
		while (i-- && (at = strchr(at, ' ')))
			at++;
		if (!at) {
			line->bad = true;
			return;
		}
	}
	set_number(out, strtoull(at, NULL, 16), true);
}

/* --- helpers of print formats --- */

static void skip_argument(struct line *line, int open)
{
	for (bool quoted = false; *line->at; line->at++) {
		if (*line->at == '\\' && quoted && line->at[1]) {
			line->at++;
			continue;
		}
		quoted ^= *line->at == '"';
		if (quoted)
			continue;
		if (strchr("({[", *line->at))
			open++;
		else if (strchr(")}]", *line->at) && !--open)
			return;
	}
	line->bad = true;
}

/* Names of bits or numbers, as they were found when the schema was made. */
static void call_names(struct line *line, struct term *out)
{
	const char *before = line->at;
	const struct field_names *names;
	char word[WORD_MAX];
	struct term field;
	int i = -1;

	/* The field is somewhere in the first argument. */
	skip_argument(line, 1);
	for (const char *at = strstr(before, "REC->"); at && at < line->at && i < 0;
		at = strstr(at + 1, "REC->")) {
		struct line sub = {.at = at + strlen("REC->")};

		if (take_word(&sub, word))
			i = fields_find(line->fields, word);
	}
	want(line, ")");
	if (i < 0 || line->bad || !line->fields->how[i].names) {
		line->bad = true;
		return;
	}
	names = line->fields->how[i].names;
	get_field(line, line->fields->at[i].name, &field);
	out->is_text = true;
	out->field = -1;
	field_names_format(names, field.number & ~names->more_mask, out->text, sizeof(out->text));
}

static void call(struct line *line, const char *name, struct term *out)
{
	char word[WORD_MAX];
	struct term ignored;

	if (!strncmp(name, "__print_flags", 13) || !strncmp(name, "__print_symbolic", 16)) {
		call_names(line, out);
		return;
	}
	if (!strcmp(name, "__get_str") || !strcmp(name, "__get_rel_str")) {
		line->bad |= !take_word(line, word);
		if (!line->bad)
			get_field(line, word, out);
		want(line, ")");
		return;
	}
	if (!strcmp(name, "__builtin_expect")) {
		eval(line, out);
		want(line, ",");
		eval(line, &ignored);
		want(line, ")");
		return;
	}
	line->bad = true;
}

/* --- expressions --- */

static void take_string(struct line *line, struct term *out)
{
	size_t len = 0;

	out->is_text = true;
	out->field = -1;
	for (line->at++; *line->at && *line->at != '"'; line->at++) {
		if (*line->at == '\\' && line->at[1])
			line->at++;
		if (len + 1 < sizeof(out->text))
			out->text[len++] = *line->at;
	}
	out->text[len] = '\0';
	want(line, "\"");
}

static void take_number(struct line *line, struct term *out)
{
	char *end;
	bool is_unsigned = false;

	out->number = strtoull(line->at, &end, 0);
	for (; *end && strchr("uUlL", *end); end++)
		is_unsigned |= *end == 'u' || *end == 'U';
	line->at = end;
	set_number(out, out->number, is_unsigned);
}

static void primary(struct line *line, struct term *out)
{
	char word[WORD_MAX];
	struct term index;

	skip_blanks(line);
	set_number(out, 0, false);
	if (*line->at == '"') {
		take_string(line, out);
	} else if (isdigit((unsigned char)*line->at)) {
		take_number(line, out);
	} else if (take(line, "(")) {
		eval(line, out);
		want(line, ")");
	} else if (take(line, "REC->")) {
		line->bad |= !take_word(line, word);
		if (!line->bad)
			get_field(line, word, out);
	} else if (take_word(line, word) && take(line, "(")) {
		call(line, word, out);
	} else {
		line->bad = true;
	}
	while (!line->bad && take(line, "[")) {
		eval(line, &index);
		want(line, "]");
		if (!line->bad)
			get_element(line, out, index.number);
	}
}

static void unary(struct line *line, struct term *out)
{
	struct type type;

	set_number(out, 0, false);
	skip_blanks(line);
	if (line->bad || ++line->depth > DEPTH_MAX) {
		line->bad = true;
		return;
	}
	if (*line->at == '(' && take_type(line, &type)) {
		unary(line, out);
		if (!out->is_text)
			cast(out, type);
	} else if (*line->at == '!') {
		line->at++;
		unary(line, out);
		set_number(out, !out->number, false);
	} else if (*line->at == '-') {
		line->at++;
		unary(line, out);
		set_number(out, -out->number, out->is_unsigned);
	} else if (*line->at == '~') {
		line->at++;
		unary(line, out);
		set_number(out, ~out->number, out->is_unsigned);
	} else {
		primary(line, out);
	}
	line->depth--;
}

/* Longer ones before those that they begin with. */
static const struct operator
{
	const char *text;
	int level;
}
operators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8}, {"<=", 7},
	{">=", 7}, {"<", 7}, {">", 7}, {"|", 3}, {"^", 4}, {"&", 5}, {"+", 9}, {"-", 9}, {"*", 10},
	{"/", 10}, {"%", 10}};

static uint64_t divide(struct line *line, const char *op, uint64_t a, uint64_t b, bool is_unsigned)
{
	if (!b || (!is_unsigned && b == UINT64_MAX)) {
		line->bad |= !b;
		return b && *op == '/' ? -a : 0;
	}
	if (is_unsigned)
		return *op == '/' ? a / b : a % b;
	return *op == '/' ? (uint64_t)((int64_t)a / (int64_t)b)
			  : (uint64_t)((int64_t)a % (int64_t)b);
}

static bool is_less(uint64_t a, uint64_t b, bool is_unsigned)
{
	return is_unsigned ? a < b : (int64_t)a < (int64_t)b;
}

static uint64_t compute(
	struct line *line, const char *op, const struct term *x, const struct term *y)
{
	bool u = x->is_unsigned || y->is_unsigned;
	uint64_t a = x->number, b = y->number;

	switch (op[0] | (op[1] << 8)) {
	case '|' | '|' << 8:
		return a || b;
	case '&' | '&' << 8:
		return a && b;
	case '=' | '=' << 8:
		return a == b;
	case '!' | '=' << 8:
		return a != b;
	case '<' | '<' << 8:
		return b < 64 ? a << b : 0;
	case '>' | '>' << 8:
		if (b >= 64)
			return 0;
		return x->is_unsigned ? a >> b : (uint64_t)((int64_t)a >> b);
	case '<' | '=' << 8:
		return !is_less(b, a, u);
	case '>' | '=' << 8:
		return !is_less(a, b, u);
	case '<':
		return is_less(a, b, u);
	case '>':
		return is_less(b, a, u);
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
		return divide(line, op, a, b, u);
	}
}

static const struct operator* find_operator(struct line *line)
{
	skip_blanks(line);
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (!strncmp(line->at, operators[i].text, strlen(operators[i].text)))
			return &operators[i];
	return NULL;
}

static void binary(struct line *line, int level, struct term *out)
{
	const struct operator* op;
	struct term right;

	unary(line, out);
	while (!line->bad && (op = find_operator(line)) && op->level >= level) {
		line->at += strlen(op->text);
		binary(line, op->level + 1, &right);
		set_number(out, compute(line, op->text, out, &right),
			out->is_unsigned || right.is_unsigned);
	}
}

static void eval(struct line *line, struct term *out)
{
	struct term other;

	set_number(out, 0, false);
	if (++line->depth > DEPTH_MAX)
		line->bad = true;
	if (!line->bad)
		binary(line, 1, out);
	if (!line->bad && take(line, "?")) {
		bool first = out->is_text || out->number;

		eval(line, first ? out : &other);
		want(line, ":");
		if (!line->bad)
			eval(line, first ? &other : out);
	}
	line->depth--;
}

/* --- the line --- */

struct text {
	char *out;
	size_t size, len;
};

static void put(struct text *text, const char *what, size_t len)
{
	for (size_t i = 0; i < len && text->len + 1 < text->size; i++)
		text->out[text->len++] = what[i];
	if (text->size)
		text->out[text->len] = '\0';
}

/* An array of bytes as an address of the Internet. */
static bool put_internet(struct text *text, const struct term *term, int family)
{
	size_t n = family == AF_INET ? 4 : 16;
	char shown[INET6_ADDRSTRLEN], byte[3] = "";
	uint8_t bytes[16];

	if (!term->is_text || strlen(term->text) != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		memcpy(byte, term->text + 2 * i, 2);
		bytes[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	if (!inet_ntop(family, bytes, shown, sizeof(shown)))
		return false;
	put(text, shown, strlen(shown));
	return true;
}

/* What follows the p of %p, which is taken; false: it is not known. */
static bool put_pointer(struct text *text, const char **format, const struct term *term,
	const struct fields_line_names *names)
{
	const char *at = *format;
	char shown[VALUE_TEXT_MAX];

	if (!strncmp(at, "I4", 2)) {
		*format = at + 2;
		return put_internet(text, term, AF_INET);
	}
	if (!strncmp(at, "I6c", 3)) {
		*format = at + 3;
		return put_internet(text, term, AF_INET6);
	}
	if (*at == 'S' || *at == 's' || *at == 'F' || *at == 'f') {
		*format = at + 1;
		if (names &&
			names->code(names->ctx, term->number, *at == 'S' || *at == 'F', shown,
				sizeof(shown))) {
			put(text, shown, strlen(shown));
			return true;
		}
	} else if (isalnum((unsigned char)*at)) {
		return false;
	}
	/* As the C library prints it. */
	if (term->number)
		snprintf(shown, sizeof(shown), "0x%" PRIx64, term->number);
	else
		snprintf(shown, sizeof(shown), "(nil)");
	put(text, shown, strlen(shown));
	return true;
}

/* Flags, width and precision of a conversion, at most; the length of numbers is told by what it begins with. */
struct conversion {
	char flags[24];
	unsigned int bits;
	char what;
};

static bool take_conversion(const char **format, struct conversion *out)
{
	const char *at = *format;
	size_t n = strspn(at, "-+ #0123456789.");

	*out = (struct conversion){.bits = 32};
	if (n + 1 > sizeof(out->flags) - 4)
		return false;
	/* Nothing is that wide. */
	for (size_t i = 0, digits = 0; i < n; i++) {
		digits = isdigit((unsigned char)at[i]) ? digits + 1 : 0;
		if (digits > 3)
			return false;
	}
	memcpy(out->flags, at, n);
	at += n;
	if (!strncmp(at, "hh", 2)) {
		out->bits = 8;
		at += 2;
	} else if (*at == 'h') {
		out->bits = 16;
		at++;
	} else {
		for (; *at && strchr("lzjtL", *at); at++)
			out->bits = 64;
	}
	out->what = *at;
	*format = at + (*at != '\0');
	return out->what && strchr("diuxXocsp", out->what);
}

static bool put_conversion(struct text *text, const char **format, const struct term *term,
	const struct fields_line_names *names)
{
	struct conversion conversion;
	char spec[40], shown[VALUE_TEXT_MAX + 128];
	struct term number = *term;

	if (!take_conversion(format, &conversion))
		return false;
	if (conversion.what == 'p')
		return put_pointer(text, format, term, names);
	if (conversion.what == 's') {
		if (!term->is_text)
			return false;
		snprintf(spec, sizeof(spec), "%%%ss", conversion.flags);
	} else if (term->is_text) {
		return false;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (conversion.what == 's') {
		snprintf(shown, sizeof(shown), spec, term->text);
	} else if (conversion.what == 'c') {
		snprintf(shown, sizeof(shown), "%c", (int)term->number);
	} else {
		cast(&number,
			(struct type){
				conversion.bits, conversion.what == 'd' || conversion.what == 'i'});
		snprintf(spec, sizeof(spec), "%%%sll%c", conversion.flags, conversion.what);
		snprintf(shown, sizeof(shown), spec, (unsigned long long)number.number);
	}
#pragma GCC diagnostic pop
	put(text, shown, strlen(shown));
	return true;
}

/* The end of a string that begins at its quote. */
static const char *end_of_string(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		at += *at == '\\' && at[1];
	return at;
}

static void put_escape(struct text *text, char c)
{
	c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
	put(text, &c, 1);
}

bool fields_line(const struct fields *fields, const struct values *values, uint32_t id,
	const struct fields_line_names *names, char *out, size_t size)
{
	struct line line = {.fields = fields, .values = values, .id = id};
	struct text text = {out, size, 0};
	const char *format, *end;
	struct term term;

	if (!fields || !fields->print || !(format = strchr(fields->print, '"')))
		return false;
	put(&text, "", 0);
	end = end_of_string(format);
	line.at = *end ? end + 1 : end;
	for (format++; format < end && !line.bad;) {
		if (*format == '\\' && format + 1 < end) {
			put_escape(&text, format[1]);
			format += 2;
		} else if (*format != '%') {
			put(&text, format++, 1);
		} else if (format[1] == '%') {
			put(&text, format, 1);
			format += 2;
		} else {
			format++;
			want(&line, ",");
			eval(&line, &term);
			line.bad = line.bad || !put_conversion(&text, &format, &term, names);
		}
	}
	return !line.bad;
}
