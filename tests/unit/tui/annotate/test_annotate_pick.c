/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_annotate_pick.c - the functions that a name selects, and the paths of source files in a
 * tree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/samples_fixture.h"
#include "tui/annotate/pick.h"
#include "tui/commands/annotate_tree.h"

static struct fixture *fixture;
static struct pick pick;

static int setup(void **state)
{
	assert_int_equal(fixture_setup(state), 0);
	fixture = *state;
	return 0;
}

static int teardown(void **state)
{
	pick_fini(&pick);
	return fixture_teardown(state);
}

static void sample(uint32_t image, uint64_t offset, uint8_t event, uint64_t weight)
{
	uint32_t caller = fixture_call(fixture, STACK_ROOT, fixture->program, 0);

	fixture_cell(fixture, 0, fixture_call(fixture, caller, image, offset), fixture->labels[1],
		0, event, weight, 1);
}

static void make(const uint8_t *events, size_t n)
{
	const struct scan_question question = fixture_scan(fixture);

	assert_int_equal(pick_make(&pick, &question, events, n), 0);
}

static const struct symref *name(size_t function)
{
	return names_get(fixture->names, pick.functions[function].symref);
}

/* Sorted by the first event with samples, then by the others. */
static void test_order(void **state)
{
	static const uint8_t events[] = {9, 5, 0};

	(void)state;
	sample(fixture->program, 16, 5, 10);
	sample(fixture->program, 40, 5, 30);
	sample(fixture->program, 20, 0, 1000);
	sample(fixture->library, 64, 0, 1);
	sample(fixture->stripped, 7, 5, 60);
	sample(fixture->program, 80, 3, 1); /* not a selected event */
	make(events, 3);
	assert_int_equal(pick.n, 4);
	assert_string_equal(name(0)->symbol, "stripped.so+0x7");
	assert_string_equal(name(1)->symbol, "f2");
	assert_string_equal(name(2)->symbol, "f1");
	assert_string_equal(name(3)->symbol, "f4");
	assert_true(pick.functions[1].share > 0.299 && pick.functions[1].share < 0.301);
	assert_true(pick.functions[2].other > 0.99);
	assert_int_equal(pick.functions[2].samples, 2);
	assert_true(pick.functions[3].share == 0);
	assert_int_equal(pick.weight[0], 0);
	assert_int_equal(pick.weight[1], 100);
	assert_int_equal(pick.samples[2], 2);
}

static void find(const char *text, enum pick_match wanted, size_t wanted_n, const char *first)
{
	enum pick_match match;
	size_t *found, n;

	assert_int_equal(
		pick_find(&pick, fixture->names, &fixture->symbols, text, &match, &found, &n), 0);
	if (match != wanted || n != wanted_n)
		fail_msg("%s: %d, %zu functions", text, (int)match, n);
	if (first)
		assert_string_equal(name(found[0])->symbol, first);
	free(found);
}

static void test_find(void **state)
{
	static const uint8_t events[] = {0};
	struct symbol symbols[] = {
		{.start = 0, .size = 16, .name = "_Z4workv", .index = 0},
		{.start = 16, .size = 16, .name = "work(int)", .index = 1},
		{.start = 32, .size = 16, .name = "homework", .index = 2},
		{.start = 48, .size = 16, .name = "single(char)", .index = 3},
		{.start = 64, .size = 16, .name = "ns::work(int)", .index = 4},
		{.start = 80, .size = 16, .name = "ns::alone(int)", .index = 5},
		{.start = 96, .size = 16, .name = "single.cold", .index = 6},
		{.start = 112, .size = 16, .name = "made.constprop.5", .index = 7},
		{.start = 128, .size = 16, .name = "unmade", .index = 8},
		{.start = 144, .size = 16, .name = "ns::g(int) [clone .isra.0]", .index = 9},
		{.start = 160, .size = 16, .name = "ns::g(int) [clone .cold]", .index = 10},
		{.start = 176, .size = 16, .name = "h(int) [clone .isra.0]", .index = 11},
	};
	const size_t n = sizeof(symbols) / sizeof(symbols[0]);

	(void)state;
	fixture->symbols.images[fixture->program].symbols = symbols;
	fixture->symbols.images[fixture->program].n_symbols = n;
	fixture->symbols.pretty = true;
	for (uint64_t i = 0; i < n; i++)
		sample(fixture->program, i * 16, 0, 20 - i);
	sample(fixture->program, 1000, 0, 100); /* program+0x3e8 has no symbol */
	sample(fixture->library, 32, 0, 5); /* f2, in two images */
	fixture->symbols.images[fixture->stripped] = fixture->symbols.images[fixture->library];
	sample(fixture->stripped, 32, 0, 50);
	make(events, 1);
	find("work()", PICK_EXACT, 1, "work()");
	find("_Z4workv", PICK_EXACT, 1, "work()");
	find("work(int)", PICK_EXACT, 1, "work(int)");
	find("homework", PICK_EXACT, 1, "homework");
	find("single", PICK_EXACT, 1, "single(char)");
	find("work", PICK_SEVERAL, 2, "work()"); /* ignores the parameters */
	find("wor", PICK_SEVERAL, 4, "work()");
	find("alone", PICK_EXACT, 1, "ns::alone(int)");
	find("alone(int)", PICK_EXACT, 1, "ns::alone(int)");
	find("alon", PICK_PART, 1, "ns::alone(int)");
	find("omew", PICK_PART, 1, "homework");
	/* A clone counts as the function if nothing else is called like it. */
	find("made", PICK_EXACT, 1, "made.constprop.5");
	find("made.constprop.5", PICK_EXACT, 1, "made.constprop.5");
	find("h", PICK_EXACT, 1, "h(int) [clone .isra.0]");
	find("h(int)", PICK_EXACT, 1, "h(int) [clone .isra.0]");
	find("g", PICK_SEVERAL, 2, "ns::g(int) [clone .isra.0]");
	find("program", PICK_NONE, 0, NULL);
	find("f2", PICK_EXACT, 2, "f2");
}

static void path(const char *file, const char *wanted)
{
	char out[4096];

	assert_string_equal(annotate_tree_path(out, sizeof(out), file), wanted);
}

/* No path leads above the directory. */
static void test_tree_path(void **state)
{
	char large[8192], out[4096];

	(void)state;
	path("/usr/src/a.c", "usr/src/a.c");
	path("//usr//./src/../a.c", "usr/a.c");
	path("../../../etc/passwd", "etc/passwd");
	path("/a/../../../b", "b");
	path("a/..", "unnamed");
	path("..", "unnamed");
	path("", "unnamed");
	path("/", "unnamed");
	path("...", "...");
	path("/x/..y/z", "x/..y/z");
	path("SUMMARY.txt", "source/SUMMARY.txt");
	path("/x/SUMMARY.txt", "x/SUMMARY.txt");
	path("/x/\033[2J\n", "x/?[2J?");
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	assert_true(strlen(annotate_tree_path(out, sizeof(out), large)) <= 255);
	for (size_t i = 3; i < sizeof(large) - 1; i += 4)
		large[i] = '/';
	assert_true(strlen(annotate_tree_path(out, sizeof(out), large)) < sizeof(out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_find, setup, teardown),
		cmocka_unit_test(test_tree_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
