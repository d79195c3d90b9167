/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_charset.c - the character set of the environment's locale, installed or not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/terminal/charset.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void name_locale(const char *all, const char *ctype, const char *lang)
{
	setenv("LC_ALL", all, 1);
	setenv("LC_CTYPE", ctype, 1);
	setenv("LANG", lang, 1);
	setlocale(LC_CTYPE, "C");
	charset_take();
}

static bool is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static void test_names(void **state)
{
	(void)state;
	name_locale("", "", "xx_YY.UTF-8");
	assert_true(charset_names_utf8());
	name_locale("", "UTF-8", "C"); /* the values on macOS */
	assert_true(charset_names_utf8());
	name_locale("", "", "xx_YY.utf8@euro");
	assert_true(charset_names_utf8());
	name_locale("xx_YY", "", "xx_YY.UTF-8");
	assert_false(charset_names_utf8());
	name_locale("", "", "");
	assert_false(charset_names_utf8());
}

static void test_not_installed(void **state)
{
	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	name_locale("", "", "xx_YY.UTF-8");
	assert_true(is_utf8());
	name_locale("", "UTF-8", "");
	assert_true(is_utf8());
	name_locale("C.UTF-8", "xx_YY", "");
	assert_true(is_utf8());
	name_locale("", "", "xx_YY.ISO-8859-2");
	assert_false(is_utf8());
	name_locale("C", "", "xx_YY.UTF-8");
	assert_false(is_utf8());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_not_installed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
