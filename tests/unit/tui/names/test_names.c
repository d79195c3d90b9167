/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_names.c - frames get the names from symbols/ as soon as they are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fake_symbols.h"
#include "tui/names/names.h"

struct world {
	struct stacks *stacks;
	struct images *images;
	struct symbols symbols;
	struct names *names;
	uint32_t program; /* image */
};

static const struct symbol program_symbols[] = {
	{0x1000, 0x100, "_Z4workv", NULL, 0, false},
	{0x1100, 0x100, "bad\033[31mname", NULL, 1, false},
};

static const struct symbol kernel_symbols[] = {
	{0xffffffff81000000, 0x1000, "pv_native_safe_halt", NULL, 0, false},
	{0xffffffff81001000, 0x1000, "do_syscall_64", NULL, 1, false},
	{0xffffffffc0000000, 0x1000, "nf_hook", "nf_tables", 2, false},
	{0xffffffffe0000000, 0x1000, "intel_idle_irq", NULL, 3, false},
};

static uint32_t intern(struct world *world, enum image_kind kind, const char *path, uint64_t inode)
{
	struct image key = {.kind = kind, .path = (char *)path, .inode = inode, .dev_major = 8};
	uint32_t id;

	assert_int_equal(images_intern(world->images, &key, &id), 0);
	assert_true(id < FAKE_IMAGES);
	return id;
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	assert_int_equal(stacks_new(&world->stacks), 0);
	assert_int_equal(images_new(&world->images), 0);
	world->program = intern(world, IMAGE_FILE, "/usr/bin/pro\033gram", 7);
	for (int i = 0; i < FAKE_IMAGES; i++)
		world->symbols.images[i].state = SYMBOLS_NONE;
	assert_int_equal(
		names_new(&world->names, world->stacks, world->images, &world->symbols), 0);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	names_free(world->names);
	stacks_free(world->stacks);
	images_free(world->images);
	free(world);
	return 0;
}

static void give(struct world *world, uint32_t image, const struct symbol *symbols, size_t n)
{
	world->symbols.images[image].state = SYMBOLS_READY;
	world->symbols.images[image].symbols = symbols;
	world->symbols.images[image].n_symbols = n;
}

/* Returns a frame that stays, since a referenced node has it. */
static uint32_t frame(struct world *world, uint32_t image, uint64_t offset, enum frame_mode mode)
{
	uint32_t id, node;

	assert_int_equal(stacks_frame(world->stacks, image, offset, mode, &id), 0);
	assert_int_equal(stacks_child(world->stacks, STACK_ROOT, id, &node), 0);
	stacks_ref(world->stacks, node);
	return id;
}

static const struct symref *ask(struct world *world, uint32_t id)
{
	return names_get(world->names, names_symref(world->names, id));
}

static void test_known_symbol(void **state)
{
	struct world *world = *state;
	uint32_t a, b, other;

	give(world, world->program, program_symbols, 2);
	a = frame(world, world->program, 0x1010, FRAME_USER);
	b = frame(world, world->program, 0x10ff, FRAME_USER);
	other = frame(world, world->program, 0x1100, FRAME_USER);
	assert_int_equal(names_symref(world->names, a), names_symref(world->names, b));
	assert_int_not_equal(names_symref(world->names, a), names_symref(world->names, other));
	assert_string_equal(ask(world, a)->symbol, "_Z4workv");
	assert_string_equal(ask(world, a)->image, "pro?gram");
	assert_string_equal(ask(world, a)->path, "/usr/bin/pro?gram");
	assert_int_equal(ask(world, a)->start, 0x1000);
	assert_true(ask(world, a)->resolved);
	assert_false(ask(world, a)->kernel);
	assert_false(ask(world, a)->pending);
	assert_string_equal(ask(world, other)->symbol, "bad?[31mname");
	assert_int_equal(world->symbols.images[world->program].requests, 1);
	assert_int_equal(world->symbols.images[world->program].source.inode, 7);
}

static uint32_t find_in(
	struct names_index *index, const char *symbol, const char *image, uint64_t start)
{
	const struct symref of = {
		.symbol = symbol, .image = image, .start = start, .resolved = true};
	uint32_t symref;

	assert_int_equal(names_index_add(index, &of, &symref), 0);
	return symref;
}

static uint32_t find(struct names_index *index, const char *symbol, uint64_t start)
{
	return find_in(index, symbol, "pro?gram", start);
}

/* Several functions may have one name, for example static ones: the one at the given place is
 * found. A missing name is added once. */
static void test_index(void **state)
{
	static const struct symbol twins[] = {{0x1000, 0x100, "work", NULL, 0, false},
		{0x1100, 0x100, "work", NULL, 1, false}, {0x1200, 0x100, "other", NULL, 2, false}};
	struct world *world = *state;
	struct names_index *index;
	uint32_t symrefs[3], added;
	char name[16];

	give(world, world->program, twins, 3);
	for (uint32_t i = 0; i < 3; i++)
		symrefs[i] = names_symref(
			world->names, frame(world, world->program, twins[i].start, FRAME_USER));
	assert_int_equal(names_index_new(&index, world->names, NULL, NULL), 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(find(index, twins[i].name, twins[i].start), symrefs[i]);
	/* A place of another build. */
	assert_int_equal(find(index, "other", 0x4000), symrefs[2]);
	assert_true(find(index, "work", 0x4000) == symrefs[0] ||
		find(index, "work", 0x4000) == symrefs[1]);
	added = find(index, "gone", 0x10);
	assert_true(names_get(world->names, added)->foreign);
	assert_int_equal(find(index, "gone", 0x20), added);
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "gone%d", i);
		assert_true(find(index, name, 0) > added);
	}
	assert_int_equal(find(index, "gone", 0), added);
	assert_int_equal(find(index, "work", 0x1100), symrefs[1]);
	assert_int_equal(find(index, "gone2999", 0), names_limit(world->names) - 1);
	names_index_free(index);
}

#define N_HERE 2u
#define N_THERE 3u

/* Looks up two or three functions "work" of another build, or of the same. */
static void find_works(struct world *world, const uint64_t here[N_HERE], const uint64_t *there,
	uint32_t n_there, const char *build_there, uint32_t own[N_HERE], uint32_t found[N_THERE])
{
	static struct symbol works[N_HERE + N_THERE];
	struct names *names;
	struct names_index *index;
	uint32_t symrefs[N_THERE];
	uint32_t image = intern(world, IMAGE_FILE, "/usr/bin/pro\033gram", 8);

	for (uint32_t i = 0; i < N_HERE + n_there; i++)
		works[i] = (struct symbol){i < N_HERE ? here[i] : there[i - N_HERE], 0x10, "work",
			NULL, i < N_HERE ? i : i - N_HERE, false};
	images_set_build_id(world->images, world->program, (const uint8_t *)"one", 3);
	images_set_build_id(world->images, image, (const uint8_t *)build_there, 3);
	give(world, world->program, works, N_HERE);
	give(world, image, works + N_HERE, n_there);
	assert_int_equal(names_new(&names, world->stacks, world->images, &world->symbols), 0);
	for (uint32_t i = 0; i < N_HERE; i++)
		own[i] = names_symref(
			world->names, frame(world, world->program, here[i], FRAME_USER));
	for (uint32_t i = 0; i < n_there; i++)
		symrefs[i] = names_symref(names, frame(world, image, there[i], FRAME_USER));
	assert_int_equal(names_index_new(&index, world->names, names, NULL), 0);
	for (uint32_t i = n_there; i-- > 0;)
		assert_int_equal(
			names_index_add(index, names_get(names, symrefs[i]), &found[i]), 0);
	for (uint32_t i = 0; i < n_there; i++) {
		uint32_t again;

		assert_int_equal(names_index_add(index, names_get(names, symrefs[i]), &again), 0);
		assert_int_equal(again, found[i]);
	}
	names_index_free(index);
	names_free(names);
}

/* A function of the same build is none of its namesakes, even if it was not sampled here. */
static void test_index_of_one_build(void **state)
{
	struct world *world = *state;
	uint32_t own[N_HERE], found[N_THERE];

	find_works(world, (uint64_t[]){0x1000, 0x1300}, (uint64_t[]){0x1100, 0x1200, 0x1300}, 3,
		"one", own, found);
	assert_true(names_get(world->names, found[0])->foreign);
	assert_true(names_get(world->names, found[1])->foreign);
	assert_int_not_equal(found[0], found[1]);
	assert_int_equal(found[2], own[1]);
}

/* In another build, as many functions of one name are in the same order; equal places mean
 * nothing. */
static void test_index_of_two_builds(void **state)
{
	struct world *world = *state;
	uint32_t own[N_HERE], found[N_THERE];

	find_works(world, (uint64_t[]){0x1000, 0x1300}, (uint64_t[]){0x1300, 0x1400}, 2, "two", own,
		found);
	assert_int_equal(found[0], own[0]);
	assert_int_equal(found[1], own[1]);
}

/* If another build has more of them, nothing is known of these: none is taken for a new one. */
static void test_index_of_other_numbers(void **state)
{
	struct world *world = *state;
	uint32_t own[N_HERE], found[N_THERE];

	find_works(world, (uint64_t[]){0x1000, 0x1300}, (uint64_t[]){0x1100, 0x1200, 0x1400}, 3,
		"two", own, found);
	for (uint32_t i = 0; i < N_THERE; i++)
		assert_true(found[i] == own[0] || found[i] == own[1]);
}

/* Functions of one image that share their name are known; others are not. */
static void test_namesakes(void **state)
{
	static const struct symbol twins[] = {{0x1000, 0x100, "work", NULL, 0, false},
		{0x1100, 0x100, "work", NULL, 1, false}, {0x1200, 0x100, "other", NULL, 2, false}};
	struct world *world = *state;
	struct namesakes namesakes;
	uint32_t symrefs[3];

	give(world, world->program, twins, 3);
	for (uint32_t i = 0; i < 3; i++)
		symrefs[i] = names_symref(
			world->names, frame(world, world->program, twins[i].start, FRAME_USER));
	assert_int_equal(names_namesakes(world->names, &namesakes), 0);
	assert_int_equal(namesakes.n, names_limit(world->names));
	assert_true(namesakes.has[symrefs[0]]);
	assert_true(namesakes.has[symrefs[1]]);
	assert_false(namesakes.has[symrefs[2]]);
	namesakes_fini(&namesakes);
}

/* Another build has another clone of a function. The function itself is preferred to its other
 * clones. */
static void test_index_of_clones(void **state)
{
	static const struct symbol functions[] = {{0x1000, 0x100, "one.isra.0", NULL, 0, false},
		{0x1100, 0x100, "two.part.0", NULL, 1, false},
		{0x1200, 0x100, "two", NULL, 2, false},
		{0x1300, 0x100, "a::f::h0123456789abcdef", NULL, 3, false}};
	struct world *world = *state;
	struct names_index *index;
	uint32_t symrefs[4], added;

	give(world, world->program, functions, 4);
	for (uint32_t i = 0; i < 4; i++)
		symrefs[i] = names_symref(
			world->names, frame(world, world->program, functions[i].start, FRAME_USER));
	assert_int_equal(names_index_new(&index, world->names, NULL, NULL), 0);
	assert_int_equal(find(index, "one.constprop.0", 0), symrefs[0]);
	assert_int_equal(find(index, "one", 0), symrefs[0]);
	assert_int_equal(find(index, "two.part.0", 0), symrefs[1]);
	assert_int_equal(find(index, "two.cold", 0), symrefs[2]);
	assert_int_equal(find(index, "a::f::hfedcba9876543210", 0), symrefs[3]);
	added = find(index, "three.cold", 0);
	assert_true(names_get(world->names, added)->foreign);
	assert_int_not_equal(find(index, "three", 0), added);
	names_index_free(index);
}

/* Generated code is found by its function in another run, where its process has another number.
 * Its process is preferred.  Files that perf inject made of it have no place, like other generated
 * code. */
static void test_index_of_generated_code(void **state)
{
	static const struct symbol one = {0x1000, 0x100, "f", NULL, 0, false};
	static const char *const paths[] = {
		"/tmp/perf-1.map", "/tmp/perf-2.map", "/opt/perf-3.map.so", "/x/jitted-4-5.so"};
	struct world *world = *state;
	struct names_index *index;
	struct names_place place;
	uint32_t f[4], added;

	for (uint32_t i = 0; i < 4; i++) {
		const bool is_file = i >= 2;
		uint32_t image = intern(world, is_file ? IMAGE_FILE : IMAGE_ANON,
			is_file ? paths[i] : "[anon]", 20 + i);

		give(world, image, &one, 1);
		world->symbols.images[image].jit_file = is_file ? NULL : paths[i];
		f[i] = names_symref(world->names, frame(world, image, 0x1000, FRAME_USER));
		assert_int_equal(names_place(world->names, f[i], &place), i == 2);
	}
	assert_int_equal(names_index_new(&index, world->names, NULL, NULL), 0);
	assert_int_equal(find_in(index, "f", "perf-1.map", 0x10), f[0]);
	assert_int_equal(find_in(index, "f", "perf-2.map", 0x10), f[1]);
	assert_int_equal(find_in(index, "f", "jitted-4-5.so", 0x10), f[3]);
	assert_int_equal(find_in(index, "f", "perf-9.map", 0x10), f[0]);
	assert_int_equal(find_in(index, "f", "jit-9.dump", 0x10), f[0]);
	assert_int_equal(find_in(index, "f", "jitted-9-1.so", 0x10), f[0]);
	assert_true(names_get(world->names, find_in(index, "f", "perf-9.map.so", 0x10))->foreign);
	added = find_in(index, "gone", "perf-8.map", 0);
	assert_true(names_get(world->names, added)->foreign);
	assert_int_equal(find_in(index, "gone", "perf-9.map", 0), added);
	names_index_free(index);
}

/* A function without a name is one row, named by its start address in the file, once the table is
 * known. */
static void test_function_without_a_name(void **state)
{
	static const struct symbol functions[] = {
		{0x1000, 0x100, "", NULL, 0, false}, {0x1100, 0x100, "_Z4workv", NULL, 1, true}};
	static const struct symbols_segment segment = {0x1000, 0x4000, 0x402000};
	struct world *world = *state;
	uint32_t a, b, stub, beyond;

	world->symbols.images[world->program].state = SYMBOLS_PENDING;
	beyond = frame(world, world->program, 0x1234, FRAME_USER);
	assert_string_equal(ask(world, beyond)->symbol, "pro?gram+0x1234");
	assert_true(ask(world, beyond)->pending);
	give(world, world->program, functions, 2);
	world->symbols.images[world->program].segments = &segment;
	world->symbols.images[world->program].n_segments = 1;
	world->symbols.images[world->program].version++;
	world->symbols.changed = SYMBOLS_CHANGED_TABLES;
	names_update(world->names);
	a = frame(world, world->program, 0x1010, FRAME_USER);
	b = frame(world, world->program, 0x10ff, FRAME_USER);
	stub = frame(world, world->program, 0x1150, FRAME_USER);
	assert_int_equal(names_symref(world->names, a), names_symref(world->names, b));
	assert_string_equal(ask(world, a)->symbol, "pro?gram+0x402000");
	assert_false(ask(world, a)->resolved);
	assert_true(ask(world, a)->bounded);
	assert_false(ask(world, a)->pending);
	assert_string_equal(ask(world, stub)->symbol, "_Z4workv+0x...?");
	assert_true(ask(world, stub)->resolved);
	world->symbols.pretty = true;
	world->symbols.changed = SYMBOLS_CHANGED_NAMES;
	names_update(world->names);
	assert_string_equal(ask(world, stub)->symbol, "work()+0x...?");
	assert_string_equal(ask(world, beyond)->symbol, "pro?gram+0x402234");
	assert_false(ask(world, beyond)->bounded);
	assert_false(ask(world, beyond)->pending);
}

static void test_address_without_a_symbol(void **state)
{
	struct world *world = *state;
	uint32_t a, b;

	give(world, world->program, program_symbols, 2);
	a = frame(world, world->program, 0x5abc, FRAME_USER);
	b = frame(world, world->program, 0x5abd, FRAME_USER);
	assert_string_equal(ask(world, a)->symbol, "pro?gram+0x5abc");
	assert_false(ask(world, a)->resolved);
	assert_false(ask(world, a)->pending);
	assert_int_not_equal(names_symref(world->names, a), names_symref(world->names, b));
}

/* Asks whether memory without a file has a file's code. If so, its frames belong to the file. */
static void ask_piece(void **state, enum symbols_moved answer)
{
	struct world *world = *state;
	const struct image_text text = {.start = 0x10000,
		.end = 0x20000,
		.file = world->program,
		.before = {0xf000, 0x5000, true},
		.is_exact = true,
		.other = intern(world, IMAGE_ANON, "[anon]", 1),
		.other_bias = 3};
	const uint32_t piece = intern(world, IMAGE_ANON, "[anon]", 2);
	const struct fake_image *asked = &world->symbols.images[piece];
	struct changes_known known;
	struct changes *changes;
	uint64_t from_ns;

	assert_int_equal(changes_new(&changes), 0);
	changes_known_init(&known, changes);
	names_set_changes(world->names, changes);
	assert_int_equal(images_set_text(world->images, piece, &text), 0);
	ask(world, frame(world, piece, 0x10010, FRAME_USER));
	ask(world, frame(world, piece, 0x10020, FRAME_USER));
	names_update(world->names);
	assert_int_equal(asked->moved, SYMBOLS_MOVED_PENDING);
	assert_string_equal(asked->moved_file.path, "/usr/bin/pro\033gram");
	assert_int_equal(asked->piece.n_samples, 2);
	assert_int_equal(asked->piece.samples[1], 0x10020);
	assert_int_equal(asked->piece.end, 0x20000);
	assert_true(asked->piece.near[0].known && !asked->piece.near[1].known);
	assert_false(changes_moved(changes, piece));
	world->symbols.images[piece].moved = answer;
	world->symbols.images[piece].bias = 7;
	names_update(world->names);
	assert_int_equal(changes_take(&known, &from_ns), 0);
	assert_int_equal(known.n_moves, 1);
	assert_int_equal(known.moves[0].image, piece);
	assert_int_equal(known.moves[0].to, answer == SYMBOLS_MOVED_OTHER ? text.other : text.file);
	assert_int_equal(known.moves[0].bias, answer == SYMBOLS_MOVED_OTHER ? 3 : 7);
	names_update(world->names);
	assert_int_equal(changes_take(&known, &from_ns), 0);
	assert_int_equal(known.n_moves, 1);
	changes_known_fini(&known);
	names_set_changes(world->names, NULL);
	changes_free(changes);
}

static void test_moved_code(void **state)
{
	ask_piece(state, SYMBOLS_MOVED_SAME);
}

static void test_code_in_its_place(void **state)
{
	ask_piece(state, SYMBOLS_MOVED_PLACE);
}

static void test_other_code(void **state)
{
	ask_piece(state, SYMBOLS_MOVED_OTHER);
}

static void test_a_name_arrives(void **state)
{
	struct world *world = *state;
	uint64_t epoch = names_epoch(world->names);
	uint32_t a = frame(world, world->program, 0x1010, FRAME_USER);
	uint32_t before;

	world->symbols.images[world->program].state = SYMBOLS_PENDING;
	before = names_symref(world->names, a);
	assert_true(names_get(world->names, before)->pending);
	assert_string_equal(names_get(world->names, before)->symbol, "pro?gram+0x1010");
	/* Nothing has arrived yet. */
	assert_int_equal(names_update(world->names), epoch);

	give(world, world->program, program_symbols, 2);
	world->symbols.changed = SYMBOLS_CHANGED_TABLES;
	assert_true(names_update(world->names) > epoch);
	assert_int_not_equal(names_symref(world->names, a), before);
	assert_string_equal(ask(world, a)->symbol, "_Z4workv");
	assert_true(ask(world, a)->resolved);
	/* A caller may still use the old name. */
	assert_string_equal(names_get(world->names, before)->symbol, "pro?gram+0x1010");
	assert_false(names_get(world->names, before)->pending);
}

static void test_held(void **state)
{
	struct world *world = *state;
	uint32_t a = frame(world, world->program, 0x1010, FRAME_USER), before;
	uint64_t epoch;

	names_hold(world->names);
	give(world, world->program, program_symbols, 2);
	before = names_symref(world->names, a);
	world->symbols.changed = SYMBOLS_CHANGED_TABLES;
	epoch = names_update(world->names);
	assert_int_equal(world->symbols.images[world->program].requests, 0);
	assert_true(names_get(world->names, before)->pending);
	names_resume(world->names);
	assert_int_equal(world->symbols.images[world->program].requests, 1);
	assert_true(names_epoch(world->names) > epoch);
	assert_string_equal(ask(world, a)->symbol, "_Z4workv");
	/* Requested only once. */
	names_resume(world->names);
	assert_int_equal(world->symbols.images[world->program].requests, 1);
}

static void test_a_file_turns_out_unreadable(void **state)
{
	struct world *world = *state;
	uint64_t epoch = names_epoch(world->names);
	uint32_t a = frame(world, world->program, 0x1010, FRAME_USER);
	uint32_t before;

	world->symbols.images[world->program].state = SYMBOLS_PENDING;
	before = names_symref(world->names, a);
	assert_true(names_get(world->names, before)->pending);
	world->symbols.images[world->program].state = SYMBOLS_UNREADABLE;
	world->symbols.changed = SYMBOLS_CHANGED_TABLES;
	/* No frame changes its name. */
	assert_int_equal(names_update(world->names), epoch);
	assert_int_equal(names_symref(world->names, a), before);
	assert_false(names_get(world->names, before)->pending);
}

static void test_a_pretty_name_arrives(void **state)
{
	struct world *world = *state;
	uint32_t a = frame(world, world->program, 0x1010, FRAME_USER), symref;
	uint64_t epoch;

	give(world, world->program, program_symbols, 2);
	symref = names_symref(world->names, a);
	assert_string_equal(names_get(world->names, symref)->symbol, "_Z4workv");
	epoch = names_epoch(world->names);
	world->symbols.pretty = true;
	world->symbols.changed = SYMBOLS_CHANGED_NAMES;
	assert_int_equal(names_update(world->names), epoch);
	assert_int_equal(names_symref(world->names, a), symref);
	assert_string_equal(names_get(world->names, symref)->symbol, "work()");
}

/* A name that was pretty when first used does not change and is not freed. */
static void test_a_pretty_name_is_there(void **state)
{
	struct world *world = *state;
	uint32_t a = frame(world, world->program, 0x1010, FRAME_USER);
	const char *name;
	uint64_t changes;

	give(world, world->program, program_symbols, 2);
	assert_true(names_ask(world->names, a));
	assert_int_equal(world->symbols.pretty_asked, 1);
	world->symbols.pretty = true;
	name = ask(world, a)->symbol;
	assert_string_equal(name, "work()");
	changes = names_changes(world->names);
	world->symbols.changed = SYMBOLS_CHANGED_NAMES;
	names_update(world->names);
	assert_int_equal(names_changes(world->names), changes);
	assert_ptr_equal(ask(world, a)->symbol, name);
}

static void test_waiting_takes_all_in(void **state)
{
	struct world *world = *state;
	uint32_t a = frame(world, world->program, 0x1010, FRAME_USER);

	world->symbols.images[world->program].state = SYMBOLS_PENDING;
	assert_true(ask(world, a)->pending);
	give(world, world->program, program_symbols, 2);
	assert_int_equal(names_wait(world->names, 10), 0);
	assert_string_equal(ask(world, a)->symbol, "_Z4workv");
	world->symbols.pretty = true;
	assert_int_equal(names_wait(world->names, 10), 0);
	assert_string_equal(ask(world, a)->symbol, "work()");
}

static void test_kernel(void **state)
{
	struct world *world = *state;
	uint32_t idle = frame(world, IMAGE_ID_KERNEL, 0xffffffff81000010, FRAME_KERNEL);
	uint32_t call = frame(world, IMAGE_ID_KERNEL, 0xffffffff81001010, FRAME_KERNEL);
	uint32_t module = frame(world, IMAGE_ID_KERNEL, 0xffffffffc0000010, FRAME_KERNEL);
	uint32_t hole = frame(world, IMAGE_ID_KERNEL, 0xffffffffd0000010, FRAME_KERNEL);

	give(world, IMAGE_ID_KERNEL, kernel_symbols, 4);
	assert_string_equal(ask(world, idle)->image, "[kernel]");
	assert_true(ask(world, idle)->idle);
	assert_true(ask(world, idle)->kernel);
	assert_true(
		ask(world, frame(world, IMAGE_ID_KERNEL, 0xffffffffe0000010, FRAME_KERNEL))->idle);
	assert_false(ask(world, call)->idle);
	assert_string_equal(ask(world, call)->symbol, "do_syscall_64");
	assert_string_equal(ask(world, module)->image, "[nf_tables]");
	assert_true(ask(world, module)->kernel);
	assert_string_equal(ask(world, hole)->symbol, "[kernel]+0xffffffffd0000010");
	assert_true(ask(world, hole)->kernel);
}

/* Addresses in a file of another build are marked, also those shown before this was known. */
static void test_other_build(void **state)
{
	struct world *world = *state;
	uint32_t a = frame(world, world->program, 0x1010, FRAME_USER);

	world->symbols.images[world->program].state = SYMBOLS_PENDING;
	assert_null(strstr(ask(world, a)->symbol, "other build"));
	assert_false(ask(world, a)->mismatch);
	world->symbols.images[world->program].mark = SYMBOLS_MARK_OTHER;
	world->symbols.images[world->program].state = SYMBOLS_UNREADABLE;
	assert_int_equal(names_wait(world->names, 10), 0);
	assert_true(ask(world, a)->mismatch);
	assert_non_null(strstr(ask(world, a)->symbol, "+0x1010 (other build)"));
	uint32_t b = frame(world, world->program, 0x1020, FRAME_USER);
	assert_non_null(strstr(ask(world, b)->symbol, "+0x1020 (other build)"));
	assert_true(ask(world, b)->mismatch);
}

static void test_memory_without_a_file(void **state)
{
	struct world *world = *state;
	uint32_t one = intern(world, IMAGE_ANON, "[anon]", 1),
		 two = intern(world, IMAGE_ANON, "[anon]", 2);
	uint32_t a = frame(world, one, 0x7f0000001000, FRAME_USER);
	uint32_t b = frame(world, one, 0x7f0000002000, FRAME_USER);
	uint32_t c = frame(world, two, 0x7f0000001000, FRAME_USER);
	uint32_t vdso = frame(world, intern(world, IMAGE_VDSO, "[vdso]", 0), 0x10, FRAME_USER);

	assert_int_not_equal(one, two);
	assert_int_equal(names_symref(world->names, a), names_symref(world->names, b));
	assert_int_not_equal(names_symref(world->names, a), names_symref(world->names, c));
	assert_string_equal(ask(world, a)->symbol, "[anon]");
	assert_string_equal(ask(world, a)->image, "[anon]");
	assert_int_equal(world->symbols.images[one].source.kind, SYMBOLS_JIT);
	assert_string_equal(ask(world, vdso)->image, "[vdso]");
	assert_string_equal(ask(world, vdso)->symbol, "[vdso]+0x10");
}

static void test_code_made_at_run_time(void **state)
{
	static const struct symbol first[] = {{0x7f0000001000, 16, "JS:*fib x.js", NULL, 0, false}};
	/* Compiled again, at another address. */
	static const struct symbol then[] = {{0x7f0000001000, 16, "JS:*fib x.js", NULL, 0, false},
		{0x7f0000002000, 16, "JS:*fib x.js", NULL, 0, false},
		{0x7f0000003000, 16, "other", NULL, 1, false}};
	const struct image_origin origin = {.pid = 7, .parent = 5};
	struct world *world = *state;
	uint32_t anon = intern(world, IMAGE_ANON, "[anon]", 1);
	uint32_t a = frame(world, anon, 0x7f0000001008, FRAME_USER);
	uint32_t b = frame(world, anon, 0x7f0000002008, FRAME_USER);
	uint32_t call = frame(world, intern(world, IMAGE_ANON, "[vsyscall]", 0), 0x10, FRAME_USER);
	struct fake_image *fake = &world->symbols.images[anon];
	uint64_t epoch;

	images_set_origin(world->images, anon, &origin);
	images_set_jitdump(world->images, anon, "/x/jit-7.dump");
	fake->state = SYMBOLS_NONE;
	fake->jit_file = "/tmp/perf-7.map";
	assert_string_equal(ask(world, a)->symbol, "[anon]");
	assert_true(ask(world, a)->growing && !ask(world, a)->pending);
	assert_int_equal(fake->source.pid, 7);
	assert_int_equal(fake->source.parent, 5);
	assert_string_equal(fake->source.jitdump, "/x/jit-7.dump");
	epoch = names_epoch(world->names);

	/* A perf map appears. */
	give(world, anon, first, 1);
	fake->version++;
	world->symbols.changed = SYMBOLS_CHANGED_TABLES;
	assert_true(names_update(world->names) > epoch);
	epoch = names_epoch(world->names);
	assert_string_equal(ask(world, a)->symbol, "JS:*fib x.js");
	assert_string_equal(ask(world, a)->image, "perf-7.map");
	assert_string_equal(ask(world, a)->path, "/tmp/perf-7.map");
	assert_true(ask(world, a)->resolved && !ask(world, a)->growing);
	assert_string_equal(ask(world, b)->symbol, "[anon]");

	/* The map grows. A named symbol stays, with its code at the last place. */
	uint32_t before = names_symref(world->names, a);
	give(world, anon, then, 3);
	fake->version++;
	world->symbols.changed = SYMBOLS_CHANGED_TABLES;
	assert_true(names_update(world->names) > epoch);
	assert_int_equal(names_symref(world->names, a), before);
	assert_int_equal(names_symref(world->names, b), before);
	assert_int_equal(ask(world, b)->start, 0x7f0000002000);

	assert_string_equal(ask(world, call)->image, "[vsyscall]");
	assert_string_equal(ask(world, call)->symbol, "[vsyscall]");
}

static void test_functions_that_the_kernel_made(void **state)
{
	struct world *world = *state;
	uint32_t program = intern(world, IMAGE_KSYMBOL, "bpf_prog_6deef7357e7b4530_drop", 5);
	uint32_t a = frame(world, program, 0xffffffffc0001008, FRAME_KERNEL);
	uint32_t b = frame(world, program, 0xffffffffc0001010, FRAME_KERNEL);
	uint32_t hook = frame(world, intern(world, IMAGE_KSYMBOL, "ftrace_trampoline", 6),
		0xffffffffc0002000, FRAME_KERNEL);

	assert_int_equal(names_symref(world->names, a), names_symref(world->names, b));
	assert_string_equal(ask(world, a)->symbol, "bpf_prog_6deef7357e7b4530_drop");
	assert_string_equal(ask(world, a)->image, "[bpf]");
	assert_true(ask(world, a)->resolved);
	assert_true(ask(world, a)->kernel);
	assert_string_equal(ask(world, hook)->image, "[__builtin__ftrace]");
	assert_int_equal(world->symbols.images[program].requests, 0);
}

static void test_addresses_nobody_knows_are_one(void **state)
{
	struct world *world = *state;
	uint32_t a = frame(world, IMAGE_ID_UNKNOWN, 0x1, FRAME_USER);
	uint32_t b = frame(world, IMAGE_ID_UNKNOWN, 0x2, FRAME_USER);

	assert_int_equal(names_symref(world->names, a), 0);
	assert_int_equal(names_symref(world->names, b), 0);
	assert_string_equal(ask(world, a)->symbol, "[unknown]");
	assert_string_equal(names_get(world->names, 4000000)->symbol, "[unknown]");
}

/* The id of a freed frame is used again for another address. */
static void test_reused_frame_id(void **state)
{
	struct world *world = *state;
	uint32_t id, node, again;

	give(world, world->program, program_symbols, 2);
	assert_int_equal(stacks_frame(world->stacks, world->program, 0x1010, FRAME_USER, &id), 0);
	assert_int_equal(stacks_child(world->stacks, STACK_ROOT, id, &node), 0);
	stacks_ref(world->stacks, node);
	assert_string_equal(ask(world, id)->symbol, "_Z4workv");
	stacks_unref(world->stacks, node);
	stacks_sweep(world->stacks);
	for (uint64_t offset = 0x1110; offset < 0x1120; offset++) {
		again = frame(world, world->program, offset, FRAME_USER);
		assert_string_equal(ask(world, again)->symbol, "bad?[31mname");
		if (again == id)
			return;
	}
	skip(); /* the table did not use the id again */
}

static void test_many_symrefs(void **state)
{
	struct world *world = *state;
	uint32_t ids[5000];

	for (uint32_t i = 0; i < 5000; i++) {
		ids[i] = frame(world, world->program, 0x100000 + i * 16, FRAME_USER);
		assert_true(names_symref(world->names, ids[i]) != 0);
	}
	assert_true(names_limit(world->names) > 5000);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(ask(world, ids[i])->start, 0x100000 + i * 16);
}

static void test_without_symbols(void **state)
{
	struct world *world = *state;
	uint32_t a = frame(world, world->program, 0x1010, FRAME_USER);
	struct names *names;

	assert_int_equal(names_new(&names, world->stacks, world->images, NULL), 0);
	assert_string_equal(names_get(names, names_symref(names, a))->symbol, "pro?gram+0x1010");
	assert_false(names_get(names, names_symref(names, a))->pending);
	assert_int_equal(names_update(names), names_epoch(names));
	assert_int_equal(names_wait(names, 0), 0);
	names_free(names);
	names_free(NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_known_symbol),
		TEST(test_index),
		TEST(test_index_of_clones),
		TEST(test_index_of_generated_code),
		TEST(test_index_of_one_build),
		TEST(test_index_of_two_builds),
		TEST(test_index_of_other_numbers),
		TEST(test_namesakes),
		TEST(test_function_without_a_name),
		TEST(test_address_without_a_symbol),
		TEST(test_moved_code),
		TEST(test_code_in_its_place),
		TEST(test_other_code),
		TEST(test_a_name_arrives),
		TEST(test_held),
		TEST(test_a_file_turns_out_unreadable),
		TEST(test_a_pretty_name_arrives),
		TEST(test_a_pretty_name_is_there),
		TEST(test_waiting_takes_all_in),
		TEST(test_kernel),
		TEST(test_other_build),
		TEST(test_memory_without_a_file),
		TEST(test_code_made_at_run_time),
		TEST(test_functions_that_the_kernel_made),
		TEST(test_addresses_nobody_knows_are_one),
		TEST(test_reused_frame_id),
		TEST(test_many_symrefs),
		TEST(test_without_symbols),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
