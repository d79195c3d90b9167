/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_memory.c - parsing /proc for memory, and the sentence of the memory account.
 */
#include "tui/session/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_status(void **state)
{
	static const char text[] = "Name:\tVmRSS: 9 kB\nVmRSS:\t   1024 kB\nRssAnon:\t 12 kB\nbad";

	(void)state;
	assert_int_equal(memory_parse_status(text, "VmRSS"), 1 << 20);
	assert_int_equal(memory_parse_status(text, "RssAnon"), 12 * 1024);
	assert_int_equal(memory_parse_status(text, "Rss"), 0);
	assert_int_equal(memory_parse_status(text, "bad"), 0);
	assert_int_equal(memory_parse_status("", "VmRSS"), 0);
}

static void test_buffers(void **state)
{
	(void)state;
	assert_int_equal(memory_parse_buffer("7f00-9f00 rw-s 00000000 00:0e 12    "
					     "                 anon_inode:[perf_event]\n"),
		0x2000);
	assert_int_equal(memory_parse_buffer("7f00-9f00 rw-p 00000000 00:00 0\n"), 0);
	assert_int_equal(memory_parse_buffer("9f00-7f00 rw-s 0 0 0 anon_inode:[perf_event]\n"), 0);
}

static void test_sentence(void **state)
{
	static const struct memory_account account = {.resident = 505 << 20,
		.history = 256 << 20,
		.history_limit = 256 << 20,
		.tables = 200 << 20,
		.symbols = UINT64_MAX,
		.program = UINT64_MAX,
		.unused = UINT64_MAX,
		.helpers = UINT64_MAX,
		.buffers = UINT64_MAX};
	char text[MEMORY_TEXT_MAX];

	(void)state;
	memory_describe(&account, text);
	assert_non_null(
		strstr(text, "505 MB of memory: 256 MB history (--memory limits it to 256 MB)"));
	assert_true(strlen(text) < MEMORY_TEXT_MAX - 1);
}

static void test_the_limit_of_a_cgroup(void **state)
{
	uint64_t limit;

	(void)state;
	assert_int_equal(memory_fit(256 << 20, 0, &limit), 256 << 20);
	assert_int_equal(limit, 0);
	assert_int_equal(memory_fit(256 << 20, 2ull << 30, &limit), 256 << 20);
	assert_int_equal(limit, 0);
	assert_int_equal(memory_fit(256 << 20, 64 << 20, &limit), 16 << 20);
	assert_int_equal(limit, 64 << 20);
	/* Never below the minimum of --memory. */
	assert_int_equal(memory_fit(256 << 20, 8 << 20, &limit), 4 << 20);
	assert_int_equal(limit, 8 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_sentence),
		cmocka_unit_test(test_the_limit_of_a_cgroup),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
