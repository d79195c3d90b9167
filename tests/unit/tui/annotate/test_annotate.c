/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_annotate.c - rows and sums of one function: f1, 16 bytes from 16 on, in a made-up program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/annotate_fixture.h"

static void test_addresses(void **state)
{
	const struct annotate_row *rows;
	size_t n;

	(void)state;
	make_f1();
	codetab_builder_bias(builder, 0x400000);
	answer(true);
	begin();
	settle();
	annotate_set_mode(annotation, ANNOTATE_ASSEMBLY);
	rows = annotate_rows(annotation, &n);
	assert_int_equal(n, 5);
	assert_int_equal(rows[0].offset, 16);
	assert_int_equal(rows[0].address, 0x400010);
	assert_string_equal(rows[3].target_text, "0x401388");
	assert_int_equal(rows[3].target_offset, 5000);
}

static void test_waits(void **state)
{
	size_t n;

	(void)state;
	begin();
	assert_int_equal(fake_code.question.key, fixture->program);
	assert_int_equal(fake_code.question.start, 16);
	assert_int_equal(fake_code.question.end, 32);
	assert_true(fake_code.question.lines);
	assert_false(annotate_collect(annotation));
	assert_int_equal(annotate_progress(annotation), ANNOTATE_WAITS);
	samples_in_f1();
	update(0, UINT64_MAX);
	annotate_rows(annotation, &n);
	assert_int_equal(n, 0);
	make_f1();
	answer(true);
	assert_true(annotate_collect(annotation));
	assert_int_equal(annotate_progress(annotation), ANNOTATE_READY);
	settle();
	assert_false(annotate_collect(annotation));
	annotate_rows(annotation, &n);
	assert_true(n > 5);
}

static void test_mixed(void **state)
{
	struct annotate_head head;

	(void)state;
	fake_sources = sources;
	make_f1();
	answer(true);
	samples_in_f1();
	begin();
	assert_true(annotate_collect(annotation));
	update(0, UINT64_MAX);
	assert_string_equal(dump(),
		"F0 f1 /src/a.c:2\n"
		"L0 2:int f1(void)\n"
		"L0 3:{\n"
		"L0 4:        int x;\n"
		"L0 5:        x = g();\n"
		"F1 g /src/g.h:2\n"
		"L1 2:inline g()\n"
		"L1 3:{\n"
		"L1 4:  a; =10,0\n"
		"C 16 mov    %eax,%ebx =10,0\n"
		"L1 5:  b; =3,0\n"
		"C* 20 call   f2 =3,0\n"
		"F0 f1 /src/a.c:2\n"
		"L0 5:        x = g();\n"
		"C 22 jne    f1+0x4 ->11\n"
		"L0 6:        loop();\n"
		"L0 7:        return x; =0,7\n"
		"C 24 jmp    0x1388 =0,7\n"
		"C 28 ret\n");
	annotate_head(annotation, &head);
	assert_string_equal(head.symbol, "f1");
	assert_string_equal(head.image, "program");
	assert_int_equal(head.weight[0], 13);
	assert_int_equal(head.samples[0], 3);
	assert_int_equal(head.weight[1], 7);
	assert_true(head.has_source && head.has_lines);
	assert_string_equal(annotate_reason(annotation), "");
}

#define PARTIAL                         \
	"F0 f1 :0\n"                    \
	"L0 4:  a; =10,0\n"             \
	"C 16 mov    %eax,%ebx =10,0\n" \
	"L0 5:  b; =3,0\n"              \
	"C 20 call   f2 =3,0\n"         \
	"L0 7:        return x; =0,7\n" \
	"C 24 ret =0,7\n"

/* Lines come first, without inlined functions. */
static void begin_partial(void)
{
	const struct codetab_frame a = frame("", "/src/g.h", 4, 0), b = frame("", "/src/g.h", 5, 0);
	const struct codetab_frame end = frame("", "/src/a.c", 7, 0);

	fake_sources = sources;
	fake_code.partial = true;
	add(16, 4, CODETAB_PLAIN, "mov    %eax,%ebx", CODETAB_NO_TARGET, &a, 1);
	add(20, 4, CODETAB_CALL, "call   ", 32, &b, 1);
	add(24, 8, CODETAB_RETURN, "ret", CODETAB_NO_TARGET, &end, 1);
	answer(true);
	samples_in_f1();
	begin();
	assert_true(fake_code.question.quick);
	settle();
	update(0, UINT64_MAX);
}

static void test_partial(void **state)
{
	struct annotate_head head;

	(void)state;
	begin_partial();
	assert_string_equal(dump(), PARTIAL);
	annotate_head(annotation, &head);
	assert_true(head.is_partial && head.has_lines);
	assert_false(fake_whole.question.quick);
	assert_false(annotate_collect(annotation));
	assert_int_equal(codetab_builder_new(&builder), 0);
	make_f1();
	answer_as(&fake_whole, true);
	assert_true(annotate_collect(annotation));
	assert_int_equal(fake_code.users, 0);
	codetab_close(&fake_code.table);
	memset(&fake_code.table, 0, sizeof(fake_code.table));
	/* Samples stay in their place, and texts are not missing meanwhile. */
	assert_non_null(
		strstr(dump(), "F1 g /src/g.h:2\nL1 2:inline g()\nL1 3:{\nL1 4:  a; =10,0\n"));
	assert_false(annotate_collect(annotation));
	annotate_head(annotation, &head);
	assert_false(head.is_partial);
	assert_true(head.has_source);
	assert_string_equal(annotate_reason(annotation), "");
}

static void test_partial_given_up(void **state)
{
	struct annotate_head head;

	(void)state;
	begin_partial();
	fake_whole.state = SYMBOLS_UNASKED;
	assert_true(annotate_collect(annotation));
	assert_string_equal(dump(), PARTIAL);
	annotate_head(annotation, &head);
	assert_false(head.is_partial);
	assert_int_equal(fake_whole.users, 0);
	assert_non_null(strstr(annotate_reason(annotation), "inlined functions are not told"));
	assert_false(annotate_collect(annotation));
}

static void test_source(void **state)
{
	(void)state;
	fake_sources = sources;
	make_f1();
	answer(true);
	samples_in_f1();
	begin();
	settle();
	update(0, UINT64_MAX);
	annotate_set_mode(annotation, ANNOTATE_SOURCE);
	assert_string_equal(dump(),
		"F0 f1 /src/a.c:2\n"
		"L0 2:int f1(void)\n"
		"L0 3:{\n"
		"L0 4:        int x;\n"
		"L0 5:        x = g();\n"
		"L0 6:        loop();\n"
		"L0 7:        return x; =0,7\n"
		"@ /src/g.h\n"
		"F1 g /src/g.h:2\n"
		"L1 2:inline g()\n"
		"L1 3:{\n"
		"L1 4:  a; =10,0\n"
		"L1 5:  b; =3,0\n");
	annotate_set_mode(annotation, ANNOTATE_ASSEMBLY);
	assert_string_equal(dump(),
		"C 16 mov    %eax,%ebx =10,0\n"
		"C* 20 call   f2 =3,0\n"
		"C 22 jne    f1+0x4 ->1\n"
		"C 24 jmp    0x1388 =0,7\n"
		"C 28 ret\n");
}

/* The source file is missing: lines have no text. */
static void test_no_text(void **state)
{
	(void)state;
	make_f1();
	answer(true);
	samples_in_f1();
	begin();
	settle();
	update(0, UINT64_MAX);
	annotate_set_mode(annotation, ANNOTATE_SOURCE);
	assert_string_equal(dump(),
		"F0 f1 /src/a.c:2\n"
		"L0 5:\n"
		"L0 7: =0,7\n"
		"@ /src/g.h\n"
		"F1 g /src/g.h:2\n"
		"L1 4: =10,0\n"
		"L1 5: =3,0\n");
	assert_non_null(strstr(annotate_reason(annotation), "is not here"));
}

/* The source file may not be read.  Root reads it with the rights of the program's owner. */
static void test_refused_text(void **state)
{
	const struct symbols_rights own = fake_rights;
	const char *reason;

	(void)state;
	make_f1();
	answer(true);
	samples_in_f1();
	fake_source_error = EACCES;
	begin();
	settle();
	reason = annotate_reason(annotation);
	assert_string_equal(reason, "no source text: /src/g.h may not be read by this user");
	annotate_free(annotation);
	fake_rights =
		(struct symbols_rights){.kind = SYMBOLS_RIGHTS_USER, .user = 4711, .here = true};
	begin();
	settle();
	reason = annotate_reason(annotation);
	fake_rights = own;
	assert_non_null(strstr(reason,
		geteuid() ? "by this user"
			  : "may not be read by user 4711, to whom program or its debug"));
	annotate_free(annotation);
	fake_rights = (struct symbols_rights){.kind = SYMBOLS_RIGHTS_USER, .user = 65534};
	begin();
	settle();
	reason = annotate_reason(annotation);
	fake_rights = own;
	assert_non_null(strstr(reason, geteuid() ? "by this user" : "runs in another root"));
}

/* A disk does not answer: lines have no text, until the file is given up. */
static void test_text_hangs(void **state)
{
	struct annotate_head head;

	(void)state;
	make_f1();
	answer(true);
	samples_in_f1();
	fake_sources_hang = true;
	begin();
	assert_true(annotate_collect(annotation));
	assert_true(annotate_is_reading(annotation));
	assert_int_equal(annotate_progress(annotation), ANNOTATE_READY);
	annotate_head(annotation, &head);
	assert_true(head.is_reading);
	assert_string_equal(annotate_reason(annotation), "");
	annotate_set_mode(annotation, ANNOTATE_SOURCE);
	assert_non_null(strstr(dump(), "L0 5:\n"));
	assert_false(annotate_collect(annotation));
	fake_sources_hang = false;
	assert_true(annotate_collect(annotation));
	assert_false(annotate_is_reading(annotation));
	assert_non_null(strstr(annotate_reason(annotation), " was given up"));
}

static void test_no_lines(void **state)
{
	(void)state;
	add(16, 16, CODETAB_PLAIN, "nop", CODETAB_NO_TARGET, NULL, 0);
	answer(false);
	begin();
	settle();
	annotate_set_mode(annotation, ANNOTATE_SOURCE);
	assert_string_equal(dump(), "C 16 nop\n");
	assert_non_null(strstr(annotate_reason(annotation), "there is no debug information"));
	assert_int_equal(fake_source_reads, 0);
}

/* Only other functions of the file have lines. */
static void test_no_lines_of_it(void **state)
{
	(void)state;
	add(16, 16, CODETAB_PLAIN, "nop", CODETAB_NO_TARGET, NULL, 0);
	answer(true);
	begin();
	settle();
	annotate_set_mode(annotation, ANNOTATE_SOURCE);
	assert_string_equal(dump(), "C 16 nop\n");
	assert_non_null(strstr(annotate_reason(annotation), "has none of it"));
}

/* Code that was moved out of an inlined function is shown before the function that contains it. */
static void test_moved(void **state)
{
	const struct codetab_frame own = frame("f1", "/src/a.c", 6, 5);
	const struct codetab_frame moved = frame("f1", "/src/a.c", 2, 5);
	const struct codetab_frame inside[] = {frame("g", "/src/a.c", 3, 1), own};

	(void)state;
	add(16, 4, CODETAB_PLAIN, "a", CODETAB_NO_TARGET, &own, 1);
	add(20, 4, CODETAB_PLAIN, "b", CODETAB_NO_TARGET, &moved, 1);
	add(24, 8, CODETAB_PLAIN, "c", CODETAB_NO_TARGET, inside, 2);
	answer(true);
	begin();
	settle();
	annotate_set_mode(annotation, ANNOTATE_SOURCE);
	assert_string_equal(dump(), "F0 f1 /src/a.c:5\nL0 6:\nF1 g /src/a.c:1\nL1 2:\nL1 3:\n");
}

/* An inlined function inside the function that it was inlined into, two of one template, and
 * line numbers that no file has. */
static void test_spans(void **state)
{
	const struct codetab_frame own = frame("f1", "/src/a.c", 3, 2);
	const struct codetab_frame end = frame("f1", "/src/a.c", 7, 2);
	const struct codetab_frame lambda[] = {frame("lambda", "/src/a.c", 5, 5), own};
	const struct codetab_frame one[] = {frame("t<1>", "/src/a.c", 1, 1), own};
	const struct codetab_frame two[] = {frame("t<2>", "/src/a.c", 1, 1), own};
	const struct codetab_frame wild[] = {frame("wild", "/src/g.h", UINT32_MAX, 4), own};
	const struct codetab_frame none[] = {frame("none", "/src/g.h", 0, 0), own};

	(void)state;
	fake_sources = sources;
	add(16, 2, CODETAB_PLAIN, "a", CODETAB_NO_TARGET, &own, 1);
	add(18, 2, CODETAB_PLAIN, "b", CODETAB_NO_TARGET, lambda, 2);
	add(20, 2, CODETAB_PLAIN, "c", CODETAB_NO_TARGET, one, 2);
	add(22, 2, CODETAB_PLAIN, "d", CODETAB_NO_TARGET, two, 2);
	add(24, 2, CODETAB_PLAIN, "e", CODETAB_NO_TARGET, wild, 2);
	add(26, 2, CODETAB_PLAIN, "f", CODETAB_NO_TARGET, none, 2);
	add(28, 4, CODETAB_PLAIN, "g", CODETAB_NO_TARGET, &end, 1);
	answer(true);
	for (uint64_t i = 16; i < 32; i++)
		sample(0, i, 0, 1);
	begin();
	settle();
	annotate_set_mode(annotation, ANNOTATE_SOURCE);
	update(0, UINT64_MAX);
	assert_string_equal(dump(),
		"F0 f1 /src/a.c:2\n"
		"L0 2:int f1(void)\n"
		"L0 3:{ =2,0\n"
		"L0 4:        int x;\n"
		"L0 5:        x = g(); =2,0\n"
		"L0 6:        loop();\n"
		"L0 7:        return x; =4,0\n"
		"F1 t<1> /src/a.c:1\n"
		"L1 1:zero =4,0\n"
		"@ /src/g.h\n"
		"F1 wild /src/g.h:4\n"
		"L1 4294967295: =2,0\n"
		"L0 0:(no source line) =2,0\n");
}

/* All text from outside is cleaned. */
static void test_clean(void **state)
{
	static const struct fake_source dirty[] = {
		{"/src/\033a.c", "a\tb\033[1m\r\n"}, {NULL, NULL}};
	const struct codetab_frame own = frame("f1", "/src/\033a.c", 1, 1);

	(void)state;
	fake_sources = dirty;
	add(16, 16, CODETAB_BAD, "\033]0;x", CODETAB_NO_TARGET, &own, 1);
	answer(true);
	begin();
	settle();
	assert_string_equal(dump(),
		"F0 f1 /src/?a.c:1\n"
		"L0 1:a       b?[1m\n"
		"C 16 ?]0;x\n");
}

/* Names that come later are used. */
static void test_names(void **state)
{
	const struct codetab_frame own = frame("f1", "", 0, 0);
	const struct codetab_frame inside[] = {frame("_Z4workv", "", 0, 0), own};

	(void)state;
	add(16, 16, CODETAB_PLAIN, "nop", CODETAB_NO_TARGET, inside, 2);
	answer(true);
	begin();
	settle();
	assert_string_equal(dump(), "F0 f1 :0\nF1 _Z4workv :0\nC 16 nop\n");
	assert_false(annotate_collect(annotation));
	fixture->symbols.pretty = true;
	assert_true(annotate_collect(annotation));
	assert_string_equal(dump(), "F0 f1 :0\nF1 work() :0\nC 16 nop\n");
	assert_false(annotate_collect(annotation));
}

static void test_failed(void **state)
{
	(void)state;
	fake_code.state = SYMBOLS_UNREADABLE;
	fake_code.error = EACCES;
	begin();
	sample(0, 24, 0, 1);
	sample(0, 16, 0, 2);
	update(0, UINT64_MAX);
	assert_true(annotate_collect(annotation));
	assert_int_equal(annotate_progress(annotation), ANNOTATE_FAILED);
	assert_non_null(strstr(annotate_reason(annotation), "may not read it"));
	assert_string_equal(dump(), "C 16  =2,0\nC 24  =1,0\n");
	sample(3, 20, 0, 4);
	fixture->slices[3].serial = 100;
	update(0, UINT64_MAX);
	assert_string_equal(dump(), "C 16  =2,0\nC 24  =1,0\n");
	assert_true(annotate_collect(annotation));
	assert_string_equal(dump(), "C 16  =2,0\nC 20  =4,0\nC 24  =1,0\n");
	assert_false(annotate_collect(annotation));
}

static void test_no_function(void **state)
{
	struct annotate_question question = {.stacks = fixture->stacks,
		.images = fixture->images,
		.names = fixture->names,
		.symbols = &fixture->symbols};

	(void)state;
	assert_int_equal(annotate_new(&annotation, &question), -ENODATA);
	assert_null(annotation);
	question.symref = names_symref_at(fixture->names, fixture->stripped, START);
	assert_int_not_equal(question.symref, 0);
	assert_int_equal(annotate_new(&annotation, &question), -ENODATA);
}

static void test_hottest(void **state)
{
	size_t row = SIZE_MAX;

	(void)state;
	make_f1();
	answer(true);
	begin();
	settle();
	annotate_set_mode(annotation, ANNOTATE_ASSEMBLY);
	assert_int_equal(annotate_next_hottest(annotation, SIZE_MAX, 1, 0), SIZE_MAX);
	sample(0, 16, 0, 5);
	sample(0, 20, 0, 9);
	sample(0, 24, 0, 5);
	sample(0, 28, 0, 1);
	update(0, UINT64_MAX);
	for (size_t i = 0; i < 4; i++) {
		static const size_t order[] = {1, 0, 3, 4};

		row = annotate_next_hottest(annotation, row, 1, 0);
		assert_int_equal(row, order[i]);
	}
	assert_int_equal(annotate_next_hottest(annotation, row, 1, 0), SIZE_MAX);
	assert_int_equal(annotate_next_hottest(annotation, row, -1, 0), 3);
	assert_int_equal(annotate_next_hottest(annotation, 3, -1, 0), 0);
	assert_int_equal(annotate_next_hottest(annotation, 0, -1, 0), 1);
	assert_int_equal(annotate_next_hottest(annotation, 1, -1, 0), SIZE_MAX);
	/* From a row without samples, the next hotter row is the coldest one. */
	assert_int_equal(annotate_next_hottest(annotation, 2, -1, 0), 4);
	assert_int_equal(annotate_next_hottest(annotation, SIZE_MAX, 1, 1), SIZE_MAX);
	assert_int_equal(annotate_next_hottest(annotation, SIZE_MAX, 1, 2), SIZE_MAX);
}

static void test_target(void **state)
{
	uint32_t symref;

	(void)state;
	make_f1();
	answer(true);
	begin();
	settle();
	annotate_set_mode(annotation, ANNOTATE_ASSEMBLY);
	assert_int_equal(annotate_target(annotation, 0), 0);
	symref = annotate_target(annotation, 1);
	assert_string_equal(names_get(fixture->names, symref)->symbol, "f2");
	assert_int_equal(annotate_target(annotation, 3), 0); /* no target is known */
	assert_int_equal(annotate_target(annotation, 99), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mixed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_partial, setup, teardown),
		cmocka_unit_test_setup_teardown(test_partial_given_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_source, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_text_hangs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_lines_of_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_spans, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clean, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_function, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hottest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_target, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
