/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_grow.c - growth of arrays: contents stay, capacities double, failures change nothing.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sampler/base/grow.h"

/* Sanitizers would end the program when the allocation fails. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}

#define ITEMS 10000u

static void test_items(void **state)
{
	uint32_t *array = NULL;
	size_t room = 0, growths = 0;

	(void)state;
	assert_int_equal(grow_items(&array, &room, 0, sizeof(*array)), 0);
	assert_null(array);
	for (size_t n = 0; n < ITEMS; n++) {
		const size_t before = room;

		assert_int_equal(grow_items(&array, &room, n + 1, sizeof(*array)), 0);
		assert_true(room > n);
		growths += room != before;
		array[n] = (uint32_t)n;
	}
	assert_true(growths <= 10);
	for (size_t n = 0; n < ITEMS; n++)
		assert_int_equal(array[n], n);
	/* A batch that is larger than the double fits, too. */
	assert_int_equal(grow_items(&array, &room, 3 * room, sizeof(*array)), 0);
	assert_true(room >= 3 * (size_t)ITEMS);
	array[room - 1] = 1;
	free(array);
}

static void test_exact(void **state)
{
	uint64_t *array = NULL;

	(void)state;
	for (size_t n = 0; n < 5; n++) {
		assert_int_equal(grow_exact(&array, n + 1, sizeof(*array)), 0);
		array[n] = n;
	}
	for (size_t n = 0; n < 5; n++)
		assert_int_equal(array[n], n);
	free(array);
}

static void test_zeroed(void **state)
{
	uint16_t *array = NULL;
	uint32_t room = 0;

	(void)state;
	assert_int_equal(grow_zeroed(&array, 0, &room, sizeof(*array)), 0);
	assert_true(room > 0);
	array[0] = 7;
	assert_int_equal(grow_zeroed(&array, ITEMS, &room, sizeof(*array)), 0);
	assert_true(room > ITEMS);
	assert_int_equal(array[0], 7);
	for (size_t n = 1; n < room; n++)
		assert_int_equal(array[n], 0);
	free(array);
}

/* The product of number and size overflows; the array stays. */
static void test_failure(void **state)
{
	uint64_t *array = NULL, *before;
	size_t room = 0;
	uint32_t small = 0;
	volatile size_t hidden = SIZE_MAX / 4; /* from the compiler, which would warn */
	const size_t huge = hidden;

	(void)state;
	assert_int_equal(grow_items(&array, &room, 1, sizeof(*array)), 0);
	array[0] = 42;
	before = array;
	small = (uint32_t)room;
	assert_int_equal(grow_exact(&array, huge, sizeof(*array)), -ENOMEM);
	assert_int_equal(grow_items(&array, &room, huge, sizeof(*array)), -ENOMEM);
	assert_int_equal(grow_zeroed(&array, UINT32_MAX - 1, &small, huge), -ENOMEM);
	assert_int_equal(grow_zeroed(&array, UINT32_MAX, &small, 1), -ENOMEM);
	assert_ptr_equal(array, before);
	assert_int_equal(array[0], 42);
	assert_int_equal(room, small);
	free(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_zeroed),
		cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
