// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_engine_flight.c - the flight recorder on real events.
 *
 * A snapshot has each of the newest samples once, under the name of its time, also of tasks that
 * have ended.  The event is page faults with period 1, so counts are exact: each counted hit is
 * delivered, overwritten or lost.
 */
#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "tests/live/engine_fixture.h"
#include "tests/live/engine_orders.h"

#include <errno.h>
#include <sys/prctl.h>

#define SECONDS 60 /* s; longer than any test, so no sample gets too old */

#define FAULTS 100 /* least number of faults in a phase */

/* by phase: page faults of the process and of its ended children */
static uint64_t faults_of[256];

/* Each byte begins a phase, which names the thread and touches pages; 'B' overfills a ring.  At 'c'
 * a child does this: it waits for one more byte first, and ends. */
static void body_phases(void *arg)
{
	char name[] = "phase ?";

	(void)arg;
	for (;;) {
		const char byte = wait_order();
		pid_t pid = byte == 'c' ? fork() : 0;

		if (pid) {
			waitpid(pid, NULL, 0);
		} else {
			name[6] = byte;
			if (byte == 'c') {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				wait_order();
			}
			prctl(PR_SET_NAME, name);
			for (int i = 0; i < (byte == 'B' ? 2000 : 1); i++)
				touch_pages(FAULTS);
			if (byte == 'c')
				_exit(0);
		}
		tell_done();
	}
}

static uint64_t count_faults(pid_t pid)
{
	unsigned long minor, of_children[2], major;
	char path[64];
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	stat = fopen(path, "r");
	assert_non_null(stat);
	assert_int_equal(fscanf(stat, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %lu %lu %lu %lu",
				 &minor, &of_children[0], &major, &of_children[1]),
		4);
	fclose(stat);
	return minor + major + of_children[0] + of_children[1];
}

static void phase(pid_t pid, char byte)
{
	uint64_t before = count_faults(pid);

	give_order_of(byte);
	wait_done();
	faults_of[(unsigned char)byte] = count_faults(pid) - before;
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

/* Returns the number of samples in the store under this name. */
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

/* Checks that a phase has a sample for every page, and no sample twice. */
static void expect_phase(struct rig *rig, char byte)
{
	char comm[] = "phase ?";

	comm[6] = byte;
	assert_in_range(named(rig, comm), FAULTS, faults_of[(unsigned char)byte]);
}

static void phases(enum engine_scope scope)
{
	struct engine_event_status *event;
	struct rig *rig;
	uint64_t more, before;
	int32_t pid;

	open_pipes();
	pid = start_child(body_phases, NULL);
	phase(pid, '0');
	rig = rig_flight(scope, &pid);
	{
		event = &rig->status.events[0];
		phase(pid, '1');
		assert_int_equal(rig->status.store.samples, 0);
		phase(pid, '2');
		before = count_faults(pid);
		assert_int_equal(snapshot(rig)->reach_ns, 0);
		assert_int_equal(rig->status.store.samples, event->samples);
		/* Samples carry the thread's name at their time, not its present name. */
		expect_phase(rig, '1');
		expect_phase(rig, '2');
		/* No sample comes twice. */
		more = snapshot(rig)->value;
		assert_true(more <= count_faults(pid) - before);
		assert_int_equal(rig->status.store.samples, event->samples);
		expect_phase(rig, '2');
		/* The child has ended before the snapshot. */
		give_order_of('c');
		assert_true(rig_wait(rig, has_followed, 2));
		/* The child's events are opened between two snapshots. */
		snapshot(rig);
		snapshot(rig);
		phase(pid, 'c');
		phase(pid, '3');
		snapshot(rig);
		expect_phase(rig, 'c');
		expect_phase(rig, '3');
		/* The last samples come in at the end. */
		phase(pid, '4');
		rig_stop(rig);
		expect_phase(rig, '4');
		if (scope == SCOPE_TASK)
			assert_int_equal(event->samples + event->lost, event->count);
		rig_free(rig);
	}
	end_child(pid);
	close_pipes();
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

/* The recorder's span may exceed the uptime: the clock began at boot. */
static void test_longer_than_uptime(void **state)
{
	struct rig *rig;
	int32_t pid;

	(void)state;
	need_events();
	open_pipes();
	pid = start_child(body_phases, NULL);
	rig = rig_new("page-faults:u", 0, 1);
	rig->config.flight_s = 86400;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	phase(pid, '1');
	snapshot(rig);
	expect_phase(rig, '1');
	rig_free(rig);
	end_child(pid);
	close_pipes();
}

/* Snapshots lose no hits: no samples are made while one is taken. */
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

/* The newest samples are there, the oldest are not, and the note says so. */
static void test_overwritten(void **state)
{
	const struct engine_note *note;
	struct rig *rig;
	int32_t pid;

	(void)state;
	need_events();
	open_pipes();
	pid = start_child(body_phases, NULL);
	rig = rig_flight(SCOPE_TASK, &pid);
	phase(pid, '1');
	phase(pid, 'B');
	phase(pid, '2');
	note = snapshot(rig);
	assert_true(note->reach_ns > 0);
	assert_int_equal(named(rig, "phase 1"), 0);
	assert_in_range(named(rig, "phase B"), 1000, 199000);
	expect_phase(rig, '2');
	/* Overwritten samples do not count as lost. */
	rig_stop(rig);
	assert_int_equal(rig->status.events[0].lost, 0);
	rig_free(rig);
	end_child(pid);
	close_pipes();
}

static void test_end_of_target(void **state)
{
	struct rig *rig;
	int32_t pid;

	(void)state;
	need_events();
	open_pipes();
	pid = start_child(body_phases, NULL);
	rig = rig_flight(SCOPE_AUTO, &pid);
	phase(pid, '1');
	end_child(pid);
	assert_true(rig_wait(rig, has_state, ENGINE_ENDED));
	assert_int_equal(rig->status.snapshots, 1);
	expect_phase(rig, '1');
	rig_free(rig);
	close_pipes();
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
