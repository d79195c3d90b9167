/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_marks.c - marked moments, and their marks on the activity strip.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sampler/control/note.h"
#include "tui/model/marks.h"
#include "tui/screen/strip.h"

#define SECOND 1000000000ull

static void test_kinds(void **state)
{
	static const struct {
		enum engine_note_kind note;
		enum mark_kind mark;
	} of[] = {
		{NOTE_ATTACHED, MARK_ATTACHED},
		{NOTE_DETACHED, MARK_DETACHED},
		{NOTE_TARGET_EXEC, MARK_EXEC},
		{NOTE_THROTTLED, MARK_THROTTLED},
		{NOTE_LOST, MARK_LOST},
	};
	struct marks marks = {.n = 0};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		const struct engine_note note = {.kind = of[i].note, .time_ns = i + 1};

		marks_note(&marks, &note);
		assert_int_equal(marks.n, i + 1);
		assert_int_equal(marks.of[i].kind, of[i].mark);
		assert_int_equal(marks.of[i].time_ns, i + 1);
	}
	marks_note(&marks, &(struct engine_note){.kind = NOTE_COARSENED, .time_ns = 9});
	assert_int_equal(marks.n, sizeof(of) / sizeof(*of));
}

/* Close marks of one kind are one. New marks replace the oldest. */
static void test_they_are_few(void **state)
{
	struct marks marks = {.n = 0};

	(void)state;
	marks_add(&marks, 10 * SECOND, MARK_LOST);
	marks_add(&marks, 10 * SECOND + 1, MARK_EXEC);
	marks_add(&marks, 10 * SECOND + 2, MARK_LOST);
	assert_int_equal(marks.n, 2);
	for (uint64_t i = 0; i < 2 * MARKS_KEPT; i++)
		marks_add(&marks, (20 + i) * SECOND, MARK_LOST);
	assert_int_equal(marks.n, 2 + 2 * MARKS_KEPT);
	for (size_t i = 0; i < MARKS_KEPT; i++)
		assert_true(marks.of[i].time_ns >= (20 + MARKS_KEPT) * SECOND);
}

static void test_new_threads(void **state)
{
	struct marks marks = {.n = 0};

	(void)state;
	marks_threads(&marks, SECOND, 4);
	marks_threads(&marks, 2 * SECOND, 4);
	marks_threads(&marks, 3 * SECOND, 3);
	assert_int_equal(marks.n, 0);
	marks_threads(&marks, 4 * SECOND, 5);
	assert_int_equal(marks.n, 1);
	assert_int_equal(marks.of[0].kind, MARK_THREADS);
}

/* A mark changes the style of a column's glyph, or adds a glyph. The most important mark wins. */
static void test_on_the_strip(void **state)
{
	struct model *model = calloc(1, sizeof(*model));
	struct canvas canvas;
	unsigned int marked = 0, bad = 0, carets = 0;

	(void)state;
	assert_non_null(model);
	assert_int_equal(canvas_init(&canvas, 100, 1, 0), 0);
	model->n_activity = 40;
	model->column_ns = SECOND;
	model->strip_from_ns = 100 * SECOND;
	model->strip_to_ns = model->to_ns = 140 * SECOND;
	model->from_ns = 120 * SECOND;
	for (size_t i = 0; i < 20; i++)
		model->activity[i] = SECOND;
	marks_add(&model->marks, 105 * SECOND, MARK_EXEC);
	marks_add(&model->marks, 110 * SECOND, MARK_LOST);
	marks_add(&model->marks, 110 * SECOND + 1, MARK_ATTACHED);
	marks_add(&model->marks, 130 * SECOND, MARK_THREADS);
	marks_add(&model->marks, 99 * SECOND, MARK_EXEC);
	marks_add(&model->marks, 141 * SECOND, MARK_EXEC);
	strip_draw(model, &canvas, 0);
	for (int x = 0; x < canvas.width; x++) {
		uint64_t from_ns, to_ns;

		if (canvas.cells[x].style != STYLE_MARK && canvas.cells[x].style != STYLE_BAD)
			continue;
		assert_true(strip_time_at(model, &canvas, x, &from_ns, &to_ns));
		marked += canvas.cells[x].style == STYLE_MARK;
		bad += canvas.cells[x].style == STYLE_BAD;
		carets += canvas.cells[x].glyph == '^';
		assert_true(from_ns == 105 * SECOND || from_ns == 110 * SECOND ||
			from_ns == 130 * SECOND);
		assert_int_equal(canvas.cells[x].style == STYLE_BAD, from_ns == 110 * SECOND);
	}
	assert_int_equal(marked, 2);
	assert_int_equal(bad, 1);
	assert_int_equal(carets, 1);
	canvas_fini(&canvas);
	free(model);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_they_are_few),
		cmocka_unit_test(test_new_threads),
		cmocka_unit_test(test_on_the_strip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
