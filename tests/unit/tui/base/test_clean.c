/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_clean.c - no raw bytes from outside reach a terminal or a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/base/clean.h"

static void expect(const char *text, const char *wanted)
{
	char out[128];

	assert_string_equal(clean_string(out, sizeof(out), text), wanted);
	assert_int_equal(clean_text(out, sizeof(out), text, strlen(text)), strlen(wanted));
	assert_string_equal(out, wanted);
}

/* Writes "a", the character and "b". */
static void put_character(char out[16], uint32_t glyph)
{
	size_t n = 0;

	out[n++] = 'a';
	if (glyph < 0x800) {
		out[n++] = (char)(0xc0 | glyph >> 6);
	} else if (glyph < 0x10000) {
		out[n++] = (char)(0xe0 | glyph >> 12);
		out[n++] = (char)(0x80 | (glyph >> 6 & 0x3f));
	} else {
		out[n++] = (char)(0xf0 | glyph >> 18);
		out[n++] = (char)(0x80 | (glyph >> 12 & 0x3f));
		out[n++] = (char)(0x80 | (glyph >> 6 & 0x3f));
	}
	out[n++] = (char)(0x80 | (glyph & 0x3f));
	out[n++] = 'b';
	out[n] = '\0';
}

static void test_plain_text_is_kept(void **state)
{
	(void)state;
	expect("", "");
	expect("std::vector<int>::push_back(int&&)", "std::vector<int>::push_back(int&&)");
	expect("größe_名前_🦀", "größe_名前_🦀");
}

static void test_controls_are_replaced(void **state)
{
	(void)state;
	expect("\033[2Jroot", "?[2Jroot");
	expect("a\tb\nc\rd\177", "a?b?c?d?");
	expect("\033]0;title\007", "?]0;title?");
	expect("csi\302\233"
	       "31m",
		"csi?31m"); /* U+009B */
	expect("x\342\200\256y\342\201\246z", "x?y?z"); /* U+202E, U+2066 */
	expect("x\330\234y\342\200\217z", "x?y?z"); /* U+061C, U+200F */
	expect("x\342\200\250y", "x?y"); /* U+2028 */
	expect("x\363\240\201\201y", "x?y"); /* U+E0041 */
}

/* Two different names must not look equal. */
static void test_invisible_characters_are_replaced(void **state)
{
	static const uint32_t hidden[] = {0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5,
		0x180b, 0x180e, 0x180f, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x202e,
		0x2060, 0x2064, 0x2065, 0x206f, 0x2800, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0,
		0xfff9, 0x1bca0, 0x1d173, 0xe0001, 0xe007f, 0xe0100, 0xe01ef};
	static const uint32_t shown[] = {0xac, 0xae, 0x301, 0x350, 0x1161, 0x2010, 0x2026, 0x2070,
		0x2801, 0x3163, 0xfe10, 0xfefe, 0xff9f, 0xffa1, 0xfffd, 0x1f980};
	char in[16], wanted[16];

	(void)state;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++) {
		put_character(in, hidden[i]);
		expect(in, "a?b");
	}
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		put_character(in, shown[i]);
		strcpy(wanted, in);
		expect(in, wanted);
	}
}

static void test_invalid_bytes_are_replaced_one_each(void **state)
{
	(void)state;
	expect("\377\376a", "??a");
	expect("\233"
	       "31m",
		"?31m"); /* a raw C1 byte */
	expect("\300\257", "??"); /* overlong '/' */
	expect("\340\200\257", "???"); /* overlong */
	expect("\355\240\200", "???"); /* surrogate */
	expect("\364\220\200\200", "????"); /* above U+10FFFF */
	expect("a\342\202", "a??"); /* cut short */
	expect("\342\202\033[m", "???[m"); /* cut short by an escape */
}

static void test_limits(void **state)
{
	char out[4] = "zzz";

	(void)state;
	assert_int_equal(clean_text(out, 0, "abc", 3), 0);
	assert_string_equal(out, "zzz");
	assert_int_equal(clean_text(out, 1, "abc", 3), 0);
	assert_string_equal(out, "");
	assert_int_equal(clean_text(out, sizeof(out), "abcdef", 6), 3);
	assert_string_equal(out, "abc");
	assert_int_equal(clean_text(out, sizeof(out), "abcdef", 2), 2);
	assert_string_equal(out, "ab");
	/* A character is never cut. */
	assert_int_equal(clean_text(out, sizeof(out), "ab\303\244", 4), 2);
	assert_string_equal(out, "ab");
	/* len cuts a character: its bytes are invalid. */
	assert_int_equal(clean_text(out, sizeof(out), "\303\244", 1), 1);
	assert_string_equal(out, "?");
	/* A fixed field without a NUL is not read beyond its end; one with a NUL ends there. */
	assert_int_equal(clean_text(out, sizeof(out), "a\0b", 3), 1);
}

static void test_long_paths_lose_their_beginning(void **state)
{
	char out[CLEAN_PATH_BYTES], path[400];

	(void)state;
	assert_string_equal(clean_path(out, "/tmp/a\tb"), "/tmp/a?b");
	memset(path, 'a', sizeof(path));
	strcpy(path + sizeof(path) - 7, "/b.svg");
	assert_string_equal(clean_path(out, path) + CLEAN_PATH_BYTES - 8, "a/b.svg");
	assert_memory_equal(out, "...a", 4);
	/* The cut leaves no half of a two-byte character. */
	for (size_t i = 0; i + 1 < sizeof(path); i += 2)
		memcpy(path + i, "\xc3\xa4", 2);
	for (size_t odd = 0; odd < 2; odd++) {
		path[sizeof(path) - 2 - odd] = '\0';
		memmove(path + odd, path, 2);
		clean_path(out, path);
		assert_memory_equal(out, "...\xc3\xa4", 5);
	}
	/* Continuation bytes without a start: the cut removes three at most. */
	memset(path, '\x80', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	clean_path(out, path);
	assert_int_equal(strlen(out), CLEAN_PATH_BYTES - 1 - 3);
}

/* For any input, the output is valid, has no controls and does not change if cleaned again. */
static void test_random_bytes(void **state)
{
	(void)state;
	srand(7);
	for (int round = 0; round < 20000; round++) {
		char in[24], out[64], again[64];
		size_t len = (size_t)(rand() % (int)sizeof(in));

		for (size_t i = 0; i < len; i++)
			in[i] = (char)(rand() % 255 + 1);
		size_t written = clean_text(out, sizeof(out), in, len);

		assert_int_equal(written, strlen(out));
		for (size_t i = 0; i < written; i++)
			assert_false((unsigned char)out[i] < 0x20 || out[i] == 0x7f);
		assert_int_equal(clean_text(again, sizeof(again), out, written), written);
		assert_string_equal(again, out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_text_is_kept),
		cmocka_unit_test(test_controls_are_replaced),
		cmocka_unit_test(test_invisible_characters_are_replaced),
		cmocka_unit_test(test_invalid_bytes_are_replaced_one_each),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_long_paths_lose_their_beginning),
		cmocka_unit_test(test_random_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
