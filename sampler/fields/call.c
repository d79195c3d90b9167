/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * call.c - see private.h: functions that the kernel allows in print formats.
 *
 * See include/trace/stages/stage3_trace_output.h.  An unknown function is shown by its name and
 * arguments.
 */
#include "sampler/fields/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ARGS_MAX 4
#define SHOWN_MAX 160

/* Returns an empty text that is built in the room. */
static struct line_text room_text(struct expr *expr)
{
	/* The byte after the text is not part of it. */
	return (struct line_text){expr->room, expr->room_len, 0, false};
}

static void set_room_text(struct expr *expr, struct line_text *text, struct term *out)
{
	line_mark_cut(text);
	*out = (struct term){.kind = TERM_TEXT,
		.bits = 64,
		.bytes = {(const uint8_t *)text->out, text->len},
		.element = 1};
	expr_take_room(expr, text->len);
}

/* Names bits or a number; the list was read when the schema was created. */
static void call_names(struct expr *expr, struct term *out)
{
	const struct field_names *names = fields_list_at(expr->fields, expr->at);
	struct line_text text;
	struct term number;

	if (!names) {
		expr->bad = true;
		return;
	}
	expr_eval(expr, &number);
	if (expr->bad)
		return;
	expr->at = names->end;
	if (number.kind != TERM_NUMBER) {
		*out = number;
		return;
	}
	if (expr->fields->long_bytes == 4 && number.bits == 32)
		number.number &= UINT32_MAX;
	expr->named = (struct expr_named){names, number.number};
	text = room_text(expr);
	if (text.size) {
		field_names_format(names, number.number, text.out, text.size);
		text.len = strlen(text.out);
	}
	set_room_text(expr, &text, out);
}

/* Takes the [I] of probes that have several texts in one field, stored one after the other. */
static void take_text_index(struct expr *expr, struct field_how *how)
{
	const uint32_t place_bytes = 4;
	struct term index;

	if (how->place == FIELD_FIXED || !expr_take(expr, "["))
		return;
	expr_eval(expr, &index);
	expr_want(expr, "]");
	if (index.kind != TERM_NUMBER || index.number >= how->len / place_bytes)
		expr->bad = true;
	else
		how->offset += (uint32_t)index.number * place_bytes;
}

/* Takes the field named in __get_str(name) and similar calls. */
static void take_field(struct expr *expr, bool is_text, bool is_len, struct term *out)
{
	const char *name;
	size_t len;

	expr->bad = !expr_take_word(expr, &name, &len);
	if (expr->bad)
		return;
	for (size_t i = 0; i < expr->fields->n; i++) {
		struct field_how how = expr->fields->how[i];
		struct bytes bytes;

		if (how.part != PART_NONE || strlen(expr->fields->at[i].name) != len ||
			memcmp(expr->fields->at[i].name, name, len) != 0)
			continue;
		take_text_index(expr, &how);
		bytes = fields_bytes(expr->fields, &how, expr->raw);
		if (is_len)
			expr_set_number(out, bytes.len, 32, false);
		else
			*out = (struct term){
				.kind = is_text || expr->fields->at[i].kind == FIELD_TEXT
					? TERM_TEXT
					: TERM_BYTES,
				.bits = 64,
				.is_unsigned = !how.is_signed,
				.bytes = bytes,
				.element = how.element ? how.element : 1};
		return;
	}
	expr_set_unknown(expr, out, "%.*s", (int)(len < SHOWN_MAX ? len : SHOWN_MAX), name);
}

static void call_field(struct expr *expr, bool is_text, bool is_len, struct term *out)
{
	take_field(expr, is_text, is_len, out);
	expr_want(expr, ")");
}

static void call_bits(struct expr *expr, struct term *out)
{
	struct line_text text;

	call_field(expr, false, false, out);
	if (expr->bad || (out->kind != TERM_BYTES && out->kind != TERM_TEXT))
		return;
	text = room_text(expr);
	line_put_bits(&text, expr->fields, out->bytes, 8 * out->bytes.len, false);
	set_room_text(expr, &text, out);
}

/* --- functions of values --- */

struct call {
	const char *name;
	size_t len;
	struct term args[ARGS_MAX];
	size_t n;
};

static bool is_name(const struct call *call, const char *name)
{
	return strlen(name) == call->len && !memcmp(call->name, name, call->len);
}

/* Returns a number of bytes or elements; the kernel treats it as an int. */
static size_t get_count(const struct term *term)
{
	int32_t n = (int32_t)term->number;

	return n > 0 ? (size_t)n : 0;
}

/* Writes the first bytes of an array as "12 34". */
static void put_hex(struct expr *expr, const struct call *call, bool is_joined, struct term *out)
{
	const struct bytes bytes = call->args[0].bytes;
	struct line_text text = room_text(expr);
	size_t n = get_count(&call->args[1]);

	for (size_t i = 0; i < bytes.len && i < n && !text.cut; i++)
		line_print(&text, "%s%02x", i && !is_joined ? " " : "", bytes.at[i]);
	set_room_text(expr, &text, out);
}

/* Writes n elements of the given size as "{0x1,0x2}". */
static void put_array(
	struct expr *expr, struct bytes bytes, size_t n, uint64_t size, struct term *out)
{
	struct line_text text = room_text(expr);
	size_t left = size && n > bytes.len / size ? bytes.len / size * size : n * (size_t)size;
	const char *between = "";

	line_put(&text, "{", 1);
	for (const uint8_t *at = bytes.at; left && !text.cut; between = ",") {
		line_put(&text, between, strlen(between));
		if (size != 1 && size != 2 && size != 4 && size != 8) {
			line_print(&text, "BAD SIZE:%" PRIu64 " ", size);
			size = 1;
		}
		line_print(&text, "0x%" PRIx64, fields_load(expr->fields, at, size, false));
		at += size;
		left -= size;
	}
	line_put(&text, "}", 1);
	set_room_text(expr, &text, out);
}

/* Handles __print_dynamic_array(name, size of an element): the whole field. */
static void call_dynamic_array(struct expr *expr, const struct call *call, struct term *out)
{
	struct term size;

	take_field(expr, false, false, out);
	expr_want(expr, ",");
	if (!expr->bad)
		expr_eval(expr, &size);
	expr_want(expr, ")");
	if (expr->bad || out->kind == TERM_UNKNOWN)
		return;
	if (size.kind == TERM_NUMBER && size.number)
		put_array(expr, out->bytes, out->bytes.len / size.number, size.number, out);
	else
		expr_set_unknown(expr, out, "%.*s()", (int)call->len, call->name);
}

static bool call_printer(struct expr *expr, const struct call *call, struct term *out)
{
	if (call->n < 2 || !expr_is_array(&call->args[0]) || call->args[1].kind != TERM_NUMBER)
		return false;
	if (is_name(call, "__print_hex") || is_name(call, "__print_hex_str"))
		put_hex(expr, call, call->len > strlen("__print_hex"), out);
	else if (is_name(call, "__print_array") && call->n == 3 &&
		call->args[2].kind == TERM_NUMBER)
		put_array(expr, call->args[0].bytes, get_count(&call->args[1]),
			call->args[2].number, out);
	else
		return false;
	return true;
}

/* Converts a number between a fixed byte order and that of the machine that wrote it. */
static bool turn(const struct expr *expr, const struct call *call, struct term *out)
{
	static const struct {
		const char *name;
		unsigned int size;
		char order; /* big, little, or the opposite of the machine's */
	} turns[] = {{"ntohs", 2, 'b'}, {"htons", 2, 'b'}, {"ntohl", 4, 'b'}, {"htonl", 4, 'b'},
		{"__be16_to_cpu", 2, 'b'}, {"be16_to_cpu", 2, 'b'}, {"__be32_to_cpu", 4, 'b'},
		{"be32_to_cpu", 4, 'b'}, {"__be64_to_cpu", 8, 'b'}, {"be64_to_cpu", 8, 'b'},
		{"__le16_to_cpu", 2, 'l'}, {"le16_to_cpu", 2, 'l'}, {"__le32_to_cpu", 4, 'l'},
		{"le32_to_cpu", 4, 'l'}, {"__le64_to_cpu", 8, 'l'}, {"le64_to_cpu", 8, 'l'},
		{"__builtin_bswap16", 2, 'o'}, {"__builtin_bswap32", 4, 'o'},
		{"__builtin_bswap64", 8, 'o'}, {"__fswab16", 2, 'o'}, {"__fswab32", 4, 'o'},
		{"__fswab64", 8, 'o'}};
	const bool is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != expr->fields->swapped;
	const char own = is_big ? 'b' : 'l';

	for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
		uint64_t number = call->args[0].number;

		if (!is_name(call, turns[i].name))
			continue;
		if (turns[i].order != own)
			number = __builtin_bswap64(number) >> (64 - 8 * turns[i].size);
		else if (turns[i].size < 8)
			number &= (1ull << 8 * turns[i].size) - 1;
		expr_set_number(out, number, turns[i].size == 8 ? 64 : 32, turns[i].size >= 4);
		return true;
	}
	return false;
}

/* Converts ticks to a time; the kernel rounds up. */
static bool convert_ticks(const struct expr *expr, const struct call *call, struct term *out)
{
	const uint64_t ticks = call->args[0].number, in_s = expr->fields->ticks_per_s;
	uint64_t unit = is_name(call, "jiffies_to_msecs") ? 1000
		: is_name(call, "jiffies_to_usecs")	  ? 1000000
							  : 0;

	if (!unit || (ticks && !in_s))
		return false;
	expr_set_number(out, ticks ? (ticks * unit + in_s - 1) / in_s : 0, 32, true);
	return true;
}

static bool call_number(struct expr *expr, const struct call *call, struct term *out)
{
	const struct term *first = &call->args[0];
	uint64_t ns;

	if (!call->n || first->kind != TERM_NUMBER)
		return false;
	ns = first->number;
	if (is_name(call, "__builtin_expect") || is_name(call, "__builtin_constant_p"))
		*out = *first;
	else if (is_name(call, "__print_ns_to_secs"))
		expr_set_number(out, ns / 1000000000, 64, true);
	else if (is_name(call, "__print_ns_without_secs"))
		expr_set_number(out, ns % 1000000000, 32, true);
	else
		return turn(expr, call, out) || convert_ticks(expr, call, out);
	return true;
}

static void take_args(struct expr *expr, struct call *call)
{
	while (!expr->bad && !expr_take(expr, ")")) {
		struct term ignored;

		if (call->n)
			expr_want(expr, ",");
		if (!expr->bad)
			expr_eval(expr, call->n < ARGS_MAX ? &call->args[call->n] : &ignored);
		if (call->n < ARGS_MAX)
			call->n++;
	}
}

static void set_unknown_call(struct expr *expr, const struct call *call, struct term *out)
{
	char shown[ARGS_MAX * SHOWN_MAX], arg[SHOWN_MAX];
	struct line_text text = {shown, sizeof(shown), 0, false};

	line_print(
		&text, "%.*s(", (int)(call->len < SHOWN_MAX ? call->len : SHOWN_MAX), call->name);
	for (size_t i = 0; i < call->n; i++) {
		expr_show(&call->args[i], arg, sizeof(arg));
		line_print(&text, "%s%s", i ? ", " : "", arg);
	}
	line_put(&text, ")", 1);
	expr_set_unknown(expr, out, "%s", shown);
}

static bool begins(const char *name, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(name, with, strlen(with));
}

void expr_call(struct expr *expr, const char *name, size_t len, struct term *out)
{
	struct call call = {.name = name, .len = len};

	if (begins(name, len, "__print_flags") || begins(name, len, "__print_symbolic")) {
		call_names(expr, out);
	} else if (is_name(&call, "__get_str") || is_name(&call, "__get_rel_str")) {
		call_field(expr, true, false, out);
	} else if (is_name(&call, "__get_dynamic_array_len") ||
		is_name(&call, "__get_rel_dynamic_array_len")) {
		call_field(expr, false, true, out);
	} else if (is_name(&call, "__print_dynamic_array")) {
		call_dynamic_array(expr, &call, out);
	} else if (is_name(&call, "__get_dynamic_array") ||
		is_name(&call, "__get_rel_dynamic_array") || is_name(&call, "__get_sockaddr") ||
		is_name(&call, "__get_rel_sockaddr")) {
		call_field(expr, false, false, out);
	} else if (is_name(&call, "__get_bitmask") || is_name(&call, "__get_rel_bitmask") ||
		is_name(&call, "__get_cpumask") || is_name(&call, "__get_rel_cpumask")) {
		call_bits(expr, out);
	} else {
		take_args(expr, &call);
		if (!expr->bad && !call_printer(expr, &call, out) && !call_number(expr, &call, out))
			set_unknown_call(expr, &call, out);
	}
}
