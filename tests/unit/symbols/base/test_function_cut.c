/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_function_cut.c - long names are cut: a function's own part stays, and names stay distinct.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbols/base/function_cut.h"
#include "symbols/base/function_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG (20 * 1024)

/* Returns "begin", n times part, and "end". The caller frees it. */
static char *repeat(const char *begin, const char *part, size_t n, const char *end)
{
	char *text = malloc(strlen(begin) + n * strlen(part) + strlen(end) + 1), *at = text;

	assert_non_null(text);
	at = stpcpy(at, begin);
	while (n--)
		at = stpcpy(at, part);
	strcpy(at, end);
	return text;
}

static void cut(char out[FUNCTION_NAME_BYTES], char *name)
{
	char tight[64 + 1];

	function_cut(out, FUNCTION_NAME_BYTES, name);
	assert_true(strlen(out) < FUNCTION_NAME_BYTES);
	tight[64] = 'x';
	function_cut(tight, 64, name);
	assert_true(strlen(tight) < 64);
	assert_int_equal(tight[64], 'x');
	free(name);
}

static void test_short_ones_stay(void **state)
{
	char out[64], name[64];

	(void)state;
	function_cut(out, sizeof(out), "");
	assert_string_equal(out, "");
	memset(name, 'x', 63);
	name[63] = '\0';
	function_cut(out, sizeof(out), name);
	assert_string_equal(out, name);
}

static void own_is(const char *name, const char *wanted)
{
	const struct function_name own = function_name(name, strlen(name));

	assert_int_equal(own.end - own.begin, strlen(wanted));
	assert_memory_equal(name + own.begin, wanted, strlen(wanted));
}

static void test_own_names_stay(void **state)
{
	char first[FUNCTION_NAME_BYTES], second[FUNCTION_NAME_BYTES];
	char wanted[FUNCTION_NAME_BYTES];

	(void)state;
	cut(first, repeat("void ns::first<", "type<int, long>, ", LONG / 17, "int>(int) const"));
	cut(second, repeat("void ns::second<", "type<int, long>, ", LONG / 17, "int>(int) const"));
	assert_memory_equal(first, "void ns::first<\342\200\246#", 19);
	assert_memory_equal(second, "void ns::second<\342\200\246#", 20);
	assert_string_equal(first + strlen(first) - 12, ">(int) const");
	snprintf(wanted, sizeof(wanted), "%.*s", (int)(strchr(first + 10, '>') + 1 - first - 5),
		first + 5);
	own_is(first, wanted);
	/* The inner brackets are cut first. */
	cut(first, repeat("f<outer<", "deep, ", LONG / 6, "last>, kept>(int)"));
	assert_non_null(strstr(first, ">, kept>(int)"));
	assert_memory_equal(first, "f<outer<\342\200\246#", 12);
	cut(first, repeat("A<", "int, ", LONG / 5, "int>::operator->()"));
	assert_non_null(strstr(first, ">::operator->()"));
	cut(first, repeat("A<", "B<", LONG / 2, "::f(int)"));
	assert_string_equal(first + strlen(first) - 8, "::f(int)");
}

static void test_what_differs_stays_different(void **state)
{
	char first[FUNCTION_NAME_BYTES], second[FUNCTION_NAME_BYTES];

	(void)state;
	cut(first, repeat("f<", "int, ", LONG / 5, "int>()"));
	cut(second, repeat("f<", "int, ", LONG / 5, "long>()"));
	assert_string_not_equal(first, second);
	cut(second, repeat("f<", "int, ", LONG / 5, "int>()"));
	assert_string_equal(first, second);
	/* Clones belong to one function. */
	cut(second, repeat("f<", "int, ", LONG / 5, "int>() [clone .cold]"));
	assert_memory_equal(first, second, strlen(first));
	assert_string_equal(second + strlen(first), " [clone .cold]");
	/* Names without brackets. */
	cut(first, repeat("_ZN", "3abc", LONG / 4, "1fEv"));
	cut(second, repeat("_ZN", "3abc", LONG / 4, "1gEv"));
	assert_string_not_equal(first, second);
	assert_string_equal(first + strlen(first) - 4, "1fEv");
	cut(first, repeat("", "\303\266", LONG / 2, ""));
	assert_memory_equal(first + strlen(first) - 2, "\303\266", 2);
}

static void test_what_is_not_balanced(void **state)
{
	static const char *const parts[] = {
		"<", ">", "(", ")", "operator<", "a<b)", ">(", "{[<(", "\303"};
	char out[FUNCTION_NAME_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		cut(out, repeat("f", parts[i], LONG / strlen(parts[i]), "g"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_ones_stay),
		cmocka_unit_test(test_own_names_stay),
		cmocka_unit_test(test_what_differs_stays_different),
		cmocka_unit_test(test_what_is_not_balanced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
