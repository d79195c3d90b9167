/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_counterparts.c - processes of two profiles: equal number and name, else a unique name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/tables/counterparts.h"

#define MAX 8
#define NONE COUNTERPART_NONE

#define UNKNOWN COUNTERPART_UNKNOWN

struct example {
	const char *what;
	uint32_t n_here, n_there;
	struct counterpart here[MAX], there[MAX];
	uint32_t places[MAX];
	bool unknown[MAX];
};

static const struct example examples[] = {
	{"nothing", 0, 0, {{0}}, {{0}}, {0}, {0}},
	{"nothing here", 0, 2, {{0}}, {{1, "a", false}, {2, "b", false}}, {NONE, NONE}, {0}},
	{"nothing there", 1, 0, {{1, "a", false}}, {{0}}, {0}, {0}},
	{"the same", 3, 3, {{3, "b", false}, {1, "a", false}, {2, "b", false}},
		{{1, "a", false}, {2, "b", false}, {3, "b", false}}, {1, 2, 0}, {0}},
	{"started again", 2, 2, {{7, "b", false}, {5, "a", false}},
		{{1, "a", false}, {2, "b", false}}, {1, 0}, {0}},
	{"the number of another", 2, 2, {{1, "b", false}, {2, "a", false}},
		{{1, "a", false}, {2, "b", false}}, {1, 0}, {0}},
	{"another name", 1, 1, {{1, "a", false}}, {{1, "b", false}}, {NONE}, {0}},
	{"two here", 3, 1, {{7, "a", false}, {8, "a", false}, {9, "b", false}}, {{1, "a", false}},
		{UNKNOWN}, {true, true, false}},
	{"two there", 1, 2, {{7, "a", false}}, {{1, "a", false}, {2, "a", false}},
		{UNKNOWN, UNKNOWN}, {true}},
	{"one of two stayed", 2, 2, {{2, "a", false}, {8, "a", false}},
		{{1, "a", false}, {2, "a", false}}, {1, 0}, {0}},
	{"one of two is new", 2, 1, {{2, "a", false}, {8, "a", false}}, {{2, "a", false}}, {0},
		{0}},
	{"one of two is gone", 1, 2, {{2, "a", false}}, {{1, "a", false}, {2, "a", false}},
		{NONE, 0}, {0}},
	{"one of three stayed", 3, 3, {{2, "a", false}, {8, "a", false}, {9, "a", false}},
		{{1, "a", false}, {2, "a", false}, {3, "a", false}}, {UNKNOWN, 0, UNKNOWN},
		{false, true, true}},
	{"one comes again", 3, 3, {{7, "a", false}, {7, "a", false}, {9, "c", false}},
		{{1, "a", false}, {1, "a", false}, {1, "a", false}}, {0, 0, 0}, {0}},
	{"main threads", 3, 3, {{5, "a", true}, {6, "a", false}, {7, "a", false}},
		{{2, "a", false}, {1, "a", true}, {3, "a", false}}, {UNKNOWN, 0, UNKNOWN},
		{false, true, true}},
	{"no number is known", 2, 2, {{-1, "", false}, {4, "b", false}},
		{{-1, "", false}, {0, "", false}}, {0, NONE}, {0}},
};

static bool is_place(const struct example *example, uint32_t place, uint32_t wanted)
{
	if (place >= example->n_here || wanted >= example->n_here)
		return place == wanted;
	/* Places of one process are equivalent. */
	return example->here[place].id == example->here[wanted].id;
}

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		const struct example *example = &examples[i];
		uint32_t places[MAX];
		bool unknown[MAX];

		assert_int_equal(counterparts_find(example->here, example->n_here, example->there,
					 example->n_there, places, unknown),
			0);
		for (uint32_t k = 0; k < example->n_there; k++)
			if (!is_place(example, places[k], example->places[k]))
				fail_msg("%s: %u is %u, not %u", example->what, k, places[k],
					example->places[k]);
		for (uint32_t k = 0; k < example->n_here; k++)
			if (unknown[k] != example->unknown[k])
				fail_msg("%s: %u is%s unknown", example->what, k,
					unknown[k] ? "" : " not");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
