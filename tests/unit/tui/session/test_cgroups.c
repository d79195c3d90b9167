/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_cgroups.c - named cgroups: messages if one is missing, unique labels, empty cgroups.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/unit/limits_fixture.h"
#include "tests/unit/scratch.h"
#include "tui/session/cgroups.h"

static const char *const places[] = {"", "/web", "/a", "/a/web", "/b", "/b/web"};

static int make_tree(void **state)
{
	static struct cgroup_mounts mounts;

	memset(&mounts, 0, sizeof(mounts));
	strcpy(mounts.unified, "/tmp/strobe-cgroups-XXXXXX");
	assert_non_null(mkdtemp(mounts.unified));
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char path[128];
		FILE *file;

		snprintf(path, sizeof(path), "%s%s", mounts.unified, places[i]);
		assert_true(!mkdir(path, 0755) || errno == EEXIST);
		strcat(path, "/cgroup.procs");
		file = fopen(path, "we");
		assert_non_null(file);
		fputs(strstr(places[i], "web") ? "" : "12\n", file);
		fclose(file);
	}
	*state = &mounts;
	return 0;
}

static int remove_tree(void **state)
{
	const struct cgroup_mounts *mounts = *state;

	return scratch_remove_tree(mounts->unified);
}

static void refused(const struct cgroup_mounts *mounts, const char *name, const char *wanted)
{
	char *names[] = {(char *)(uintptr_t) "web", (char *)(uintptr_t)name};
	struct event_cgroup cgroups[CGROUPS_MAX];
	char message[1024] = "";
	size_t n;

	assert_true(cgroups_find(mounts, names, 2, cgroups, &n, message, sizeof(message)) < 0);
	expect_text(message, wanted);
}

static void test_refusals(void **state)
{
	static const struct cgroup_mounts none, only_v1 = {.other = "/sys/fs/cgroup/cpu"};
	char out[1024];

	refused(*state, "wbe", "-G 'wbe': there is no such cgroup");
	refused(*state, "wbe", "did you mean 'web'?");
	refused(*state, "nothing-of-the-kind", "List them with: find ");
	refused(*state, "c\033[2Jd", "'c?[2Jd'");
	cgroups_explain(&none, "x", ENODEV, out, sizeof(out));
	expect_text(out, "mount -t cgroup2 none /sys/fs/cgroup");
	cgroups_explain(&only_v1, "x", ENODEV, out, sizeof(out));
	expect_text(out, "-o perf_event none");
	cgroups_explain(*state, "x", EXDEV, out, sizeof(out));
	expect_text(out, "hierarchy that events do not use");
	cgroups_explain(*state, "x", EEXIST, out, sizeof(out));
	expect_text(out, "more digits");
	cgroups_explain(*state, "x", EACCES, out, sizeof(out));
	expect_text(out, "may not look into");
}

static void test_labels_differ(void **state)
{
	char *names[] = {(char *)(uintptr_t) "web", (char *)(uintptr_t) "a/web",
		(char *)(uintptr_t) "/web/", (char *)(uintptr_t) "b/web", (char *)(uintptr_t) "b"};
	struct event_cgroup cgroups[CGROUPS_MAX];
	char message[256], text[256];
	size_t n;

	assert_int_equal(cgroups_find(*state, names, 5, cgroups, &n, message, sizeof(message)), 0);
	assert_int_equal(n, 4); /* one was named twice */
	assert_string_equal(cgroups[0].label, "web");
	assert_string_equal(cgroups[1].label, "a/web");
	assert_string_equal(cgroups[2].label, "b/web");
	assert_string_equal(cgroups[3].label, "b");
	cgroups_describe(cgroups, n, text, sizeof(text));
	assert_string_equal(text, "4 cgroups: web, a/web, b/web, b");
	cgroups_describe(cgroups, 1, text, sizeof(text));
	assert_string_equal(text, "cgroup web");
}

static void test_empty(void **state)
{
	char *names[] = {(char *)(uintptr_t) "a", (char *)(uintptr_t) "web",
		(char *)(uintptr_t) "b/web", (char *)(uintptr_t) "b"};
	struct event_cgroup cgroups[CGROUPS_MAX];
	char message[256];
	int32_t *pids;
	size_t n, n_pids;

	assert_int_equal(cgroups_find(*state, names, 4, cgroups, &n, message, sizeof(message)), 0);
	cgroups_empty(cgroups, n, message, sizeof(message));
	expect_text(message, "'web', 'b/web': these cgroups have no task now");
	cgroups_empty(cgroups, 2, message, sizeof(message));
	expect_text(message, "'web': this cgroup has no task now");
	cgroups_empty(cgroups, 1, message, sizeof(message));
	assert_string_equal(message, "");
	assert_int_equal(cgroups_pids(cgroups, n, &pids, &n_pids), 0);
	assert_int_equal(n_pids, 2);
	assert_int_equal(pids[1], 12);
	free(pids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_labels_differ),
		cmocka_unit_test(test_empty),
	};
	return cmocka_run_group_tests_name("cgroups", tests, make_tree, remove_tree);
}
