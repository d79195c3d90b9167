/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_counterparts.c - processes of two profiles: the same number and name, else the only one of its name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/counterparts.h"

#define MAX 8
#define NONE COUNTERPART_NONE

struct example {
	const char *what;
	uint32_t n_here, n_there;
	struct counterpart here[MAX], there[MAX];
	uint32_t places[MAX];
};

static const struct example examples[] = {
	{"nothing", 0, 0, {{0, ""}}, {{0, ""}}, {0}},
	{"nothing here", 0, 2, {{0, ""}}, {{1, "a"}, {2, "b"}}, {NONE, NONE}},
	{"nothing there", 1, 0, {{1, "a"}}, {{0, ""}}, {0}},
	{"the same", 3, 3, {{3, "b"}, {1, "a"}, {2, "b"}}, {{1, "a"}, {2, "b"}, {3, "b"}},
		{1, 2, 0}},
	{"started again", 2, 2, {{7, "b"}, {5, "a"}}, {{1, "a"}, {2, "b"}}, {1, 0}},
	{"the number of another", 2, 2, {{1, "b"}, {2, "a"}}, {{1, "a"}, {2, "b"}}, {1, 0}},
	{"another name", 1, 1, {{1, "a"}}, {{1, "b"}}, {NONE}},
	{"two here", 2, 1, {{7, "a"}, {8, "a"}}, {{1, "a"}}, {NONE}},
	{"two there", 1, 2, {{7, "a"}}, {{1, "a"}, {2, "a"}}, {NONE, NONE}},
	{"two, of which one is there", 2, 2, {{2, "a"}, {8, "a"}}, {{1, "a"}, {2, "a"}}, {NONE, 0}},
	{"one comes again", 3, 3, {{7, "a"}, {7, "a"}, {9, "c"}}, {{1, "a"}, {1, "a"}, {1, "a"}},
		{0, 0, 0}},
	{"main threads", 3, 3, {{5, "a", true}, {6, "a"}, {7, "a"}},
		{{2, "a"}, {1, "a", true}, {3, "a"}}, {NONE, 0, NONE}},
	{"no number is known", 2, 2, {{-1, ""}, {4, ""}}, {{-1, ""}, {0, ""}}, {0, NONE}},
};

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		const struct example *example = &examples[i];
		uint32_t places[MAX];

		assert_int_equal(counterparts_find(example->here, example->n_here, example->there,
					 example->n_there, places),
			0);
		for (uint32_t k = 0; k < example->n_there; k++) {
			uint32_t place = places[k];

			/* Which of those that are one does not matter. */
			if (place != example->places[k] &&
				(place == NONE || example->places[k] == NONE ||
					example->here[place].id !=
						example->here[example->places[k]].id))
				fail_msg("%s: %u is %u, not %u", example->what, k, place,
					example->places[k]);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
