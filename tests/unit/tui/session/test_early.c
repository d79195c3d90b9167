/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_early.c - sampled code has its symbols requested early, once, and no names are built.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/samples_fixture.h"
#include "tui/session/early.h"

static void add(struct fixture *fixture, struct store *store, uint64_t slice, uint32_t stack)
{
	uint64_t time_ns = slice * STORE_SLICE_NS;

	assert_int_equal(store_add(store, time_ns, stack, fixture->labels[1], 0, 0, 10), 0);
	store_seal(store, time_ns + STORE_SLICE_NS, true);
}

static void test_asked_once(void **state)
{
	struct fixture *fixture = *state;
	struct fake_image *images = fixture->symbols.images;
	uint32_t caller = fixture_stack(fixture, "0 1"), limit;
	struct early early = {0};
	struct store *store;

	assert_int_equal(store_new(&store, fixture->stacks, fixture->tasks, (size_t)64 << 20), 0);
	images[fixture->stripped].state = SYMBOLS_PENDING;
	assert_int_equal(early_ask(&early, store, fixture->stacks, fixture->names), 0);
	assert_int_equal(images[fixture->program].requests, 0);

	add(fixture, store, 1, caller);
	assert_int_equal(early_ask(&early, store, fixture->stacks, fixture->names), 0);
	assert_int_equal(images[fixture->program].requests, 1);
	assert_int_equal(images[fixture->stripped].requests, 0);

	/* Images of callers are requested, too. A frame gets no symref before its table is
	 * there. */
	limit = names_limit(fixture->names);
	add(fixture, store, 2,
		fixture_call(fixture, fixture_call(fixture, caller, fixture->stripped, 4),
			fixture->program, 1));
	assert_int_equal(early_ask(&early, store, fixture->stacks, fixture->names), 0);
	assert_int_equal(images[fixture->program].requests, 1);
	assert_int_equal(images[fixture->stripped].requests, 1);
	assert_int_equal(images[fixture->library].requests, 0);
	assert_int_equal(names_limit(fixture->names), limit);
	for (uint32_t i = 1; i < limit; i++)
		assert_null(names_peek(fixture->names, i)->symbol);

	assert_int_equal(early_ask(&early, store, fixture->stacks, fixture->names), 0);
	assert_int_equal(images[fixture->stripped].requests, 1);
	early_fini(&early);
	store_free(store);
}

/* Nodes with a pending table are checked again when it arrives. A mangled name is requested once,
 * before the first use. */
static void test_asked_again(void **state)
{
	struct fixture *fixture = *state;
	const struct symbol mangled[] = {{0, 0x100, "_Z4workv", NULL, 0, false}};
	struct fake_image *image = &fixture->symbols.images[fixture->stripped];
	struct early early = {0};
	struct store *store;
	uint32_t first, limit;

	assert_int_equal(store_new(&store, fixture->stacks, fixture->tasks, (size_t)64 << 20), 0);
	image->state = SYMBOLS_PENDING;
	first = fixture_call(fixture, STACK_ROOT, fixture->stripped, 1);
	add(fixture, store, 1, fixture_call(fixture, first, fixture->program, 2));
	add(fixture, store, 2, fixture_stack(fixture, "3"));
	assert_int_equal(early_ask(&early, store, fixture->stacks, fixture->names), 0);
	limit = names_limit(fixture->names);
	assert_int_equal(early_ask(&early, store, fixture->stacks, fixture->names), 0);
	assert_int_equal(names_limit(fixture->names), limit);
	assert_int_equal(fixture->symbols.pretty_asked, 0);

	image->state = SYMBOLS_READY;
	image->symbols = mangled;
	image->n_symbols = 1;
	fixture->symbols.changed = SYMBOLS_CHANGED_TABLES;
	names_update(fixture->names);
	assert_int_equal(early_ask(&early, store, fixture->stacks, fixture->names), 0);
	assert_int_equal(names_limit(fixture->names), limit + 1);
	assert_int_equal(fixture->symbols.pretty_asked, 1);
	assert_null(names_peek(fixture->names, limit)->symbol);
	assert_false(early.has_unsettled);

	assert_int_equal(early_ask(&early, store, fixture->stacks, fixture->names), 0);
	assert_int_equal(fixture->symbols.pretty_asked, 1);
	assert_int_equal(image->requests, 1);
	early_fini(&early);
	store_free(store);
}

/* A reused node number is another stack. */
static void test_number_used_again(void **state)
{
	struct fixture *fixture = *state;
	struct early early = {0};
	struct store *store;
	uint32_t before, after;

	assert_int_equal(store_new(&store, fixture->stacks, fixture->tasks, (size_t)64 << 20), 0);
	before = fixture_stack(fixture, "0");
	add(fixture, store, 1, before);
	assert_int_equal(early_ask(&early, store, fixture->stacks, fixture->names), 0);
	store_free(store);
	stacks_unref(fixture->stacks, before); /* drops the fixture's reference */

	assert_int_equal(store_new(&store, fixture->stacks, fixture->tasks, (size_t)64 << 20), 0);
	after = fixture_call(fixture, STACK_ROOT, fixture->library, 1);
	assert_int_equal(after, before);
	add(fixture, store, 2, after);
	assert_int_equal(fixture->symbols.images[fixture->library].requests, 0);
	assert_int_equal(early_ask(&early, store, fixture->stacks, fixture->names), 0);
	assert_int_equal(fixture->symbols.images[fixture->library].requests, 1);
	early_fini(&early);
	store_free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_asked_once, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_asked_again, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			test_number_used_again, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
