/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_list_events.c - strobe list: the target that events are tried on, messages, three formats.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <json.h>

#include "sampler/control/config.h"
#include "tests/unit/limits_fixture.h"
#include "tui/commands/list_events.h"
#include "tui/session/request.h"

static void test_target(void **state)
{
	const int32_t pid = 42, tid = 43;
	const int cpu = 7;
	struct request request = {0};
	struct engine_target *target = &request.engine.target;
	struct proc_limits limits = limits_ordinary(2);
	struct catalogue_target out;

	(void)state;
	list_events_target(&request, &limits, &out);
	assert_int_equal(out.pid, 0); /* strobe itself: whole CPUs are not permitted */
	assert_int_equal(out.cpu, -1);
	limits.paranoid = 0;
	list_events_target(&request, &limits, &out);
	assert_int_equal(out.pid, -1);
	assert_true(out.cpu >= 0);
	target->cpus = &cpu;
	target->n_cpus = 1;
	limits.paranoid = 2;
	list_events_target(&request, &limits, &out);
	assert_int_equal(out.pid, -1);
	assert_int_equal(out.cpu, 7);
	target->tids = &tid;
	target->n_tids = 1;
	list_events_target(&request, &limits, &out);
	assert_int_equal(out.pid, 43);
	assert_int_equal(out.cpu, -1);
	target->pids = &pid;
	target->n_pids = 1;
	list_events_target(&request, &limits, &out);
	assert_int_equal(out.pid, 42);
}

static void test_states(void **state)
{
	const struct proc_limits limits = limits_ordinary(2);
	struct catalogue_entry entry = {.name = "cycles", .pid = -1, .cpu = 3};
	char reason[512];

	(void)state;
	assert_string_equal(list_events_state(&entry), "not tried");
	entry.error = EACCES;
	list_events_reason(&entry, &limits, reason, sizeof(reason));
	assert_string_equal(reason, "");
	entry.state = CATALOGUE_REFUSED;
	assert_string_equal(list_events_state(&entry), "not permitted");
	list_events_reason(&entry, &limits, reason, sizeof(reason));
	expect_text(reason, "'cycles' on CPU 3: sampling whole CPUs is not permitted");
	entry.error = ENOENT;
	assert_string_equal(list_events_state(&entry), "not on this machine");
	entry.state = CATALOGUE_COUNTS;
	assert_string_equal(list_events_state(&entry), "counted, not sampled");
	entry.state = CATALOGUE_USER_ONLY;
	assert_string_equal(list_events_state(&entry), "user space only");
	entry.state = CATALOGUE_OPENS;
	assert_string_equal(list_events_state(&entry), "sampled");
	list_events_reason(&entry, &limits, reason, sizeof(reason));
	assert_string_equal(reason, "");
}

/* Runs the command. Returns its standard output, which the caller frees. */
static char *printed(const struct request *request, int wanted)
{
	FILE *file = tmpfile();
	int before = dup(STDOUT_FILENO), status;
	char *text;
	long size;

	assert_non_null(file);
	fflush(stdout);
	assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
	status = list_events_run(request);
	fflush(stdout);
	dup2(before, STDOUT_FILENO);
	close(before);
	assert_int_equal(status, wanted);
	size = lseek(fileno(file), 0, SEEK_END);
	text = calloc((size_t)size + 1, 1);
	assert_non_null(text);
	assert_int_equal(pread(fileno(file), text, (size_t)size, 0), size);
	fclose(file);
	return text;
}

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *found = NULL;

	if (!json_object_object_get_ex(object, name, &found))
		fail_msg("no member '%s' in %s", name, json_object_to_json_string(object));
	return found;
}

static void test_json(void **state)
{
	const struct request request = {
		.command = CMD_LIST, .pattern = "page-faults", .format = REPORT_JSON};
	char *text = printed(&request, 0);
	struct json_object *root = json_tokener_parse(text), *events, *event;

	(void)state;
	assert_non_null(root);
	events = member(root, "events");
	/* A full name selects only that event. */
	assert_int_equal(json_object_array_length(events), 1);
	event = json_object_array_get_idx(events, 0);
	assert_string_equal(json_object_get_string(member(event, "name")), "page-faults");
	assert_string_equal(json_object_get_string(member(event, "group")), "software");
	assert_string_equal(json_object_get_string(member(event, "alias")), "faults");
	assert_true(json_object_get_boolean(member(event, "tried")));
	json_object_put(root);
	free(text);
}

static void test_csv(void **state)
{
	struct request request = {.command = CMD_LIST, .pattern = "faults", .format = REPORT_CSV};
	char *text = printed(&request, 0);
	static const char head[] = "name,alias,group,description,opens,error,reason\n";

	(void)state;
	assert_int_equal(strncmp(text, head, strlen(head)), 0);
	expect_text(text, "\npage-faults,faults,software,");
	free(text);
	request.pattern = "*-faults";
	text = printed(&request, 0);
	expect_text(text, "\nmajor-faults,");
	expect_text(text, "\nminor-faults,");
	assert_null(strstr(text, "cpu-clock"));
	free(text);
}

static void test_text(void **state)
{
	const struct request request = {.command = CMD_LIST, .pattern = "cpu-clock"};
	char *text = printed(&request, 0);

	(void)state;
	expect_text(text, "Software events");
	expect_text(text, "cpu-clock");
	assert_null(strstr(text, "page-faults"));
	free(text);
}

static void test_names_alone(void **state)
{
	const struct request request = {.command = CMD_LIST, .names_only = true};
	char *text = printed(&request, 0);

	(void)state;
	expect_text(text, "cycles\n");
	expect_text(text, "\npage-faults\n");
	/* A form that needs arguments is not a name. */
	assert_null(strstr(text, "mem:ADDR"));
	free(text);
}

static void test_nothing_is_called_so(void **state)
{
	const struct request request = {.command = CMD_LIST, .pattern = "zz\033zz"};
	char *text = printed(&request, 1);

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_target),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_names_alone),
		cmocka_unit_test(test_nothing_is_called_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
