/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_basis.c - a basis for comparisons: sums by symbol, from samples and built by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/samples_fixture.h"
#include "tui/tables/basis.h"

#include <errno.h>

#define SYMREFS 512u
#define DEPTH 64

struct sums {
	uint64_t self[SYMREFS], total[SYMREFS], samples[SYMREFS];
};

static void model_cell(
	struct sums *sums, struct fixture *fixture, const struct slice *slice, uint32_t cell)
{
	bool met[SYMREFS] = {false};
	uint32_t node = slice->stack[cell], leaf = 0;

	if (node != STACK_ROOT)
		leaf = names_symref(fixture->names, stacks_node(fixture->stacks, node)->frame);
	sums->self[leaf] += slice->weight[cell];
	sums->samples[leaf] += slice->count[cell];
	if (node == STACK_ROOT)
		sums->total[0] += slice->weight[cell];
	for (; node != STACK_ROOT; node = stacks_node(fixture->stacks, node)->parent) {
		uint32_t symref =
			names_symref(fixture->names, stacks_node(fixture->stacks, node)->frame);

		assert_true(symref < SYMREFS);
		if (!met[symref])
			sums->total[symref] += slice->weight[cell];
		met[symref] = true;
	}
}

static void test_sums_by_symbol(void **state)
{
	struct fixture *fixture = *state;
	const struct scan_question question = fixture_scan(fixture);
	struct basis basis;

	fixture_randomize(fixture, 5, 300);
	assert_int_equal(basis_scan(&basis, &question), 0);
	for (uint32_t event = 0; event < 15; event += 5) {
		struct sums model = {0}, sums = {0};
		uint64_t whole = 0;

		for (size_t i = 0; i < FIXTURE_SLICES; i++)
			for (uint32_t j = 0; j < fixture->slices[i].cells; j++)
				if (fixture->slices[i].event[j] == event) {
					model_cell(&model, fixture, &fixture->slices[i], j);
					whole += fixture->slices[i].weight[j];
				}
		assert_int_equal(basis_symbols(&basis, (uint8_t)event, SYMREFS, sums.self,
					 sums.total, sums.samples),
			0);
		assert_memory_equal(&model, &sums, sizeof(sums));
		assert_int_equal(basis.sums[event], whole);
	}
	basis_fini(&basis);
}

/* Stacks 1 > 2 > 2 (weight 10) and 1 (weight 5). Symbols beyond the limit are left out. */
static void test_by_hand(void **state)
{
	struct basis basis = {0};
	uint64_t self[3] = {0}, total[3] = {0}, samples[3] = {0};
	uint32_t one, two, again, far;

	(void)state;
	assert_int_equal(basis_add(&basis, 1, 7, &one), -EINVAL);
	assert_int_equal(basis_add(&basis, BASIS_ROOT, 1, &one), 0);
	assert_int_equal(basis_add(&basis, one, 2, &two), 0);
	assert_int_equal(basis_add(&basis, two, 2, &again), 0);
	assert_int_equal(basis_add(&basis, two, 3, &far), 0);
	assert_int_equal(basis_weigh(&basis, far + 1, 0, 1, 1), -EINVAL);
	assert_int_equal(basis_weigh(&basis, again, 0, 10, 3), 0);
	assert_int_equal(basis_weigh(&basis, one, 0, 5, 2), 0);
	assert_int_equal(basis_weigh(&basis, far, 0, 100, 1), 0);
	assert_int_equal(basis_weigh(&basis, one, 1, 1000, 1), 0);
	assert_int_equal(basis_symbols(&basis, 0, 3, self, total, samples), 0);
	assert_int_equal(self[1], 5);
	assert_int_equal(total[1], 115);
	assert_int_equal(self[2], 10);
	assert_int_equal(total[2], 110);
	assert_int_equal(samples[2], 3);
	assert_int_equal(basis.sums[0], 115);
	assert_int_equal(basis.sums[1], 1000);
	basis_fini(&basis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_sums_by_symbol, fixture_setup, fixture_teardown),
		cmocka_unit_test(test_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
