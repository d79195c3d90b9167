/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_span_pass.c - how far a record moves the engine's time: never past the time up to which all
 * rings were read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/engine/internal.h"
#include "sampler/store/store.h"

#include <stdlib.h>

#define SLICE STORE_SLICE_NS

static int setup(void **state)
{
	struct engine *engine = calloc(1, sizeof(*engine));

	assert_non_null(engine);
	span_init(engine);
	engine->spans.next_ns = 2 * SLICE;
	engine->round.begun_ns = 2 * SLICE - 10;
	*state = engine;
	return 0;
}

static int teardown(void **state)
{
	struct engine *engine = *state;

	span_fini(engine);
	free(engine);
	return 0;
}

/* The ring of an ended thread is read to its end, others only up to the round's time. */
static void test_beyond_the_round(void **state)
{
	struct engine *engine = *state;

	span_pass(engine, 2 * SLICE + 10);
	assert_int_equal(engine->spans.next_ns, 2 * SLICE);
	engine->round.begun_ns = 3 * SLICE + 5;
	span_pass(engine, 2 * SLICE + 10);
	assert_int_equal(engine->spans.next_ns, 3 * SLICE);
	span_pass(engine, 5 * SLICE);
	assert_int_equal(engine->spans.next_ns, 4 * SLICE);
}

/* In the last round, all rings are read to the end. */
static void test_last_round(void **state)
{
	struct engine *engine = *state;

	engine->stopped = true;
	span_pass(engine, 2 * SLICE + 10);
	assert_int_equal(engine->spans.next_ns, 3 * SLICE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_beyond_the_round, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last_round, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
