/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_screens.c - scripted keys on a fixed profile, the screen compared with golden text.
 *
 * fixture.c says how to update the golden texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/control/config.h"
#include "sampler/control/status.h"
#include "tests/screens/fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_hot_table(void **state)
{
	(void)state;
	expect("", 120, 40, false, "hot-120x40");
	expect("", 80, 24, false, "hot-80x24");
	expect("", 80, 24, true, "hot-80x24-ascii");
	expect("", 60, 16, false, "hot-60x16");
	expect("", 40, 10, false, "hot-40x10");
	expect("", 20, 5, false, "hot-20x5");
	expect("", 15, 2, false, "too-small");
	/* Messages and prompts cover no row. */
	expect("G7", 20, 5, false, "message-20x5");
	expect("G/_", 20, 5, false, "search-20x5");
	expect("", 20, 3, false, "hot-20x3");
	expect("P<Tick>", 20, 5, false, "processes-20x5");
	expect("L", 20, 5, false, "log-20x5");
}

static void test_sorting(void **state)
{
	(void)state;
	expect("T", 80, 24, false, "sort-total");
	expect("r", 80, 24, false, "sort-self-reversed");
	expect("<<", 80, 24, false, "sort-symbol");
}

static void test_search_and_filter(void **state)
{
	(void)state;
	expect("/MEM", 80, 24, false, "search-typing");
	expect("/e_<Enter>nn", 80, 24, false, "search-next");
	expect("/zebra<Enter>", 80, 24, false, "search-nothing");
	expect("\\libc<Enter>", 80, 24, false, "filter");
	expect("\\zebra<Enter>", 80, 24, false, "filter-nothing");
	expect("\\libc<Enter><Esc>", 80, 24, false, "hot-80x24");
	expect("\\libc<Esc>", 80, 24, false, "hot-80x24");
	expect("K", 80, 24, false, "no-kernel");
}

static void test_events(void **state)
{
	(void)state;
	expect("2", 80, 24, false, "event-2");
	expect("<Tab>", 80, 24, false, "event-2");
	expect("<Tab><Tab>", 80, 24, false, "hot-80x24");
	expect("<BackTab>", 80, 24, false, "event-2");
	expect("v", 80, 24, false, "side-by-side");
	expect("7", 80, 24, false, "event-missing");
}

/* The active tab is visible, and marks show how many are not. */
static void test_tabs_past_the_width(void **state)
{
	static const char *const names[] = {"cache-misses", "branch-misses:u", "context-switches",
		"cpu-migrations", "instructions"};
	struct fixture *fixture = start(80, 24, false);
	struct engine_status *status = &fixture->fake.model.status;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct engine_event_status *event = &status->events[status->n_events++];

		*event = (struct engine_event_status){
			.id = (uint8_t)(10 + i), .open = true, .freq_hz = 997, .samples = 5};
		snprintf(event->name, sizeof(event->name), "%s", names[i]);
	}
	compare(fixture, "tabs-first");
	/* the tab after the last visible one */
	click(fixture, 72, 3);
	assert_int_equal(fixture->fake.model.event, 12);
	compare(fixture, "tabs-middle");
	keys(fixture, "7\\libc<Enter>");
	compare(fixture, "tabs-last-filter");
	assert_int_equal(screen_resize(&fixture->screen, 20, 10), 0);
	compare(fixture, "tabs-20x10");
	click(fixture, 1, 2); /* the mark at the left */
	assert_int_equal(fixture->fake.model.event, 13);
	finish(fixture);
}

/* Events of whole CPUs may lose samples of other processes, too. */
static void test_lost_of_all(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "<Tab>");
	fixture->fake.model.status.events[1].lost_of_all = true;
	compare(fixture, "lost-of-all");
	finish(fixture);
}

static void test_views(void **state)
{
	(void)state;
	expect("<Down><Enter>", 80, 24, false, "breakdown-thread");
	expect("<Down><Enter>t", 80, 24, false, "breakdown-cpu");
	expect("<Down><Enter>tt", 80, 24, false, "breakdown-process");
	expect("<Tab>f", 80, 24, false, "fields");
	expect("<Tab>f", 120, 40, false, "fields-120x40");
	expect("<Tab>f<Down><Down><Down><Enter>", 80, 24, false, "fields-symbol");
	expect("<Tab>f<Down><Down><Down><Enter>", 120, 40, false, "fields-symbol-120x40");
	expect("<Tab>f<End><Enter>", 40, 12, true, "fields-symbol-40x12");
	expect("<Tab>f<Enter>", 80, 24, false, "fields-no-values");
	expect("<Tab>f<End><Enter>t", 80, 24, false, "fields-next-is-process");
	expect("f", 80, 24, false, "fields-none");
	expect("<Tab><Down><Enter>ttttt", 80, 24, false, "breakdown-field");
	expect("<Tab><Down><Enter>f<End><Enter>", 120, 40, false, "breakdown-field-120x40");
	expect("P<Tick>", 80, 24, false, "processes");
	expect("P<Tick>K", 80, 24, true, "processes-ascii");
	expect("P\\ann<Enter>", 80, 24, false, "processes-filter");
	expect("L", 80, 24, false, "log");
	expect("L", 50, 12, false, "log-50x12");
	expect("?", 80, 24, false, "help");
	expect("?<PgDn>", 80, 24, false, "help-page-2");
	expect("P<Tick>", 40, 12, false, "processes-40x12");
	expect("<Down><Enter>", 40, 12, false, "breakdown-40x12");
	expect("?", 40, 12, false, "help-40x12");
	expect("?<End>", 40, 12, true, "help-40x12-end");
	expect("?<Esc>", 80, 24, false, "hot-80x24");
	expect("Pq", 80, 24, false, "hot-80x24");
}

/* The hot table grouped by other things than symbols. */
static void test_grouping(void **state)
{
	struct fixture *fixture;

	(void)state;
	expect("R", 80, 24, false, "grouping-80x24");
	expect("<Tab>RG", 160, 50, false, "grouping-160x50");
	expect("R", 20, 7, true, "grouping-20x7-ascii");
	expect("R<Esc>", 80, 24, false, "hot-80x24");
	expect("R<Enter>", 80, 24, false, "hot-80x24");
	expect("Rj<Enter>", 80, 24, false, "grouped-image-80x24");
	expect("Rj<Enter>", 160, 50, false, "grouped-image-160x50");
	expect("Rjj<Enter>", 80, 24, false, "grouped-address-80x24");
	expect("Rjjj<Enter>", 80, 24, false, "grouped-line-80x24");
	expect("Rjjj<Enter>", 160, 50, false, "grouped-line-160x50");
	expect("Rjjjj<Enter>", 80, 24, false, "grouped-process-80x24");
	expect("Rjjjjj<Enter>", 120, 40, false, "grouped-thread-120x40");
	expect("Rjjjjjjj<Enter>", 40, 12, true, "grouped-cpu-40x12-ascii");
	expect("<Tab>RG<Enter>", 80, 24, false, "grouped-field-80x24");
	expect("<Tab>RG<Enter>", 160, 50, false, "grouped-field-160x50");
	expect("bRj<Enter>", 80, 24, false, "grouped-baseline-80x24");
	expect("Rj<Enter>v", 80, 24, false, "grouped-side-by-side");
	expect("Rjjjjj<Enter><<", 80, 24, false, "grouped-sort-name");
	expect("Rjjjjj<Enter><", 80, 24, false, "grouped-sort-beside");
	expect("Rj<Enter>T\\lib<Enter>", 80, 24, false, "grouped-filter");
	expect("Rj<Enter>/KERN<Enter>X", 80, 24, false, "grouped-without");
	expect("Rj<Enter>ja", 80, 24, false, "grouped-no-code");
	expect("Rj<Enter><Esc>", 80, 24, false, "hot-80x24");
	/* Enter shows the row's symbols. */
	fixture = start(80, 24, false);
	keys(fixture, "Rj<Enter>j<Enter>");
	assert_false(fixture->fake.model.grouped);
	assert_string_equal(fixture->fake.model.crumbs[0], "image:libplanner.so.2.1");
	keys(fixture, "Rj<Enter>");
	assert_int_equal(fixture->screen.views[0].ops->keys, KEYS_GROUPED);
	/* If a group has no filter, Enter changes nothing. */
	keys(fixture, "Rjj<Enter><Enter>");
	assert_true(fixture->fake.model.grouped);
	assert_int_equal(fixture->fake.model.n_crumbs, 1);
	keys(fixture, "c");
	assert_int_equal(fixture->screen.views[1].ops->keys, KEYS_CALLS);
	finish(fixture);
}

static void test_states(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	struct engine_status *status = &fixture->fake.model.status;

	(void)state;
	keys(fixture, " ");
	assert_true(fixture->fake.model.frozen);
	compare(fixture, "frozen");
	keys(fixture, " ");
	assert_false(fixture->fake.model.frozen);
	status->state = ENGINE_STARTING;
	status->attaching_done = 12;
	status->attaching_total = 37;
	keys(fixture, "<Tick>");
	compare(fixture, "starting");
	status->state = ENGINE_ENDED;
	status->command_ended = true;
	status->command_status = 3 << 8;
	keys(fixture, "<Tick>");
	compare(fixture, "ended-exit-3");
	status->command_status = SIGSEGV;
	keys(fixture, "<Tick>");
	compare(fixture, "ended-signal");
	/* The clock stops at the end of the target. */
	status->now_ns += 60000000000u;
	compare(fixture, "ended-signal");
	finish(fixture);
}

/* A debug file is requested.  The screen shows its progress until the user gives it up. */
static void test_fetching(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "D");
	compare(fixture, "fetching-asked");
	keys(fixture, "<Tick>");
	compare(fixture, "fetching");
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->fake.model.fetching.waiting, 0);
	assert_int_equal(fixture->screen.n_views, 1);
	keys(fixture, "<Tick>");
	compare(fixture, "fetching-over");
	fixture->fake.model.recorded = true;
	keys(fixture, "D");
	assert_string_equal(fixture->screen.message, "No server is named");
	finish(fixture);
}

/* In little space, warnings have priority over harmless remarks. */
static void test_warnings_stay(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	struct model *model = &fixture->fake.model;

	(void)state;
	model->status.tasks_missed = 1234;
	model->status.events[0].throttled = 12;
	model->sums.unresolved = model->sums.weight / 3;
	compare(fixture, "trust-warnings");
	finish(fixture);
}

static void test_cursor_sticks_to_the_symbol(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "<Down><Down>"); /* _bt_compare */
	keys(fixture, "T"); /* its place by total is not the third */
	compare(fixture, "cursor-sticks");
	assert_int_equal(fixture->screen.canvas.cells[80 * (4 + 1 + 5)].selected, 1);
	keys(fixture, "<Home>S<Tick>");
	screen_draw(&fixture->screen);
	assert_int_equal(fixture->screen.canvas.cells[80 * 5].selected, 1);
	/* A cursor that never moved stays on the first row, even if the row changes. */
	keys(fixture, "T<Tick>");
	screen_draw(&fixture->screen);
	assert_int_equal(fixture->screen.canvas.cells[80 * 5].selected, 1);
	finish(fixture);
}

/* Rows outside the screen are not computed until they become visible. */
static void test_rows_out_of_sight(void **state)
{
	struct fixture *fixture = start(80, 12, false);

	(void)state;
	compare(fixture, "rows-in-sight");
	keys(fixture, "<End>");
	compare(fixture, "rows-last");
	keys(fixture, "<Tick>");
	compare(fixture, "rows-last");
	keys(fixture, "<Home>/malloc<Enter><Tick>");
	compare(fixture, "rows-found");
	keys(fixture, "<Home><Tick>n");
	compare(fixture, "rows-found");
	/* The first row matches while the text is typed; then the search is cancelled. */
	keys(fixture, "<End>/heap<Tick><Esc>");
	compare(fixture, "rows-not-wanted");
	keys(fixture, "<Esc><Home>r");
	compare(fixture, "rows-reversed");
	keys(fixture, "r<Home><Tick>");
	screen_resize(&fixture->screen, 80, 20);
	compare(fixture, "rows-grown");
	finish(fixture);
}

static void test_symbol_that_is_gone(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "<Down><Down>"); /* _bt_compare */
	fixture->fake.gone_symref = 3;
	keys(fixture, "<Tick><Enter>");
	assert_int_equal(fixture->screen.n_views, 1);
	compare(fixture, "symbol-gone");
	screen_draw(&fixture->screen);
	assert_int_equal(fixture->screen.canvas.cells[80 * 7].selected, 0);
	/* The symbol comes back, and the cursor is on it. */
	fixture->fake.gone_symref = 0;
	keys(fixture, "<Tick>");
	screen_draw(&fixture->screen);
	assert_int_equal(fixture->screen.canvas.cells[80 * 7].selected, 1);
	/* A filter without the symbol is the user's choice: the first row is selected. */
	keys(fixture, "\\libc<Enter>");
	screen_draw(&fixture->screen);
	assert_int_equal(fixture->screen.canvas.cells[80 * 5].selected, 1);
	keys(fixture, "<Enter>");
	assert_int_equal(fixture->screen.n_views, 2);
	finish(fixture);
}

/* Enter acts on the process that was shown under the cursor, or on none. */
static void test_picker_sticks_to_the_process(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "P<Tick>");
	screen_draw(&fixture->screen); /* 4711 is the first row */
	fixture->fake.swapped = true;
	keys(fixture, "<Tick><Tick>"); /* and moves down */
	compare(fixture, "processes-swapped");
	keys(fixture, "x");
	assert_string_equal(fixture->fake.commands, "detach 4711\n");
	fixture->fake.commands[0] = '\0';
	keys(fixture, "<Up>"); /* 5120 */
	fixture->fake.ended_pid = 5120;
	keys(fixture, "a"); /* it has ended since the screen was drawn */
	assert_string_equal(fixture->fake.commands, "");
	keys(fixture, "<Tick><Tick>");
	keys(fixture, "<Enter>");
	assert_string_equal(fixture->fake.commands, "");
	assert_int_equal(fixture->screen.n_views, 2);
	compare(fixture, "process-ended");
	keys(fixture, "<Home>a");
	assert_string_equal(fixture->fake.commands, "attach 4711\n");
	finish(fixture);
}

static void test_picker_knows_a_reused_pid(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "P<Tick><Down>"); /* 5120 */
	fixture->fake.reused_pid = 5120;
	keys(fixture, "d<Tick><Tick>a");
	assert_string_equal(fixture->fake.commands, "");
	finish(fixture);
}

/* The search finds pids, users and commands.  The cursor stays on the found process. */
static void test_picker_search(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "P<Tick>/-ZSH<Enter><Tick><Tick>sss");
	compare(fixture, "processes-searched");
	keys(fixture, "a");
	assert_string_equal(fixture->fake.commands, "attach 840\n");
	fixture->fake.commands[0] = '\0';
	keys(fixture, "/ann<Enter>na");
	assert_string_equal(fixture->fake.commands, "attach 5120\n");
	fixture->fake.commands[0] = '\0';
	keys(fixture, "/47<Enter>d/nothing<Enter>d");
	assert_string_equal(fixture->fake.commands, "detach 4711\ndetach 4711\n");
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 2);
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 1);
	finish(fixture);
}

/* A click on the head of a column sorts by it. */
static void test_picker_heads(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "P<Tick>");
	screen_draw(&fixture->screen);
	click(fixture, 10, 5);
	compare(fixture, "processes-clicked-head");
	finish(fixture);
}

/* The search in a breakdown finds commands, ids and values of fields. */
static void test_breakdown_search(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	const struct model *model = &fixture->fake.model;

	(void)state;
	keys(fixture, "<Down><Enter>/DUMP<Enter>");
	compare(fixture, "breakdown-searched");
	keys(fixture, "I/4713<Enter>I");
	assert_string_equal(model->crumbs[0], "tid:4790");
	assert_string_equal(model->crumbs[1], "tid:4713");
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 2);
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 1);
	finish(fixture);
	fixture = start(80, 24, false);
	keys(fixture, "<Tab>f<End><Enter>/std::<Enter>I");
	assert_non_null(strstr(fixture->fake.model.crumbs[0], "std::map"));
	finish(fixture);
}

/* The second click of a double click falls on another process. */
static void test_picker_double_click(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "P<Tick>");
	screen_draw(&fixture->screen);
	click(fixture, 20, 7); /* 5120, the second row */
	fixture->fake.swapped = true;
	fake_model_tick(&fixture->fake);
	screen_refresh(&fixture->screen);
	fake_model_tick(&fixture->fake);
	screen_refresh(&fixture->screen);
	screen_draw(&fixture->screen);
	fixture->screen.click_ns = fixture->fake.model.now_ns;
	click(fixture, 20, 7); /* 4711 after the swap */
	assert_string_equal(fixture->fake.commands, "");
	assert_int_equal(fixture->screen.n_views, 2);
	click(fixture, 20, 7);
	click(fixture, 20, 7);
	assert_int_equal(fixture->screen.n_views, 1);
	finish(fixture);
}

static void test_mouse(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	screen_draw(&fixture->screen);
	click(fixture, 20, 3); /* second tab */
	assert_int_equal(fixture->fake.model.event, 2);
	click(fixture, 3, 3);
	assert_int_equal(fixture->fake.model.event, 1);
	click(fixture, 18, 4); /* column head TOTAL */
	compare(fixture, "sort-total");
	click(fixture, 8, 4); /* column head SELF */
	click(fixture, 30, 6);
	screen_draw(&fixture->screen);
	assert_int_equal(fixture->screen.canvas.cells[80 * 6].selected, 1);
	fake_model_tick(&fixture->fake);
	click(fixture, 30, 6);
	click(fixture, 30, 6); /* double click */
	compare(fixture, "breakdown-thread-later");
	finish(fixture);
}

static void test_commands(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	/* The engine has not answered any command. */
	keys(fixture, "++-");
	assert_string_equal(fixture->fake.commands, "freq 1999\nfreq 4999\nfreq 1999\n");
	fixture->fake.commands[0] = '\0';
	keys(fixture, "2+");
	assert_string_equal(fixture->fake.commands, "freq 500\n");
	fixture->fake.commands[0] = '\0';
	keys(fixture, "1P<Tick><Down><Down><Enter>"); /* by CPU: 4711, 5120, 1 */
	assert_string_equal(fixture->fake.commands, "attach 1\ndetach 4711\n");
	assert_int_equal(fixture->screen.n_views, 1);
	fixture->fake.commands[0] = '\0';
	keys(fixture, "P<Tick>d<Down>ax");
	assert_string_equal(fixture->fake.commands, "detach 4711\nattach 5120\ndetach 5120\n");
	finish(fixture);
}

static void test_refused_command_is_told(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	fixture->fake.refuse = EACCES;
	keys(fixture, "P<Tick><Down>a");
	compare(fixture, "attach-refused");
	assert_int_equal(fixture->screen.n_views, 2);
	finish(fixture);
}

static void test_flight_recorder(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "F");
	assert_string_equal(fixture->fake.commands, "");
	compare(fixture, "flight-recorder-none");
	fixture->fake.model.status.flight_holds_s = 30;
	keys(fixture, "F");
	assert_string_equal(fixture->fake.commands, "snapshot 1\n");
	compare(fixture, "flight-recorder");
	fixture->fake.model.status.flight_holds_s = 2.5;
	keys(fixture, "<Tick>");
	compare(fixture, "flight-recorder-short");
	finish(fixture);
}

static void test_call_graph(void **state)
{
	struct fixture *fixture = start(120, 40, false);
	struct engine_status *status = &fixture->fake.model.status;

	(void)state;
	status->events[0].chains = (struct unwind_ends){.whole = 992, .cut = 8};
	keys(fixture, "UU");
	assert_string_equal(fixture->fake.commands, "call-graph fp\ncall-graph dwarf\n");
	compare(fixture, "call-graph-dwarf");
	keys(fixture, "U");
	compare(fixture, "call-graph-no");
	keys(fixture, "U");
	assert_int_equal(status->call_graph, CALL_GRAPH_AUTO);
	fixture->fake.refuse = ENOMEM;
	keys(fixture, "U");
	assert_int_equal(status->call_graph, CALL_GRAPH_AUTO);
	fixture->fake.model.recorded = true;
	fixture->fake.commands[0] = '\0';
	keys(fixture, "U");
	assert_string_equal(fixture->fake.commands, "");
	finish(fixture);
}

static void test_limit_of_rate(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	fixture->fake.model.status.events[0].freq_hz = 20000;
	keys(fixture, "+");
	assert_string_equal(fixture->fake.commands, "freq 25000\n");
	keys(fixture, "+");
	assert_string_equal(fixture->fake.commands, "freq 25000\n");
	compare(fixture, "rate-limit");
	finish(fixture);
}

static void test_warnings_come_up(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	struct model *model = &fixture->fake.model;

	(void)state;
	logbook_add(&model->log, model->now_ns, EXPLAIN_INFO, false, "not worth a message");
	keys(fixture, "<Tick>");
	assert_string_equal(fixture->screen.message, "");
	logbook_add(&model->log, model->now_ns, EXPLAIN_WARNING, false, "12 samples were lost");
	keys(fixture, "<Tick>");
	compare(fixture, "warning");
	/* The warning disappears again. */
	for (int i = 0; i < 14; i++)
		keys(fixture, "<Tick>");
	compare(fixture, "warning-over");
	/* A new warning does not replace the reason of a failed command. */
	screen_message(&fixture->screen, STYLE_BAD, "It cannot be written");
	logbook_add(&model->log, model->now_ns, EXPLAIN_WARNING, false, "12 more were lost");
	keys(fixture, "<Tick>");
	assert_string_equal(fixture->screen.message, "It cannot be written");
	for (int i = 0; i < 14; i++)
		keys(fixture, "<Tick>");
	logbook_add(&model->log, model->now_ns, EXPLAIN_WARNING, false, "12 more were lost");
	keys(fixture, "<Tick>");
	assert_string_equal(fixture->screen.message, "12 more were lost");
	finish(fixture);
}

/* The target is a file: its data is complete, and cannot be changed. */
static void test_recording(void **state)
{
	struct fixture *fixture = start(100, 24, false);
	struct model *model = &fixture->fake.model;

	(void)state;
	model->recorded = true;
	model->strip_from_ns = model->from_ns;
	snprintf(model->target, sizeof(model->target),
		"perf.data, recorded 2026-11-21 06:00 on box");
	model->status.attaching_done = 420;
	model->status.attaching_total = 1000;
	compare(fixture, "recording-loading");
	model->status.attaching_total = 0;
	compare(fixture, "recording-loading-pipe");
	model->status.state = ENGINE_STOPPED;
	keys(fixture, "P");
	compare(fixture, "recording-interrupted");
	model->status.state = ENGINE_ENDED;
	keys(fixture, " ");
	assert_false(model->frozen);
	compare(fixture, "recording");
	keys(fixture, "E+");
	assert_int_equal(fixture->screen.n_views, 1);
	/* Shows the keys of a recording, and a strip over the whole width even for a short one. */
	for (int i = 0; i < 14; i++)
		keys(fixture, "<Tick>");
	model->from_ns = model->to_ns - 340000000u;
	model->strip_from_ns = model->from_ns;
	model->n_activity = 4;
	compare(fixture, "recording-short");
	snprintf(model->filters, sizeof(model->filters), "comm make, !symbol malloc");
	compare(fixture, "recording-filtered");
	finish(fixture);
}

/* Replaces the proposed name, which has the time of day. */
static void type_name(struct fixture *fixture, const char *name)
{
	press(fixture, INPUT_END);
	press(fixture, INPUT_CTRL('U'));
	keys(fixture, name);
}

static void test_saving(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	struct model *model = &fixture->fake.model;

	(void)state;
	press(fixture, 'W');
	assert_true(fixture->screen.prompting);
	assert_string_not_equal(fixture->screen.prompt.text, "");
	type_name(fixture, "here.data<Esc>");
	assert_false(fixture->screen.prompting);
	assert_string_equal(fixture->fake.commands, "");

	press(fixture, 'W');
	type_name(fixture, "here.data<Enter>");
	assert_string_equal(fixture->fake.commands, "save here.data\n");
	screen_refresh(&fixture->screen);
	assert_string_equal(fixture->screen.message, "Saving: 42% (W stops it)");

	/* The end is reported, even long after the command. */
	for (int i = 0; i < 20; i++) {
		fake_model_tick(&fixture->fake);
		screen_refresh(&fixture->screen);
	}
	model->saving = false;
	logbook_add(&model->log, model->now_ns, EXPLAIN_INFO, false, "saved it");
	screen_refresh(&fixture->screen);
	assert_string_equal(fixture->screen.message, "saved it");

	press(fixture, 'W');
	type_name(fixture, "more<Enter>");
	screen_refresh(&fixture->screen);
	press(fixture, 'W');
	assert_false(fixture->screen.prompting);
	assert_string_equal(fixture->fake.commands, "save here.data\nsave more\nsave-stop 0\n");
	assert_non_null(strstr(fixture->screen.message, "stopped"));

	fixture->fake.refuse = EACCES;
	press(fixture, 'W');
	type_name(fixture, "x<Enter>");
	assert_string_equal(fixture->screen.message, "cannot save to 'x'");
	finish(fixture);
}

static void test_quit(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	assert_int_equal(press(fixture, '?'), 0);
	assert_int_equal(press(fixture, 'q'), 0); /* leaves the help */
	assert_int_equal(fixture->screen.n_views, 1);
	assert_int_equal(press(fixture, INPUT_CTRL('L')), SCREEN_REDRAW);
	assert_int_equal(press(fixture, 'q'), SCREEN_QUIT);
	finish(fixture);
}

/* At any size, no view crashes or draws outside. */
static void test_every_size(void **state)
{
	static const char *const scripts[] = {"", "v", "T", "P<Tick>", "E", "L", "?", "<Enter>",
		"/sym", "\\abc", "E<End>", "P<End>", "?<End>", "a", "as", "av", "aGh",
		"a/c<Enter>n"};

	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		struct fixture *fixture = start(80, 24, (i & 1) != 0);

		keys(fixture, scripts[i]);
		for (int width = 1; width < 200; width += width < 90 ? 1 : 13) {
			for (int height = 1; height < 60; height += height < 16 ? 1 : 11) {
				assert_int_equal(screen_resize(&fixture->screen, width, height), 0);
				screen_draw(&fixture->screen);
			}
		}
		finish(fixture);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hot_table),
		cmocka_unit_test(test_sorting),
		cmocka_unit_test(test_search_and_filter),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_tabs_past_the_width),
		cmocka_unit_test(test_lost_of_all),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_grouping),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_fetching),
		cmocka_unit_test(test_warnings_stay),
		cmocka_unit_test(test_cursor_sticks_to_the_symbol),
		cmocka_unit_test(test_rows_out_of_sight),
		cmocka_unit_test(test_symbol_that_is_gone),
		cmocka_unit_test(test_picker_sticks_to_the_process),
		cmocka_unit_test(test_picker_knows_a_reused_pid),
		cmocka_unit_test(test_picker_search),
		cmocka_unit_test(test_picker_heads),
		cmocka_unit_test(test_breakdown_search),
		cmocka_unit_test(test_picker_double_click),
		cmocka_unit_test(test_mouse),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_refused_command_is_told),
		cmocka_unit_test(test_limit_of_rate),
		cmocka_unit_test(test_flight_recorder),
		cmocka_unit_test(test_call_graph),
		cmocka_unit_test(test_warnings_come_up),
		cmocka_unit_test(test_recording),
		cmocka_unit_test(test_saving),
		cmocka_unit_test(test_quit),
		cmocka_unit_test(test_every_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
