/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_utf8.c - characters of UTF-8, there and back; bytes that are not well-formed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tui/base/utf8.h"

static void test_there_and_back(void **state)
{
	static const struct {
		uint32_t glyph;
		size_t bytes;
	} known[] = {{'a', 1}, {0x7f, 1}, {0x80, 2}, {0x7ff, 2}, {0x800, 3}, {0xd7ff, 3},
		{0xe000, 3}, {0xffff, 3}, {0x10000, 4}, {0x10ffff, 4}};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		char bytes[5] = "";
		uint32_t glyph = 0;

		assert_int_equal(utf8_encode(known[i].glyph, bytes), known[i].bytes);
		assert_int_equal(utf8_decode(bytes, 4, &glyph), known[i].bytes);
		assert_int_equal(glyph, known[i].glyph);
		/* All its bytes are needed. */
		assert_int_equal(utf8_decode(bytes, known[i].bytes - 1, &glyph), 0);
	}
}

static void test_malformed(void **state)
{
	static const char *const texts[] = {
		"\x80", /* a continuation alone */
		"\xc3", /* cut by the NUL */
		"\xc0\xaf", /* two bytes for one */
		"\xe0\x80\xaf", /* three bytes for one */
		"\xf0\x80\x80\xaf", /* four bytes for one */
		"\xed\xa0\x80", /* a surrogate */
		"\xf4\x90\x80\x80", /* beyond U+10FFFF */
		"\xf8\x88\x80\x80", /* five bytes are no longer legal */
		"\xc3(",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		uint32_t glyph = 1;

		assert_int_equal(utf8_decode(texts[i], 4, &glyph), 0);
		assert_int_equal(glyph, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
