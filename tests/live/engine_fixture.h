/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * engine_fixture.h - an engine on real events, children to profile, and waits for conditions.
 *
 * A wait ends when its condition holds, or fails after a minute.  No test asserts a duration.
 */
#ifndef TESTS_LIVE_ENGINE_FIXTURE_H
#define TESTS_LIVE_ENGINE_FIXTURE_H

#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "sampler/engine/engine.h"
#include "sampler/events/event.h"
#include "sampler/events/parse.h"
#include "sampler/kernel/sys.h"
#include "tests/live/amounts.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT_NS (60 * 1000000000ull)
#define UNUSED __attribute__((unused))

/* The kernel counts a hit before it writes the sample.  A hit while the event is being disabled may
 * be counted without a sample. */
#define CAUGHT_AT_END 1

static volatile unsigned long burnt;

static UNUSED void burn(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		burnt += i;
}

/* Touches n fresh pages, which makes n page faults with any allocator. */
static UNUSED void touch_pages(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory =
		mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(3);
	madvise((void *)memory, n * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		memory[i * page] = 1;
	munmap((void *)memory, n * page);
}

/* Starts a child that runs body(arg) and dies together with the test. */
static UNUSED pid_t start_child(void (*body)(void *), void *arg)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		/* A failing test leaves no child that would hold its output open. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		body(arg);
		_exit(0);
	}
	return pid;
}

/* Stops a child, so that it causes no events while they are closed. */
static UNUSED void stop_child(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

static UNUSED void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Reads one byte from a child.  Returns it, or -1 if the pipe is closed or a minute has passed. */
static UNUSED int read_byte(int fd)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	unsigned char byte;

	return poll(&pollfd, 1, WAIT_NS / 1000000) > 0 && read(fd, &byte, 1) == 1 ? byte : -1;
}

static UNUSED void body_burn(void *arg)
{
	(void)arg;
	for (;;)
		burn(100000);
}

static UNUSED void body_fault(void *arg)
{
	(void)arg;
	for (;;)
		touch_pages(256);
}

static UNUSED void body_both(void *arg)
{
	(void)arg;
	for (;;) {
		burn(100000);
		touch_pages(16);
	}
}

/* events of one configuration; freq_hz 0: period applies */
struct rig {
	struct engine_config config;
	struct event_spec *events;
	struct engine *engine;
	struct engine_status status;
	struct engine_note notes[1000];
	size_t n_notes;
};

static UNUSED void rig_events(
	struct rig *rig, const char *events, uint64_t freq_hz, uint64_t period)
{
	struct event_error error;

	assert_int_equal(event_parse_list(events, &rig->events, &rig->config.n_events, &error), 0);
	for (size_t i = 0; i < rig->config.n_events; i++) {
		if (freq_hz)
			event_set_freq(&rig->events[i], freq_hz);
		else
			event_set_period(&rig->events[i], period);
	}
	rig->config.events = rig->events;
	rig->config.callchain = true;
	rig->config.memory_bytes = 64 << 20;
	rig->config.target.command_output_fd = -1;
}

static UNUSED struct rig *rig_new(const char *events, uint64_t freq_hz, uint64_t period)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig_events(rig, events, freq_hz, period);
	return rig;
}

static UNUSED void rig_start(struct rig *rig)
{
	assert_int_equal(engine_new(&rig->engine, &rig->config), 0);
	assert_int_equal(engine_start(rig->engine), 0);
}

static UNUSED void rig_target(struct rig *rig, const int32_t *pid)
{
	rig->config.target.pids = pid;
	rig->config.target.n_pids = 1;
}

static UNUSED void rig_free(struct rig *rig)
{
	engine_free(rig->engine);
	free(rig->events);
	free(rig);
}

typedef bool rig_condition(struct rig *rig, uint64_t arg);

/* Waits until the condition holds.  Returns false after a minute. */
static UNUSED bool rig_wait(struct rig *rig, rig_condition *condition, uint64_t arg)
{
	struct pollfd pollfd = {.fd = engine_notify_fd(rig->engine), .events = POLLIN};
	uint64_t until = sys_now_ns() + WAIT_NS;
	eventfd_t count;

	for (;;) {
		engine_status(rig->engine, &rig->status);
		rig->n_notes = engine_notes(rig->engine, 0, rig->notes, 1000);
		/* A note appears before the status that it belongs to. */
		while (rig->n_notes > 0 &&
			rig->notes[rig->n_notes - 1].serial > rig->status.last_note)
			rig->n_notes--;
		if (condition(rig, arg))
			return true;
		if (sys_now_ns() >= until) {
			print_message("gave up: state %d, failure %d errno %d, samples %lu\n",
				rig->status.state, (int)rig->status.failure.what,
				rig->status.failure.error,
				(unsigned long)rig->status.events[0].samples);
			return false;
		}
		if (poll(&pollfd, 1, 1000) > 0)
			eventfd_read(pollfd.fd, &count);
	}
}

static UNUSED bool has_state(struct rig *rig, uint64_t state)
{
	return rig->status.state == state;
}

static UNUSED bool has_samples(struct rig *rig, uint64_t n)
{
	return rig->status.events[0].samples >= n;
}

static UNUSED bool has_followed(struct rig *rig, uint64_t n)
{
	int32_t *pids;
	size_t found;

	assert_int_equal(engine_followed(rig->engine, &pids, &found), 0);
	free(pids);
	return found == n;
}

static UNUSED bool has_note(struct rig *rig, uint64_t kind)
{
	for (size_t i = 0; i < rig->n_notes; i++)
		if (rig->notes[i].kind == kind)
			return true;
	return false;
}

/* Returns the newest note of that kind; NULL if none. */
static UNUSED const struct engine_note *find_note(struct rig *rig, enum engine_note_kind kind)
{
	for (size_t i = rig->n_notes; i-- > 0;)
		if (rig->notes[i].kind == kind)
			return &rig->notes[i];
	return NULL;
}

static UNUSED size_t count_fds_now(void)
{
	char path[64];
	size_t n = 0;

	for (int fd = 0; fd < 4096; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n += !access(path, F_OK);
	}
	return n;
}

/* Returns the least of several counts: the sampling thread opens files in /proc for a moment. */
static UNUSED size_t count_fds(void)
{
	size_t least = SIZE_MAX;

	for (int i = 0; i < 20; i++) {
		size_t n = count_fds_now();

		if (n < least)
			least = n;
		poll(NULL, 0, 2);
	}
	return least;
}

/* Stops the engine, and checks that all delivered samples are in the store. */
static UNUSED void rig_stop(struct rig *rig)
{
	struct engine_status *status = &rig->status;
	uint64_t stored = 0, delivered = 0;
	struct snapshot snapshot;

	assert_int_equal(engine_stop(rig->engine), 0);
	assert_true(rig_wait(rig, has_state, ENGINE_STOPPED));
	assert_int_equal(store_snapshot(engine_store(rig->engine), 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++)
		for (uint32_t c = 0; c < snapshot.slices[i]->cells; c++)
			stored += snapshot.slices[i]->count[c];
	snapshot_release(engine_store(rig->engine), &snapshot);
	for (size_t i = 0; i < status->n_events; i++)
		delivered += status->events[i].samples;
	assert_int_equal(stored + status->store.dropped, delivered);
}

static UNUSED bool cpu_wide_permitted(void)
{
	struct sys_features features;
	const struct sys_setup setup = {0};
	struct perf_event_attr attr;
	int fd;

	if (sys_probe(&features))
		return false;
	sys_dummy(&attr);
	sys_setup(&attr, &features, &setup);
	fd = sys_open(&attr, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Skips the test, with the reason, if all events are refused. */
static UNUSED void need_events(void)
{
	struct sys_features features;
	int ret = sys_probe(&features);

	if (!ret)
		return;
	print_message("skipped: perf_event_open: %s\n", strerror(-ret));
	skip();
}

static UNUSED void need_cpu_wide(void)
{
	need_events();
	if (cpu_wide_permitted())
		return;
	print_message("skipped: events on whole CPUs are refused to this user\n");
	skip();
}

#endif
