/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_counters.c - the view of counters, on a fixed set of events in every possible state.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/screens/fixture.h"
#include "tui/views/list_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ull

static struct engine_event_status *add(struct fixture *fixture, const char *name, uint64_t count)
{
	struct engine_status *status = &fixture->fake.model.status;
	struct engine_event_status *event = &status->events[status->n_events++];

	*event = (struct engine_event_status){
		.id = (uint8_t)(status->n_events),
		.open = true,
		.enabled = true,
		.freq_hz = 997,
		.count = count,
		.enabled_ns = 100 * SECOND,
		.running_ns = 100 * SECOND,
		.samples = 4711,
	};
	snprintf(event->name, sizeof(event->name), "%s", name);
	return event;
}

/* Rates follow a wave, so that a trend is visible.  The newest is the highest. */
static void set_rate(struct fixture *fixture, uint8_t event, uint64_t newest)
{
	struct rates *rates = &fixture->fake.model.rates;
	struct rate *rate = &rates->of[rates->n++];

	rate->event = event;
	rate->n = 30;
	for (size_t i = 0; i < rate->n; i++)
		rate->per_second[i] = newest / 8 * (1 + (i + 2) % 8);
}

static struct fixture *open_view(int width, int height)
{
	struct fixture *fixture = start(width, height, false);
	struct engine_event_status *event;

	fixture->fake.model.status.n_events = 0;
	event = add(fixture, "cpu-clock", 231 * SECOND);
	event->is_clock = true;
	set_rate(fixture, 1, 187 * SECOND / 100);
	event = add(fixture, "cycles", 301000000000ull);
	event->group = 1;
	set_rate(fixture, 2, 3100000000ull);
	event = add(fixture, "instructions", 402000000000ull);
	event->group = 1;
	set_rate(fixture, 3, 4200000000ull);
	event = add(fixture, "branch-misses", 52000000);
	event->group = 1;
	set_rate(fixture, 4, 520000);
	event = add(fixture, "cache-misses", 7000000);
	event->running_ns = 59 * SECOND;
	event->lost = 12;
	event->throttled = 3;
	set_rate(fixture, 5, 70000);
	event = add(fixture, "page-faults:u", 8000);
	event->period = 1;
	event->freq_hz = 0;
	event->enabled = false;
	set_rate(fixture, 6, 0);
	event = add(fixture, "sched:sched_switch", 123456);
	event->period = 1;
	event->freq_hz = 0;
	event->is_tracepoint = true;
	event->filter = "prev_pid != 0";
	set_rate(fixture, 7, 1234);
	event = add(fixture, "mem:0x601040/4:w", 17);
	event->freq_hz = 0;
	event->period = 1;
	event->is_breakpoint = true;
	event->address = 0x601040;
	set_rate(fixture, 8, 1);
	event = add(fixture, "bus-cycles", 0);
	event->running_ns = 0;
	event = add(fixture, "ref-cycles:D", 0);
	event->in_error = true;
	event = add(fixture, "power/energy-pkg/", 1000000000);
	event->scale = 2.5e-8;
	event->unit = "Joules";
	set_rate(fixture, 11, 400000000);
	event = add(fixture, "branches", 0);
	event->open = false;
	event->error = ENOENT;
	event = add(fixture, "task-clock", 0);
	event->open = false;
	keys(fixture, "C");
	return fixture;
}

static void test_sizes(void **state)
{
	static const int sizes[][2] = {{80, 24}, {120, 40}, {160, 50}, {40, 12}, {20, 5}};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct fixture *fixture = open_view(sizes[i][0], sizes[i][1]);
		char name[64];

		snprintf(name, sizeof(name), "counters-%dx%d", sizes[i][0], sizes[i][1]);
		compare(fixture, name);
		finish(fixture);
	}
}

static void expect_commands(const char *script, const char *commands, const char *screen)
{
	struct fixture *fixture = open_view(80, 24);

	keys(fixture, script);
	assert_string_equal(fixture->fake.commands, commands);
	if (screen)
		compare(fixture, screen);
	finish(fixture);
}

static void test_commands(void **state)
{
	(void)state;
	expect_commands("x", "disable 1\n", NULL);
	expect_commands("<Down><Down><Down><Down><Down>x", "enable 6\n", NULL);
	expect_commands("d", "drop 1\n", NULL);
	expect_commands("p", "", "counters-rate");
	expect_commands("p<Enter>", "freq 997\n", NULL);
	expect_commands("p<Backspace><Backspace><Backspace><Enter>", "period 997\n", NULL);
	expect_commands("O", "pause 1\n", "counters-paused");
	expect_commands("OO", "pause 1\npause 0\n", NULL);
	expect_commands("b", "", "counters-no-breakpoint");
	expect_commands("f", "", "counters-no-tracepoint");
}

static void test_refused_input(void **state)
{
	(void)state;
	expect_commands("p0<Enter>", "", "counters-no-rate"); /* 997 Hz0 */
	expect_commands("p<Backspace><Backspace>x<Enter>", "", NULL);
	expect_commands("<Down><Down><Down><Down><Down>p Hz<Enter>", "", "counters-no-frequency");
	expect_commands("p<Home>99<Enter>", "", "counters-rate-limit"); /* 99997 Hz */
	expect_commands("<End>x", "", "counters-not-open");
}

static void test_filter_and_breakpoint(void **state)
{
	(void)state;
	expect_commands("GkkkkkkfX<Enter>", "filter prev_pid != 0X\n", NULL);
	expect_commands("Gkkkkkbf<Enter>", "move 0x601040f\n", NULL);
	expect_commands("Gkkkkkb<Home>s<Enter>", "", "counters-no-address");
	expect_commands("Gkkkkkb<Esc>", "", NULL);
}

/* The cursor stays with its event.  Enter selects the event for the table. */
static void test_selection(void **state)
{
	struct fixture *fixture = open_view(80, 24);
	struct engine_status *status = &fixture->fake.model.status;

	(void)state;
	keys(fixture, "<Down><Down>");
	memmove(&status->events[0], &status->events[1],
		--status->n_events * sizeof(*status->events));
	keys(fixture, "<Tick><Enter>");
	assert_int_equal(fixture->fake.model.event, 3);
	keys(fixture, "C");
	click(fixture, 10, fixture->screen.body.y + 3);
	keys(fixture, "<Enter>");
	assert_int_equal(fixture->fake.model.event, 3);
	finish(fixture);
}

/* The search finds names and filters.  The cursor stays on the found event while others sort. */
static void test_search(void **state)
{
	struct fixture *fixture = open_view(80, 24);

	(void)state;
	keys(fixture, "/PREV_PID<Enter>");
	keys(fixture, "x/-misses<Enter>nnx");
	assert_string_equal(fixture->fake.commands, "disable 7\ndisable 4\n");
	fixture->fake.commands[0] = '\0';
	keys(fixture, "N<Tick>s<Tick>");
	compare(fixture, "counters-searched");
	keys(fixture, "x/zebra<Enter>");
	assert_string_equal(fixture->fake.commands, "disable 5\n");
	assert_string_equal(fixture->screen.message, "No row matches \"zebra\"");
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 2);
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 1);
	finish(fixture);
}

/* The keys pass over columns that a narrow screen does not show. */
static void test_sort_narrow(void **state)
{
	struct fixture *fixture = open_view(40, 12);

	(void)state;
	keys(fixture, "ss");
	compare(fixture, "counters-40x12-sorted");
	keys(fixture, "s");
	compare(fixture, "counters-40x12");
	finish(fixture);
}

/* Each column sorts by its numbers, the greatest first, and Event by the order of opening. */
static void test_sort(void **state)
{
	static const struct {
		const char *keys;
		uint8_t event; /* id of the event on top */
	} orders[] = {{"g", 1}, {"s", 3}, {">", 3}, {">", 1}, {">", 1}, {"r", 13}, {"r", 1},
		{">", 5}, {">", 5}, {"s", 1}, {"r", 13}, {"<", 5}};
	struct fixture *fixture = open_view(160, 50);
	const struct list_view *table = fixture->screen.views[1].state;

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		keys(fixture, orders[i].keys);
		keys(fixture, "g");
		assert_int_equal(table->selected, orders[i].event);
	}
	finish(fixture);
}

/* A recording cannot be changed, and the hint line offers no change. */
static void test_recording(void **state)
{
	static const char *const scripts[] = {"x", "d", "p", "f", "b", "O"};
	struct fixture *hints = open_view(80, 24);

	(void)state;
	hints->fake.model.recorded = true;
	compare(hints, "counters-recording");
	finish(hints);
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		struct fixture *fixture = open_view(80, 24);

		fixture->fake.model.recorded = true;
		keys(fixture, scripts[i]);
		assert_string_equal(fixture->fake.commands, "");
		assert_non_null(strstr(fixture->screen.message, "recording"));
		finish(fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_refused_input),
		cmocka_unit_test(test_filter_and_breakpoint),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_sort_narrow),
		cmocka_unit_test(test_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
