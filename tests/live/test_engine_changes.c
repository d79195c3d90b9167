/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_engine_changes.c - filters, breakpoints and probes count exactly, and running events change.
 */
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "sampler/events/parse.h"
#include "tests/live/engine_fixture.h"
#include "tests/live/engine_orders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>

#define CALLS 500

static volatile long *watched; /* two variables, shared with the child */

/* Does a round of work at each order; the number of its calls is known exactly. */
static void body_rounds(void *arg)
{
	(void)arg;
	for (;;) {
		wait_order();
		for (int i = 0; i < CALLS; i++) {
			watched[0] = i;
			if (i % 2)
				watched[1] = i;
			(void)getppid();
			(void)syscall(SYS_getuid);
			touch_pages(1);
		}
		tell_done();
	}
}

static void do_round(void)
{
	give_order();
	wait_done();
}

static long number_in(const char *path)
{
	FILE *file = fopen(path, "r");
	long number = -1;

	if (file) {
		if (fscanf(file, "%ld", &number) != 1)
			number = -1;
		fclose(file);
	}
	return number;
}

static struct rig *begin(const struct event_spec *spec, int32_t *pid)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);

	*rig->events = *spec;
	/* Small records: the credit lasts for a whole round. */
	rig->config.callchain = false;
	rig->config.ring_pages = 64;
	open_pipes();
	watched = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(watched != MAP_FAILED);
	*pid = start_child(body_rounds, NULL);
	rig_target(rig, pid);
	rig_start(rig);
	return rig;
}

static bool is_ready(struct rig *rig, uint64_t arg)
{
	(void)arg;
	return rig->status.state == ENGINE_RUNNING && has_note(rig, NOTE_ATTACHED);
}

static void finish(struct rig *rig, int32_t pid)
{
	end_child(pid);
	close_pipes();
	rig_free(rig);
	munmap((void *)watched, 4096);
}

static bool has_all(struct rig *rig, uint64_t n)
{
	return rig->status.events[0].samples + rig->status.events[0].lost >= n;
}

static void check_exact(struct rig *rig, uint64_t n)
{
	assert_true(rig_wait(rig, has_all, n));
	rig_stop(rig);
	assert_int_equal(rig->status.events[0].samples, n);
	assert_int_equal(rig->status.events[0].count, n);
	assert_int_equal(rig->status.unknown_records, 0);
}

static bool notes_of(struct rig *rig, uint64_t kind, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < rig->n_notes; i++)
		found += rig->notes[i].kind == kind;
	return found >= n;
}

static bool has_filter_notes(struct rig *rig, uint64_t n)
{
	return notes_of(rig, NOTE_FILTER, n);
}

static void test_filter(void **state)
{
	long id = number_in("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id");
	struct event_spec spec = {.name = "raw_syscalls:sys_enter"};
	char filter[64], other[64];
	struct rig *rig;
	int32_t pid;

	(void)state;
	if (id < 0) {
		print_message("skipped: no tracepoint raw_syscalls:sys_enter to be read\n");
		skip();
	}
	spec.attr.type = PERF_TYPE_TRACEPOINT;
	spec.attr.config = (uint64_t)id;
	event_set_period(&spec, 1);
	snprintf(filter, sizeof(filter), "id == %d", (int)SYS_getppid);
	snprintf(other, sizeof(other), "id == %d || id == %d", (int)SYS_getppid, (int)SYS_getuid);
	spec.filter = filter;
	rig = begin(&spec, &pid);
	assert_true(rig_wait(rig, is_ready, 0));
	assert_string_equal(rig->status.events[0].filter, filter);
	do_round();
	assert_true(rig_wait(rig, has_all, CALLS));

	assert_int_equal(
		engine_set_filter(rig->engine, rig->status.events[0].id, "nothing > 3"), 0);
	assert_true(rig_wait(rig, has_filter_notes, 1));
	assert_int_equal(find_note(rig, NOTE_FILTER)->error, EINVAL);
	assert_string_equal(rig->status.events[0].filter, filter);
	do_round();
	assert_true(rig_wait(rig, has_all, 2 * CALLS));

	assert_int_equal(engine_set_filter(rig->engine, rig->status.events[0].id, other), 0);
	assert_true(rig_wait(rig, has_filter_notes, 2));
	assert_int_equal(find_note(rig, NOTE_FILTER)->error, 0);
	do_round();
	check_exact(rig, 4 * CALLS);
	finish(rig, pid);
}

static bool has_moved(struct rig *rig, uint64_t address)
{
	return rig->status.events[0].address == address && has_note(rig, NOTE_BREAKPOINT);
}

static void test_breakpoint_moves(void **state)
{
	struct event_spec spec = {.name = "mem:watched:w"};
	struct rig *rig;
	int32_t pid;

	(void)state;
	/* The next mapping of this size gets the same address. */
	watched = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	munmap((void *)watched, 4096);
	spec.attr.type = PERF_TYPE_BREAKPOINT;
	spec.attr.exclude_kernel = spec.attr.exclude_hv = 1;
	spec.attr.bp_type = 2;
	spec.attr.bp_len = 8;
	event_set_period(&spec, 1);
	spec.attr.bp_addr = (uintptr_t)&spec; /* an address that is never written */
	rig = begin(&spec, &pid);
	assert_true(rig_wait(rig, is_ready, 0));
	assert_int_equal(engine_move_breakpoint(
				 rig->engine, rig->status.events[0].id, (uintptr_t)&watched[0]),
		0);
	assert_true(rig_wait(rig, has_moved, (uintptr_t)&watched[0]));
	assert_int_equal(has_note(rig, NOTE_SILENT), !sys_breakpoints_fire());
	if (!sys_breakpoints_fire()) {
		print_message(
			"skipped: this machine accepts breakpoints and never reports a hit\n");
		finish(rig, pid);
		skip();
	}
	do_round();
	assert_true(rig_wait(rig, has_all, CALLS));
	assert_int_equal(engine_move_breakpoint(
				 rig->engine, rig->status.events[0].id, (uintptr_t)&watched[1]),
		0);
	assert_true(rig_wait(rig, has_moved, (uintptr_t)&watched[1]));
	do_round();
	check_exact(rig, CALLS + CALLS / 2);
	finish(rig, pid);
}

/* Finds the file and the file offset of an address in this process. */
static bool find_offset(uintptr_t address, char path[256], uint64_t *offset)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to, start;
	bool found = false;
	char line[512];

	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps)) {
		found = sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &from, &to, &start, path) ==
				4 &&
			from <= address && address < to;
	}
	fclose(maps);
	*offset = address - from + start;
	return found;
}

static void probe(bool at_return)
{
	long type = number_in("/sys/bus/event_source/devices/uprobe/type");
	struct event_spec spec = {.name = "uprobe"};
	char path[256];
	uint64_t offset;
	struct rig *rig;
	int32_t pid;

	if (type < 0) {
		print_message("skipped: this kernel has no PMU of uprobes\n");
		skip();
	}
	assert_true(find_offset((uintptr_t)&getppid, path, &offset));
	spec.probe = path;
	spec.attr.type = (uint32_t)type;
	spec.attr.config = at_return;
	spec.attr.config2 = offset;
	event_set_period(&spec, 1);
	rig = begin(&spec, &pid);
	assert_true(rig_wait(rig, is_ready, 0));
	do_round();
	do_round();
	check_exact(rig, 2 * CALLS);
	finish(rig, pid);
}

static void test_uprobe(void **state)
{
	(void)state;
	probe(false);
}

static void test_uretprobe(void **state)
{
	(void)state;
	probe(true);
}

static void faults_of(struct event_spec *spec)
{
	*spec = (struct event_spec){.name = "page-faults:u",
		.attr = {.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_PAGE_FAULTS,
			.exclude_kernel = 1,
			.exclude_hv = 1}};
	event_set_period(spec, 1);
}

static bool is_enabled(struct rig *rig, uint64_t enabled)
{
	return rig->status.events[0].enabled == enabled && has_note(rig, NOTE_EVENT_ENABLED) &&
		find_note(rig, NOTE_EVENT_ENABLED)->value == enabled;
}

static void test_off_and_on(void **state)
{
	struct event_spec spec;
	struct rig *rig;
	uint64_t before;
	int32_t pid;

	(void)state;
	faults_of(&spec);
	rig = begin(&spec, &pid);
	assert_true(rig_wait(rig, is_ready, 0));
	do_round();
	assert_true(rig_wait(rig, has_all, CALLS));
	assert_int_equal(engine_event_enable(rig->engine, rig->status.events[0].id, false), 0);
	assert_true(rig_wait(rig, is_enabled, false));
	before = rig->status.events[0].count;
	do_round();
	assert_int_equal(engine_event_enable(rig->engine, rig->status.events[0].id, true), 0);
	assert_true(rig_wait(rig, is_enabled, true));
	assert_int_equal(rig->status.events[0].count, before);
	do_round();
	assert_true(rig_wait(rig, has_all, before + CALLS));
	rig_stop(rig);
	assert_int_equal(rig->status.events[0].samples + rig->status.events[0].lost,
		rig->status.events[0].count);
	/* Time while the event was off does not lower its coverage. */
	if (amounts_count())
		assert_true(rig->status.events[0].covered >= rig->status.events[0].coverable / 2);
	finish(rig, pid);
}

static bool has_period(struct rig *rig, uint64_t period)
{
	return rig->status.events[0].period == period && !rig->status.events[0].freq_hz &&
		has_note(rig, NOTE_FREQUENCY);
}

static void test_frequency_becomes_period(void **state)
{
	struct event_spec spec;
	struct rig *rig;
	uint64_t before, counted;
	int32_t pid;

	(void)state;
	faults_of(&spec);
	event_set_freq(&spec, 997);
	rig = begin(&spec, &pid);
	assert_true(rig_wait(rig, is_ready, 0));
	do_round();
	assert_int_equal(engine_set_period(rig->engine, rig->status.events[0].id, 0), -EINVAL);
	assert_int_equal(engine_set_period(rig->engine, rig->status.events[0].id, 10), 0);
	assert_true(rig_wait(rig, has_period, 10));
	before = rig->status.events[0].samples;
	counted = rig->status.events[0].count;
	assert_true(counted >= CALLS);
	do_round();
	do_round();
	assert_true(rig_wait(rig, has_all, before + 2 * CALLS / 10));
	rig_stop(rig);
	counted = rig->status.events[0].count - counted;
	/* Each thread leaves a partial period, and a sanitizer has a thread of its own. */
	if (amounts_count())
		assert_in_range(
			rig->status.events[0].samples - before, counted / 10, counted / 10 + 1);
	finish(rig, pid);
}

static bool is_paused(struct rig *rig, uint64_t paused)
{
	return rig->status.paused == paused && has_note(rig, NOTE_PAUSED) &&
		find_note(rig, NOTE_PAUSED)->value == paused;
}

static void test_pause(void **state)
{
	struct event_spec spec;
	struct rig *rig;
	uint64_t samples;
	int32_t pid;

	(void)state;
	faults_of(&spec);
	rig = begin(&spec, &pid);
	assert_true(rig_wait(rig, is_ready, 0));
	do_round();
	assert_true(rig_wait(rig, has_all, CALLS));
	assert_int_equal(engine_pause(rig->engine, true), 0);
	assert_true(rig_wait(rig, is_paused, true));
	assert_int_equal(find_note(rig, NOTE_PAUSED)->error, 0);
	samples = rig->status.events[0].samples;
	do_round();
	assert_int_equal(engine_pause(rig->engine, false), 0);
	assert_true(rig_wait(rig, is_paused, false));
	assert_int_equal(rig->status.events[0].samples, samples);
	do_round();
	assert_true(rig_wait(rig, has_all, samples + CALLS));
	rig_stop(rig);
	/* A sanitizer's own faults may fill the ring. */
	if (amounts_count())
		assert_int_equal(rig->status.events[0].lost, 0);
	assert_true(rig->status.events[0].samples + CALLS <= rig->status.events[0].count);
	finish(rig, pid);
}

/* One event with chains and one without share a ring: each record is decoded by its own format. */
static void test_formats_differ(void **state)
{
	struct rig *rig = rig_new("page-faults:u,context-switches", 0, 1);
	int32_t pid = start_child(body_both, NULL);

	(void)state;
	rig->events[0].chain = EVENT_CHAIN_OFF;
	rig->events[0].attr.sample_type = PERF_SAMPLE_ADDR;
	rig->config.sample_more = PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_STREAM_ID;
	rig->config.wakeup_events = 16;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 2000));
	rig_stop(rig);
	assert_int_equal(rig->status.unknown_records, 0);
	end_child(pid);
	rig_free(rig);
}

static void test_too_many_frames(void **state)
{
	struct rig *rig = rig_new("page-faults", 0, 1);
	int32_t pid = start_child(body_both, NULL);

	(void)state;
	rig->events[0].attr.sample_max_stack = 20000;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_state, ENGINE_FAILED));
	assert_int_equal(rig->status.failure.error, EOVERFLOW);
	end_child(pid);
	rig_free(rig);
}

/* --- time off the CPU --- */

static void body_sleep(void *arg)
{
	(void)arg;
	for (;;) {
		const struct timespec ms = {.tv_nsec = 1000000};

		burn(100000);
		nanosleep(&ms, NULL);
	}
}

static bool second_is(struct rig *rig, uint64_t enabled)
{
	return rig->status.n_events == 2 && rig->status.events[1].enabled == (enabled != 0);
}

static bool second_has(struct rig *rig, uint64_t n)
{
	return rig->status.n_events == 2 && rig->status.events[1].samples >= n;
}

static void second_goes_on(struct rig *rig)
{
	assert_true(rig_wait(rig, second_has, rig->status.events[1].samples + 20));
}

static uint64_t count_threads(int32_t pid)
{
	char path[64];
	struct dirent *entry;
	uint64_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* The event never reports the time while it is off or paused, not even later: a thread's waits do
 * not exceed the time.  A child under ThreadSanitizer has another thread. */
static void test_off_cpu(void **state)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t pid = start_child(body_sleep, NULL);
	uint64_t samples, weight = 0, off_ns, on_ns, n_threads;
	struct event_error error;
	struct event_spec *spec;
	struct snapshot snapshot;
	uint8_t id;
	size_t n;

	(void)state;
	assert_int_equal(event_parse_list("off-cpu", &spec, &n, &error), 0);
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 5));
	assert_int_equal(engine_event_add(rig->engine, spec), 0);
	assert_true(rig_wait(rig, second_has, 20));
	id = rig->status.events[1].id;
	assert_int_equal(rig->status.events[1].span, EVENT_SPAN_BLOCKED);
	assert_true(rig->status.events[1].is_clock);

	assert_int_equal(engine_event_enable(rig->engine, id, false), 0);
	assert_true(rig_wait(rig, second_is, false));
	samples = rig->status.events[1].samples;
	off_ns = rig->status.now_ns;
	assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + 100));
	assert_int_equal(rig->status.events[1].samples, samples);
	on_ns = sys_now_ns();
	assert_int_equal(engine_event_enable(rig->engine, id, true), 0);
	second_goes_on(rig);

	assert_int_equal(engine_pause(rig->engine, true), 0);
	assert_true(rig_wait(rig, is_paused, true));
	assert_int_equal(engine_pause(rig->engine, false), 0);
	second_goes_on(rig);
	assert_int_equal(engine_event_drop(rig->engine, id), 0);
	assert_int_equal(engine_event_add(rig->engine, spec), 0);
	second_goes_on(rig);
	assert_int_equal(rig->status.n_events, 2);
	/* A rate would omit switches, so the period stays 1. */
	assert_int_equal(engine_set_period(rig->engine, id, 3), 0);
	second_goes_on(rig);
	assert_int_equal(rig->status.events[1].period, 1);
	n_threads = count_threads(pid);
	rig_stop(rig);
	assert_int_equal(rig->status.unknown_records, 0);

	assert_int_equal(store_snapshot(engine_store(rig->engine), 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++)
		for (uint32_t c = 0; c < snapshot.slices[i]->cells; c++)
			if (snapshot.slices[i]->event[c] == id)
				weight += snapshot.slices[i]->weight[c];
	snapshot_release(engine_store(rig->engine), &snapshot);
	assert_true(weight > 0);
	if (amounts_count())
		assert_in_range(weight, 1,
			n_threads *
				(rig->status.now_ns - rig->status.started_ns -
					(on_ns > off_ns ? on_ns - off_ns : 0)));
	free(spec);
	end_child(pid);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_breakpoint_moves),
		cmocka_unit_test(test_uprobe),
		cmocka_unit_test(test_uretprobe),
		cmocka_unit_test(test_off_and_on),
		cmocka_unit_test(test_frequency_becomes_period),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_off_cpu),
		cmocka_unit_test(test_formats_differ),
		cmocka_unit_test(test_too_many_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
