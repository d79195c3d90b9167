/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * samples_fixture.h - stacks, tasks, images, names and handmade slices, for queries of samples.
 *
 * Two images have the same functions: f0, f1 and so on, each with 16 bytes.  A third one has none.
 * Included once in a program.
 */
#ifndef TESTS_SAMPLES_FIXTURE_H
#define TESTS_SAMPLES_FIXTURE_H

#include "tests/unit/fake_symbols.h"
#include "tests/unit/labelled_task.h"
#include "tests/unit/slice_cells.h"
#include "tui/names/names.h"
#include "tui/query/scan.h"

#include "sampler/store/store.h"
#include "sampler/store/tasks.h"

#include <stdio.h>
#include <stdlib.h>

#define FIXTURE_FUNCTIONS 24
#define FIXTURE_CELLS 4000
#define FIXTURE_SLICES 8
#define FIXTURE_LABELS 8
#define FIXTURE_EVENTS 12

struct fixture {
	struct images *images;
	struct stacks *stacks;
	struct tasks *tasks;
	struct symbols symbols;
	struct names *names;
	struct symbol functions[FIXTURE_FUNCTIONS];
	char function_names[FIXTURE_FUNCTIONS][8];
	uint32_t program, library, stripped; /* images */
	uint32_t labels[FIXTURE_LABELS]; /* processes 0, 100, 200, 300: fixture_labels */
	struct slice slices[FIXTURE_SLICES];
	const struct slice *list[FIXTURE_SLICES];
	struct snapshot snapshot;
	uint32_t stack[FIXTURE_SLICES][FIXTURE_CELLS], task[FIXTURE_SLICES][FIXTURE_CELLS],
		count[FIXTURE_SLICES][FIXTURE_CELLS];
	uint16_t cpu[FIXTURE_SLICES][FIXTURE_CELLS];
	uint8_t event[FIXTURE_SLICES][FIXTURE_CELLS];
	uint64_t weight[FIXTURE_SLICES][FIXTURE_CELLS];
	struct slice_total totals[FIXTURE_SLICES][FIXTURE_EVENTS];
};

/* Thread names under which samples are taken.  The first thread of process 200 has two names,
 * one after the other. */
static const struct {
	int32_t pid, tid;
	const char *comm;
} fixture_labels[FIXTURE_LABELS] = {{0, 0, "swapper"}, {100, 100, "server"}, {100, 101, "worker"},
	{100, 102, "worker"}, {200, 200, "sh"}, {200, 200, "make"}, {200, 201, "make"},
	{300, 300, "we\033ird"}};

static inline uint32_t fixture_image(struct fixture *fixture, const char *path, bool has_symbols)
{
	static uint64_t inode = 7;
	struct image key = {.kind = IMAGE_FILE, .path = (char *)path, .inode = inode++};
	uint32_t image;

	assert_int_equal(images_intern(fixture->images, &key, &image), 0);
	assert_true(image < FAKE_IMAGES);
	if (has_symbols) {
		fixture->symbols.images[image].state = SYMBOLS_READY;
		fixture->symbols.images[image].symbols = fixture->functions;
		fixture->symbols.images[image].n_symbols = FIXTURE_FUNCTIONS;
	}
	return image;
}

static inline int fixture_setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	assert_int_equal(images_new(&fixture->images), 0);
	assert_int_equal(stacks_new(&fixture->stacks), 0);
	assert_int_equal(tasks_new(&fixture->tasks, fixture->images, NULL), 0);
	for (int i = 0; i < FAKE_IMAGES; i++)
		fixture->symbols.images[i].state = SYMBOLS_NONE;
	for (uint32_t i = 0; i < FIXTURE_FUNCTIONS; i++) {
		snprintf(fixture->function_names[i], sizeof(fixture->function_names[i]), "f%u", i);
		fixture->functions[i] = (struct symbol){.start = (uint64_t)i * 16,
			.size = 16,
			.name = fixture->function_names[i],
			.index = i};
	}
	fixture->program = fixture_image(fixture, "/bin/program", true);
	fixture->library = fixture_image(fixture, "/lib/library.so", true);
	fixture->stripped = fixture_image(fixture, "/lib/stripped.so", false);
	assert_int_equal(
		names_new(&fixture->names, fixture->stacks, fixture->images, &fixture->symbols), 0);
	for (uint32_t i = 0; i < FIXTURE_LABELS; i++)
		fixture->labels[i] = labelled_task(fixture->tasks, fixture_labels[i].pid,
			fixture_labels[i].tid, fixture_labels[i].comm, i + 1);
	for (uint32_t i = 0; i < FIXTURE_SLICES; i++) {
		fixture->slices[i] = (struct slice){
			.serial = i + 1,
			.start_ns = (uint64_t)i * 100,
			.end_ns = (uint64_t)i * 100 + 100,
			.stack = fixture->stack[i],
			.task = fixture->task[i],
			.cpu = fixture->cpu[i],
			.event = fixture->event[i],
			.weight = fixture->weight[i],
			.count = fixture->count[i],
			.totals = fixture->totals[i],
		};
		fixture->list[i] = &fixture->slices[i];
	}
	fixture->snapshot = (struct snapshot){fixture->list, FIXTURE_SLICES};
	*state = fixture;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *fixture = *state;

	names_free(fixture->names);
	tasks_free(fixture->tasks);
	stacks_free(fixture->stacks);
	images_free(fixture->images);
	free(fixture);
	return 0;
}

/* Returns the stack of a function that is called from parent. */
static inline uint32_t fixture_call(
	struct fixture *fixture, uint32_t parent, uint32_t image, uint64_t offset)
{
	uint32_t frame, made;

	assert_int_equal(stacks_frame(fixture->stacks, image, offset, FRAME_USER, &frame), 0);
	assert_int_equal(stacks_child(fixture->stacks, parent, frame, &made), 0);
	stacks_ref(fixture->stacks, made);
	return made;
}

/* Returns a stack of functions of the program, by number, outermost first: "0 1 2". */
static inline uint32_t fixture_stack(struct fixture *fixture, const char *functions)
{
	uint32_t node = STACK_ROOT;

	while (*functions) {
		char *end;
		unsigned long number = strtoul(functions, &end, 10);

		node = fixture_call(fixture, node, fixture->program, number * 16);
		functions = *end ? end + 1 : end;
	}
	return node;
}

static inline void fixture_cell(struct fixture *fixture, uint32_t slice, uint32_t stack,
	uint32_t label, uint16_t cpu, uint8_t event, uint64_t weight, uint32_t count)
{
	assert_true(fixture->slices[slice].cells < FIXTURE_CELLS);
	slice_cells_add(&fixture->slices[slice], stack, label, cpu, event, weight, count);
	assert_true(fixture->slices[slice].n_totals <= FIXTURE_EVENTS);
}

/* Returns a question for all samples of all events, in one group. */
static inline struct scan_question fixture_scan(const struct fixture *fixture)
{
	return (struct scan_question){
		.snapshot = &fixture->snapshot,
		.to_ns = UINT64_MAX,
		.stacks = fixture->stacks,
		.tasks = fixture->tasks,
		.names = fixture->names,
		.event = -1,
		.column = GROUP_KEYS,
	};
}

static inline uint32_t fixture_random(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)(*seed >> 8) * below) >> 24);
}

/* Makes random slices: stacks with recursion, shared callers, and no frames at all.  They have
 * all labels, four CPUs, three events, and weights that may be 0. */
static inline void fixture_randomize(struct fixture *fixture, uint32_t seed, uint32_t cells)
{
	uint32_t nodes[64], n = 0;

	while (n < 64) {
		const uint32_t images[] = {
			fixture->program, fixture->program, fixture->library, fixture->stripped};
		uint32_t parent = n && fixture_random(&seed, 8) ? nodes[fixture_random(&seed, n)]
								: STACK_ROOT;

		nodes[n++] = fixture_call(fixture, parent, images[fixture_random(&seed, 4)],
			fixture_random(&seed, FIXTURE_FUNCTIONS * 2) * 8);
	}
	for (uint32_t slice = 0; slice < FIXTURE_SLICES; slice++) {
		for (uint32_t i = 0; i < cells; i++) {
			uint32_t at = fixture_random(&seed, 65);

			fixture_cell(fixture, slice, at == 64 ? STACK_ROOT : nodes[at],
				fixture->labels[fixture_random(&seed, FIXTURE_LABELS)],
				(uint16_t)fixture_random(&seed, 4),
				(uint8_t)(fixture_random(&seed, 3) * 5),
				fixture_random(&seed, 10) ? fixture_random(&seed, 1000) : 0,
				1 + fixture_random(&seed, 3));
		}
	}
}

#endif
