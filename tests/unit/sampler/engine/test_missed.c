/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_missed.c - tasks that ended before their events were opened, against a fake kernel.
 *
 * They may have slept, so their lifetimes are only a bound.  The CPU time of their process is the
 * other one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/control/config.h"
#include "sampler/engine/internal.h"

#define PID 7
#define TRACKER_FD 200

/* CPU time of the process; clock of its tracker. */
static uint64_t cpu_ns, tracker_ns;

uint64_t __wrap_sys_cpu_ns(int32_t pid);
int __wrap_sys_read(int fd, const struct sys_features *features, struct sys_counts *out);

uint64_t __wrap_sys_cpu_ns(int32_t pid)
{
	assert_int_equal(pid, PID);
	return cpu_ns;
}

int __wrap_sys_read(int fd, const struct sys_features *features, struct sys_counts *out)
{
	(void)features;
	assert_int_equal(fd, TRACKER_FD);
	*out = (struct sys_counts){.enabled_ns = tracker_ns, .running_ns = tracker_ns};
	return 0;
}

static int setup(void **state)
{
	const int32_t pid = PID;
	const struct event_spec spec = {.name = "cpu-clock",
		.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK}};
	const struct engine_config config = {.events = &spec,
		.n_events = 1,
		.memory_bytes = 16 << 20,
		.target = {.pids = &pid, .n_pids = 1}};
	struct engine *engine;

	assert_int_equal(engine_new(&engine, &config), 0);
	engine->status.scope = SCOPE_TASK;
	engine->status.n_events = 2;
	engine->choices[0] = (struct choice){.spec = spec, .enabled = true, .open = true};
	engine->choices[1] = (struct choice){.spec = spec, .leader = 1, .enabled = true};
	assert_non_null(follow_add_process(&engine->follow, PID, true));
	cpu_ns = tracker_ns = 0;
	*state = engine;
	return 0;
}

static int teardown(void **state)
{
	struct engine *engine = *state;

	follow_fini(&engine->follow);
	engine_free(engine);
	return 0;
}

/* A thread of the process that lived for so many ns. */
static void miss(struct engine *engine, uint64_t lived_ns)
{
	const struct follow_task task = {
		.tid = 8, .process = follow_process(&engine->follow, PID), .born_ns = 1000};

	attach_miss(engine, &task, 1000 + lived_ns);
}

static void expect(struct engine *engine, uint64_t late_ns)
{
	attach_settle_missed(engine);
	assert_int_equal(engine->choices[0].coverage.late_ns, late_ns);
	/* This event was dropped. */
	assert_int_equal(engine->choices[1].coverage.late_ns, 0);
}

static void test_cpu_time_is_the_most(void **state)
{
	struct engine *engine = *state;
	struct point point = {.pid = PID, .tid = PID, .cpu = -1, .tracker_fd = TRACKER_FD};

	tracker_ns = 900;
	engine_read_point(engine, &point);
	cpu_ns = 1000;
	miss(engine, 500);
	miss(engine, 500);
	expect(engine, 100);
	/* Their time counts once. */
	expect(engine, 100);
	miss(engine, 500);
	expect(engine, 100);
	cpu_ns = 1800;
	tracker_ns = 1000;
	engine_read_point(engine, &point);
	miss(engine, 30);
	expect(engine, 130);
	/* Lifetimes from before the last tick no longer matter. */
	expect(engine, 130);
	engine_read_point(engine, &point);
	assert_int_equal(follow_process(&engine->follow, PID)->counted_ns, 1800);
}

/* Trackers may run ahead of the process's clock, or behind it. */
static void test_clocks_that_differ(void **state)
{
	struct engine *engine = *state;
	struct point point = {.pid = PID, .tid = PID, .cpu = -1, .tracker_fd = TRACKER_FD};

	tracker_ns = 3000;
	engine_read_point(engine, &point);
	cpu_ns = 1000;
	miss(engine, 500);
	expect(engine, 0);
	cpu_ns = 1500;
	miss(engine, 500);
	expect(engine, 500);
	cpu_ns = 9000;
	miss(engine, 10);
	expect(engine, 510);
	/* Only what came since then is in question. */
	miss(engine, 500);
	expect(engine, 510);
}

/* A thread's point that had no samples is read first. */
static void test_quiet_points(void **state)
{
	struct engine *engine = *state;
	struct follow_process *process = follow_process(&engine->follow, PID);
	struct point point = {.pid = PID, .tid = PID, .cpu = -1, .tracker_fd = TRACKER_FD};
	struct follow_task *task = follow_add_task(&engine->follow, process, PID);

	assert_non_null(task);
	task->point = &point;
	tracker_ns = 900;
	cpu_ns = 1000;
	miss(engine, 500);
	expect(engine, 100);
	task->point = NULL;
}

/* CPU time during a pause is not missed. */
static void test_pause(void **state)
{
	struct engine *engine = *state;

	engine->paused = true;
	cpu_ns = 500;
	miss(engine, 500);
	expect(engine, 0);
	engine->paused = false;
	miss(engine, 400);
	expect(engine, 0);
	cpu_ns = 600;
	miss(engine, 400);
	expect(engine, 100);
}

/* Time on CPUs is not that of one process. */
static void test_points_of_cpus(void **state)
{
	struct engine *engine = *state;
	struct point point = {.pid = PID, .tid = PID, .cpu = 0, .tracker_fd = TRACKER_FD};

	tracker_ns = 900;
	engine_read_point(engine, &point);
	assert_int_equal(follow_process(&engine->follow, PID)->counted_ns, 0);
}

static void test_unknown_cpu_time(void **state)
{
	struct engine *engine = *state;

	miss(engine, 500);
	expect(engine, 500);
	/* The command's CPU time comes from its end. */
	engine->status.command_pid = PID;
	engine->status.command_ended = true;
	engine->launch.cpu_ns = 600;
	miss(engine, 500);
	expect(engine, 600);
}

static void test_not_missed(void **state)
{
	struct engine *engine = *state;

	engine->paused = true;
	miss(engine, 500);
	expect(engine, 0);
	engine->paused = false;
	engine->status.scope = SCOPE_INHERIT;
	miss(engine, 500);
	expect(engine, 0);
}

/* The task lived on in the list until its EXIT record, or for long if that was lost. */
static void test_end_of_a_task(void **state)
{
	struct engine *engine = *state;
	struct follow_process *process = follow_process(&engine->follow, PID);

	for (int32_t tid = 8; tid < 10; tid++) {
		struct follow_task *task = follow_add_task(&engine->follow, process, tid);

		assert_non_null(task);
		task->born_ns = 1000;
		task->gone_ns = 1500;
	}
	target_exit(engine, 8, 1200);
	target_exit(engine, 9, 1000000);
	expect(engine, 700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_cpu_time_is_the_most, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clocks_that_differ, setup, teardown),
		cmocka_unit_test_setup_teardown(test_quiet_points, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(test_points_of_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_cpu_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_missed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end_of_a_task, setup, teardown),
	};

	return cmocka_run_group_tests_name("missed", tests, NULL, NULL);
}
