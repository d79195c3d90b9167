/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_export_folded.c - folded stacks: frame texts, sums, hostile names, depth.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/export_world.h"

static void check(struct world *world, const char *expected)
{
	char *text = world_write(world, export_folded, NULL);

	assert_string_equal(text, expected);
	free(text);
	world_free(world);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Splits text into sorted lines. Returns their number. The lines are parts of text. */
static size_t sort_lines(char *text, char *lines[64])
{
	size_t n = 0;
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line && n < 64;
		line = strtok_r(NULL, "\n", &rest))
		lines[n++] = line;
	qsort(lines, n, sizeof(*lines), compare_lines);
	return n;
}

static void check_as_set(struct world *world, char *expected)
{
	char *text = world_write(world, export_folded, NULL), *found[64], *wanted[64];
	size_t n = sort_lines(text, found);

	assert_int_equal(sort_lines(expected, wanted), n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(found[i], wanted[i]);
	free(text);
	world_free(world);
}

static void test_alike_are_one(void **state)
{
	struct world world;

	(void)state;
	world_make(&world);
	/* Two addresses of one function, in two slices. */
	world_add(&world, STACK(&world, MAIN, WORK), world.worker, 0, 10);
	world_next_slice(&world);
	world_add(&world, STACK(&world, MAIN, WORK + 3), world.worker, 0, 5);
	world_add(&world, STACK(&world, MAIN + 1), world.worker, 0, 1);
	world_add(&world, STACK(&world, MAIN, WORK), world.other, 0, 2);
	/* A sample of an event that is not exported. */
	world_add(&world, STACK(&world, MAIN, WORK), world.worker, 1, 100);
	check(&world, "java;main;work 2\nworker_one;main 1\nworker_one;main;work 15\n");
}

/* Commands with equal stacks, or with stacks that begin others, in turns: each command has its own
 * lines. */
static void test_commands_with_the_same_stacks(void **state)
{
	struct world world;
	uint32_t tasks[3];

	(void)state;
	world_make(&world);
	tasks[0] = world.worker;
	tasks[1] = world.other;
	tasks[2] = labelled_task(world.tasks, 7, 7, "third", START_NS);
	for (unsigned int i = 0; i < 9; i++) {
		world_add(&world, STACK(&world, MAIN, WORK, LEAF), tasks[i % 3], 0, 1);
		world_add(&world, STACK(&world, MAIN, WORK), tasks[(i + 1) % 3], 0, 10);
		world_add(&world, STACK(&world, MAIN), tasks[2 - i % 2], 0, 100);
		if (i == 4)
			world_next_slice(&world);
	}
	world_add(&world, STACK_ROOT, tasks[2], 0, 7);
	check(&world,
		"java;main 400\njava;main;work 30\njava;main;work;leaf 3\n"
		"third 7\nthird;main 500\nthird;main;work 30\nthird;main;work;leaf 3\n"
		"worker_one;main;work 30\nworker_one;main;work;leaf 3\n");
}

static void test_counts_where_perf_tells_no_period(void **state)
{
	struct world world;

	(void)state;
	world_make(&world);
	world.events[0].by_count = true;
	world_add(&world, STACK(&world, MAIN), world.worker, 0, 1000);
	world_add(&world, STACK(&world, MAIN), world.worker, 0, 1000);
	check(&world, "worker_one;main 2\n");
}

static void test_names(void **state)
{
	struct world world;

	(void)state;
	world_make(&world);
	world_add(&world, STACK(&world, MAIN, INLINED), world.worker, 0, 1);
	world_add(&world, STACK(&world, MAKE), world.worker, 0, 2);
	world_add(&world, STACK(&world, GO), world.worker, 0, 4);
	world_add(&world, STACK(&world, MAIN, ANONYMOUS, LEAF), world.worker, 0, 8);
	world_add(&world, STACK(&world, METHOD), world.worker, 0, 16);
	world_add(&world, STACK(&world, JAVA), world.worker, 0, 32);
	world_add(&world, STACK(&world, JAVA), world.other, 0, 64);
	world_add(&world, STACK(&world, CALL), world.worker, 0, 128);
	check(&world,
		"java;org/x/Y:.call 64\n"
		"worker_one;Foo::operator() 128\n"
		"worker_one;Lorg/x/Y:.call 32\n"
		"worker_one;main;(anonymous namespace)::f;leaf 8\n"
		"worker_one;main;a;b_[i] 1\n"
		"worker_one;net/http.(*Client).Do 4\n"
		"worker_one;ns::(anonymous namespace)::g 16\n"
		"worker_one;ns::make<int> 2\n");
}

/* Brackets are part of a name. Parameters are left out unless names would become equal. */
static void test_what_differs_stays_apart(void **state)
{
	static const struct {
		const char *name, *shown;
	} cases[] = {
		{"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
		{"<(A, B) as T>::f", "<(A, B) as T>::f"},
		{"<dyn core::ops::Fn() -> i32 as T>::f", "<dyn core::ops::Fn() -> i32 as T>::f"},
		{"Ptr::operator void (*)()()", "Ptr::operator void (*)()"},
		{"Ptr::operator()(int)", "Ptr::operator()"},
		{"Ptr::operator->()", "Ptr::operator->"},
		{"Ptr::operator->*(int)", "Ptr::operator->*"},
		{"char f<decltype ((a)->b)>(int)", "f<decltype ((a)->b)>"},
		{"cold(int) [clone .cold]", "cold(int) [clone .cold]"},
		{"cold(int)", "cold(int)"},
		{"f(int)::{lambda(int)#1}::operator()(int) const",
			"f(int)::{lambda(int)#1}::operator()"},
		{"main.(*T).do", "main.(*T).do"},
		{"main.f[go.shape.func()]", "main.f[go.shape.func()]"},
		{"main.f[go.shape.func(int)]", "main.f[go.shape.func(int)]"},
		{"over(double)", "over(double)"},
		{"over(int)", "over(int)"},
		{"std::function<void ()>::call() const", "std::function<void ()>::call"},
		{"std::function<void (int)>::call() const", "std::function<void (int)>::call"},
		{"void (*get<int>(int))(char)", "get<int>"},
		{"void run<&fa>()", "run<&fa>"},
		{"void run<&fb>()", "run<&fb>"},
	};
	enum { CASES = sizeof(cases) / sizeof(cases[0]) };
	struct symbol functions[CASES];
	char expected[4096] = "";
	struct world world;

	(void)state;
	world_make(&world);
	for (size_t i = 0; i < CASES; i++) {
		functions[i] = (struct symbol){
			.start = 16 * i, .size = 16, .name = cases[i].name, .index = (uint32_t)i};
		world_add(&world, STACK(&world, 16 * (int)i), world.worker, 0, i + 1);
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
			"worker_one;%s %zu\n", cases[i].shown, i + 1);
	}
	world.symbols.images[world.program].symbols = functions;
	world.symbols.images[world.program].n_symbols = CASES;
	check_as_set(&world, expected);
}

/* A function without a name is shown by its start address, as nm does. */
static void test_nameless_functions(void **state)
{
	static const struct symbol functions[] = {
		{0x00, 16, "", NULL, 0, false}, {0x10, 16, "", NULL, 1, false}};
	static const struct symbols_segment segments[] = {{0x0, 0x100, 0x401000}};
	struct world world;

	(void)state;
	world_make(&world);
	world.symbols.images[world.program].symbols = functions;
	world.symbols.images[world.program].n_symbols = 2;
	world.symbols.images[world.program].segments = segments;
	world.symbols.images[world.program].n_segments = 1;
	world_add(&world, STACK(&world, 0x3), world.worker, 0, 1);
	world_add(&world, STACK(&world, 0x5), world.worker, 0, 2);
	world_add(&world, STACK(&world, 0x5, 0x12), world.worker, 0, 4);
	check(&world,
		"worker_one;program+0x401000 3\nworker_one;program+0x401000;program+0x401010 4\n");
}

static void test_without_names(void **state)
{
	struct world world;

	(void)state;
	world_make(&world);
	world_add(&world, STACK(&world, MAIN, NOTHING), world.worker, 0, 1);
	world_add(&world, STACK(&world, MAIN, NOTHING + 8), world.worker, 0, 1);
	world_add(&world, world_push(&world, STACK_ROOT, world.library, 5), world.worker, 0, 4);
	world_add(&world, world_push(&world, STACK_ROOT, world.unknown, 5), world.worker, 0, 8);
	world_add(&world, world_push(&world, STACK_ROOT, world.kernel, UINT64_MAX - 99),
		world.worker, 0, 16);
	check(&world,
		"worker_one;[[kernel.kallsyms]] 16\nworker_one;[libx.so] 4\n"
		"worker_one;[unknown] 8\nworker_one;main;[program] 2\n");
}

/* work and leaf contain inlined functions, one with a C++ return type. */
static void test_inlined(void **state)
{
	static const struct symbols_frame in_work[] = {
		{.function = "void pick<int>(int)", .inlined = true},
		{.function = "step", .inlined = true}, {.function = "work"}};
	static const struct symbols_frame in_leaf[] = {
		{.function = "HOSTILE;\"x", .inlined = true}, {.function = "leaf"}};
	struct fake_lines lines[2] = {{.offset = WORK, .frames = in_work, .n_frames = 3},
		{.offset = LEAF, .frames = in_leaf, .n_frames = 2}};
	struct world world;

	(void)state;
	world_make(&world);
	lines[0].key = lines[1].key = world.program;
	world.symbols.lines = lines;
	world.symbols.n_lines = 2;
	world.symbols.lines_known = true;
	world_add(&world, STACK(&world, MAIN, WORK, LEAF), world.worker, 0, 2);
	world_add(&world, STACK(&world, MAIN, WORK), world.worker, 0, 3);
	check(&world, "worker_one;main;work 3\nworker_one;main;work;leaf 2\n");

	world_make(&world);
	lines[0].key = lines[1].key = world.program;
	world.symbols.lines = lines;
	world.symbols.n_lines = 2;
	world.symbols.lines_known = true;
	world.profile.inlines = true;
	world_add(&world, STACK(&world, MAIN, WORK, LEAF), world.worker, 0, 2);
	world_add(&world, STACK(&world, MAIN, WORK), world.worker, 0, 3);
	check(&world,
		"worker_one;main;work;step_[i];pick<int>_[i] 3\n"
		"worker_one;main;work;step_[i];pick<int>_[i];leaf;HOSTILE:x_[i] 2\n");
}

static void test_hostile(void **state)
{
	struct world world;
	char *text;

	(void)state;
	world_make(&world);
	world_add(&world, STACK(&world, EVIL),
		labelled_task(world.tasks, 7, 7, "a;b\nc \x1b", START_NS), 0, 3);
	text = world_write(&world, export_folded, NULL);
	/* One line, one separator and no control characters. */
	assert_string_equal(text, "a:b?c_?;</script>&<x>:?[2J? 3\n");
	free(text);
	world_free(&world);
}

static void test_empty(void **state)
{
	struct world world;

	(void)state;
	world_make(&world);
	check(&world, "");
}

static void test_deep(void **state)
{
	struct world world;
	uint32_t node = STACK_ROOT;
	size_t parts = 0, len;
	char *text;

	(void)state;
	world_make(&world);
	for (int i = 0; i < 1000; i++)
		node = world_push(&world, node, world.program, i % 2 ? WORK : MAIN);
	world_add(&world, node, world.worker, 0, 9);
	text = world_write(&world, export_folded, &len);
	for (size_t i = 0; i < len; i++)
		parts += text[i] == ';';
	assert_int_equal(parts, 1000);
	assert_string_equal(text + len - 8, ";work 9\n");
	free(text);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alike_are_one),
		cmocka_unit_test(test_commands_with_the_same_stacks),
		cmocka_unit_test(test_counts_where_perf_tells_no_period),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_what_differs_stays_apart),
		cmocka_unit_test(test_nameless_functions),
		cmocka_unit_test(test_without_names),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
