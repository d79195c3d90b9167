/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_offers.c - a made-up machine's catalogue, read and tried by its thread; the history.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"
#include "tui/base/history.h"
#include "tui/model/offers.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/strobe-offers-XXXXXX", sysfs[64], tracefs[64];
static const struct system_dirs machine_system = {.sysfs = sysfs, .tracefs = tracefs};
static const struct catalogue_target self = {.pid = 0, .cpu = -1};

static void put(const char *path, const char *text)
{
	char full[256];
	FILE *file;

	snprintf(full, sizeof(full), "mkdir -p \"$(dirname '%s/%s')\"", root, path);
	assert_int_equal(system(full), 0);
	snprintf(full, sizeof(full), "%s/%s", root, path);
	file = fopen(full, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int make_machine(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(sysfs, sizeof(sysfs), "%s/sys", root);
	snprintf(tracefs, sizeof(tracefs), "%s/tracing", root);
	put("tracing/available_events", "sched:sched_switch\nblock:block_rq_issue\n");
	/* No tracepoint has this number: the kernel refuses it. */
	put("tracing/events/sched/sched_switch/id", "999999\n");
	put("tracing/events/sched/sched_switch/format",
		"name: sched_switch\nID: 999999\nformat:\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\n"
		"\tfield:char prev_\033comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"\"\n");
	return 0;
}

static int remove_machine(void **state)
{
	(void)state;
	return scratch_remove_tree(root);
}

/* Waits for news. */
static void wait_for(const struct offers *offers)
{
	struct pollfd fd = {.fd = offers_fd(offers), .events = POLLIN};
	uint64_t count;

	assert_int_equal(poll(&fd, 1, 60000), 1);
	assert_int_equal(read(fd.fd, &count, sizeof(count)), sizeof(count));
}

static struct offers *start(struct offers_list *list)
{
	const struct proc_limits limits = {.paranoid = 2};
	struct offers *offers;

	assert_int_equal(offers_new(&offers, &machine_system, &limits), 0);
	for (offers_list(offers, list); !list->entries; offers_list(offers, list))
		wait_for(offers);
	return offers;
}

static size_t find(const struct offers_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->entries[i].name, name))
			return i;
	fail_msg("%s is not in the list", name);
	return 0;
}

static void wait_for_all(struct offers *offers, struct offers_list *list)
{
	for (offers_list(offers, list); list->tried < list->n; offers_list(offers, list))
		wait_for(offers);
}

static void test_nothing_is_tried_without_a_target(void **state)
{
	struct offers_list list;
	struct offers *offers = start(&list);
	struct offer_state told;

	(void)state;
	assert_int_equal(list.tried, 0);
	assert_int_equal(list.error, 0);
	offers_state(offers, 0, &told);
	assert_int_equal(told.state, CATALOGUE_UNTRIED);
	offers_state(offers, list.n, &told);
	assert_int_equal(told.state, CATALOGUE_UNTRIED);
	offers_free(offers);
	offers_free(NULL);
}

static void test_all_are_tried(void **state)
{
	struct offers_list list;
	struct offers *offers = start(&list);
	struct offer_state told;

	(void)state;
	offers_set_target(offers, &self);
	wait_for_all(offers, &list);
	/* The kernel of the test machine may have this PMU, but the made-up sysfs lacks it. */
	offers_state(offers, find(&list, "uprobe:BINARY:FUNCTION"), &told);
	assert_int_equal(told.state, CATALOGUE_REFUSED);
	assert_int_equal(told.error, ENOENT);
	assert_true(told.exactly);
	/* A new target: all events are tried again. A process that does not exist has no events. */
	offers_set_target(offers, &(struct catalogue_target){.pid = INT32_MAX, .cpu = -1});
	do {
		wait_for(offers);
		offers_list(offers, &list);
		offers_state(offers, find(&list, "cpu-clock"), &told);
	} while (told.state != CATALOGUE_REFUSED);
	assert_int_not_equal(told.error, 0);
	offers_free(offers);
}

static void test_details(void **state)
{
	struct offers_list list;
	struct offers *offers = start(&list);
	struct offer_detail detail;
	size_t at = find(&list, "sched:sched_switch");
	struct offer_state told;

	(void)state;
	assert_false(offers_detail(offers, at, &detail));
	offers_set_target(offers, &self);
	while (!offers_detail(offers, at, &detail))
		wait_for(offers);
	/* Control characters are removed. */
	assert_non_null(strstr(detail.fields, "comm[16], pid_t prev_pid"));
	assert_null(strchr(detail.fields, '\033'));
	assert_null(strstr(detail.fields, "common_pid"));
	/* After a moment the tracepoint itself is opened. Its number is invalid on this machine. */
	for (offers_state(offers, at, &told); !told.exactly; offers_state(offers, at, &told)) {
		offers_detail(offers, at, &detail);
		wait_for(offers);
	}
	assert_int_equal(told.state, CATALOGUE_REFUSED);
	assert_true(offers_detail(offers, at, &detail));
	assert_true(detail.reason[0] != '\0');
	offers_free(offers);
}

/* offers_free() does not wait for questions. */
static void test_ends_early(void **state)
{
	const struct proc_limits limits = {.paranoid = 2};
	struct offers *offers;
	struct offer_detail detail;

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(offers_new(&offers, &machine_system, &limits), 0);
		offers_set_target(offers, &self);
		offers_detail(offers, 3, &detail);
		offers_free(offers);
	}
}

static void test_history(void **state)
{
	struct history history = {.n = 0};
	char text[16];

	(void)state;
	assert_null(history_get(&history, 1));
	history_add(&history, "");
	history_add(&history, "a");
	history_add(&history, "b");
	history_add(&history, "a");
	assert_int_equal(history.n, 2);
	assert_string_equal(history_get(&history, 1), "a");
	assert_string_equal(history_get(&history, 2), "b");
	assert_null(history_get(&history, 3));
	assert_null(history_get(&history, 0));
	for (int i = 0; i < 2 * HISTORY_MAX; i++) {
		snprintf(text, sizeof(text), "%d", i);
		history_add(&history, text);
	}
	assert_int_equal(history.n, HISTORY_MAX);
	assert_string_equal(history_get(&history, 1), text);
	history_fini(&history);
	assert_int_equal(history.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_tried_without_a_target),
		cmocka_unit_test(test_all_are_tried),
		cmocka_unit_test(test_details),
		cmocka_unit_test(test_ends_early),
		cmocka_unit_test(test_history),
	};

	return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
