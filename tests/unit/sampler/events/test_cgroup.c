/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_cgroup.c - cgroup mounts of version 1, 2 and both; cgroups by path and container id.
 *
 * The cgroups are directories of a temporary tree.
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
#include <unistd.h>

#include <cmocka.h>

#include "sampler/events/cgroup.h"
#include "tests/unit/scratch.h"

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B "0123456789abffff0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_C "c0ffee000000cdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_D "d00d00000000cdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct tree {
	char root[64];
	struct cgroup_mounts mounts;
};

static void make(const struct tree *tree, const char *path, const char *procs)
{
	char full[PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s/cgroup.procs", tree->root, path);
	for (char *at = full + strlen(tree->root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		assert_true(!mkdir(full, 0755) || errno == EEXIST);
		*at = '/';
	}
	file = fopen(full, "we");
	assert_non_null(file);
	fputs(procs, file);
	fclose(file);
}

static int make_tree(void **state)
{
	static struct tree tree;

	memset(&tree, 0, sizeof(tree));
	strcpy(tree.root, "/tmp/strobe-cgroup-XXXXXX");
	assert_non_null(mkdtemp(tree.root));
	snprintf(tree.mounts.unified, sizeof(tree.mounts.unified), "%s/v2", tree.root);
	make(&tree, "v2", "1\n");
	make(&tree, "v2/system.slice/ssh.service", "10\n");
	make(&tree, "v2/system.slice/cron.service", "");
	make(&tree, "v2/system.slice/docker-" ID_A ".scope", "20\n0\n21\n");
	make(&tree, "v2/system.slice/docker-" ID_A ".scope/init", "22\n");
	make(&tree, "v2/docker/" ID_B, "30\n");
	make(&tree, "v2/machine.slice/libpod-" ID_C ".scope/container", "40\n");
	make(&tree, "v2/machine.slice/libpod-conmon-" ID_C ".scope", "41\n");
	make(&tree, "v2/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID_D ".scope", "50\n");
	make(&tree, "v2/user.slice/deadbeef", "60\n");
	make(&tree, "v1/web", "70\n");
	make(&tree, "memory/web", "70\n");
	*state = &tree;
	return 0;
}

static int remove_tree(void **state)
{
	const struct tree *tree = *state;

	return scratch_remove_tree(tree->root);
}

static void test_mounts(void **state)
{
	static const char hybrid[] =
		"proc /proc proc rw 0 0\n"
		"cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0\n"
		"cgroup /sys/fs/cgroup/perf\\040event cgroup rw,net_cls,perf_event 0 0\n"
		"cgroup /sys/fs/cgroup/mem cgroup rw,memory 0 0\n"
		"cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nsdelegate 0 0\n"
		"cgroup2 /other cgroup2 rw 0 0\n";
	struct cgroup_mounts mounts;

	(void)state;
	cgroup_parse_mounts(hybrid, &mounts);
	assert_string_equal(mounts.perf_event, "/sys/fs/cgroup/perf event");
	assert_string_equal(mounts.unified, "/sys/fs/cgroup/unified");
	assert_string_equal(mounts.other, "/sys/fs/cgroup/cpu");
	assert_string_equal(mounts.memory, "/sys/fs/cgroup/mem");
	assert_string_equal(cgroup_root(&mounts), "/sys/fs/cgroup/perf event");
	/* Events use version 2 if version 1 has no perf_event controller. */
	cgroup_parse_mounts("cgroup /c cgroup rw,noperf_event,perf_events 0 0\n"
			    "cgroup2 /u cgroup2 rw 0 0\n",
		&mounts);
	assert_string_equal(cgroup_root(&mounts), "/u");
	cgroup_parse_mounts("cgroup /c cgroup rw,cpu 0 0\n", &mounts);
	assert_null(cgroup_root(&mounts));
	assert_string_equal(mounts.other, "/c");
	cgroup_parse_mounts("cgroup2\ncgroup2 /u\n\n cgroup2 cgroup2", &mounts);
	assert_null(cgroup_root(&mounts));
	cgroup_parse_mounts("", &mounts);
	assert_null(cgroup_root(&mounts));
}

static void write_limit(const struct tree *tree, const char *below, const char *text)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", tree->root, below);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void test_limits(void **state)
{
	const struct tree *tree = *state;
	struct cgroup_mounts mounts = tree->mounts;

	assert_int_equal(cgroup_memory_limit_of(&mounts, "0::/user.slice/deadbeef\n"), 0);
	write_limit(tree, "v2/user.slice/deadbeef/memory.max", "max\n");
	assert_int_equal(cgroup_memory_limit_of(&mounts, "0::/user.slice/deadbeef\n"), 0);
	/* The lowest limit of the cgroup and its ancestors counts. */
	write_limit(tree, "v2/user.slice/memory.max", "67108864\n");
	assert_int_equal(
		cgroup_memory_limit_of(&mounts, "1:name=x:/\n0::/user.slice/deadbeef\n"), 64 << 20);
	write_limit(tree, "v2/user.slice/deadbeef/memory.max", "33554432\n");
	assert_int_equal(cgroup_memory_limit_of(&mounts, "0::/user.slice/deadbeef\n"), 32 << 20);
	assert_int_equal(cgroup_memory_limit_of(&mounts, "0::/user.slice"), 64 << 20);
	assert_int_equal(cgroup_memory_limit_of(&mounts, "0::/\n"), 0);
	assert_int_equal(cgroup_memory_limit_of(&mounts, ""), 0);
	assert_int_equal(cgroup_memory_limit_of(&mounts, "0::"), 0);
	/* If both versions are mounted, version 1 has the controller. */
	snprintf(mounts.memory, sizeof(mounts.memory), "%s/memory", tree->root);
	write_limit(tree, "memory/memory.limit_in_bytes", "9223372036854771712\n");
	write_limit(tree, "memory/web/memory.limit_in_bytes", "16777216\n");
	assert_int_equal(
		cgroup_memory_limit_of(&mounts, "9:cpu:/\n4:a,memory:/web\n0::/user.slice\n"),
		16 << 20);
	assert_int_equal(cgroup_memory_limit_of(&mounts, "4:memory:/\n"), 0);
}

static void found(const struct tree *tree, const char *name, const char *wanted)
{
	char path[PATH_MAX];
	int ret = cgroup_find(&tree->mounts, name, path, sizeof(path));

	if (ret)
		fail_msg("'%s': %s", name, strerror(-ret));
	if (strncmp(path, tree->root, strlen(tree->root)) != 0 ||
		strcmp(path + strlen(tree->root), wanted) != 0)
		fail_msg("'%s' is %s", name, path);
}

static void not_found(const struct tree *tree, const char *name, int error)
{
	char path[PATH_MAX];

	assert_int_equal(cgroup_find(&tree->mounts, name, path, sizeof(path)), -error);
	assert_string_equal(path, "");
}

static void test_paths(void **state)
{
	const struct tree *tree = *state;
	char path[PATH_MAX];

	found(tree, "system.slice/ssh.service", "/v2/system.slice/ssh.service");
	found(tree, "/system.slice/ssh.service/", "/v2/system.slice/ssh.service");
	found(tree, "/", "/v2");
	snprintf(path, sizeof(path), "%s/v2/user.slice", tree->root);
	found(tree, path, "/v2/user.slice");
	not_found(tree, "ssh.service", ENOENT);
	not_found(tree, "system.slice/../user.slice", ENOENT);
	not_found(tree, "system.slice/cgroup.procs", ENOENT);
	snprintf(path, sizeof(path), "%s/memory/web", tree->root);
	not_found(tree, path, EXDEV);
	snprintf(path, sizeof(path), "%s/v2er", tree->root);
	not_found(tree, path, ENOENT);
	assert_int_equal(cgroup_find(&tree->mounts, "user.slice", path, 20), -ENAMETOOLONG);
}

static void test_version_1_goes_first(void **state)
{
	struct tree tree = *(struct tree *)*state;
	char path[PATH_MAX];

	snprintf(tree.mounts.perf_event, sizeof(tree.mounts.perf_event), "%s/v1", tree.root);
	found(&tree, "web", "/v1/web");
	not_found(&tree, "system.slice", ENOENT);
	snprintf(path, sizeof(path), "%s/v2/system.slice/ssh.service", tree.root);
	not_found(&tree, path, EXDEV);
	memset(&tree.mounts, 0, sizeof(tree.mounts));
	not_found(&tree, "web", ENODEV);
}

static void test_containers(void **state)
{
	const struct tree *tree = *state;

	found(tree, ID_A, "/v2/system.slice/docker-" ID_A ".scope");
	found(tree, "0123456789abc", "/v2/system.slice/docker-" ID_A ".scope");
	found(tree, "0123456789abf", "/v2/docker/" ID_B);
	found(tree, "c0ffee000000", "/v2/machine.slice/libpod-" ID_C ".scope");
	found(tree, "d00d00000000",
		"/v2/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID_D ".scope");
	not_found(tree, "0123456789ab", EEXIST);
	not_found(tree, "0123456789a", ENOENT); /* too short for an id */
	not_found(tree, "123456789abc", ENOENT); /* the middle of an id */
	not_found(tree, "deadbeefdead", ENOENT);
	not_found(tree, ID_A "0", ENOENT);
}

static void test_near_names(void **state)
{
	const struct tree *tree = *state;
	char near[PATH_MAX];

	cgroup_near(&tree->mounts, "system.slice/shs.service", near, sizeof(near));
	assert_string_equal(near, "system.slice/ssh.service");
	cgroup_near(&tree->mounts, "ssh.service", near, sizeof(near));
	assert_string_equal(near, "system.slice/ssh.service");
	cgroup_near(&tree->mounts, "/usr.slice", near, sizeof(near));
	assert_string_equal(near, "user.slice");
	cgroup_near(&tree->mounts, "nothing-like-it", near, sizeof(near));
	assert_string_equal(near, "");
}

static void test_labels(void **state)
{
	const struct tree *tree = *state;
	char label[CGROUP_LABEL_MAX];

	cgroup_label(&tree->mounts, "/x/system.slice/ssh.service", label);
	assert_string_equal(label, "ssh.service");
	cgroup_label(&tree->mounts, "/x/docker-" ID_A ".scope", label);
	assert_string_equal(label, "0123456789ab");
	cgroup_label(&tree->mounts, tree->mounts.unified, label);
	assert_string_equal(label, "/");
	cgroup_label(&tree->mounts, "/x/a-name-that-is-longer-than-any-column-of-a-table-could-be",
		label);
	assert_int_equal(strlen(label), CGROUP_LABEL_MAX - 1);
}

static void test_pids(void **state)
{
	const struct tree *tree = *state;
	char path[PATH_MAX];
	int32_t *pids;
	size_t n;

	assert_int_equal(cgroup_find(&tree->mounts, ID_A, path, sizeof(path)), 0);
	assert_int_equal(cgroup_pids(path, &pids, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(pids[0], 20);
	assert_int_equal(pids[1], 21);
	assert_int_equal(pids[2], 22);
	free(pids);
	assert_int_equal(
		cgroup_find(&tree->mounts, "system.slice/cron.service", path, sizeof(path)), 0);
	assert_int_equal(cgroup_pids(path, &pids, &n), 0);
	assert_int_equal(n, 0);
	free(pids);
	assert_int_equal(cgroup_pids("/nonexistent/cgroup", &pids, &n), -ENOENT);
	assert_int_equal(cgroup_count(&tree->mounts, 1000), 16);
	assert_int_equal(cgroup_count(&tree->mounts, 5), 5);
}

static void test_identity(void **state)
{
	const struct tree *tree = *state;
	uint64_t before, after;
	char path[PATH_MAX], other[PATH_MAX];

	snprintf(path, sizeof(path), "%s/again", tree->root);
	snprintf(other, sizeof(other), "%s/other", tree->root);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(cgroup_identity(path, &before), 0);
	assert_int_equal(mkdir(other, 0755), 0);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(cgroup_identity(path, &after), -ENOENT);
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(cgroup_identity(path, &after), 0);
	assert_true(before != after);
}

static void test_spread(void **state)
{
	static const struct event_cgroup cgroups[] = {{"/a", "a"}, {"/b", "b"}};
	struct event_spec specs[4] = {0}, *out;
	size_t n;

	(void)state;
	strcpy(specs[0].name, "x");
	strcpy(specs[1].name, "y");
	strcpy(specs[2].name, "z");
	specs[1].group = specs[2].group = 7;
	specs[3].cgroup = "/own";
	assert_int_equal(cgroup_spread(specs, 4, cgroups, 2, 64, &out, &n), 0);
	assert_int_equal(n, 7);
	assert_string_equal(out[0].name, "x");
	assert_string_equal(out[0].cgroup, "/a");
	assert_string_equal(out[1].name, "x");
	assert_string_equal(out[1].cgroup_label, "b");
	/* A group stays together, and each cgroup has its own copy. */
	assert_string_equal(out[2].name, "y");
	assert_string_equal(out[3].name, "z");
	assert_string_equal(out[3].cgroup, "/a");
	assert_int_equal(out[2].group, out[3].group);
	assert_int_equal(out[4].group, out[5].group);
	assert_true(out[2].group != out[4].group);
	assert_string_equal(out[5].cgroup, "/b");
	assert_string_equal(out[6].cgroup, "/own");
	free(out);
	assert_int_equal(cgroup_spread(specs, 4, cgroups, 2, 6, &out, &n), -E2BIG);
	assert_null(out);
	assert_int_equal(cgroup_spread(specs, 4, NULL, 0, 64, &out, &n), 0);
	assert_int_equal(n, 4);
	assert_null(out[0].cgroup);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mounts),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_version_1_goes_first),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_near_names),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_pids),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_spread),
	};
	return cmocka_run_group_tests_name("cgroup", tests, make_tree, remove_tree);
}
