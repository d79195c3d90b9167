/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_expr.c - filter expressions: parsing, positions of errors, and the samples that pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/samples_fixture.h"
#include "tui/query/expr.h"

#include <errno.h>

static struct expr parsed(const char *text)
{
	struct expr expr;
	struct expr_error error;

	if (expr_parse(&expr, text, &error))
		fail_msg("'%s': %zu: %s", text, error.at, error.what);
	return expr;
}

static void expect_error(const char *text, size_t at, const char *part)
{
	struct expr expr;
	struct expr_error error;

	assert_int_equal(expr_parse(&expr, text, &error), -EINVAL);
	assert_int_equal(error.at, at);
	if (!strstr(error.what, part))
		fail_msg("'%s': '%s' is not in '%s'", text, part, error.what);
	assert_null(expr.terms);
}

/* Some short expressions make regcomp(3) take all memory. */
static void test_regex_costs(void **state)
{
	static const char *const good[] = {"symbol~operator\\+\\+", "symbol~^(a|b+)*[+*?{][]+]+$",
		"symbol~x{2,60}", "symbol~(ab{3}){20}", "symbol~[[:alpha:]+++++++++++++++]+",
		"symbol~a+b+c+d+e+f+g+h+i+j+k+l+m+n+", "symbol~g++", "symbol~(.*(std|boost)::.*)+"};
	static const char *const bad[] = {"symbol~x+++++++++++++++++++++++", "symbol~x{255}{255}",
		"symbol~((){200}){200}", "symbol~((((((((((((x+)+)+)+)+)+)+)+)+)+)+)+",
		"symbol~(a*)\\1", "symbol~((((((((((((((((((((((((((((((((", "symbol~(){2000}",
		"symbol~^g++**:*++++++++?.++.+", "symbol~(a|(b|))+++++++++"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct expr expr = parsed(good[i]);
		expr_fini(&expr);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_error(bad[i], 7, "repeats too much");
}

static void test_terms(void **state)
{
	struct expr expr = parsed("comm~^nginx.* & !image:libc*|ld* &cpu:0-2,8&malloc");

	(void)state;
	assert_int_equal(expr.n_terms, 4);
	assert_non_null(expr.terms[0].regex);
	assert_int_equal(expr.terms[1].field, FILTER_IMAGE);
	assert_true(expr.terms[1].negated && expr.terms[2].negated);
	assert_string_equal(expr.terms[2].text, "ld*");
	assert_int_equal(expr.first[3] - expr.first[2], 2);
	assert_int_equal(expr.terms[3].first, 0);
	assert_int_equal(expr.terms[3].last, 2);
	assert_int_equal(expr.terms[4].first, 8);
	assert_int_equal(expr.terms[5].field, FILTER_STACK);
	assert_string_equal(expr.terms[5].text, "*malloc*");
	expr_fini(&expr);
	/* A C++ name is one word. Quotes keep special characters. */
	expr = parsed(" std::sort ");
	assert_string_equal(expr.terms[0].text, "*std::sort*");
	expr_fini(&expr);
	expr = parsed("symbol:\"operator&&(a|b) \\\"x\\\\\"");
	assert_string_equal(expr.terms[0].text, "operator&&(a|b) \"x\\");
	assert_int_equal(expr.n, 1);
	expr_fini(&expr);
	expr = parsed("!pid:12|34");
	assert_int_equal(expr.terms[1].first, 34);
	expr_fini(&expr);
}

/* "=" compares the whole text. In a word, or after a name that is no field, it has no meaning. */
static void test_exact_terms(void **state)
{
	struct expr expr = parsed("symbol=operator*|f & !stack=main&operator==");

	(void)state;
	assert_int_equal(expr.n, 4);
	for (size_t i = 0; i < 3; i++)
		assert_true(expr.terms[i].exact);
	assert_string_equal(expr.terms[0].text, "operator*");
	assert_string_equal(expr.terms[1].text, "f");
	assert_true(expr.terms[2].negated);
	assert_false(expr.terms[3].exact);
	assert_string_equal(expr.terms[3].text, "*operator==*");
	expr_fini(&expr);
	expect_error("cpu=3", 3, "numbers");
	expect_error("symbol=", 7, "missing");
}

static void test_errors(void **state)
{
	(void)state;
	expect_error("", 0, "missing");
	expect_error("comm:", 5, "missing");
	expect_error("comm:a & ", 9, "missing");
	expect_error("comm:a | & b", 9, "missing");
	expect_error("pid:x", 4, "'x' is not a process");
	expect_error("pid:-4", 4, "not a process");
	expect_error("pid~4", 3, "numbers");
	expect_error("cpu:0-", 4, "CPUs");
	expect_error("comm~(", 5, "regular expression");
	expect_error("comm:\"a", 5, "not ended");
	expect_error("comm:\"a\" b", 9, "'&'");
	expect_error("a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a", 32, "at most");
}

/* The term for a symbol selects that symbol, for any name. */
static void test_terms_of_what_is_pointed_at(void **state)
{
	static const char *const names[] = {"malloc", "operator&&(int, char const*)", "a|b", "\"\\",
		"std::map<int, std::less<int> >::operator[](int&&)", "[kernel]", ":7", "::main",
		""};
	char text[256];

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(names) / sizeof(*names); i++) {
		struct expr expr =
			parsed(expr_term(text, sizeof(text), i % 2, FILTER_STACK, names[i]));

		assert_int_equal(expr.n, 1);
		assert_string_equal(expr.terms[0].text, names[i]);
		assert_true(expr.terms[0].exact);
		assert_true(expr.terms[0].negated == (i % 2 != 0));
		expr_fini(&expr);
	}
	assert_true(strlen(expr_term(text, 12, false, FILTER_STACK, names[4])) < 12);
}

/* An unknown field is one of the samples, with or without its prefix. */
static void test_fields_of_samples(void **state)
{
	static const char format[] = "name: made_up\nID: 1\nformat:\n"
				     "\tfield:int kind;\toffset:8;\tsize:4;\tsigned:1;\n"
				     "print fmt: \"%d\", REC->kind\n";
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	struct expr expr =
		parsed("!prev_comm:sh|ba* & field:pid:-3 & kind:0x10-20 & data_src.level~^L");
	const struct fields *schemas[1];
	struct expr_error error;
	struct fields *fields;
	char text[64];

	(void)state;
	assert_int_equal(expr.n_terms, 4);
	assert_int_equal(expr.terms[1].field, FILTER_SAMPLE_FIELD);
	assert_true(expr.terms[1].negated && !expr.terms[1].has_range);
	assert_string_equal(expr.terms[1].field_name, "prev_comm");
	assert_string_equal(expr.terms[1].text, "ba*");
	assert_string_equal(expr.terms[2].field_name, "pid");
	assert_true(expr.terms[2].has_range);
	assert_int_equal(expr.terms[2].first, -3);
	assert_int_equal(expr.terms[2].last, -3);
	assert_int_equal(expr.terms[3].first, 16);
	assert_int_equal(expr.terms[3].last, 20);
	assert_non_null(expr.terms[4].regex);
	assert_string_equal(expr.terms[4].field_name, "data_src.level");
	expr_fini(&expr);

	assert_int_equal(fields_new(&fields, &attr, NULL, NULL, format), 0);
	schemas[0] = fields;
	expr = parsed("comm:a & kind:1");
	assert_int_equal(expr_check_fields(&expr, schemas, 1, &error), 0);
	assert_int_equal(expr_check_fields(&expr, schemas, 0, &error), -EINVAL);
	assert_int_equal(error.at, 9);
	expr_fini(&expr);
	expr = parsed("com:a");
	assert_int_equal(expr_check_fields(&expr, schemas, 1, &error), -EINVAL);
	assert_int_equal(error.at, 0);
	assert_non_null(strstr(error.what, "there is no 'com'"));
	assert_non_null(strstr(error.what, "there are kind"));
	expr_fini(&expr);
	fields_free(fields);

	assert_string_equal(
		expr_field_term(text, sizeof(text), true, "kind", "a b"), "!kind:\"a b\"");
	assert_string_equal(
		expr_field_term(text, sizeof(text), false, "comm", "x"), "field:comm:x");
}

static bool passes(struct fixture *fixture, const char *text, uint32_t cell)
{
	struct expr expr = parsed(text);
	struct filter *filter;
	bool pass;

	assert_int_equal(
		expr_filter(&expr, fixture->stacks, fixture->tasks, fixture->names, &filter), 0);
	pass = filter_pass(filter, &fixture->slices[cell], 0);
	assert_int_equal(filter_pass(filter, &fixture->slices[cell], 0), pass);
	filter_free(filter);
	expr_fini(&expr);
	return pass;
}

/* Slice 0 has one cell: worker (100/101) on CPU 2 in f3, called by f0. Slice 1 has "we?ird" on CPU
 * 9, without a stack. */
static void test_passes(void **state)
{
	struct fixture *fixture = *state;

	fixture_cell(fixture, 0, fixture_stack(fixture, "0 3"), fixture->labels[2], 2, 0, 1, 1);
	fixture_cell(fixture, 1, STACK_ROOT, fixture->labels[7], 9, 0, 1, 1);
	assert_true(passes(fixture, "stack:f0", 0));
	assert_true(passes(fixture, "stack:f3", 0));
	assert_false(passes(fixture, "symbol:f0", 0));
	assert_false(passes(fixture, "stack:f1", 0));
	assert_true(passes(fixture, "stack:f1|f0", 0));
	assert_false(passes(fixture, "!stack:f1|f0", 0));
	assert_true(passes(fixture, "!stack:f1", 0));
	assert_true(passes(fixture, "stack:f0 & stack:f3", 0));
	assert_false(passes(fixture, "stack:f0 & stack:f1", 0));
	assert_true(passes(fixture, "stack~^f[0-2]$", 0));
	assert_true(passes(fixture, "f0 & comm~^work & cpu:0-3 & !image~nothing", 0));
	assert_false(passes(fixture, "f0 & comm~^ork", 0));
	assert_false(passes(fixture, "f0 & cpu:3", 0));
	assert_true(passes(fixture, "pid:100 & tid:101", 0));
	assert_false(passes(fixture, "stack:f0", 1));
	assert_true(passes(fixture, "!stack:f0", 1));
	assert_true(passes(fixture, "address:program+0x30", 0));
	assert_false(passes(fixture, "address:program+0x0", 0));
	assert_true(passes(fixture, "!address:program*", 1));
	/* A function without lines is found by its name. */
	assert_true(passes(fixture, "line:f3*", 0));
	assert_false(passes(fixture, "line:f0*", 0));
	/* Samples without fields. */
	assert_true(passes(fixture, "kind:- & !kind:3", 0));
	assert_false(passes(fixture, "kind:3", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_terms),
		cmocka_unit_test(test_regex_costs),
		cmocka_unit_test(test_exact_terms),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_fields_of_samples),
		cmocka_unit_test(test_terms_of_what_is_pointed_at),
		cmocka_unit_test_setup_teardown(test_passes, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
