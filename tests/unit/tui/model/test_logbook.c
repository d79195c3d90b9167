/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_logbook.c - the bounded log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/model/logbook.h"

#include <stdio.h>
#include <stdlib.h>

static void test_lines_in_order(void **state)
{
	struct logbook *book = calloc(1, sizeof(*book));
	char text[32];

	(void)state;
	assert_non_null(book);
	assert_int_equal(logbook_count(book), 0);
	assert_null(logbook_get(book, 0));
	for (int i = 1; i <= LOGBOOK_MAX + 10; i++) {
		snprintf(text, sizeof(text), "line %d", i);
		assert_int_equal(logbook_add(book, (uint64_t)i, EXPLAIN_INFO, false, text), 0);
	}
	assert_int_equal(logbook_count(book), LOGBOOK_MAX);
	assert_string_equal(logbook_get(book, 0)->text, "line 11");
	assert_int_equal(logbook_get(book, 0)->serial, 11);
	assert_string_equal(logbook_get(book, LOGBOOK_MAX - 1)->text, "line 2010");
	assert_null(logbook_get(book, LOGBOOK_MAX));
	logbook_fini(book);
	assert_int_equal(logbook_count(book), 0);
	free(book);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
