/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_event_picker.c - the picker of events, on a fake catalogue.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/screens/fake_offers.h"
#include "tests/screens/fixture.h"

#include <errno.h>
#include <string.h>

/* Skips the events of the profile: a title and three rows. */
#define HARDWARE "E<Down><Down><Down><Down>"

static void test_sizes(void **state)
{
	(void)state;
	expect("E", 80, 24, false, "picker-80x24");
	expect(HARDWARE "<Enter><Down>", 80, 24, true, "picker-80x24-ascii");
	expect("E/sched<Enter>", 120, 40, false, "picker-120x40");
	expect("E/e<Enter>", 40, 12, false, "picker-40x12");
	expect("E", 20, 5, false, "picker-20x5");
	expect("E:sched_", 20, 5, false, "picker-type-20x5");
}

static void test_reading(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	fake_offers.unread = true;
	keys(fixture, "E");
	compare(fixture, "picker-reading");
	/* New rows come below, and the cursor stays. */
	fake_offers.unread = false;
	keys(fixture, "<Tick>");
	compare(fixture, "picker-80x24-later");
	finish(fixture);
	fixture = start(80, 24, false);
	fake_offers.tracepoints_error = EACCES;
	keys(fixture, "E<End>");
	compare(fixture, "picker-no-tracefs");
	finish(fixture);
	fixture = start(80, 24, false);
	fake_offers.error = ENOMEM;
	keys(fixture, "E");
	compare(fixture, "picker-unreadable");
	finish(fixture);
}

static void expect_commands(const char *script, const char *commands, const char *screen)
{
	struct fixture *fixture = start(80, 24, false);

	keys(fixture, script);
	assert_string_equal(fixture->fake.commands, commands);
	if (screen)
		compare(fixture, screen);
	finish(fixture);
}

static void test_groups(void **state)
{
	(void)state;
	expect_commands(HARDWARE "<Enter>", "", "picker-hardware");
	expect_commands(HARDWARE "<Right>", "", "picker-hardware");
	expect_commands(HARDWARE "<Right><Down><Left>", "", "picker-hardware");
	/* Left goes from an event to its title, and then closes the group. */
	expect_commands(HARDWARE "<Right><Down><Left><Left>", "", "picker-closed");
	expect_commands("EG<Right><Down><Down><Right><Down><Down>", "", "picker-tracepoint");
	expect_commands("E<Enter>", "", "picker-profile-closed");
}

static void test_add_and_drop(void **state)
{
	(void)state;
	/* Events of the profile: two are open, one was refused. */
	expect_commands("E<Down><Enter>", "drop 1\n", NULL);
	expect_commands("E<Down><Down><Enter>", "drop 2\n", NULL);
	expect_commands("E<Down><Down><Down><Enter>", "add cycles\n", NULL);
	/* Events of the catalogue. */
	expect_commands(HARDWARE "<Right><Down><Down><Enter>", "add instructions\n", NULL);
	expect_commands("E/cpu-cl<Enter><Enter>", "drop 1\n", NULL);
	/* Found by its second name; the open event has modifiers. */
	expect_commands("E/faults<Enter><Enter>", "drop 2\n", NULL);
	expect_commands("E/sched_sw<Enter><Enter>", "add sched:sched_switch\n", NULL);
}

static void test_search(void **state)
{
	(void)state;
	expect_commands("E/MISSED", "", "picker-search");
	expect_commands("E/sched:*w*<Enter>", "", "picker-search-pattern");
	expect_commands("E/nosuch", "", "picker-search-nothing");
	/* Closed groups stay closed until another search. */
	expect_commands("E/sched<Enter><Left><Left>", "", "picker-search-closed");
	expect_commands("E/sched<Esc>", "", "picker-80x24");
	/* The found row stays visible after the search. */
	expect_commands("E/sched_w<Enter><Esc>", "", "picker-search-over");
}

static void test_marks(void **state)
{
	(void)state;
	expect_commands("E/clock<Enter>  ", "", "picker-marked");
	expect_commands("E/clock<Enter>  <Enter>", "add cpu-clock,task-clock\n", NULL);
	expect_commands("E/clock<Enter>  {", "add {cpu-clock,task-clock}\n", NULL);
	/* Events are added in the order of their marks.  A second mark removes the first. */
	expect_commands("E/clock<Enter><Down> <Up> <Enter>", "add task-clock,cpu-clock\n", NULL);
	expect_commands("E/clock<Enter> k <Down> <Enter>", "add task-clock\n", NULL);
	expect_commands("E/clock<Enter> {", "", "picker-group-of-one");
	expect_commands("E ", "", "picker-no-mark");
	expect_commands("E/clock<Enter>  <Esc><Esc><Enter>", "add task-clock\n", NULL);
}

static void test_typing(void **state)
{
	(void)state;
	expect_commands("E:", "", "picker-type");
	expect_commands("E:cycles:u,task-clock<Enter>", "add cycles:u,task-clock\n", NULL);
	expect_commands("Ee<Enter>", "", NULL);
	expect_commands("E:cycles<Esc>", "", "picker-80x24");
	/* The prompt shows the position of the error and keeps its text. */
	expect_commands("E:cycles,%nstructions:u<Enter>", "", "picker-type-wrong");
	expect_commands(
		"E:instructions,%:u<Enter><Tab><Enter>", "add instructions,cycles:u\n", NULL);
	expect_commands("E:cycles,%i<Enter><Tick>\x04<Enter>", "add cycles,i\n", NULL);
}

static void test_completion(void **state)
{
	(void)state;
	expect_commands("E:sched", "", "picker-complete");
	/* Tab completes the common part first, then each name in turn. */
	expect_commands("E:cycles,sche<Tab>", "", "picker-complete-common");
	expect_commands("E:sch<Tab><Tab><Tab><Enter>", "add sched:sched_switch\n", NULL);
	expect_commands(
		"E:sch<Tab><Tab><Tab><Tab><Tab><Enter>", "add sched:sched_process_fork\n", NULL);
	expect_commands("E:task<Tab>:u<Enter>", "add task-clock:u\n", NULL);
	/* A part of a name, a second name, and a similar name. */
	expect_commands("E:wakeup<Tab><Enter>", "add sched:sched_wakeup\n", NULL);
	expect_commands("E:{cpu-cy<Tab>}<Enter>", "add {cycles}\n", NULL);
	expect_commands("E:tsak-clokc", "", "picker-complete-near");
	expect_commands("E:tsak-clokc<Tab><Enter>", "add task-clock\n", NULL);
	expect_commands("E:kpro<Tab>do_exit<Enter>", "add kprobe:do_exit\n", NULL);
	expect_commands("E:kprobe:do_ex", "", "picker-complete-form");
	expect_commands("E:qqqqqqqqq<Tab><Enter>", "add qqqqqqqqq\n", NULL);
}

/* The prompt takes events that need a value from the user. */
static void test_forms(void **state)
{
	(void)state;
	expect_commands("E/breakpoint<Enter><Enter>counter:w<Enter>", "add mem:counter:w\n", NULL);
	expect_commands("E/energy-of<Enter><Enter>", "", "picker-value-asked");
	expect_commands("E/energy-of<Enter> ", "", NULL);
}

static void test_history(void **state)
{
	(void)state;
	expect_commands("E:a1<Enter>:b2<Enter>:<Up><Up><Enter>", "add a1\nadd b2\nadd a1\n", NULL);
	expect_commands("E:a1<Enter>:b2<Enter>:c<Up><Up><Up><Down>3<Enter>",
		"add a1\nadd b2\nadd b23\n", NULL);
	/* The unfinished text comes back.  Another picker has the same history. */
	expect_commands("E:a1<Enter>:cc<Up><Down><Enter>", "add a1\nadd cc\n", NULL);
	expect_commands("E:a1<Enter>qE:<Up><Enter>", "add a1\nadd a1\n", NULL);
	/* The history also keeps wrong text. */
	expect_commands("E:%1<Enter><Esc>:<Up><Backspace><Backspace>b<Enter>", "add b\n", NULL);
}

/* A second Enter before the session has answered does not add the event twice. */
static void test_not_answered_yet(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "E/task<Enter><Enter><Enter>");
	assert_string_equal(fixture->fake.commands, "add task-clock\n");
	fixture->fake.model.status.last_note++;
	keys(fixture, "<Enter>");
	assert_string_equal(fixture->fake.commands, "add task-clock\nadd task-clock\n");
	/* If no answer comes, Enter works again after some time. */
	keys(fixture, "<Tick><Tick><Tick><Tick><Tick><Tick><Tick><Enter>");
	assert_string_equal(
		fixture->fake.commands, "add task-clock\nadd task-clock\nadd task-clock\n");
	finish(fixture);
}

static void test_refused(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	fixture->fake.refuse = ENOMEM;
	keys(fixture, "E/task<Enter><Enter>");
	assert_non_null(strstr(fixture->screen.message, "cannot be added"));
	finish(fixture);
}

static void test_looking(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	struct model *model = &fixture->fake.model;

	(void)state;
	keys(fixture, "E");
	model->looking.active = true;
	strcpy(model->looking.symbol, "counter");
	strcpy(model->looking.file, "libfoo.so.1");
	keys(fixture, "<Tick>");
	compare(fixture, "picker-looking");
	keys(fixture, "<Esc>");
	assert_string_equal(fixture->fake.commands, "look cancel\n");
	keys(fixture, "<Tick>");
	compare(fixture, "picker-looked");
	finish(fixture);
}

static void test_mouse(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	int y;

	(void)state;
	keys(fixture, "E");
	screen_draw(&fixture->screen);
	y = fixture->screen.body.y + 2; /* the first row */
	click(fixture, 10, y + 1);
	assert_string_equal(fixture->fake.commands, "");
	click(fixture, 10, y + 1);
	assert_string_equal(fixture->fake.commands, "drop 1\n");
	/* A click below the list has no effect. */
	click(fixture, 10, fixture->screen.body.y + fixture->screen.body.height - 1);
	click(fixture, 10, fixture->screen.body.y + fixture->screen.body.height - 1);
	assert_string_equal(fixture->fake.commands, "drop 1\n");
	finish(fixture);
}

/* The cursor stays on its row when new rows come above it. */
static void test_cursor_sticks(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	struct engine_status *status = &fixture->fake.model.status;

	(void)state;
	keys(fixture, HARDWARE "<Right><Down><Down>");
	status->events[status->n_events++] = (struct engine_event_status){
		.id = 9, .open = true, .enabled = true, .name = "uprobe:libc.so.6:0x1234"};
	keys(fixture, "<Tick><Enter>");
	assert_string_equal(fixture->fake.commands, "add instructions\n");
	compare(fixture, "picker-sticks");
	finish(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_add_and_drop),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_typing),
		cmocka_unit_test(test_completion),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_not_answered_yet),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_looking),
		cmocka_unit_test(test_mouse),
		cmocka_unit_test(test_cursor_sticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
