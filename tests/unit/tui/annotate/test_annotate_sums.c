/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_annotate_sums.c - samples by address: sums against a naive model, and functions of
 * megabytes.
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

/* Compares with sums over all slices of a range by address. */
static void compare(uint64_t from, uint64_t to, struct filter *filter)
{
	static const uint8_t events[] = {5, 0};
	const uint32_t symref = names_symref_at(fixture->names, fixture->program, START);
	uint64_t weight[2][2] = {{0}}, samples[2][2] = {{0}}, whole[2] = {0};
	const struct annotate_row *rows;
	struct annotate_head head;
	size_t n;

	assert_int_equal(
		annotate_update(annotation, &fixture->snapshot, from, to, filter, events, 2), 0);
	for (size_t i = 0; i < FIXTURE_SLICES; i++) {
		const struct slice *slice = &fixture->slices[i];

		if (slice->start_ns + 50 < from || slice->start_ns + 50 >= to)
			continue;
		for (uint32_t j = 0; j < slice->cells; j++) {
			size_t column = slice->event[j] == 0;
			uint32_t at, offset;

			if ((slice->event[j] != 5 && slice->event[j]) ||
				!filter_pass(filter, slice, j))
				continue;
			whole[column] += slice->weight[j];
			if (slice->stack[j] == STACK_ROOT)
				continue;
			at = stacks_node(fixture->stacks, slice->stack[j])->frame;
			if (names_symref(fixture->names, at) != symref)
				continue;
			offset = (uint32_t)stacks_frame_get(fixture->stacks, at)->offset;
			weight[offset >= 24][column] += slice->weight[j];
			samples[offset >= 24][column] += slice->count[j];
		}
	}
	rows = annotate_rows(annotation, &n);
	annotate_head(annotation, &head);
	assert_int_equal(n, 2);
	for (size_t column = 0; column < 2; column++) {
		for (size_t i = 0; i < 2; i++) {
			assert_int_equal(rows[i].weight[column], weight[i][column]);
			assert_int_equal(rows[i].samples[column], samples[i][column]);
		}
		assert_int_equal(head.whole[column], whole[column]);
		assert_int_equal(head.weight[column], weight[0][column] + weight[1][column]);
		assert_int_equal(head.samples[column], samples[0][column] + samples[1][column]);
	}
}

/* The sums are those of the range and the filter, independent of earlier updates. */
static void test_sums(void **state)
{
	const struct filter_term comm = {.field = FILTER_COMM, .text = (char *)"worker"};
	const struct filter_term cpu = {.field = FILTER_CPU, .first = 1, .last = 2};
	struct filter *filters[3] = {NULL};

	(void)state;
	fixture_randomize(fixture, 1, 2000);
	add(16, 8, CODETAB_PLAIN, "a", CODETAB_NO_TARGET, NULL, 0);
	add(24, 8, CODETAB_PLAIN, "b", CODETAB_NO_TARGET, NULL, 0);
	answer(false);
	begin();
	settle();
	assert_int_equal(
		filter_new(&filters[1], &comm, 1, fixture->stacks, fixture->tasks, fixture->names),
		0);
	assert_int_equal(
		filter_new(&filters[2], &cpu, 1, fixture->stacks, fixture->tasks, fixture->names),
		0);
	for (uint32_t round = 0; round < 3; round++) {
		struct filter *filter = filters[round];

		compare(0, UINT64_MAX, filter);
		compare(200, 500, filter);
		compare(0, 300, filter);
		compare(900, 1000, filter);
		compare(0, UINT64_MAX, filter);
		/* One slice has replaced another. */
		fixture->slices[round].serial = 50 + round;
		fixture->slices[round].cells /= 2;
		for (uint32_t j = 0; j < fixture->slices[round].n_totals; j++) {
			struct slice_total *total =
				(struct slice_total *)&fixture->slices[round].totals[j];

			total->weight = 0;
			for (uint32_t k = 0; k < fixture->slices[round].cells; k++)
				if (fixture->event[round][k] == total->event)
					total->weight += fixture->weight[round][k];
		}
		compare(0, UINT64_MAX, filter);
	}
	filter_free(filters[1]);
	filter_free(filters[2]);
}

/* A function of a megabyte. */
static void test_large(void **state)
{
	const uint32_t entries = 300000;
	struct symbol large = {.start = 0x10000, .size = 4ull * entries, .name = "large"};
	size_t n;

	(void)state;
	fixture->symbols.images[fixture->program].symbols = &large;
	fixture->symbols.images[fixture->program].n_symbols = 1;
	for (uint32_t i = 0; i < entries; i++) {
		struct codetab_frame own = frame("large", "/src/a.c", 1 + i % 5000, 1);

		add(large.start + 4ull * i, 4, CODETAB_PLAIN, "nop", CODETAB_NO_TARGET, &own, 1);
	}
	answer(true);
	fake_sources = sources;
	for (uint32_t i = 0; i < 2000; i++)
		sample(i % 8, large.start + 97ull * i, 0, 1);
	{
		const struct annotate_question question = {.stacks = fixture->stacks,
			.images = fixture->images,
			.names = fixture->names,
			.symbols = &fixture->symbols,
			.symref = names_symref_at(fixture->names, fixture->program, large.start)};

		assert_int_equal(annotate_new(&annotation, &question), 0);
	}
	settle();
	for (int mode = 0; mode < ANNOTATE_MODES; mode++) {
		const struct annotate_row *rows;
		enum annotate_kind kind =
			mode == ANNOTATE_SOURCE ? ANNOTATE_ROW_LINE : ANNOTATE_ROW_CODE;
		uint64_t sum = 0;

		annotate_set_mode(annotation, (enum annotate_mode)mode);
		update(0, UINT64_MAX);
		rows = annotate_rows(annotation, &n);
		for (size_t i = 0; i < n; i++)
			sum += rows[i].kind == kind ? rows[i].samples[0] : 0;
		assert_int_equal(sum, 2000);
		if (mode == ANNOTATE_ASSEMBLY)
			assert_int_equal(n, entries);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sums, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
