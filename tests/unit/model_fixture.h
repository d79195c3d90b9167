/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_fixture.h - a live model of a recording with random threads, stacks and weights.
 *
 * Functions are addresses of a missing file, so that their names do not depend on the machine.
 * Included once in a program, whose main() begins with symbols_main().
 */
#ifndef TESTS_MODEL_FIXTURE_H
#define TESTS_MODEL_FIXTURE_H

#include "sampler/control/status.h"
#include "tests/unit/labelled_task.h"
#include "tui/export/save.h"
#include "tui/model/commands.h"
#include "tui/model/live_private.h"
#include "tui/model/queries.h"
#include "tui/session/request.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIXTURE_SLICES 64
#define FIXTURE_CELLS 40
#define FIXTURE_NODES 24
#define FIXTURE_START_NS 100000000000ull
#define FIXTURE_WAIT_MS 1
#define FIXTURE_PID 100
#define FIXTURE_RENAMES 1000u

struct model_fixture {
	int fd; /* the recording, in memory */
	char path[64];
	struct request request;
	struct session session;
	struct model_live *live;
	struct model *model; /* the model of live */
	char *files[1];
};

static inline uint32_t model_fixture_random(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)(*seed >> 8) * below) >> 24);
}

/* Returns an fd of a recording of about two and a half seconds.  Functions from number `only` on
 * are in none of its stacks.  Its processes have numbers from `first` on; `last` names the last
 * one.  An odd seed reverses the order of the events.  From seed FIXTURE_RENAMES on, the first
 * process is renamed after ten slices.  From there, its first thread runs only in every fifth
 * slice. */
static inline int model_fixture_record(
	uint32_t seed, uint32_t only, int32_t first, const char *last)
{
	static struct slice slices[FIXTURE_SLICES];
	static uint32_t stack[FIXTURE_SLICES][FIXTURE_CELLS], task[FIXTURE_SLICES][FIXTURE_CELLS],
		count[FIXTURE_SLICES][FIXTURE_CELLS];
	static uint16_t cpu[FIXTURE_SLICES][FIXTURE_CELLS];
	static uint8_t event[FIXTURE_SLICES][FIXTURE_CELLS];
	static uint64_t weight[FIXTURE_SLICES][FIXTURE_CELLS];
	static const struct slice *list[FIXTURE_SLICES];
	const uint32_t odd = seed & 1;
	const bool renames = seed >= FIXTURE_RENAMES;
	const uint8_t ids[] = {odd ? 5 : 0, odd ? 0 : 5};
	const struct image key = {
		.kind = IMAGE_FILE, .path = (char *)"/nowhere/program", .inode = 7};
	const struct perf_event_attr clock = {
		.type = PERF_TYPE_SOFTWARE, .freq = 1, .sample_freq = 997};
	const struct perf_event_attr faults = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1};
	const struct snapshot snapshot = {list, FIXTURE_SLICES};
	struct save_progress progress = {0};
	struct writer_event events[2];
	struct images *images;
	struct stacks *stacks;
	struct tasks *tasks;
	struct save_source source = {
		.snapshot = &snapshot, .events = events, .event_ids = ids, .n_events = 2};
	uint32_t nodes[FIXTURE_NODES], labels[4], image, frame;
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(images_new(&images), 0);
	assert_int_equal(stacks_new(&stacks), 0);
	assert_int_equal(tasks_new(&tasks, images, NULL), 0);
	assert_int_equal(images_intern(images, &key, &image), 0);
	labels[0] = labelled_task(tasks, first, first, "server", 1);
	labels[1] = labelled_task(tasks, first, first + 1, "worker", 2);
	labels[2] = labelled_task(tasks, first + 100, first + 100, last, 3);
	labels[3] = renames ? labelled_task(tasks, first, first, "renamed", 4) : labels[2];
	for (uint32_t i = 0; i < FIXTURE_NODES; i++) {
		uint32_t parent = i && model_fixture_random(&seed, 6)
			? nodes[model_fixture_random(&seed, i)]
			: STACK_ROOT;

		assert_int_equal(stacks_frame(stacks, image,
					 0x1000 + 16 * (uint64_t)model_fixture_random(&seed, only),
					 FRAME_USER, &frame),
			0);
		assert_int_equal(stacks_child(stacks, parent, frame, &nodes[i]), 0);
		stacks_ref(stacks, nodes[i]);
	}
	for (uint32_t s = 0; s < FIXTURE_SLICES; s++) {
		slices[s] = (struct slice){
			.serial = s + 1,
			.start_ns = FIXTURE_START_NS + s * STORE_SLICE_NS,
			.end_ns = FIXTURE_START_NS + (s + 1) * STORE_SLICE_NS,
			.cells = FIXTURE_CELLS,
			.stack = stack[s],
			.task = task[s],
			.cpu = cpu[s],
			.event = event[s],
			.weight = weight[s],
			.count = count[s],
		};
		list[s] = &slices[s];
		for (uint32_t i = 0; i < FIXTURE_CELLS; i++) {
			stack[s][i] = nodes[model_fixture_random(&seed, FIXTURE_NODES)];
			task[s][i] = labels[model_fixture_random(&seed, 3)];
			if (renames && s >= 10 && task[s][i] == labels[0])
				task[s][i] = labels[s % 5 ? 1 : 3];
			cpu[s][i] = (uint16_t)model_fixture_random(&seed, 4);
			event[s][i] = model_fixture_random(&seed, 4) ? 0 : 5;
			count[s][i] = 1 + model_fixture_random(&seed, 3);
			weight[s][i] = count[s][i] * (1 + model_fixture_random(&seed, 1000000));
		}
	}
	save_event(&events[odd], "cpu-clock", &clock);
	save_event(&events[!odd], "page-faults", &faults);
	source.stacks = stacks;
	source.tasks = tasks;
	source.images = images;
	assert_int_equal(save_write(&source, fd, false, &progress), 0);
	tasks_free(tasks);
	stacks_free(stacks);
	images_free(images);
	return fd;
}

static inline void model_fixture_refresh(struct model_fixture *fixture)
{
	assert_int_equal(fixture->model->queries->refresh(fixture->model, true), 0);
}

static inline void model_fixture_pause(void)
{
	(void)poll(NULL, 0, FIXTURE_WAIT_MS);
}

static inline void model_fixture_open_as(struct model_fixture *fixture, uint32_t seed,
	uint32_t only, int32_t first, const char *last)
{
	char message[1024] = "";

	memset(fixture, 0, sizeof(*fixture));
	fixture->fd = model_fixture_record(seed, only, first, last);
	snprintf(fixture->path, sizeof(fixture->path), "/proc/self/fd/%d", fixture->fd);
	fixture->files[0] = fixture->path;
	fixture->request.files = fixture->files;
	fixture->request.n_files = 1;
	fixture->request.engine.callchain = true;
	fixture->request.engine.memory_bytes = 64u << 20;
	fixture->request.cache_dir = "";
	if (session_open(&fixture->session, &fixture->request, message, sizeof(message)))
		fail_msg("%s", message);
	assert_int_equal(model_live_new(&fixture->live, &fixture->session), 0);
	fixture->model = model_live_model(fixture->live);
	do {
		model_fixture_pause();
		model_fixture_refresh(fixture);
	} while (fixture->model->status.state != ENGINE_ENDED);
	model_fixture_refresh(fixture);
}

static inline void model_fixture_open(struct model_fixture *fixture, uint32_t seed, uint32_t only)
{
	model_fixture_open_as(fixture, seed, only, FIXTURE_PID, "make");
}

static inline void model_fixture_close(struct model_fixture *fixture)
{
	model_live_free(fixture->live);
	session_close(&fixture->session);
	close(fixture->fd);
}

/* Returns the id of the event with this name. */
static inline uint8_t model_fixture_event(const struct model_fixture *fixture, const char *name)
{
	for (size_t i = 0; i < fixture->model->status.n_events; i++)
		if (!strcmp(fixture->model->status.events[i].name, name))
			return fixture->model->status.events[i].id;
	fail_msg("no %s", name);
	return 0;
}

/* Makes a recording the baseline; fails the test if it is refused. */
static inline void model_fixture_compare(struct model_fixture *fixture, const char *path)
{
	char message[400] = "";

	if (fixture->model->commands->baseline_file(fixture->model, path, message, sizeof(message)))
		fail_msg("%s", message);
	while (fixture->model->base_reading.active) {
		model_fixture_pause();
		model_fixture_refresh(fixture);
	}
}

/* Returns the newest line of the log, or "" if it is empty. */
static inline const char *model_fixture_said(const struct model_fixture *fixture)
{
	const struct logbook *log = &fixture->model->log;
	size_t n = logbook_count(log);

	return n ? logbook_get(log, n - 1)->text : "";
}

#endif
