/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_notes.c - numbering, the window of the last thousand, reading in parts.
 */
#include "sampler/control/note.h"
#include "sampler/control/notes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static int set_up(void **state)
{
	static struct notes notes;

	assert_int_equal(notes_init(&notes), 0);
	*state = &notes;
	return 0;
}

static int tear_down(void **state)
{
	notes_fini(*state);
	notes_fini(*state);
	return 0;
}

static void add(struct notes *notes, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		const struct engine_note note = {.value = notes->last + 1};

		assert_int_equal(notes_add(notes, &note), note.value);
	}
}

static void test_read_in_parts(void **state)
{
	struct engine_note out[4];

	assert_int_equal(notes_read(*state, 0, out, 4), 0);
	add(*state, 6);
	assert_int_equal(notes_read(*state, 0, out, 4), 4);
	assert_int_equal(out[0].serial, 1);
	assert_int_equal(out[3].serial, 4);
	assert_int_equal(notes_read(*state, 4, out, 4), 2);
	assert_int_equal(out[1].serial, 6);
	assert_int_equal(out[1].value, 6);
	assert_int_equal(notes_read(*state, 6, out, 4), 0);
	assert_int_equal(notes_read(*state, 1000, out, 4), 0);
}

static void test_keeps_the_last(void **state)
{
	static struct engine_note out[NOTES_MAX + 1];

	add(*state, NOTES_MAX + 7);
	assert_int_equal(notes_read(*state, 0, out, NOTES_MAX + 1), NOTES_MAX);
	for (size_t i = 0; i < NOTES_MAX; i++) {
		assert_int_equal(out[i].serial, i + 8);
		assert_int_equal(out[i].value, i + 8);
	}
	assert_int_equal(notes_read(*state, NOTES_MAX + 5, out, NOTES_MAX), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read_in_parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_keeps_the_last, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
