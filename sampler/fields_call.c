/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fields_call.c - see fields_private.h: what the kernel lets print formats call
 * (include/trace/stages/stage3_trace_output.h).
 *
 * A function that is not known here is shown by its name and its arguments.
 */
#include "sampler/fields_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ARGS_MAX 4
#define SHOWN_MAX 160

/* A text that is made in the room. */
static struct line_text room_text(struct expr *expr)
{
	/* The byte behind the text is not part of it. */
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

/* Names of bits or numbers, whose list was read when the schema was made. */
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

/* __get_str(name) and its like: the word is a field. */
static void call_field(struct expr *expr, bool is_text, bool is_len, struct term *out)
{
	const char *name;
	size_t len;

	expr->bad = !expr_take_word(expr, &name, &len);
	expr_want(expr, ")");
	if (expr->bad)
		return;
	for (size_t i = 0; i < expr->fields->n; i++) {
		const struct field_how *how = &expr->fields->how[i];
		struct bytes bytes;

		if (how->part != PART_NONE || strlen(expr->fields->at[i].name) != len ||
			memcmp(expr->fields->at[i].name, name, len) != 0)
			continue;
		bytes = fields_bytes(expr->fields, how, expr->raw);
		if (is_len)
			expr_set_number(out, bytes.len, 32, false);
		else
			*out = (struct term){
				.kind = is_text || expr->fields->at[i].kind == FIELD_TEXT
					? TERM_TEXT
					: TERM_BYTES,
				.bits = 64,
				.bytes = bytes,
				.element = how->element ? how->element : 1};
		return;
	}
	expr_set_unknown(expr, out, "%.*s", (int)(len < SHOWN_MAX ? len : SHOWN_MAX), name);
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

static bool is_array(const struct term *term)
{
	return term->kind == TERM_BYTES || term->kind == TERM_TEXT;
}

/* "12 34" of so many bytes */
static void put_hex(struct expr *expr, const struct call *call, bool is_joined, struct term *out)
{
	const struct bytes bytes = call->args[0].bytes;
	struct line_text text = room_text(expr);
	uint64_t n = call->args[1].number;

	for (size_t i = 0; i < bytes.len && i < n && !text.cut; i++)
		line_print(&text, "%s%02x", i && !is_joined ? " " : "", bytes.at[i]);
	set_room_text(expr, &text, out);
}

/* "{0x1,0x2}": an array, how many elements, and their size */
static void put_array(struct expr *expr, const struct call *call, struct term *out)
{
	const struct term *array = &call->args[0];
	struct line_text text = room_text(expr);
	uint64_t n = call->args[1].number, size = call->args[2].number;

	if (size != 1 && size != 2 && size != 4 && size != 8)
		size = 1;
	line_put(&text, "{", 1);
	for (size_t i = 0; i < n && i < array->bytes.len / size && !text.cut; i++)
		line_print(&text, "%s0x%" PRIx64, i ? "," : "", expr_element(expr, array, size, i));
	line_put(&text, "}", 1);
	set_room_text(expr, &text, out);
}

static bool call_printer(struct expr *expr, const struct call *call, struct term *out)
{
	if (call->n < 2 || !is_array(&call->args[0]) || call->args[1].kind != TERM_NUMBER)
		return false;
	if (is_name(call, "__print_hex") || is_name(call, "__print_hex_str"))
		put_hex(expr, call, call->len > strlen("__print_hex"), out);
	else if (is_name(call, "__print_array") && call->n == 3 &&
		call->args[2].kind == TERM_NUMBER)
		put_array(expr, call, out);
	else
		return false;
	return true;
}

/* The bytes of a number that is kept in one order, seen in the order of the machine that wrote
 * it. */
static bool turn(const struct expr *expr, const struct call *call, struct term *out)
{
	static const struct {
		const char *name;
		unsigned int size;
		bool is_big;
	} turns[] = {{"ntohs", 2, true}, {"htons", 2, true}, {"ntohl", 4, true}, {"htonl", 4, true},
		{"__be16_to_cpu", 2, true}, {"be16_to_cpu", 2, true}, {"__be32_to_cpu", 4, true},
		{"be32_to_cpu", 4, true}, {"__be64_to_cpu", 8, true}, {"be64_to_cpu", 8, true},
		{"__le16_to_cpu", 2, false}, {"le16_to_cpu", 2, false}, {"__le32_to_cpu", 4, false},
		{"le32_to_cpu", 4, false}, {"__le64_to_cpu", 8, false}, {"le64_to_cpu", 8, false}};
	const bool is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != expr->fields->swapped;

	for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
		uint64_t number = call->args[0].number;

		if (!is_name(call, turns[i].name))
			continue;
		if (turns[i].is_big != is_big)
			number = __builtin_bswap64(number) >> (64 - 8 * turns[i].size);
		else if (turns[i].size < 8)
			number &= (1ull << 8 * turns[i].size) - 1;
		expr_set_number(out, number, turns[i].size == 8 ? 64 : 32, turns[i].size >= 4);
		return true;
	}
	return false;
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
	else if (is_name(call, "jiffies_to_msecs") && !ns)
		/* Of others it takes to know how many a second has. */
		expr_set_number(out, 0, 32, true);
	else
		return turn(expr, call, out);
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
