// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_engine_flight.c - the flight recorder on real events: each sample once, the newest ones, under the names of their
 * time, and what ended before the snapshot.
 *
 * The event is page faults with period 1, so that counts are exact: what was counted was delivered, overwritten or lost.
 */
#include "tests/live/engine_fixture.h"

#include <errno.h>
#include <sys/prctl.h>

#define SECONDS 60 /* nothing gets too old in a test */

struct order {
	int go[2], done[2];
};

static void order_open(struct order *order)
{
	assert_int_equal(pipe(order->go), 0);
	assert_int_equal(pipe(order->done), 0);
}

static void order_close(struct order *order)
{
	close(order->go[0]);
	close(order->go[1]);
	close(order->done[0]);
	close(order->done[1]);
}

/* At each byte: a name after it, and 100 pages, or for 'B' more than a ring holds; at 'c' a child does it after one more, and ends. */
static void body_phases(void *arg)
{
	const struct order *order = arg;
	char name[] = "phase ?", byte;

	while (read(order->go[0], &byte, 1) == 1) {
		pid_t pid = byte == 'c' ? fork() : 0;

		if (pid) {
			waitpid(pid, NULL, 0);
		} else {
			name[6] = byte;
			if (byte == 'c' &&
				(prctl(PR_SET_PDEATHSIG, SIGKILL) ||
					read(order->go[0], &byte, 1) != 1))
				_exit(2);
			prctl(PR_SET_NAME, name);
			for (int i = 0; i < (byte == 'B' ? 2000 : 1); i++)
				touch_pages(100);
			if (name[6] == 'c')
				_exit(0);
		}
		if (write(order->done[1], "d", 1) != 1)
			_exit(2);
	}
}

static void phase(const struct order *order, char byte)
{
	assert_int_equal(write(order->go[1], &byte, 1), 1);
	assert_int_equal(read(order->done[0], &byte, 1), 1);
}

static bool has_snapshots(struct rig *rig, uint64_t n)
{
	return rig->status.snapshots >= n;
}

static const struct engine_note *snapshot(struct rig *rig)
{
	uint64_t before = rig->status.snapshots;

	assert_int_equal(engine_snapshot(rig->engine), 0);
	assert_true(rig_wait(rig, has_snapshots, before + 1));
	return find_note(rig, NOTE_SNAPSHOT);
}

/* Samples in the store under this name. */
static uint64_t named(struct rig *rig, const char *comm)
{
	struct store *store = engine_store(rig->engine);
	struct snapshot shot;
	uint64_t n = 0;

	assert_int_equal(store_snapshot(store, 0, UINT64_MAX, &shot), 0);
	for (size_t i = 0; i < shot.n; i++)
		for (uint32_t c = 0; c < shot.slices[i]->cells; c++)
			if (!strcmp(tasks_label_get(
					    engine_tasks(rig->engine), shot.slices[i]->task[c])
					    ->comm,
				    comm))
				n += shot.slices[i]->count[c];
	snapshot_release(store, &shot);
	return n;
}

static struct rig *rig_flight(enum engine_scope scope, const int32_t *pid)
{
	struct rig *rig = rig_new("page-faults:u", 0, 1);

	rig->config.callchain = false;
	rig->config.flight_s = SECONDS;
	rig->config.scope = scope;
	rig_target(rig, pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	return rig;
}

#define SOME_MORE 60 /* than were asked for: stacks, and what a fork unshares */

/* All of a phase's pages, and little else: sanitizers have faults of their own. */
static void expect_phase(struct rig *rig, const char *comm)
{
	uint64_t n = named(rig, comm);

	assert_true(n >= 100);
	if (amounts_count())
		assert_in_range(n, 100, 100 + SOME_MORE);
}

static void phases(enum engine_scope scope)
{
	struct engine_event_status *event;
	struct order order;
	struct rig *rig;
	uint64_t more;
	int32_t pid;

	order_open(&order);
	pid = start_child(body_phases, &order);
	phase(&order, '0');
	rig = rig_flight(scope, &pid);
	{
		event = &rig->status.events[0];
		phase(&order, '1');
		assert_int_equal(rig->status.store.samples, 0);
		phase(&order, '2');
		assert_int_equal(snapshot(rig)->reach_ns, 0);
		assert_int_equal(rig->status.store.samples, event->samples);
		/* The name of then, not of now; whoever was sampled. */
		expect_phase(rig, "phase 1");
		expect_phase(rig, "phase 2");
		/* Nothing twice. */
		more = snapshot(rig)->value;
		if (amounts_count())
			assert_in_range(more, 0, SOME_MORE);
		assert_int_equal(rig->status.store.samples, event->samples);
		expect_phase(rig, "phase 2");
		/* A child that is no more. */
		assert_int_equal(write(order.go[1], "c", 1), 1);
		assert_true(rig_wait(rig, has_followed, 2));
		/* Between two snapshots its events were opened. */
		snapshot(rig);
		snapshot(rig);
		phase(&order, 'c');
		phase(&order, '3');
		snapshot(rig);
		expect_phase(rig, "phase c");
		expect_phase(rig, "phase 3");
		/* What is left comes in at the end. */
		phase(&order, '4');
		rig_stop(rig);
		expect_phase(rig, "phase 4");
		if (scope == SCOPE_TASK)
			assert_int_equal(event->samples + event->lost, event->count);
		rig_free(rig);
	}
	end_child(pid);
	order_close(&order);
}

static void test_tasks(void **state)
{
	(void)state;
	need_events();
	phases(SCOPE_TASK);
}

static void test_cpus(void **state)
{
	(void)state;
	need_cpu_wide();
	phases(SCOPE_CPU);
}

/* It may be asked to remember more than there ever was: the clock began when the machine did. */
static void test_longer_than_uptime(void **state)
{
	struct order order;
	struct rig *rig;
	int32_t pid;

	(void)state;
	need_events();
	order_open(&order);
	pid = start_child(body_phases, &order);
	rig = rig_new("page-faults:u", 0, 1);
	rig->config.flight_s = 86400;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	phase(&order, '1');
	snapshot(rig);
	expect_phase(rig, "phase 1");
	rig_free(rig);
	end_child(pid);
	order_close(&order);
}

/* What happens while a snapshot is taken is not lost: nothing is made then. */
static void test_nothing_lost_by_snapshots(void **state)
{
	const struct engine_event_status *event;
	struct rig *rig;
	int32_t pid;

	(void)state;
	need_events();
	pid = start_child(body_fault, NULL);
	rig = rig_flight(SCOPE_TASK, &pid);
	event = &rig->status.events[0];
	for (int i = 0; i < 30 || (event->samples < 20000 && i < 100000); i++)
		snapshot(rig);
	rig_stop(rig);
	print_message("%u snapshots: %lu samples, %lu lost, covered %.3f%%\n",
		rig->status.snapshots, (unsigned long)event->samples, (unsigned long)event->lost,
		100.0 * event->covered / event->coverable);
	assert_true(event->samples > 0);
	assert_int_equal(event->lost, 0);
	rig_free(rig);
	end_child(pid);
}

/* The newest are there, the oldest are not, and it is told. */
static void test_overwritten(void **state)
{
	const struct engine_note *note;
	struct order order;
	struct rig *rig;
	int32_t pid;

	(void)state;
	need_events();
	order_open(&order);
	pid = start_child(body_phases, &order);
	rig = rig_flight(SCOPE_TASK, &pid);
	phase(&order, '1');
	phase(&order, 'B');
	phase(&order, '2');
	note = snapshot(rig);
	assert_true(note->reach_ns > 0);
	assert_int_equal(named(rig, "phase 1"), 0);
	assert_in_range(named(rig, "phase B"), 1000, 199000);
	expect_phase(rig, "phase 2");
	/* Overwritten is not lost. */
	rig_stop(rig);
	if (amounts_count())
		assert_in_range(rig->status.events[0].lost, 0, SOME_MORE);
	rig_free(rig);
	end_child(pid);
	order_close(&order);
}

static void test_end_of_target(void **state)
{
	struct order order;
	struct rig *rig;
	int32_t pid;

	(void)state;
	need_events();
	order_open(&order);
	pid = start_child(body_phases, &order);
	rig = rig_flight(SCOPE_AUTO, &pid);
	phase(&order, '1');
	end_child(pid);
	assert_true(rig_wait(rig, has_state, ENGINE_ENDED));
	assert_int_equal(rig->status.snapshots, 1);
	expect_phase(rig, "phase 1");
	rig_free(rig);
	order_close(&order);
}

static void test_trigger(void **state)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t pid = start_child(body_burn, NULL);

	(void)state;
	rig->config.flight_s = SECONDS;
	rig->config.flight_trigger = (struct trigger_spec){.percent = 2, .seconds = 1};
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_FLIGHT_TRIGGER));
	assert_true(rig_wait(rig, has_snapshots, 1));
	assert_int_equal(rig->status.triggered, 1);
	assert_true(rig->status.events[0].samples > 0);
	assert_true(find_note(rig, NOTE_FLIGHT_TRIGGER)->value >= 2);
	end_child(pid);
	rig_free(rig);
}

static void test_refuses(void **state)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t pid = getpid();

	(void)state;
	rig_target(rig, &pid);
	rig->config.flight_s = -1;
	assert_int_equal(engine_new(&rig->engine, &rig->config), -EINVAL);
	rig->config.flight_s = 5;
	rig->config.scope = SCOPE_INHERIT;
	assert_int_equal(engine_new(&rig->engine, &rig->config), -EINVAL);
	rig->config.flight_s = 0;
	rig->config.flight_trigger.percent = 5;
	rig->config.scope = SCOPE_AUTO;
	assert_int_equal(engine_new(&rig->engine, &rig->config), -EINVAL);
	rig->config.flight_trigger.percent = 0;
	assert_int_equal(engine_new(&rig->engine, &rig->config), 0);
	assert_int_equal(engine_snapshot(rig->engine), -EINVAL);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_longer_than_uptime),
		cmocka_unit_test(test_nothing_lost_by_snapshots),
		cmocka_unit_test(test_overwritten),
		cmocka_unit_test(test_end_of_target),
		cmocka_unit_test(test_trigger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
