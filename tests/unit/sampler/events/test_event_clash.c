/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_event_clash.c - events that exclude each other.
 */
#include "sampler/events/clash.h"
#include "sampler/events/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static enum event_clash_kind clash_of(
	const char *text, const struct event_use *use, struct event_clash *clash)
{
	struct event_error error;
	struct event_spec *specs;
	const struct event_spec *events[16];
	size_t n;
	bool found;

	assert_int_equal(event_parse_list(text, &specs, &n, &error), 0);
	assert_true(n <= 16);
	for (size_t i = 0; i < n; i++)
		events[i] = &specs[i];
	found = event_clash_find(events, n, use, clash);
	assert_int_equal(found, clash->kind != EVENT_CLASH_NONE);
	free(specs);
	return clash->kind;
}

static void test_kinds(void **state)
{
	static const struct {
		const char *events;
		struct event_use use;
		enum event_clash_kind kind;
		const char *event, *other;
	} cases[] = {
		{"cpu-clock,off-cpu,preempted", {0}, EVENT_CLASH_NONE, "", ""},
		{"context-switches,page-faults", {0}, EVENT_CLASH_NONE, "", ""},
		{"context-switches,off-cpu", {0}, EVENT_CLASH_SWITCHES, "off-cpu",
			"context-switches"},
		{"preempted,context-switches:u", {0}, EVENT_CLASH_SWITCHES, "preempted",
			"context-switches:u"},
		{"context-switches,wall", {0}, EVENT_CLASH_SWITCHES, "wall", "context-switches"},
		{"{cpu-clock,off-cpu}", {0}, EVENT_CLASH_GROUP, "off-cpu", ""},
		{"off-cpu", {.counted = true}, EVENT_CLASH_COUNTED, "off-cpu", ""},
		{"wall", {.recorded = true}, EVENT_CLASH_RECORDED, "wall", ""},
		{"off-cpu,preempted", {.recorded = true}, EVENT_CLASH_NONE, "", ""},
		{"off-cpu", {.flight = true}, EVENT_CLASH_FLIGHT, "off-cpu", ""},
		{"{cpu-clock,page-faults}:S", {.flight = true}, EVENT_CLASH_FLIGHT_GROUP,
			"cpu-clock:S", ""},
		{"cpu-clock", {.flight = true}, EVENT_CLASH_NONE, "", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_clash clash;

		assert_int_equal(clash_of(cases[i].events, &cases[i].use, &clash), cases[i].kind);
		assert_string_equal(clash.event, cases[i].event);
		assert_string_equal(clash.other, cases[i].other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
