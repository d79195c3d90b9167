/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_code_lines.c - lines from answers made here: frames, errors, repeated questions.
 */
#include "symbols/client/code_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY 7u

static struct code_lines lines;

static int teardown(void **state)
{
	(void)state;
	code_lines_fini(&lines);
	return 0;
}

/* Makes an answer that knows the even ones of n offsets, each as an inlined function in another. */
static struct loader_job make_answer(uint64_t first, size_t n)
{
	struct loader_job job = {.key = KEY, .n_offsets = n};
	struct codetab_builder *builder;
	int fd;

	job.offsets = calloc(n, sizeof(*job.offsets));
	assert_non_null(job.offsets);
	assert_int_equal(codetab_builder_new(&builder), 0);
	for (size_t i = 0; i < n; i++) {
		struct codetab_frame frames[2] = {
			{.line = (uint32_t)(first + i), .inlined = 1}, {.line = 9}};
		struct codetab_entry entry = {
			.start = first + i, .target = CODETAB_NO_TARGET, .n_frames = 2};
		job.offsets[i] = first + i;
		if (i % 2)
			continue;
		frames[0].function = codetab_builder_string(builder, "inner", 5);
		frames[1].function = codetab_builder_string(builder, "outer", 5);
		frames[0].file = frames[1].file = codetab_builder_string(builder, "/a.c", 4);
		entry.frames = codetab_builder_frames(builder, frames, 2);
		codetab_builder_add(builder, &entry);
	}
	assert_int_equal(codetab_builder_finish(builder, &fd), 0);
	codetab_builder_free(builder);
	assert_int_equal(codetab_open(&job.table, fd), 0);
	close(fd);
	return job;
}

static void drop_answer(struct loader_job *job)
{
	codetab_close(&job->table);
	free(job->offsets);
}

static enum symbols_state state_of(uint64_t offset)
{
	enum symbols_state state;

	code_lines_find(&lines, KEY, offset, NULL, 0, &state);
	return state;
}

static void add_all(uint64_t first, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(code_lines_add(&lines, KEY, first + i), 1);
}

static void test_answers(void **state)
{
	struct symbols_frame frames[2];
	enum symbols_state is;
	const char *inner = NULL;

	(void)state;
	assert_int_equal(state_of(0), SYMBOLS_UNASKED);
	/* Two answers, so that the table has to grow. */
	for (uint64_t first = 0; first <= 4000; first += 4000) {
		add_all(first, 4000);
		assert_int_equal(code_lines_add(&lines, KEY, first), 0);
		assert_int_equal(lines.n_pending, 4000);
		assert_int_equal(state_of(first), SYMBOLS_PENDING);
		struct loader_job job = make_answer(first, 4000);
		code_lines_take(&lines, &job);
		drop_answer(&job);
		assert_int_equal(lines.n_pending, 0);
	}
	for (uint64_t i = 0; i < 8000; i++) {
		frames[1].function = "untouched";
		const size_t n = code_lines_find(&lines, KEY, i, frames, i == 10 ? 1 : 2, &is);
		assert_int_equal(n, i % 2 ? 0 : 2);
		assert_int_equal(is, i % 2 ? SYMBOLS_NONE : SYMBOLS_READY);
		if (i % 2)
			continue;
		inner = inner ? inner : frames[0].function;
		assert_ptr_equal(frames[0].function, inner);
		assert_string_equal(frames[0].function, "inner");
		assert_string_equal(frames[0].file, "/a.c");
		assert_int_equal(frames[0].line, i);
		assert_true(frames[0].inlined);
		assert_string_equal(frames[1].function, i == 10 ? "untouched" : "outer");
		assert_true(i == 10 || !frames[1].inlined);
	}
	assert_int_equal(lines.strings.n, 3);
	/* A question about another image. */
	code_lines_find(&lines, KEY + 1, 0, frames, 2, &is);
	assert_int_equal(is, SYMBOLS_UNASKED);
}

static void test_errors(void **state)
{
	uint64_t offsets[] = {1, 2};
	struct loader_job job = {.key = KEY, .offsets = offsets, .n_offsets = 2};

	(void)state;
	/* Temporary errors are not kept for the image. */
	add_all(1, 2);
	job.error = ECHILD;
	code_lines_take(&lines, &job);
	assert_int_equal(state_of(1), SYMBOLS_UNREADABLE);
	assert_int_equal(state_of(3), SYMBOLS_UNASKED);
	assert_false(code_lines_given_up(&lines, KEY));

	code_lines_refresh(&lines, KEY + 1);
	assert_int_equal(state_of(1), SYMBOLS_UNREADABLE);
	code_lines_refresh(&lines, KEY);
	assert_int_equal(state_of(1), SYMBOLS_UNASKED);
	add_all(1, 2);
	job.error = ENODATA;
	code_lines_take(&lines, &job);
	assert_int_equal(state_of(1), SYMBOLS_NONE);
	assert_int_equal(state_of(3), SYMBOLS_NONE);
	assert_true(code_lines_given_up(&lines, KEY));
	assert_false(code_lines_given_up(&lines, KEY + 1));
	code_lines_refresh(&lines, KEY);
	assert_false(code_lines_given_up(&lines, KEY));
	assert_int_equal(state_of(3), SYMBOLS_UNASKED);

	add_all(1, 2);
	job.error = ENOENT;
	code_lines_take(&lines, &job);
	assert_int_equal(state_of(3), SYMBOLS_UNREADABLE);
}

static void test_unask(void **state)
{
	uint64_t offsets[] = {1};
	const struct loader_job job = {
		.key = KEY, .offsets = offsets, .n_offsets = 1, .error = ECHILD};

	(void)state;
	code_lines_unask(&lines);
	add_all(1, 3);
	code_lines_take(&lines, &job);
	assert_int_equal(lines.n_pending, 2);
	code_lines_unask(&lines);
	assert_int_equal(lines.n_pending, 0);
	assert_int_equal(state_of(1), SYMBOLS_UNREADABLE);
	assert_int_equal(state_of(2), SYMBOLS_UNASKED);
	assert_int_equal(code_lines_add(&lines, KEY, 2), 1);
	/* The highest address is never code: it represents the whole image. */
	assert_int_equal(code_lines_add(&lines, KEY, UINT64_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_answers, teardown),
		cmocka_unit_test_teardown(test_errors, teardown),
		cmocka_unit_test_teardown(test_unask, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
