/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_ring_sizes.c - how large the rings of threads are: by how many there are and will be, and what may be locked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/engine_internal.h"

#include <stdlib.h>

static int setup(void **state)
{
	struct engine *engine = calloc(1, sizeof(*engine));

	assert_non_null(engine);
	engine->limits.cap_ipc_lock = true;
	*state = engine;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static unsigned int pages(struct engine *engine, size_t before, size_t n)
{
	engine->n_points = before;
	return 1u << order_for_tasks(engine, n);
}

/* Those of few are large; of many they are no more than they were, whether they come at once or one by one. */
static void test_tasks(void **state)
{
	struct engine *engine = *state;

	assert_int_equal(pages(engine, 0, 1), 64);
	assert_int_equal(pages(engine, 0, 15), 64);
	assert_int_equal(pages(engine, 0, 16), 32);
	assert_int_equal(pages(engine, 15, 1), 32);
	assert_int_equal(pages(engine, 0, 100), 16);
	assert_int_equal(pages(engine, 5000, 1), 16);
	assert_int_equal(pages(engine, 0, 3000), 4);
	for (size_t n = 1; n < 64; n++)
		assert_true(n * pages(engine, 0, n) <= 1024);
}

static void test_limits(void **state)
{
	struct engine *engine = *state;

	engine->config.ring_pages = 8;
	assert_int_equal(pages(engine, 0, 1), 8);
	engine->config.ring_pages = 0;
	/* With its control page each. */
	engine->limits.cap_ipc_lock = false;
	engine->limits.paranoid = 2;
	engine->limits.memlock_soft = 36u << 12;
	assert_int_equal(pages(engine, 0, 1), 32);
	assert_int_equal(pages(engine, 0, 4), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tasks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
