/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_filter.c - the cells that pass a filter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/samples_fixture.h"
#include "tui/query/filter.h"

#define IS(kind, what)                                         \
	{                                                      \
		.field = FILTER_##kind, .text = (char *)(what) \
	}
#define NOT(kind, what)                                                         \
	{                                                                       \
		.field = FILTER_##kind, .text = (char *)(what), .negated = true \
	}

static bool passes(
	struct fixture *fixture, const struct filter_term *terms, size_t n, uint32_t cell)
{
	struct filter *filter;
	bool pass;

	assert_int_equal(
		filter_new(&filter, terms, n, fixture->stacks, fixture->tasks, fixture->names), 0);
	pass = filter_pass(filter, &fixture->slices[cell], 0);
	/* The remembered verdict is equal. */
	assert_int_equal(filter_pass(filter, &fixture->slices[cell], 0), pass);
	filter_free(filter);
	return pass;
}

#define PASSES(cell, ...)                                                                       \
	passes(fixture, (const struct filter_term[]){__VA_ARGS__},                              \
		sizeof((const struct filter_term[]){__VA_ARGS__}) / sizeof(struct filter_term), \
		cell)

/* Slice 0 has one cell: worker (100/101) on CPU 2 in f3, called by f0. Slice 1 has "we?ird" on CPU
 * 9, without a stack. Slice 2 has one in stripped.so. */
static void fill(struct fixture *fixture)
{
	fixture_cell(fixture, 0, fixture_stack(fixture, "0 3"), fixture->labels[2], 2, 0, 1, 1);
	fixture_cell(fixture, 1, STACK_ROOT, fixture->labels[7], 9, 0, 1, 1);
	fixture_cell(fixture, 2,
		fixture_call(fixture, fixture_stack(fixture, "0"), fixture->stripped, 0x123),
		fixture->labels[0], 0, 0, 1, 1);
}

static void test_no_terms(void **state)
{
	struct fixture *fixture = *state;
	struct filter *filter = (struct filter *)1;

	fill(fixture);
	assert_int_equal(
		filter_new(&filter, NULL, 0, fixture->stacks, fixture->tasks, fixture->names), 0);
	assert_null(filter);
	assert_true(filter_pass(NULL, &fixture->slices[0], 0));
	filter_free(NULL);
}

static void test_tasks(void **state)
{
	struct fixture *fixture = *state;

	fill(fixture);
	assert_true(PASSES(0, IS(COMM, "worker")));
	assert_false(PASSES(0, IS(COMM, "work")));
	assert_true(PASSES(0, IS(COMM, "work*")));
	assert_true(PASSES(0, IS(COMM, "nothing"), IS(COMM, "*k?r")));
	assert_false(PASSES(0, NOT(COMM, "worker")));
	assert_true(PASSES(0, NOT(COMM, "server")));
	assert_false(PASSES(0, IS(COMM, "w*"), NOT(COMM, "*r")));
	assert_true(PASSES(1, IS(COMM, "we?ird"))); /* the shown name */
	assert_true(PASSES(0, {.field = FILTER_PID, .first = 50, .last = 100}));
	assert_false(PASSES(0, {.field = FILTER_PID, .first = 101, .last = 200}));
	assert_true(PASSES(0, {.field = FILTER_TID, .first = 101, .last = 101}));
	assert_false(PASSES(0, {.field = FILTER_TID, .first = 100, .last = 100}));
	assert_false(PASSES(2, {.field = FILTER_PID, .first = 0, .last = 0, .negated = true}));
	/* All terms must match. */
	assert_false(PASSES(0, IS(COMM, "worker"), {.field = FILTER_PID, .first = 7, .last = 7}));
}

static void test_cpus(void **state)
{
	struct fixture *fixture = *state;

	fill(fixture);
	assert_true(PASSES(0, {.field = FILTER_CPU, .first = 0, .last = 3}));
	assert_false(PASSES(1, {.field = FILTER_CPU, .first = 0, .last = 8}));
	assert_true(PASSES(1, {.field = FILTER_CPU, .first = 0, .last = 0},
		{.field = FILTER_CPU, .first = 9, .last = 9}));
	assert_false(PASSES(1, {.field = FILTER_CPU, .first = 9, .last = 70000, .negated = true}));
}

static void test_symbols_and_images(void **state)
{
	struct fixture *fixture = *state;

	fill(fixture);
	assert_true(PASSES(0, IS(SYMBOL, "f3")));
	assert_false(PASSES(0, IS(SYMBOL, "f0"))); /* f0 is not the leaf */
	assert_true(PASSES(0, IS(IMAGE, "program")));
	assert_true(PASSES(0, IS(IMAGE, "/bin/program")));
	assert_true(PASSES(0, IS(IMAGE, "/bin/*")));
	assert_false(PASSES(0, IS(IMAGE, "prog")));
	assert_false(PASSES(0, NOT(IMAGE, "program")));
	assert_true(PASSES(0, IS(IMAGE, "program"), IS(SYMBOL, "f3")));
	assert_true(PASSES(1, IS(SYMBOL, "[unknown]"))); /* brackets are not a character class */
	assert_false(PASSES(1, IS(SYMBOL, "[u]nknown")));
	assert_true(PASSES(2, IS(SYMBOL, "stripped.so+0x123")));
	assert_true(PASSES(2, IS(IMAGE, "stripped.so"), NOT(SYMBOL, "f*")));
}

/* C++ and Rust names match with and without their parameters. */
static void test_parameters(void **state)
{
	struct fixture *fixture = *state;
	static const struct {
		const char *symbol, *pattern;
		bool passes;
	} cases[] = {
		{"std::sort(int*, int*)", "std::sort", true},
		{"std::sort(int*, int*)", "std::sort(int*, int*)", true},
		{"std::sort(int*, int*)", "std::so", false},
		{"(anonymous namespace)::f(int)", "(anonymous namespace)::f", true},
		{"a::(anonymous namespace)::f(int) const", "a::(anonymous namespace)::f", true},
		{"T::operator()(int) const", "T::operator()", true},
		{"operator<(A, B)", "operator<", true},
		{"operator<<(A, B)", "operator<<", true},
		{"P::operator->(int)", "P::operator->", true},
		{"f<void (int)>::g(long)", "f<void (int)>::g", true},
		{"größe(int)", "gr??e", true},
		{"größe(int)", "gr???e", false},
		{"int work<int>(int)", "work", true},
		{"int work<int>(int)", "work<int>", true},
		{"int work<int>(int)", "work<long>", false},
		{"A::f(int)", "f", true},
		{"A::f(int)", "f(long)", false},
		{"f", "f", true},
		{"f(", "f", true},
		{"(", "*", true},
	};

	fill(fixture);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct names *names = fixture->names;
		const struct filter_term term = IS(SYMBOL, cases[i].pattern);

		fixture->functions[3].name = cases[i].symbol;
		assert_int_equal(names_new(&fixture->names, fixture->stacks, fixture->images,
					 &fixture->symbols),
			0);
		if (passes(fixture, &term, 1, 0) != cases[i].passes)
			fail_msg("%s with %s", cases[i].symbol, cases[i].pattern);
		names_free(fixture->names);
		fixture->names = names;
	}
}

/* An exact text matches only the name as it is shown. */
static void test_exact_texts(void **state)
{
	struct fixture *fixture = *state;
	static const char *const others[] = {"A::f(int)", "f(int)", "f*", "f0"};
	struct filter_term term = IS(SYMBOL, "f3");

	fill(fixture);
	term.exact = true;
	assert_true(passes(fixture, &term, 1, 0));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		term.text = (char *)others[i];
		assert_false(passes(fixture, &term, 1, 0));
	}
	term = (struct filter_term)IS(IMAGE, "/bin/program");
	term.exact = true;
	assert_true(passes(fixture, &term, 1, 0));
	term.text = (char *)"/bin/*";
	assert_false(passes(fixture, &term, 1, 0));
}

/* A verdict on an unknown name changes when the name is known. */
static void test_names_that_come_late(void **state)
{
	struct fixture *fixture = *state;
	const struct filter_term term = IS(SYMBOL, "f3");
	struct fake_image *image = &fixture->symbols.images[fixture->program];
	struct filter *filter;

	fill(fixture);
	image->state = SYMBOLS_PENDING;
	assert_int_equal(
		filter_new(&filter, &term, 1, fixture->stacks, fixture->tasks, fixture->names), 0);
	assert_false(filter_pass(filter, &fixture->slices[0], 0));
	image->state = SYMBOLS_READY;
	fixture->symbols.changed = SYMBOLS_CHANGED_TABLES;
	names_update(fixture->names);
	assert_true(filter_pass(filter, &fixture->slices[0], 0));
	filter_free(filter);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_terms),
		TEST(test_tasks),
		TEST(test_cpus),
		TEST(test_symbols_and_images),
		TEST(test_exact_texts),
		TEST(test_parameters),
		TEST(test_names_that_come_late),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
