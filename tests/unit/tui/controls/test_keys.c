/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_keys.c - the key table: no key has two actions in one view, and each binding is readable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/controls/input.h"
#include "tui/controls/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void test_find(void **state)
{
	(void)state;
	assert_int_equal(keys_find(KEYS_HOT, INPUT_ENTER), ACT_OPEN);
	assert_int_equal(keys_find(KEYS_HOT, '\r'), ACT_OPEN);
	assert_int_equal(keys_find(KEYS_HOT, 'j'), ACT_DOWN);
	assert_int_equal(keys_find(KEYS_HELP, INPUT_DOWN), ACT_DOWN);
	assert_int_equal(keys_find(KEYS_HOT, ' '), ACT_FREEZE);
	assert_int_equal(keys_find(KEYS_HOT, '3'), ACT_EVENT_NUMBER);
	assert_int_equal(keys_find(KEYS_HOT, '0'), ACT_NONE);
	assert_int_equal(keys_find(KEYS_LOG, 'q'), ACT_QUIT);
	assert_int_equal(keys_find(KEYS_HOT, 0x1f600), ACT_NONE);
}

static void test_a_view_goes_before_everywhere(void **state)
{
	(void)state;
	assert_int_equal(keys_find(KEYS_EVENTS, ' '), ACT_MARK);
	assert_int_equal(keys_find(KEYS_PROCESSES, '/'), ACT_SEARCH);
	assert_int_equal(keys_find(KEYS_PROCESSES, INPUT_ENTER), ACT_ONLY);
}

static void test_no_key_twice_in_one_view(void **state)
{
	size_t n;
	const struct binding *table = keys_table(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			if (!(table[i].views & table[j].views & ~KEYS_LATE))
				continue;
			for (int a = 0; a < KEYS_PER_BINDING && table[i].keys[a]; a++) {
				for (int b = 0; b < KEYS_PER_BINDING && table[j].keys[b]; b++)
					assert_int_not_equal(table[i].keys[a], table[j].keys[b]);
			}
		}
	}
}

static void test_every_binding_is_described(void **state)
{
	size_t n;
	const struct binding *table = keys_table(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		char label[64];

		assert_int_not_equal(table[i].action, ACT_NONE);
		assert_true(table[i].keys[0] || table[i].label);
		assert_non_null(table[i].help);
		assert_true(strlen(table[i].help) > 4 && strlen(table[i].help) < 90);
		assert_true(table[i].help[strlen(table[i].help) - 1] != '.');
		keys_label(&table[i], true, label, sizeof(label));
		assert_true(strlen(label) > 0);
		for (const char *at = label; *at; at++)
			assert_in_range(*at, ' ', '~');
	}
}

static void test_names(void **state)
{
	char name[16];

	(void)state;
	keys_name(INPUT_CTRL('L'), false, name, sizeof(name));
	assert_string_equal(name, "^L");
	keys_name(INPUT_UP, false, name, sizeof(name));
	assert_string_equal(name, "↑");
	keys_name(INPUT_ENTER, true, name, sizeof(name));
	assert_string_equal(name, "Enter");
	keys_name('\\', true, name, sizeof(name));
	assert_string_equal(name, "\\");
}

static void test_dump_holds_every_binding(void **state)
{
	size_t n;
	const struct binding *table = keys_table(&n);
	char *dump = keys_dump();

	(void)state;
	assert_non_null(dump);
	for (size_t i = 0; i < n; i++)
		assert_non_null(strstr(dump, table[i].help));
	assert_non_null(strstr(dump, "process picker\tEnter\t"));
	assert_non_null(strstr(dump, "moving\tPgUp ^B\tGo one page up\n"));
	free(dump);
}

static void test_everything_has_a_name(void **state)
{
	size_t n;
	const struct binding *table = keys_defaults(&n);
	char view[32], name[16];

	(void)state;
	for (size_t i = 0; i < n; i++) {
		const char *action = keys_action_name(table[i].action);

		assert_non_null(action);
		assert_int_equal(keys_action_of(action), table[i].action);
		for (int k = 0; k < KEYS_PER_BINDING && table[i].keys[k]; k++) {
			uint32_t key;

			keys_name(table[i].keys[k], true, name, sizeof(name));
			assert_true(keys_key_of(name, &key));
			assert_int_equal(key, table[i].keys[k]);
		}
		for (unsigned int bit = 1; bit; bit <<= 1) {
			if (!(table[i].views & bit) || bit == KEYS_LATE)
				continue;
			assert_true(keys_view_name(bit, view, sizeof(view)));
			assert_int_equal(keys_view_of(view), bit);
		}
	}
}

static void test_names_of_keys(void **state)
{
	uint32_t key;

	(void)state;
	assert_true(keys_key_of("none", &key));
	assert_int_equal(key, 0);
	assert_true(keys_key_of("é", &key));
	assert_int_equal(key, 0xe9);
	assert_true(keys_key_of("^T", &key));
	assert_int_equal(key, INPUT_CTRL('T'));
	assert_true(keys_key_of("^", &key));
	assert_int_equal(key, '^');
	assert_false(keys_key_of("^C", &key)); /* ends strobe */
	assert_false(keys_key_of("ab", &key));
	assert_false(keys_key_of("", &key));
	assert_false(keys_key_of("\xff", &key));
	assert_false(keys_key_of("\xc3", &key));
}

static void test_binding(void **state)
{
	size_t n;
	const struct binding *table;

	(void)state;
	/* The new key replaces the default keys, and loses its own old action. */
	assert_int_equal(keys_bind(KEYS_HOT, 'c', ACT_ANNOTATE), 0);
	assert_int_equal(keys_find(KEYS_HOT, 'c'), ACT_ANNOTATE);
	assert_int_equal(keys_find(KEYS_HOT, 'a'), ACT_NONE);
	/* Further keys are added to the first. */
	assert_int_equal(keys_bind(KEYS_HOT, 'A', ACT_ANNOTATE), 0);
	assert_int_equal(keys_find(KEYS_HOT, 'c'), ACT_ANNOTATE);
	assert_int_equal(keys_find(KEYS_HOT, 'A'), ACT_ANNOTATE);
	/* Other views do not change, even if they share a row. */
	assert_int_equal(keys_find(KEYS_CALLS, 'a'), ACT_ANNOTATE);
	assert_int_equal(keys_bind(KEYS_CALLS, 'U', ACT_INCLUDE), 0);
	assert_int_equal(keys_find(KEYS_CALLS, 'U'), ACT_INCLUDE);
	assert_int_equal(keys_find(KEYS_CALLS, 'I'), ACT_NONE);
	assert_int_equal(keys_find(KEYS_HOT, 'I'), ACT_INCLUDE);
	assert_int_equal(keys_bind(KEYS_ALL, 0, ACT_ZERO), 0);
	assert_int_equal(keys_find(KEYS_HOT, 'z'), ACT_NONE);
	assert_int_equal(keys_bind(KEYS_LOG, 'x', ACT_SYNTAX), -ENOENT);
	assert_int_equal(keys_bind(KEYS_ALL, 'x', ACT_EVENT_NUMBER), -EINVAL);
	for (uint32_t key = 'a'; key < 'a' + KEYS_PER_BINDING; key++)
		assert_int_equal(keys_bind(KEYS_LIST, key, ACT_UP), 0);
	assert_int_equal(keys_bind(KEYS_LIST, 'z', ACT_UP), -E2BIG);
	/* The hint line and the help show the first key of a row. */
	table = keys_table(&n);
	for (size_t i = 0; i < n; i++)
		if (table[i].action == ACT_ANNOTATE && (table[i].views & ~KEYS_LATE) == KEYS_HOT)
			assert_int_equal(table[i].keys[0], 'c');
	keys_reset();
	assert_int_equal(keys_find(KEYS_HOT, 'a'), ACT_ANNOTATE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_a_view_goes_before_everywhere),
		cmocka_unit_test(test_no_key_twice_in_one_view),
		cmocka_unit_test(test_every_binding_is_described),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_dump_holds_every_binding),
		cmocka_unit_test(test_everything_has_a_name),
		cmocka_unit_test(test_names_of_keys),
		cmocka_unit_test(test_binding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
