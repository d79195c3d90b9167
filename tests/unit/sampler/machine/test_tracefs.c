/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_tracefs.c - tracepoints by name and by number, in a fake tracefs made of files.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/machine/tracefs.h"
#include "tests/unit/event_fixture.h"

static int make_machine(void **state)
{
	static struct event_fixture fixture;

	fixture_make(&fixture);
	fixture_file(&fixture, "trace/events/sched/empty/id", "");
	fixture_file(&fixture, "trace/events/sched/huge/id", "99999999999999999999\n");
	fixture_file(&fixture, "trace/events/sched/minus/id", "-3\n");
	*state = &fixture;
	return 0;
}

static int remove_machine(void **state)
{
	fixture_remove(*state);
	return 0;
}

static void test_names(void **state)
{
	const struct event_fixture *fixture = *state;
	struct sysfile_names names;

	assert_int_equal(tracefs_subsystems(&fixture->system, &names), 0);
	assert_int_equal(names.n, 3); /* "enable" is a file */
	assert_string_equal(names.names[0], "ftrace");
	assert_string_equal(names.names[1], "sched");
	assert_string_equal(names.names[2], "syscalls");
	sysfile_names_fini(&names);
	assert_int_equal(tracefs_events(&fixture->system, "syscalls", &names), 0);
	assert_int_equal(names.n, 2);
	assert_string_equal(names.names[0], "sys_enter_read");
	sysfile_names_fini(&names);
	assert_int_equal(tracefs_events(&fixture->system, "nothing", &names), -ENOENT);
	assert_int_equal(names.n, 0);
	assert_int_equal(tracefs_events(&fixture->system, "..", &names), -ENOENT);
	assert_int_equal(tracefs_events(&fixture->system, "sched/sched_switch", &names), -ENOENT);
	assert_int_equal(tracefs_events(&fixture->system, "", &names), -ENOENT);
}

static void test_ids(void **state)
{
	const struct event_fixture *fixture = *state;
	const struct system_dirs *system = &fixture->system;
	uint64_t id = 0;

	assert_int_equal(tracefs_id(system, "sched", "sched_switch", &id), 0);
	assert_int_equal(id, 316);
	assert_int_equal(tracefs_id(system, "sched", "sched_swich", &id), -ENOENT);
	assert_int_equal(tracefs_id(system, "sched", "enable", &id), -ENOENT);
	assert_int_equal(tracefs_id(system, "ftrace", "function", &id), -ENOENT); /* has no id */
	assert_int_equal(tracefs_id(system, "sched", "..", &id), -ENOENT);
	assert_int_equal(tracefs_id(system, "sched/sched_switch", "..", &id), -ENOENT);
	assert_int_equal(tracefs_id(system, "sched", "bad", &id), -EBADMSG);
	assert_int_equal(tracefs_id(system, "sched", "empty", &id), -EBADMSG);
	assert_int_equal(tracefs_id(system, "sched", "huge", &id), -EBADMSG);
	assert_int_equal(tracefs_id(system, "sched", "minus", &id), -EBADMSG);
}

static void test_names_of_ids(void **state)
{
	const struct event_fixture *fixture = *state;
	char subsystem[EVENT_NAME_MAX], event[EVENT_NAME_MAX];

	assert_int_equal(tracefs_name_of(&fixture->system, 700, subsystem, event), 0);
	assert_string_equal(subsystem, "syscalls");
	assert_string_equal(event, "sys_enter_read");
	assert_int_equal(tracefs_name_of(&fixture->system, 318, subsystem, event), 0);
	assert_string_equal(event, "sched_wakeup");
	assert_int_equal(tracefs_name_of(&fixture->system, 1, subsystem, event), -ENOENT);
}

static void test_formats(void **state)
{
	const struct event_fixture *fixture = *state;
	char *text;
	size_t len;

	assert_int_equal(tracefs_format(&fixture->system, "sched", "sched_switch", &text, &len), 0);
	assert_string_equal(text, "name: sched_switch\nID: 316\n");
	assert_int_equal(len, strlen(text));
	free(text);
	assert_int_equal(
		tracefs_format(&fixture->system, "sched", "sched_wakeup", &text, &len), -ENOENT);
	assert_null(text);
	assert_int_equal(tracefs_format(&fixture->system, "..", "events", &text, NULL), -ENOENT);
}

static void test_not_mounted(void **state)
{
	const struct system_dirs none = {.sysfs = "/sys"};
	char subsystem[EVENT_NAME_MAX], event[EVENT_NAME_MAX], *text;
	struct sysfile_names names;
	uint64_t id;

	(void)state;
	assert_int_equal(tracefs_subsystems(&none, &names), -ENOENT);
	assert_int_equal(tracefs_events(&none, "sched", &names), -ENOENT);
	assert_int_equal(tracefs_id(&none, "sched", "sched_switch", &id), -ENOENT);
	assert_int_equal(tracefs_format(&none, "sched", "sched_switch", &text, NULL), -ENOENT);
	assert_int_equal(tracefs_name_of(&none, 316, subsystem, event), -ENOENT);
}

/* Readable by root only, as by default. */
static void test_not_permitted(void **state)
{
	const struct event_fixture *fixture = *state;
	struct sysfile_names names;
	char path[256];

	if (!geteuid()) {
		print_message("skipped: nothing is forbidden to root\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/events", fixture->tracefs);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(tracefs_subsystems(&fixture->system, &names), -EACCES);
	assert_int_equal(chmod(path, 0755), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_names_of_ids),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_not_mounted),
		cmocka_unit_test(test_not_permitted),
	};
	return cmocka_run_group_tests_name("tracefs", tests, make_machine, remove_machine);
}
