/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_missing.c - events that do not open on one of three CPUs, against a fake kernel.
 *
 * CPU 1 refuses: all events, one event, or its ring.  Another time the limit of open files is low.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/engine/change.h"
#include "sampler/engine/internal.h"
#include "sampler/kernel/ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CPUS 3
#define BAD_CPU 1
#define CLOCK PERF_COUNT_SW_CPU_CLOCK
#define FAULTS PERF_COUNT_SW_PAGE_FAULTS
#define ALL PERF_COUNT_SW_MAX

static struct kernel {
	int error, ring_error; /* errors on CPU 1 */
	uint64_t refused; /* config of the refused event, or ALL */
	int last_cpu; /* CPU of the last open */
	uint64_t ns; /* every event's clock */
	uint64_t busy_ns[CPUS];
	uint64_t id;
	bool offline;
} kernel;

int __wrap_sys_open_at(const struct perf_event_attr *attr, const struct sys_place *place);
int __wrap_sys_set_output(int fd, int ring_fd);
int __wrap_sys_enable(int fd);
int __wrap_sys_refresh(int fd, uint32_t overflows);
int __wrap_sys_id(int fd, uint64_t *id);
int __wrap_sys_read(int fd, const struct sys_features *features, struct sys_counts *out);
uint64_t __wrap_sys_now_ns(void);
int __wrap_ring_open(struct ring **out, int fd, unsigned int order);
int __wrap_proc_online_cpus(int **cpus, size_t *n);
bool __wrap_proc_is_offline(int cpu);
int __wrap_sysfile_read(char **text, size_t *len, const char *format, ...);

int __wrap_sys_open_at(const struct perf_event_attr *attr, const struct sys_place *place)
{
	kernel.last_cpu = place->cpu;
	if (place->cpu == BAD_CPU && kernel.error &&
		(kernel.refused == ALL || kernel.refused == attr->config))
		return -kernel.error;
	return eventfd(0, EFD_CLOEXEC);
}

int __wrap_sys_set_output(int fd, int ring_fd)
{
	(void)fd;
	(void)ring_fd;
	return 0;
}

int __wrap_sys_enable(int fd)
{
	(void)fd;
	return 0;
}

int __wrap_sys_refresh(int fd, uint32_t overflows)
{
	(void)fd;
	(void)overflows;
	return 0;
}

int __wrap_sys_id(int fd, uint64_t *id)
{
	(void)fd;
	*id = ++kernel.id;
	return 0;
}

int __wrap_sys_read(int fd, const struct sys_features *features, struct sys_counts *out)
{
	(void)fd;
	(void)features;
	*out = (struct sys_counts){
		.value = kernel.ns, .enabled_ns = kernel.ns, .running_ns = kernel.ns};
	return 0;
}

uint64_t __wrap_sys_now_ns(void)
{
	return kernel.ns;
}

/* All rings are empty, so they share their memory. */
int __wrap_ring_open(struct ring **out, int fd, unsigned int order)
{
	static _Alignas(4096) unsigned char memory[2 * PAGE_BYTES];

	(void)fd;
	(void)order;
	*out = NULL;
	if (kernel.last_cpu == BAD_CPU && kernel.ring_error)
		return -kernel.ring_error;
	return ring_open_memory(out, memory, PAGE_BYTES);
}

int __wrap_proc_online_cpus(int **cpus, size_t *n)
{
	*cpus = malloc(CPUS * sizeof(**cpus));
	assert_non_null(*cpus);
	*n = 0;
	for (int cpu = 0; cpu < CPUS; cpu++)
		(*cpus)[(*n)++] = cpu;
	return 0;
}

bool __wrap_proc_is_offline(int cpu)
{
	return cpu == BAD_CPU && kernel.offline;
}

/* The text of /proc/stat. */
int __wrap_sysfile_read(char **text, size_t *len, const char *format, ...)
{
	const unsigned long long tick_ns = NS_PER_S / (unsigned long long)sysconf(_SC_CLK_TCK);
	size_t size;
	FILE *out = open_memstream(text, &size);

	(void)len;
	assert_non_null(out);
	assert_string_equal(format, "/proc/stat");
	for (int cpu = 0; cpu < CPUS; cpu++)
		fprintf(out, "cpu%d %llu 0 0 %llu 0\n", cpu, kernel.busy_ns[cpu] / tick_ns,
			(kernel.ns - kernel.busy_ns[cpu]) / tick_ns);
	assert_int_equal(fclose(out), 0);
	return 0;
}

static struct event_spec spec_of(uint64_t config, uint64_t period)
{
	struct event_spec spec = {.attr = {.type = PERF_TYPE_SOFTWARE, .config = config}};

	strcpy(spec.name, config == CLOCK ? "cpu-clock" : "page-faults");
	if (period)
		spec.attr.sample_period = period;
	else
		spec.attr.freq = 1, spec.attr.sample_freq = 1000;
	return spec;
}

static struct engine *begin(void)
{
	struct event_spec specs[] = {spec_of(CLOCK, 0), spec_of(FAULTS, 1)};
	const struct engine_config config = {.events = specs,
		.n_events = 2,
		.memory_bytes = 16 << 20,
		.scope = SCOPE_CPU,
		.target = {.system_wide = true, .command_output_fd = -1}};
	struct engine *engine;

	kernel = (struct kernel){.ns = NS_PER_S};
	assert_int_equal(engine_new(&engine, &config), 0);
	engine->budget.fd_limit = 1024;
	engine->filter = false;
	engine->scope.trackers = true;
	engine->loop.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	assert_true(engine->loop.epoll_fd >= 0);
	choice_add_all(engine, specs, 2, NULL);
	return engine;
}

static void end(struct engine *engine)
{
	int epoll_fd = engine->loop.epoll_fd;

	target_fini(engine);
	engine->loop.epoll_fd = -1;
	close(epoll_fd);
	engine_free(engine);
}

/* A second passes.  CPU 0 is busy, and CPU 1 for a part of it. */
static void pass(struct engine *engine, double share)
{
	struct point_event *event;

	kernel.ns += NS_PER_S;
	kernel.busy_ns[0] += NS_PER_S;
	kernel.busy_ns[1] += (uint64_t)(share * (double)NS_PER_S);
	for (size_t i = 0; i < engine->n_points; i++) {
		event = point_find_event(engine->points[i], 0);
		if (!event || engine->points[i]->cpu == 2)
			continue;
		event->coverage.samples = (uint64_t)((engine->points[i]->cpu ? share : 1) * 1000);
		coverage_add_sample(&engine->choices[0].coverage,
			event->coverage.samples * NS_PER_MS, event->coverage.samples);
	}
	coverage_add_sample(&engine->choices[1].coverage, NS_PER_S, NS_PER_S);
	engine_tick(engine, true);
}

static double covered(const struct engine *engine, unsigned int index)
{
	const struct engine_event_status *status = &engine->status.events[index];

	return status->coverable > 0 ? status->covered / status->coverable : -1;
}

static void check_covered(const struct engine *engine, double clock, bool count_known)
{
	double share = covered(engine, 0);

	if (share < clock - 0.01 || share > clock + 0.01)
		fail_msg("coverage of the clock is %f, not %f", share, clock);
	assert_int_equal(covered(engine, 1) >= 0, count_known);
}

/* Returns the number of notes of a kind, and the last in *out. */
static size_t notes_of(struct engine *engine, enum engine_note_kind kind, struct engine_note *out)
{
	static struct engine_note notes[64];
	size_t n = engine_notes(engine, 0, notes, 64), found = 0;

	for (size_t i = 0; i < n; i++) {
		if (notes[i].kind != kind)
			continue;
		*out = notes[i];
		found++;
	}
	return found;
}

/* Nothing opens on CPU 1: each error is noted once, and the clock's coverage shows how busy that
 * CPU is. */
static void test_cpu(void **state)
{
	static const int errors[] = {
		ENOMEM, EPERM, EACCES, EBUSY, EINVAL, ENOSPC, ENODEV, ENFILE, EMFILE};

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		struct engine *engine = begin();
		struct engine_note note = {0};

		kernel.error = errors[i];
		kernel.refused = ALL;
		assert_int_equal(scope_begin(engine), 0);
		assert_int_equal(engine->status.cpus, 2);
		assert_int_equal(notes_of(engine, NOTE_EVENT_REFUSED, &note), 1);
		assert_int_equal(note.error, errors[i]);
		assert_int_equal(note.cpu, BAD_CPU);
		assert_false(note.asked.ring);
		pass(engine, 0);
		check_covered(engine, 1, false);
		pass(engine, 1);
		check_covered(engine, 2.0 / 3, false);
		/* The CPU is tried again, without another note. */
		scope_watch_cpus(engine);
		assert_int_equal(notes_of(engine, NOTE_EVENT_REFUSED, &note), 1);
		pass(engine, 1);
		check_covered(engine, 3.0 / 5, false);
		kernel.error = 0;
		scope_watch_cpus(engine);
		assert_int_equal(engine->status.cpus, 3);
		end(engine);
	}
}

static void test_ring(void **state)
{
	struct engine *engine = begin();
	struct engine_note note = {0};

	(void)state;
	kernel.ring_error = EINVAL;
	assert_int_equal(scope_begin(engine), 0);
	assert_int_equal(notes_of(engine, NOTE_EVENT_REFUSED, &note), 1);
	assert_int_equal(note.error, EINVAL);
	assert_true(note.asked.ring);
	pass(engine, 1);
	check_covered(engine, 0.5, false);
	end(engine);
}

/* One event does not open on CPU 1; the other has its full coverage. */
static void test_event(void **state)
{
	struct engine *engine = begin();
	struct engine_note note = {0};

	(void)state;
	kernel.error = ENOSPC;
	kernel.refused = FAULTS;
	assert_int_equal(scope_begin(engine), 0);
	assert_int_equal(engine->status.cpus, 3);
	assert_int_equal(notes_of(engine, NOTE_EVENT_REFUSED, &note), 1);
	assert_int_equal(note.cpu, BAD_CPU);
	assert_string_equal(note.text, "page-faults");
	pass(engine, 1);
	check_covered(engine, 1, false);
	end(engine);
	engine = begin();
	kernel.error = EBUSY;
	kernel.refused = CLOCK;
	assert_int_equal(scope_begin(engine), 0);
	pass(engine, 1);
	check_covered(engine, 0.5, true);
	end(engine);
}

/* An event is opened again while sampling, and does not open on CPU 1. */
static void test_reopened(void **state)
{
	struct engine *engine = begin();
	struct engine_note note = {0};

	(void)state;
	assert_int_equal(scope_begin(engine), 0);
	pass(engine, 1);
	check_covered(engine, 1, true);
	kernel.error = ENOMEM;
	kernel.refused = FAULTS;
	change_close(engine, 1);
	assert_int_equal(change_open(engine, 1), 0);
	assert_int_equal(notes_of(engine, NOTE_EVENT_REFUSED, &note), 1);
	assert_int_equal(note.error, ENOMEM);
	assert_int_equal(note.cpu, BAD_CPU);
	pass(engine, 1);
	check_covered(engine, 1, false);
	end(engine);
}

/* A CPU that goes offline before its events open misses nothing. */
static void test_offline(void **state)
{
	struct engine *engine = begin();
	struct engine_note note = {0};

	(void)state;
	kernel.offline = true;
	kernel.error = ENODEV;
	kernel.refused = ALL;
	assert_int_equal(scope_begin(engine), 0);
	pass(engine, 0);
	check_covered(engine, 1, true);
	assert_int_equal(notes_of(engine, NOTE_EVENT_REFUSED, &note), 0);
	end(engine);
}

/* Three CPUs with two events and a tracker need nine descriptors. */
static void test_limit(void **state)
{
	struct engine *engine = begin();
	struct engine_note note = {0};

	(void)state;
	engine->budget.fd_limit = 13;
	assert_int_equal(scope_begin(engine), 0);
	assert_int_equal(notes_of(engine, NOTE_FD_LIMIT, &note), 1);
	assert_int_equal(note.value, 13);
	assert_int_equal(note.needed, 9 + ENGINE_FDS_RESERVE);
	end(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_reopened),
		cmocka_unit_test(test_offline),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
