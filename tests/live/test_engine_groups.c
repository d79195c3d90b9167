/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_engine_groups.c - groups of events, cgroups, and events that come and go without leaks.
 */
#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "tests/live/engine_fixture.h"
#include "tests/live/engine_orders.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static void event_of(
	struct event_spec *spec, const char *name, uint32_t type, uint64_t config, uint64_t period)
{
	*spec = (struct event_spec){.attr = {.type = type, .config = config}};
	snprintf(spec->name, sizeof(spec->name), "%s", name);
	event_set_period(spec, period);
}

static struct rig *rig_of(const struct event_spec *specs, size_t n)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);

	free(rig->events);
	rig->events = calloc(n, sizeof(*specs));
	assert_non_null(rig->events);
	memcpy(rig->events, specs, n * sizeof(*specs));
	rig->config.events = rig->events;
	rig->config.n_events = n;
	return rig;
}

#define PAGES 3000

/* Makes page faults, and then runs long enough for a sample of a clock. */
static void body_orders(void *arg)
{
	(void)arg;
	for (;;) {
		wait_order();
		touch_pages(PAGES);
		burn(20000000);
		tell_done();
	}
}

static bool is_running(struct rig *rig, uint64_t arg)
{
	(void)arg;
	return rig->status.state == ENGINE_RUNNING && has_note(rig, NOTE_ATTACHED);
}

static void fault_group(struct event_spec specs[3])
{
	event_of(&specs[0], "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	event_of(&specs[1], "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 1);
	event_of(&specs[2], "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1);
	for (size_t i = 0; i < 3; i++)
		specs[i].group = 7;
}

/* Members run at the same time and see the same faults, as a unit. */
static void test_members_sample(void **state)
{
	struct event_spec specs[3];
	struct rig *rig;
	int32_t pid;

	(void)state;
	fault_group(specs);
	open_pipes();
	rig = rig_of(specs, 3);
	pid = start_child(body_orders, NULL);
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, is_running, 0));
	give_order();
	wait_done();
	rig_stop(rig);
	assert_int_equal(rig->status.n_events, 3);
	assert_true(rig->status.events[0].group != 0);
	assert_int_equal(rig->status.events[0].group, rig->status.events[1].group);
	assert_true(rig->status.events[0].count > 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(rig->status.events[i].samples + rig->status.events[i].lost,
			rig->status.events[i].count);
	assert_true(rig->status.events[0].enabled_ns > 0);
	assert_int_equal(rig->status.events[0].running_ns, rig->status.events[0].enabled_ns);
	end_child(pid);
	close_pipes();
	rig_free(rig);
}

static uint64_t weight_of(struct rig *rig, uint8_t id)
{
	struct snapshot snapshot;
	uint64_t weight = 0;

	assert_int_equal(store_snapshot(engine_store(rig->engine), 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++)
		for (uint32_t c = 0; c < snapshot.slices[i]->cells; c++)
			if (snapshot.slices[i]->event[c] == id)
				weight += snapshot.slices[i]->weight[c];
	snapshot_release(engine_store(rig->engine), &snapshot);
	return weight;
}

/* {cpu-clock,page-faults}:S: the member's counts become weights of the leader's samples. */
static void read_group(enum engine_scope scope, bool system_wide)
{
	struct event_spec specs[2];
	struct rig *rig;
	int32_t pid;

	event_of(&specs[0], "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000);
	event_of(&specs[1], "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	specs[0].group = specs[1].group = 1;
	specs[0].read_group = specs[1].read_group = true;
	open_pipes();
	rig = rig_of(specs, 2);
	rig->config.scope = scope;
	pid = start_child(body_orders, NULL);
	if (system_wide)
		rig->config.target.system_wide = true;
	else
		rig_target(rig, &pid);
	rig_start(rig);
	if (system_wide)
		assert_true(rig_wait(rig, has_samples, 1));
	else
		assert_true(rig_wait(rig, is_running, 0));
	give_order();
	wait_done();
	rig_stop(rig);
	assert_int_equal(rig->status.unknown_records, 0);
	assert_int_equal(rig->status.events[1].freq_hz + rig->status.events[1].period, 0);
	print_message("scope %d: leader %lu samples, member: %lu samples, weight %lu of %lu\n",
		scope, (unsigned long)rig->status.events[0].samples,
		(unsigned long)rig->status.events[1].samples,
		(unsigned long)weight_of(rig, rig->status.events[1].id),
		(unsigned long)rig->status.events[1].count);
	assert_true(rig->status.events[0].samples > 0);
	/* Only samples of the leader carry a weight. */
	assert_true(rig->status.events[1].samples > 0);
	assert_true(rig->status.events[1].samples <= rig->status.events[0].samples);
	assert_true(weight_of(rig, rig->status.events[1].id) <= rig->status.events[1].count);
	/* The leader was sampled after the last fault. */
	assert_true(weight_of(rig, rig->status.events[1].id) >= PAGES);
	end_child(pid);
	close_pipes();
	rig_free(rig);
}

static void test_leader_reads(void **state)
{
	(void)state;
	read_group(SCOPE_TASK, false);
}

static void test_leader_reads_on_cpus(void **state)
{
	(void)state;
	need_cpu_wide();
	read_group(SCOPE_AUTO, true);
}

static void test_leader_reads_inherited(void **state)
{
	(void)state;
	read_group(SCOPE_INHERIT, false);
}

/* A member fails to open: the whole group is refused, or each event runs alone if the group is
 * weak. */
static void broken_group(bool weak)
{
	struct event_spec specs[2];
	int32_t pid = start_child(body_both, NULL);
	struct rig *rig;

	event_of(&specs[0], "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000);
	event_of(&specs[1], "nothing", PERF_TYPE_SOFTWARE, 0xff, 1);
	specs[0].group = specs[1].group = 3;
	specs[0].weak_group = specs[1].weak_group = weak;
	rig = rig_of(specs, 2);
	rig_target(rig, &pid);
	rig_start(rig);
	if (weak) {
		assert_true(rig_wait(rig, has_samples, 20));
		assert_true(has_note(rig, NOTE_UNGROUPED));
		assert_int_equal(rig->status.events[0].group, 0);
	} else {
		assert_true(rig_wait(rig, has_state, ENGINE_FAILED));
		assert_int_equal(rig->status.events[0].error, ECANCELED);
		assert_false(rig->status.events[0].open);
		assert_int_equal(rig->status.failure.error, ENOENT);
		assert_string_equal(rig->status.failure.event, "nothing");
	}
	assert_true(has_note(rig, NOTE_EVENT_REFUSED));
	assert_false(rig->status.events[1].open);
	assert_int_equal(rig->status.events[1].error, ENOENT);
	end_child(pid);
	rig_free(rig);
}

static void test_group_is_whole(void **state)
{
	(void)state;
	broken_group(false);
}

static void test_weak_group_falls_apart(void **state)
{
	(void)state;
	broken_group(true);
}

/* --- coming and going --- */

static size_t count_rings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	size_t n = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		n += strstr(line, "[perf_event]") != NULL;
	fclose(maps);
	return n;
}

static bool has_added(struct rig *rig, uint64_t n)
{
	size_t open = 0;

	for (size_t i = 0; i < rig->status.n_events; i++)
		open += rig->status.events[i].open;
	return open == n;
}

static void drop_all_but_first(struct rig *rig)
{
	for (size_t i = 1; i < rig->status.n_events; i++)
		if (rig->status.events[i].open)
			assert_int_equal(
				engine_event_drop(rig->engine, rig->status.events[i].id), 0);
	assert_true(rig_wait(rig, has_added, 1));
}

static void test_fifty_come_and_go(void **state)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t pid = start_child(body_both, NULL);
	struct event_spec specs[3];
	size_t fds, rings;

	(void)state;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 20));
	fds = count_fds();
	rings = count_rings();
	for (uint64_t i = 0; i < 50; i++) {
		if (i % 5 == 4) {
			fault_group(specs);
			assert_int_equal(engine_events_add(rig->engine, specs, 3), 0);
			assert_true(rig_wait(rig, has_added, 4));
		} else {
			event_of(&specs[0], "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS,
				1000 + i);
			snprintf(specs[0].name, sizeof(specs[0].name), "faults-%lu",
				(unsigned long)i % 3);
			assert_int_equal(engine_event_add(rig->engine, specs), 0);
			assert_true(rig_wait(rig, has_added, 2));
		}
		assert_true(count_fds() > fds);
		drop_all_but_first(rig);
	}
	assert_int_equal(count_fds(), fds);
	assert_int_equal(count_rings(), rings);
	/* An event that comes back keeps its id. */
	assert_int_equal(rig->status.n_events, 7);
	rig_stop(rig);
	end_child(pid);
	rig_free(rig);
}

/* --- cgroups --- */

static bool make_cgroup(char path[200], const char *name)
{
	static const char *const mounts[] = {
		"/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	char file[64];

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		snprintf(file, sizeof(file), "%s/cgroup.procs", mounts[i]);
		if (access(file, W_OK))
			continue;
		snprintf(path, 200, "%s/strobe-test-%s-%d", mounts[i], name, (int)getpid());
		if (!mkdir(path, 0755))
			return true;
	}
	return false;
}

static void join_cgroup(const char *path, int32_t pid)
{
	char file[512];
	FILE *procs;

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	procs = fopen(file, "w");
	assert_non_null(procs);
	fprintf(procs, "%d", (int)pid);
	assert_int_equal(fclose(procs), 0);
}

static bool both_sampled(struct rig *rig, uint64_t n)
{
	return rig->status.events[0].samples >= n && rig->status.events[1].samples >= n;
}

static void check_process(struct rig *rig, uint8_t event, int32_t pid)
{
	struct snapshot snapshot;

	assert_int_equal(store_snapshot(engine_store(rig->engine), 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++)
		for (uint32_t c = 0; c < snapshot.slices[i]->cells; c++)
			if (snapshot.slices[i]->event[c] == event)
				assert_int_equal(tasks_label_get(engine_tasks(rig->engine),
							 snapshot.slices[i]->task[c])
							 ->pid,
					pid);
	snapshot_release(engine_store(rig->engine), &snapshot);
}

static void test_one_of_two_cgroups(void **state)
{
	char paths[2][200];
	struct event_spec specs[2];
	int32_t pids[2];
	struct rig *rig;

	(void)state;
	need_cpu_wide();
	for (int i = 0; i < 2; i++) {
		if (!make_cgroup(paths[i], i ? "b" : "a")) {
			if (i)
				rmdir(paths[0]);
			print_message("skipped: no hierarchy of cgroups that can be written\n");
			skip();
		}
		pids[i] = start_child(body_burn, NULL);
		join_cgroup(paths[i], pids[i]);
		event_of(&specs[i], i ? "b" : "a", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
			1000000);
		specs[i].cgroup = paths[i];
	}
	rig = rig_of(specs, 2);
	rig_start(rig);
	assert_true(rig_wait(rig, both_sampled, 100));
	assert_int_equal(rig->status.scope, SCOPE_CPU);
	rig_stop(rig);
	check_process(rig, rig->status.events[0].id, pids[0]);
	check_process(rig, rig->status.events[1].id, pids[1]);
	rig_free(rig);
	for (int i = 0; i < 2; i++) {
		end_child(pids[i]);
		rmdir(paths[i]);
	}
}

static void test_cgroup_is_no_task(void **state)
{
	int32_t pid = start_child(body_burn, NULL);
	struct event_spec spec;
	struct rig *rig;

	(void)state;
	event_of(&spec, "a", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000);
	spec.cgroup = "/sys/fs/cgroup";
	rig = rig_of(&spec, 1);
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_state, ENGINE_FAILED));
	assert_int_equal(rig->status.failure.error, EINVAL);
	end_child(pid);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_sample),
		cmocka_unit_test(test_leader_reads),
		cmocka_unit_test(test_leader_reads_on_cpus),
		cmocka_unit_test(test_leader_reads_inherited),
		cmocka_unit_test(test_group_is_whole),
		cmocka_unit_test(test_weak_group_falls_apart),
		cmocka_unit_test(test_fifty_come_and_go),
		cmocka_unit_test(test_one_of_two_cgroups),
		cmocka_unit_test(test_cgroup_is_no_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
