/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_switching.c - which events run after a change, against a fake kernel.
 *
 * PERF_EVENT_IOC_REFRESH enables an event.  An event that is switched off, dropped or stopped must
 * get no credit while its rings are drained.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/control/config.h"
#include "sampler/engine/change.h"
#include "sampler/engine/internal.h"
#include "sampler/engine/rate.h"

#include <stdlib.h>

#define EVENTS 3
#define FD(i) (100 + (int)(i))
#define TRACKER_FD 200

/* The kernel's side: the clock of an event runs while it is enabled, the tracker's always. */
static struct kernel {
	bool enabled[EVENTS];
	uint64_t clock_ns[EVENTS];
	uint32_t limit[EVENTS]; /* overflows until the kernel disables the event */
	uint64_t tracker_ns;
} kernel;

static bool is_event(int fd)
{
	return fd >= FD(0) && fd < FD(EVENTS);
}

static int switch_fd(int fd, bool on)
{
	if (is_event(fd))
		kernel.enabled[fd - FD(0)] = on;
	return 0;
}

int __wrap_sys_enable(int fd);
int __wrap_sys_disable(int fd);
int __wrap_sys_refresh(int fd, uint32_t overflows);
int __wrap_sys_read(int fd, const struct sys_features *features, struct sys_counts *out);
int __wrap_sys_set_period(int fd, const struct perf_event_attr *attr);
size_t __wrap_ring_size(const struct ring *ring);

int __wrap_sys_enable(int fd)
{
	return switch_fd(fd, true);
}

int __wrap_sys_disable(int fd)
{
	return switch_fd(fd, false);
}

int __wrap_sys_refresh(int fd, uint32_t overflows)
{
	assert_true(overflows > 0);
	if (is_event(fd))
		kernel.limit[fd - FD(0)] += overflows;
	return switch_fd(fd, true);
}

int __wrap_sys_read(int fd, const struct sys_features *features, struct sys_counts *out)
{
	uint64_t ns = is_event(fd) ? kernel.clock_ns[fd - FD(0)] : kernel.tracker_ns;

	(void)features;
	*out = (struct sys_counts){.value = ns, .enabled_ns = ns, .running_ns = ns};
	return 0;
}

int __wrap_sys_set_period(int fd, const struct perf_event_attr *attr)
{
	(void)fd;
	(void)attr;
	return 0;
}

size_t __wrap_ring_size(const struct ring *ring)
{
	(void)ring;
	return 64 * PAGE_BYTES;
}

static void pass(uint64_t ns)
{
	kernel.tracker_ns += ns;
	for (size_t i = 0; i < EVENTS; i++)
		kernel.clock_ns[i] += kernel.enabled[i] ? ns : 0;
}

struct world {
	struct engine *engine;
	struct point point, *points[1];
	struct channel channel;
	struct point_event events[EVENTS];
};

/* Three page-faults events on one thread; the second leads the third. */
static int setup(void **state)
{
	const int32_t tid = 1;
	const struct event_spec spec = {.name = "page-faults",
		.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS}};
	const struct engine_config config = {.events = &spec,
		.n_events = 1,
		.memory_bytes = 16 << 20,
		.target = {.tids = &tid, .n_tids = 1}};
	struct world *world = calloc(1, sizeof(*world));
	struct engine *engine;

	assert_non_null(world);
	assert_int_equal(engine_new(&world->engine, &config), 0);
	engine = world->engine;
	kernel = (struct kernel){.tracker_ns = NS_PER_S};
	world->points[0] = &world->point;
	world->point = (struct point){.pid = 1,
		.tid = 1,
		.cpu = -1,
		.tracker_fd = TRACKER_FD,
		.channel = &world->channel,
		.events = world->events};
	world->channel.n_events = EVENTS;
	engine->points = world->points;
	engine->n_points = 1;
	engine->status.n_events = EVENTS;
	for (unsigned int i = 0; i < EVENTS; i++) {
		engine->choices[i] = (struct choice){.spec = spec,
			.attr = spec.attr,
			.leader = i == 2 ? 1 : i,
			.enabled = true,
			.open = true,
			.settled = true,
			.record_bytes = 64};
		engine->choices[i].attr.freq = 1;
		engine->choices[i].attr.sample_freq = 997;
		world->events[i] = (struct point_event){
			.next = i + 1 < EVENTS ? &world->events[i + 1] : NULL,
			.point = &world->point,
			.choice = i,
			.leader = i == 2 ? &world->events[1] : NULL,
			.fd = FD(i),
			.on_credit = true,
			.had_credit = true,
			.credit = {.target = 100, .outstanding = 100},
			.clock_ns = kernel.tracker_ns,
		};
		kernel.enabled[i] = true;
		kernel.limit[i] = 100;
	}
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	world->engine->points = NULL;
	world->engine->n_points = 0;
	free(world->engine->round.touched);
	engine_free(world->engine);
	free(world);
	return 0;
}

/* Lets the next round find n samples of an event in the ring. */
static void leave_samples(struct world *world, unsigned int index, uint32_t n)
{
	struct engine *engine = world->engine;

	if (!engine->round.touched) {
		engine->round.touched = calloc(EVENTS, sizeof(struct point_event *));
		assert_non_null(engine->round.touched);
		engine->round.touched_capacity = EVENTS;
	}
	assert_true(kernel.limit[index] >= n);
	kernel.limit[index] -= n;
	world->events[index].consumed = n;
	engine->round.touched[engine->round.n_touched++] = &world->events[index];
}

/* strobe knows how many overflows are left in the kernel, except for those that enabling adds. */
static void check_credit(const struct world *world, unsigned int index)
{
	assert_in_range(world->events[index].credit.outstanding, kernel.limit[index],
		kernel.limit[index] + CREDIT_MIN);
}

static void check(bool first, bool second, bool third)
{
	assert_int_equal(kernel.enabled[0], first);
	assert_int_equal(kernel.enabled[1], second);
	assert_int_equal(kernel.enabled[2], third);
}

static double coverable_s(const struct world *world, unsigned int index)
{
	return world->engine->status.events[index].coverable / NS_PER_S;
}

/* An event that is switched off gets no credit, neither for its last samples nor later. */
static void test_off_with_samples(void **state)
{
	struct world *world = *state;

	pass(NS_PER_S);
	leave_samples(world, 0, 100);
	change_enabled(world->engine, 0, false);
	check(false, true, true);
	check_credit(world, 0);
	pass(NS_PER_S);
	change_settle(world->engine);
	check(false, true, true);
	/* The event covered all of its time. */
	assert_true(coverable_s(world, 0) > 0.9 && coverable_s(world, 0) < 1.1);
	change_enabled(world->engine, 0, true);
	check(true, true, true);
	check_credit(world, 0);
	leave_samples(world, 0, 2);
	engine_round(world->engine, true, true);
	check_credit(world, 0);
	assert_true(kernel.limit[0] >= CREDIT_MIN);
}

/* An event without credit is not restarted when it is switched off.  The time in which it stood
 * still is reported. */
static void test_off_while_it_stands(void **state)
{
	struct world *world = *state;

	kernel.enabled[0] = false;
	pass(NS_PER_S);
	change_enabled(world->engine, 0, false);
	check(false, true, true);
	assert_true(coverable_s(world, 0) > 0.9);
	assert_true(world->engine->status.events[0].covered < 0.1 * NS_PER_S);
	/* It misses nothing after this. */
	pass(NS_PER_S);
	change_settle(world->engine);
	check(false, true, true);
	assert_true(coverable_s(world, 0) < 1.1);
}

/* An event that is on is restarted. */
static void test_revived(void **state)
{
	struct world *world = *state;

	kernel.enabled[0] = false;
	pass(NS_PER_S);
	change_settle(world->engine);
	check(true, true, true);
	kernel.enabled[0] = false;
	leave_samples(world, 0, 100);
	engine_round(world->engine, true, true);
	check(true, true, true);
}

/* Members get no credit while their leader is being switched off. */
static void test_leader_off(void **state)
{
	struct world *world = *state;

	kernel.enabled[2] = false;
	pass(NS_PER_S);
	leave_samples(world, 1, 100);
	leave_samples(world, 2, 100);
	change_enabled(world->engine, 1, false);
	check(true, false, false);
}

static void test_member_off(void **state)
{
	struct world *world = *state;

	pass(NS_PER_S);
	leave_samples(world, 2, 100);
	change_enabled(world->engine, 2, false);
	check(true, true, false);
}

static void test_dropped(void **state)
{
	struct world *world = *state;

	kernel.enabled[2] = false;
	pass(NS_PER_S);
	leave_samples(world, 1, 100);
	leave_samples(world, 2, 100);
	choice_disarm(world->engine, 1);
	change_settle(world->engine);
	check(true, false, false);
	/* The time in which the member stood still is reported. */
	assert_true(coverable_s(world, 2) > 0.9);
}

static void test_stopped(void **state)
{
	struct world *world = *state;

	pass(NS_PER_S);
	world->engine->stopped = true;
	point_disarm(&world->point);
	for (unsigned int i = 0; i < EVENTS; i++)
		leave_samples(world, i, 100);
	change_settle(world->engine);
	check(false, false, false);
}

/* Returns whether the switches of this event count. */
static bool leads_switches(struct engine *engine, unsigned int index)
{
	const struct perf_event_header header = {
		.type = PERF_RECORD_SWITCH, .size = sizeof(header)};
	const struct record record = {
		.id = {.pid = 1, .tid = 1, .time_ns = NS_PER_S}, .switched = {.out = true}};

	engine->spans.next_ns = UINT64_MAX;
	span_switch(engine, index, &header, &record);
	return engine->spans.next_ns != UINT64_MAX;
}

/* Two events report switches.  Those of the event that goes on count. */
static void test_lead_of_switches(void **state)
{
	struct world *world = *state;
	struct engine *engine = world->engine;

	engine->filter = false;
	engine->choices[0].spec.span = EVENT_SPAN_BLOCKED;
	engine->choices[1].spec.span = EVENT_SPAN_PREEMPTED;
	assert_true(leads_switches(engine, 0) && !leads_switches(engine, 1));
	engine->choices[0].stopping = true;
	assert_true(!leads_switches(engine, 0) && leads_switches(engine, 1));
	/* While both are stopping, switches still count. */
	engine->choices[1].stopping = true;
	assert_true(leads_switches(engine, 0) && !leads_switches(engine, 1));
	engine->choices[0].enabled = false;
	assert_true(!leads_switches(engine, 0) && leads_switches(engine, 1));
	engine->filter = true;
}

/* A new rate and a pause leave each event on or off. */
static void test_rate_and_pause(void **state)
{
	struct world *world = *state;

	change_enabled(world->engine, 0, false);
	leave_samples(world, 0, 60);
	leave_samples(world, 1, 100);
	change_rate(world->engine, 0, 499);
	change_rate(world->engine, 1, 499);
	check(false, true, true);
	leave_samples(world, 0, 20);
	change_paused(world->engine, true);
	pass(NS_PER_S);
	leave_samples(world, 0, 20);
	change_paused(world->engine, false);
	check(false, true, true);
}

static void begin_before_exec(struct world *world)
{
	world->point.on_exec = true;
	for (unsigned int i = 0; i < EVENTS; i++)
		kernel.enabled[i] = false;
}

/* An exec: the kernel enables all events (enable_on_exec). */
static void exec(struct world *world)
{
	for (unsigned int i = 0; i < EVENTS; i++)
		kernel.enabled[i] = true;
	pass(NS_PER_S);
	change_settle(world->engine);
}

static void test_off_before_exec(void **state)
{
	struct world *world = *state;

	begin_before_exec(world);
	change_enabled(world->engine, 0, false);
	change_enabled(world->engine, 1, false);
	exec(world);
	/* The member stands still together with its leader. */
	check(false, false, true);
	change_enabled(world->engine, 0, true);
	change_enabled(world->engine, 1, true);
	check(true, true, true);
}

/* A member that stands still with its leader goes on with it, even if it was opened meanwhile. */
static void test_opened_while_leader_is_off(void **state)
{
	struct world *world = *state;

	change_enabled(world->engine, 1, false);
	kernel.enabled[2] = false;
	world->events[2].on_credit = false;
	assert_int_equal(point_start_event(world->engine, &world->events[2]), 0);
	change_enabled(world->engine, 1, true);
	check(true, true, true);
	change_enabled(world->engine, 1, false);
	point_disarm(&world->point);
	point_rearm(world->engine, &world->point);
	change_enabled(world->engine, 1, true);
	check(true, true, true);
}

/* An event that was opened between the exec and its record runs without another exec. */
static void test_opened_after_exec(void **state)
{
	struct world *world = *state;

	world->events[0].on_credit = false;
	begin_before_exec(world);
	kernel.enabled[1] = kernel.enabled[2] = true;
	pass(NS_PER_S);
	change_settle(world->engine);
	check(true, true, true);
}

/* Drops the first event, which stays open since it owns the ring.  Then its choice is reused. */
static void drop_owner(struct world *world)
{
	struct engine *engine = world->engine;
	const struct choice again = engine->choices[0];

	world->events[0].owns_ring = true;
	choice_disarm(engine, 0);
	change_settle(engine);
	choice_drop(engine, 0);
	check(false, true, true);
	engine->choices[0] = again;
}

/* A dropped owner of the ring stays off when another event takes its choice. */
static void test_dropped_owner(void **state)
{
	struct world *world = *state;
	struct engine *engine = world->engine;

	drop_owner(world);
	assert_int_equal(world->channel.n_events, EVENTS - 1);
	point_disarm(&world->point);
	point_rearm(engine, &world->point);
	check(false, true, true);
	pass(NS_PER_S);
	change_settle(engine);
	check(false, true, true);
	begin_before_exec(world);
	exec(world);
	check(false, true, true);
}

/* An exec while sampling ends does not leave any event enabled. */
static void test_stopped_at_exec(void **state)
{
	struct world *world = *state;

	begin_before_exec(world);
	for (unsigned int i = 0; i < EVENTS; i++)
		kernel.enabled[i] = true;
	pass(NS_PER_S);
	world->engine->stopped = true;
	point_disarm(&world->point);
	change_settle(world->engine);
	check(false, false, false);
}

/* An event returns to the choice of a dropped owner, but was not opened there. */
static void test_dropped_owner_stays_off(void **state)
{
	struct world *world = *state;
	struct engine *engine = world->engine;

	drop_owner(world);
	change_enabled(engine, 0, false);
	change_enabled(engine, 0, true);
	check(false, true, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stopped_at_exec, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped_owner_stays_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_off_before_exec, setup, teardown),
		cmocka_unit_test_setup_teardown(test_opened_while_leader_is_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_opened_after_exec, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(test_off_with_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(test_off_while_it_stands, setup, teardown),
		cmocka_unit_test_setup_teardown(test_revived, setup, teardown),
		cmocka_unit_test_setup_teardown(test_leader_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_member_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lead_of_switches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rate_and_pause, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
