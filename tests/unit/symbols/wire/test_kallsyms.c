/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_kallsyms.c - the kernel's symbols as text, in pieces of each size.
 */
#include "symbols/wire/kallsyms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char seen[4096];

static void collect(const struct kallsyms_symbol *symbol, void *ctx)
{
	size_t used = strlen(seen);

	assert_ptr_equal(ctx, seen);
	snprintf(seen + used, sizeof(seen) - used, "%" PRIx64 " %c %.*s [%.*s]\n", symbol->address,
		symbol->type, (int)symbol->name_len, symbol->name, (int)symbol->module_len,
		symbol->module_len ? symbol->module : "");
}

static void parse(struct kallsyms *parser, const char *text, size_t len, size_t piece)
{
	seen[0] = '\0';
	kallsyms_init(parser, collect, seen);
	for (size_t at = 0; at < len; at += piece)
		kallsyms_feed(parser, text + at, len - at < piece ? len - at : piece);
	kallsyms_end(parser);
}

static void test_lines(void **state)
{
	static const char text[] = "0000000000000000 A fixed_percpu_data\n"
				   "ffffffff81000000 T _stext\n"
				   "ffffffff81000010 t local\n"
				   "ffffffff81000020 W weak\n"
				   "ffffffff81000030 D data\n"
				   "ffffffff81000040 B bss\n"
				   "ffffffffc0a01000 t nft_do_chain\t[nf_tables]\n"
				   "ffffffffc0b00000 t bpf_prog_1\t[bpf]";
	static const char expected[] = "ffffffff81000000 T _stext []\n"
				       "ffffffff81000010 t local []\n"
				       "ffffffff81000020 W weak []\n"
				       "ffffffffc0a01000 t nft_do_chain [nf_tables]\n"
				       "ffffffffc0b00000 t bpf_prog_1 [bpf]\n";
	struct kallsyms parser;

	(void)state;
	for (size_t piece = 1; piece <= sizeof(text); piece++) {
		parse(&parser, text, sizeof(text) - 1, piece);
		assert_string_equal(seen, expected);
		assert_int_equal(parser.functions, 5);
		assert_true(parser.shown);
	}
}

static void test_hidden(void **state)
{
	static const char text[] = "0000000000000000 T _stext\n0000000000000000 t f\t[m]\n";
	struct kallsyms parser;

	(void)state;
	parse(&parser, text, sizeof(text) - 1, 7);
	assert_int_equal(parser.functions, 2);
	assert_false(parser.shown);
}

static void test_malformed(void **state)
{
	static const char text[] = "\n"
				   " T no_address\n"
				   "ffffffff810000001 T too_long_address\n"
				   "ffffffff81000000T no_blank\n"
				   "ffffffff81000000 T\n"
				   "ffffffff81000000 T \n"
				   "ffffffff81000000 TT two_types\n"
				   "XYZ T no_hex\n"
				   "ffffffff81000000 T \t[only_module]\n"
				   "ffffffff81000001 t no_bracket\t[mod\n"
				   "ffffffff81000002 t empty\t[]\n";
	struct kallsyms parser;

	(void)state;
	for (size_t piece = 1; piece < 40; piece++) {
		parse(&parser, text, sizeof(text) - 1, piece);
		assert_string_equal(seen,
			"ffffffff81000001 t no_bracket []\n"
			"ffffffff81000002 t empty []\n");
	}
}

/* A line longer than any symbol is left out, for any size of pieces. The next line is read. */
static void test_long(void **state)
{
	static const char last[] = "ffffffff81000000 T after\n";
	struct kallsyms parser;
	char *text = malloc(8192);

	(void)state;
	assert_non_null(text);
	for (size_t line = KALLSYMS_LINE_MAX - 2; line < KALLSYMS_LINE_MAX + 3; line++) {
		for (size_t piece = 1; piece < 3000; piece += 97) {
			memset(text, 'x', 8192);
			memcpy(text, "ffffffff80000000 T ", 19);
			text[line] = '\n';
			memcpy(text + line + 1, last, sizeof(last) - 1);
			parse(&parser, text, line + sizeof(last), piece);
			assert_non_null(strstr(seen, "T after []\n"));
			assert_int_equal(parser.functions, line < KALLSYMS_LINE_MAX ? 2 : 1);
		}
	}
	memset(text, 'x', 8192);
	text[8190] = '\n';
	parse(&parser, text, 8191, 100);
	assert_string_equal(seen, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
