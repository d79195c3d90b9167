/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * line.c - see fields.h: formats a tracepoint's sample as a line, by its print format.
 *
 * The format is a string of the kernel's printf, and its arguments in C over REC->field and a few
 * helpers.  It may come from a recording, so nothing in it is trusted.  If a format is not
 * understood, all fields are shown.
 */
#include "sampler/fields/private.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_MAX 1024
#define POINTEE_MAX 512 /* most bytes of a padded pointee */
#define CUT "\xe2\x80\xa6" /* an ellipsis */

void line_put(struct line_text *text, const char *what, size_t len)
{
	size_t left;

	if (!text->size)
		return;
	left = text->size - 1 - text->len;
	if (len > left) {
		len = left;
		text->cut = true;
	}
	if (len)
		memcpy(text->out + text->len, what, len);
	text->len += len;
	text->out[text->len] = '\0';
}

void line_print(struct line_text *text, const char *format, ...)
{
	char shown[512];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(shown, sizeof(shown), format, args);
	va_end(args);
	if (len >= 0)
		line_put(
			text, shown, (size_t)len < sizeof(shown) ? (size_t)len : sizeof(shown) - 1);
}

void line_mark_cut(struct line_text *text)
{
	if (!text->cut || text->size <= sizeof(CUT))
		return;
	memcpy(text->out + text->size - sizeof(CUT), CUT, sizeof(CUT));
}

/* --- conversions --- */

struct conversion {
	bool left, plus, blank, alternate, zero;
	int width, precision; /* -1: not given */
	unsigned int bits;
	char what;
};

/* Takes the next argument, for the conversion or for its width. */
static void take_argument(struct expr *expr, struct term *out)
{
	expr_set_number(out, 0, 32, false);
	expr_want(expr, ",");
	if (!expr->bad)
		expr_eval(expr, out);
}

/* Takes digits, or a star and an argument. */
static int take_size(struct expr *expr, const char **format)
{
	struct term term;
	int size = 0;

	if (**format == '*') {
		(*format)++;
		take_argument(expr, &term);
		if (term.kind != TERM_NUMBER || (int64_t)term.number > UINT16_MAX)
			return UINT16_MAX;
		return (int64_t)term.number < 0 ? -1 : (int)term.number;
	}
	for (; isdigit((unsigned char)**format); (*format)++)
		size = size < UINT16_MAX ? 10 * size + (**format - '0') : size;
	return size;
}

static void take_conversion(struct expr *expr, const char **format, struct conversion *out)
{
	const char *at = *format;

	*out = (struct conversion){.width = -1, .precision = -1, .bits = 32};
	for (; *at && strchr("-+ #0", *at); at++) {
		out->left |= *at == '-';
		out->plus |= *at == '+';
		out->blank |= *at == ' ';
		out->alternate |= *at == '#';
		out->zero |= *at == '0';
	}
	if (*at == '*' || isdigit((unsigned char)*at))
		out->width = take_size(expr, &at);
	if (*at == '.') {
		at++;
		out->precision = take_size(expr, &at);
	}
	for (; *at && strchr("hlLqjzt", *at); at++) {
		if (*at == 'h')
			out->bits = out->bits == 16 ? 8 : 16;
		else if (*at == 'l' || *at == 'z' || *at == 't')
			out->bits = out->bits == 32 ? 8 * expr->fields->long_bytes : 64;
		else
			out->bits = 64;
	}
	/* "%lld" if a long has 32 bits */
	if (at - *format >= 2 && at[-1] == 'l' && at[-2] == 'l')
		out->bits = 64;
	out->what = *at;
	*format = at + (*at != '\0');
}

static void put_blanks(struct line_text *text, size_t n)
{
	for (; n; n--)
		line_put(text, " ", 1);
}

static void put_padded(
	struct line_text *text, const struct conversion *conversion, const char *what, size_t len)
{
	size_t width = conversion->width < 0	? 0
		: conversion->width > WIDTH_MAX ? WIDTH_MAX
						: (size_t)conversion->width;
	size_t blanks = width > len ? width - len : 0;

	if (!conversion->left)
		put_blanks(text, blanks);
	line_put(text, what, len);
	if (conversion->left)
		put_blanks(text, blanks);
}

/* Writes a text up to its NUL, or as much as the precision allows. */
static void put_text(
	struct line_text *text, const struct conversion *conversion, const char *what, size_t len)
{
	size_t most = conversion->precision < 0 ? len : (size_t)conversion->precision;

	len = strnlen(what, len < most ? len : most);
	put_padded(text, conversion, what, len);
}

static void put_pointed_text(struct line_text *text, const struct conversion *conversion,
	const struct fields *fields, const struct term *term)
{
	const char *known = fields_texts_find(fields->texts, term->number);
	char shown[24];

	if (!known && term->number)
		snprintf(shown, sizeof(shown), "0x%" PRIx64, term->number);
	else if (!known)
		snprintf(shown, sizeof(shown), "(null)");
	known = known ? known : shown;
	put_text(text, conversion, known, strlen(known));
}

static void put_number(
	struct line_text *text, const struct conversion *conversion, const struct term *term)
{
	unsigned int bits = conversion->bits < term->bits ? conversion->bits : term->bits;
	bool is_signed = conversion->what == 'd' || conversion->what == 'i';
	uint64_t mask = bits < 64 ? (1ull << bits) - 1 : UINT64_MAX, number = term->number & mask;
	char digits[72], sign[3] = "", shown[WIDTH_MAX + 80];
	size_t n, zeros = 0, prefix;
	const char *by = conversion->what == 'o' ? "%" PRIo64
		: conversion->what == 'x'	 ? "%" PRIx64
		: conversion->what == 'X'	 ? "%" PRIX64
						 : "%" PRIu64;
	struct line_text out = {shown, sizeof(shown), 0, false};

	if (is_signed && number >> (bits - 1)) {
		/* A conversion wider than an unsigned number shows no sign. */
		if (!term->is_unsigned || conversion->bits <= term->bits) {
			number = (0 - number) & mask;
			strcpy(sign, "-");
		}
	} else if (is_signed && (conversion->plus || conversion->blank)) {
		strcpy(sign, conversion->plus ? "+" : " ");
	}
	/* The kernel also puts 0x before a 0. */
	if (conversion->alternate && conversion->what == 'o' && number)
		strcpy(sign, "0");
	else if (conversion->alternate && (conversion->what == 'x' || conversion->what == 'X'))
		strcpy(sign, conversion->what == 'x' ? "0x" : "0X");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	n = (size_t)snprintf(digits, sizeof(digits), by, number);
#pragma GCC diagnostic pop
	prefix = strlen(sign);
	if (conversion->precision > (int)n)
		zeros = (size_t)conversion->precision - n;
	else if (conversion->precision < 0 && conversion->zero && !conversion->left &&
		conversion->width > (int)(n + prefix))
		zeros = (size_t)conversion->width - n - prefix;
	line_put(&out, sign, prefix);
	for (zeros = zeros < WIDTH_MAX ? zeros : WIDTH_MAX; zeros; zeros--)
		line_put(&out, "0", 1);
	line_put(&out, digits, n);
	put_padded(text, conversion, out.out, out.len);
}

/* For bitmaps and bytes, the width is their number. */
static bool pads_pointee(const struct conversion *conversion, char letter)
{
	return letter != 'h' && letter != 'b' &&
		(conversion->width >= 0 || conversion->precision >= 0);
}

static void put_pointer(struct line_text *text, const struct fields *fields, const char **format,
	const struct conversion *conversion, const struct term *term,
	const struct fields_line_names *names)
{
	char shown[POINTEE_MAX];
	struct line_text pointee = {shown, sizeof(shown), 0, false};
	bool pads = pads_pointee(conversion, **format);
	struct conversion digits = *conversion;
	struct term number = *term;

	if (isalnum((unsigned char)**format) &&
		line_put_pointee(
			pads ? &pointee : text, fields, format, term, conversion->width, names)) {
		if (pads)
			put_text(text, conversion, shown, pointee.len);
		return;
	}
	/* Unknown letters after %p have no effect. */
	if (expr_is_array(term)) {
		for (size_t i = 0; i < term->bytes.len && !text->cut; i++)
			line_print(text, "%02x", term->bytes.at[i]);
	} else if (term->number) {
		digits.what = 'x';
		digits.bits = number.bits = 64;
		digits.alternate = true;
		put_number(text, &digits, &number);
	} else {
		/* the format of the C library */
		put_padded(text, conversion, "(nil)", 5);
	}
}

/* Shows a value in a form that fits its type, even if the conversion expects another type. */
static void put_conversion(struct line_text *text, const struct fields *fields, const char **format,
	const struct conversion *conversion, const struct term *term,
	const struct fields_line_names *names)
{
	char c;

	if (term->kind == TERM_UNKNOWN) {
		line_put(text, (const char *)term->bytes.at, term->bytes.len);
	} else if (conversion->what == 'p') {
		put_pointer(text, fields, format, conversion, term, names);
	} else if (conversion->what == 's' && term->kind == TERM_NUMBER) {
		put_pointed_text(text, conversion, fields, term);
	} else if (term->kind != TERM_NUMBER) {
		put_text(text, conversion, (const char *)term->bytes.at, term->bytes.len);
	} else if (conversion->what == 'c') {
		c = (char)term->number;
		put_padded(text, conversion, &c, c != 0);
	} else {
		put_number(text, conversion, term);
	}
	/* The kernel takes all letters after %p as the pointer's kind, known or not. */
	while (conversion->what == 'p' && isalnum((unsigned char)**format))
		(*format)++;
}

/* --- the line --- */

static const char *find_format_end(const char *at)
{
	for (; *at && *at != '"'; at++)
		at += *at == '\\' && at[1];
	return at;
}

static void put_escape(struct line_text *text, char c)
{
	c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
	line_put(text, &c, 1);
}

/* Formats one string, between its quotes. */
static void put_string(struct line_text *text, struct expr *expr, const char *format,
	const char *end, const struct fields_line_names *names)
{
	char room[FIELDS_ROOM_MAX];

	while (format < end && !expr->bad && !text->cut) {
		struct conversion conversion;
		struct term term;

		if (*format == '\\' && format + 1 < end) {
			put_escape(text, format[1]);
			format += 2;
		} else if (*format != '%') {
			line_put(text, format++, 1);
		} else if (format[1] == '%') {
			line_put(text, format, 1);
			format += 2;
		} else {
			expr->room = room;
			expr->room_len = sizeof(room);
			format++;
			take_conversion(expr, &format, &conversion);
			if (!conversion.what || !strchr("diuxXocsp", conversion.what))
				expr->bad = true;
			if (!expr->bad)
				take_argument(expr, &term);
			if (!expr->bad)
				put_conversion(
					text, expr->fields, &format, &conversion, &term, names);
		}
	}
}

static bool put_format(struct line_text *text, const struct fields *fields, struct bytes raw,
	const struct fields_line_names *names)
{
	struct expr expr = {.fields = fields, .raw = raw};
	const char *format = fields->print + strspn(fields->print, " \t"), *at = format;

	if (*at != '"')
		return false;
	/* The arguments follow the last of the strings. */
	while (*at == '"') {
		at = find_format_end(at + 1);
		if (!*at)
			return false;
		at++;
		at += strspn(at, " \t\n");
	}
	expr.at = at;
	while (*format == '"' && !expr.bad) {
		const char *end = find_format_end(format + 1);

		put_string(text, &expr, format + 1, end, names);
		format = end + 1;
		format += strspn(format, " \t\n");
	}
	return !expr.bad;
}

/* Writes all fields as name=value. */
static void put_fields(struct line_text *text, const struct fields *fields, struct bytes raw)
{
	char room[FIELDS_ROOM_MAX], shown[VALUE_TEXT_MAX];

	for (size_t i = 0; i < fields->n; i++) {
		struct value value = {0};

		if (fields->how[i].part != PART_NONE)
			continue;
		fields_read_raw(fields, i, raw, room, sizeof(room), &value);
		line_print(text, "%s%s=", text->len ? " " : "", fields->at[i].name);
		if (value.text) {
			line_put(text, value.text, value.text_len);
			continue;
		}
		fields_format(fields, i, &value, shown, sizeof(shown));
		line_put(text, shown, strlen(shown));
	}
}

enum fields_line fields_line(const struct fields *fields, const struct record *record,
	const struct fields_line_names *names, char *out, size_t size)
{
	const struct bytes raw = {record->sample.raw ? record->sample.raw : (const uint8_t *)"",
		record->sample.raw ? record->sample.raw_len : 0};
	struct line_text text = {out, size, 0, false};
	enum fields_line done = FIELDS_LINE_FORMAT;

	line_put(&text, "", 0);
	if (!fields || !fields->is_tracepoint || !raw.len)
		return FIELDS_LINE_NONE;
	if (!fields->print || !put_format(&text, fields, raw, names)) {
		text = (struct line_text){out, size, 0, false};
		line_put(&text, "", 0);
		put_fields(&text, fields, raw);
		done = FIELDS_LINE_FIELDS;
	}
	line_mark_cut(&text);
	return done;
}
