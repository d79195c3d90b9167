/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_world.h - a small handmade store to export.
 *
 * It has images with functions of 16 bytes, stacks, threads and slices.  Included once in a
 * program, after fake_symbols.h's own rules.
 */
#ifndef TESTS_EXPORT_WORLD_H
#define TESTS_EXPORT_WORLD_H

#include "tests/unit/fake_symbols.h"
#include "tests/unit/labelled_task.h"
#include "tui/export/profile.h"

#include <stdio.h>
#include <stdlib.h>

#define START_NS ((uint64_t)10000000000)

struct world {
	struct images *images;
	struct stacks *stacks;
	struct tasks *tasks;
	struct store *store;
	struct symbols symbols;
	struct names *names;
	struct snapshot snapshot;
	struct profile_event events[2];
	struct profile profile;
	uint32_t program, library, kernel, unknown; /* images */
	uint32_t worker, other; /* task labels */
	uint64_t now_ns;
};

#define HOSTILE "</script>\"&'<x>;\033[2J\n"

static const struct symbol world_functions[] = {{0x00, 16, "main", NULL, 0, false},
	{0x10, 16, "work", NULL, 1, false}, {0x20, 16, "leaf", NULL, 2, false},
	{0x30, 16, HOSTILE, NULL, 3, false}, {0x40, 16, "a->b", NULL, 4, false},
	{0x50, 16, "void ns::make<int>(int (*)())", NULL, 5, false},
	{0x60, 16, "net/http.(*Client).Do", NULL, 6, false},
	{0x70, 16, "(anonymous namespace)::f", NULL, 7, false},
	{0x80, 16, "ns::(anonymous namespace)::g(int) const", NULL, 8, false},
	{0x90, 16, "Lorg/x/Y;.call", NULL, 9, false},
	{0xa0, 16, "Foo::operator()(int)", NULL, 10, false}};

enum {
	MAIN = 0x00,
	WORK = 0x10,
	LEAF = 0x20,
	EVIL = 0x30,
	INLINED = 0x40,
	MAKE = 0x50,
	GO = 0x60,
	ANONYMOUS = 0x70,
	METHOD = 0x80,
	JAVA = 0x90,
	CALL = 0xa0,
	NOTHING = 0x1000
};

static uint32_t world_image(
	struct world *world, enum image_kind kind, const char *path, uint64_t inode)
{
	struct image key = {.kind = kind, .path = (char *)(uintptr_t)path, .inode = inode};
	uint32_t id;

	assert_int_equal(images_intern(world->images, &key, &id), 0);
	return id;
}

static void world_make(struct world *world)
{
	memset(world, 0, sizeof(*world));
	assert_int_equal(images_new(&world->images), 0);
	assert_int_equal(stacks_new(&world->stacks), 0);
	assert_int_equal(tasks_new(&world->tasks, world->images, NULL), 0);
	assert_int_equal(store_new(&world->store, world->stacks, world->tasks, 64 << 20), 0);
	world->kernel = IMAGE_ID_KERNEL;
	world->unknown = IMAGE_ID_UNKNOWN;
	world->program = world_image(world, IMAGE_FILE, "/bin/program", 7);
	world->library = world_image(world, IMAGE_FILE, "/lib/libx.so", 8);
	for (int i = 0; i < FAKE_IMAGES; i++)
		world->symbols.images[i].state = SYMBOLS_NONE;
	world->symbols.images[world->program] = (struct fake_image){.state = SYMBOLS_READY,
		.symbols = world_functions,
		.n_symbols = sizeof(world_functions) / sizeof(world_functions[0])};
	assert_int_equal(
		names_new(&world->names, world->stacks, world->images, &world->symbols), 0);
	world->worker = labelled_task(world->tasks, 100, 100, "worker one", START_NS);
	world->other = labelled_task(world->tasks, 100, 101, "java", START_NS);
	world->now_ns = START_NS;
	world->events[0] = (struct profile_event){
		.id = 0, .name = "cpu-clock", .is_clock = true, .freq_hz = 1000};
	world->events[1] = (struct profile_event){.id = 1, .name = "page-faults:u", .period = 1};
	world->profile = (struct profile){.snapshot = &world->snapshot,
		.stacks = world->stacks,
		.tasks = world->tasks,
		.names = world->names,
		.images = world->images,
		.events = world->events,
		.n_events = 1,
		.title = "a <title> & \"more\"",
		.start_ns = START_NS,
		.end_ns = START_NS + 1000000000};
}

static void world_free(struct world *world)
{
	if (world->snapshot.slices)
		snapshot_release(world->store, &world->snapshot);
	names_free(world->names);
	store_free(world->store);
	tasks_free(world->tasks);
	stacks_free(world->stacks);
	images_free(world->images);
}

static uint32_t world_push(struct world *world, uint32_t node, uint32_t image, uint64_t offset)
{
	uint32_t frame;

	images_pin(world->images, image);
	assert_int_equal(stacks_frame(world->stacks, image, offset,
				 image == world->kernel ? FRAME_KERNEL : FRAME_USER, &frame),
		0);
	assert_int_equal(stacks_child(world->stacks, node, frame, &node), 0);
	return node;
}

/* Returns a stack in the program.  offsets: outermost first, -1 at the end. */
static uint32_t world_stack(struct world *world, const int *offsets)
{
	uint32_t node = STACK_ROOT;

	for (; *offsets >= 0; offsets++)
		node = world_push(world, node, world->program, (uint64_t)*offsets);
	return node;
}

#define STACK(world, ...) world_stack(world, (const int[]){__VA_ARGS__, -1})

static void world_add(
	struct world *world, uint32_t node, uint32_t task, uint8_t event, uint64_t weight)
{
	assert_int_equal(store_add(world->store, world->now_ns, node, task, 0, event, weight), 0);
}

static inline void world_next_slice(struct world *world)
{
	world->now_ns += STORE_SLICE_NS;
	store_seal(world->store, world->now_ns, true);
}

/* Returns the output of an exporter; the caller frees it. */
static inline char *world_write(
	struct world *world, int (*write)(FILE *, const struct profile *), size_t *len)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	store_seal(world->store, world->now_ns + STORE_SLICE_NS, true);
	if (!world->snapshot.slices)
		assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &world->snapshot), 0);
	assert_int_equal(write(out, &world->profile), 0);
	fclose(out);
	if (len)
		*len = size;
	return text;
}

#endif
