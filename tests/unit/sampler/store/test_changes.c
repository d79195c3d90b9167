/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_changes.c - code that replaces other code: samples before and after it are kept apart.
 *
 * The samples may be stored before the change is known, or come later.
 */
#include "sampler/store/changes.h"

#include "sampler/store/ingest.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S STORE_SLICE_NS
#define PID 7
#define CODE UINT64_C(0x7f0000001000)
#define FIRST (UINT64_C(1) << CHANGES_SHIFT)

static struct changes *changes;
static struct ingest *ingest;

static void map(uint64_t start, const char *name)
{
	const struct record map = {.type = PERF_RECORD_MMAP2,
		.mmap = {.pid = PID,
			.tid = PID,
			.start = start,
			.len = 0x10000,
			.executable = true,
			.filename = (char *)(uintptr_t)name}};

	assert_int_equal(ingest_record(ingest, &map, 0), 0);
}

static int setup(void **state)
{
	(void)state;
	ingest = calloc(1, sizeof(*ingest));
	assert_non_null(ingest);
	assert_int_equal(changes_new(&changes), 0);
	assert_int_equal(ingest_init(ingest, NULL, (size_t)64 << 20), 0);
	ingest_set_changes(ingest, changes);
	map(CODE, "//anon");
	map(0x10000, "/bin/app");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ingest_fini(ingest);
	free(ingest);
	changes_free(changes);
	return 0;
}

/* Ingests a sample in the code. Its caller is in the program, which the code called. */
static void sample(uint64_t time_ns, uint64_t ip)
{
	const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, ip, 0x10101, CODE + 0x21, 0x10201};
	const struct record record = {.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.id = {.pid = PID, .tid = PID, .time_ns = time_ns},
		.sample = {.ip = ip, .period = 10, .chain = chain, .chain_len = 5}};

	assert_int_equal(ingest_record(ingest, &record, 0), 0);
}

/* Returns the image of the code, which exists after its first sample. */
static uint32_t code_image(void)
{
	for (uint32_t id = 0; id < images_count(ingest->images); id++)
		if (images_get(ingest->images, id)->kind == IMAGE_ANON)
			return id;
	fail();
	return 0;
}

/* Returns the samples in [from, to) of all slices. leaf, caller: offsets of the first and third
 * frame. */
static uint64_t count(uint64_t from_ns, uint64_t to_ns, uint64_t leaf, uint64_t caller)
{
	const struct stacks *stacks = ingest->stacks;
	struct snapshot snapshot;
	uint64_t samples = 0;

	assert_int_equal(store_snapshot(ingest->store, from_ns, to_ns, &snapshot), 0);
	for (size_t s = 0; s < snapshot.n; s++) {
		const struct slice *slice = snapshot.slices[s];

		for (uint32_t i = 0; i < slice->cells; i++) {
			const struct stack_node *at = stacks_node(stacks, slice->stack[i]);
			const struct stack_node *third =
				stacks_node(stacks, stacks_node(stacks, at->parent)->parent);

			assert_int_equal(at->depth, 4);
			assert_int_equal(slice->weight[i], 10 * slice->count[i]);
			if (stacks_frame_get(stacks, at->frame)->offset == leaf &&
				stacks_frame_get(stacks, third->frame)->offset == caller)
				samples += slice->count[i];
		}
	}
	snapshot_release(ingest->store, &snapshot);
	return samples;
}

static uint64_t all_samples(void)
{
	struct snapshot snapshot;
	uint64_t samples = 0;

	assert_int_equal(store_snapshot(ingest->store, 0, UINT64_MAX, &snapshot), 0);
	for (size_t s = 0; s < snapshot.n; s++)
		for (uint32_t i = 0; i < snapshot.slices[s]->n_totals; i++)
			samples += snapshot.slices[s]->totals[i].count;
	snapshot_release(ingest->store, &snapshot);
	return samples;
}

static void tell(const struct code_change *at, size_t n)
{
	assert_int_equal(changes_tell(changes, code_image(), at, n), 0);
}

/* Samples stored before the change is known are split at its time, also within a slice. */
static void test_known_late(void **state)
{
	const struct code_change change = {FIRST + CODE, 2 * S + S / 4, 0x20};

	(void)state;
	for (uint64_t i = 0; i < 40; i++)
		sample(S + i * S / 10, CODE + 5);
	assert_false(ingest_settle(ingest));
	tell(&change, 1);
	assert_true(ingest_settle(ingest));
	assert_false(ingest_settle(ingest));
	assert_int_equal(all_samples(), 40);
	assert_int_equal(count(S, 2 * S, CODE + 5, CODE + 0x20), 10);
	/* A quarter of a slice: three of ten samples, rounded. */
	assert_int_equal(count(2 * S, 3 * S, CODE + 5, CODE + 0x20), 3);
	assert_int_equal(count(2 * S, 3 * S, FIRST + CODE + 5, CODE + 0x20), 7);
	assert_int_equal(count(3 * S, 5 * S, FIRST + CODE + 5, CODE + 0x20), 20);

	/* A new sample is attributed at once. */
	sample(5 * S, CODE + 5);
	sample(5 * S, CODE + 0x25);
	assert_true(store_seal(ingest->store, 0, true));
	assert_int_equal(count(5 * S, 6 * S, FIRST + CODE + 5, CODE + 0x20), 1);
	assert_int_equal(count(5 * S, 6 * S, CODE + 0x25, CODE + 0x20), 1);
}

/* A caller may be replaced as well, and a second time. */
static void test_callers_and_more(void **state)
{
	const struct code_change change[] = {
		{FIRST + CODE + 0x20, 2 * S, 1}, {2 * FIRST + CODE + 0x20, 3 * S, 1}};

	(void)state;
	for (uint64_t i = 0; i < 30; i++)
		sample(S + i * S / 10, CODE + 5);
	tell(change, 1);
	assert_true(ingest_settle(ingest));
	assert_int_equal(count(S, 2 * S, CODE + 5, CODE + 0x20), 10);
	assert_int_equal(count(2 * S, 4 * S, CODE + 5, FIRST + CODE + 0x20), 20);
	tell(change, 2);
	assert_true(ingest_settle(ingest));
	assert_int_equal(count(S, 2 * S, CODE + 5, CODE + 0x20), 10);
	assert_int_equal(count(2 * S, 3 * S, CODE + 5, FIRST + CODE + 0x20), 10);
	assert_int_equal(count(3 * S, 4 * S, CODE + 5, 2 * FIRST + CODE + 0x20), 10);
	assert_int_equal(all_samples(), 30);
	/* Known changes change nothing. */
	tell(change, 2);
	assert_false(ingest_settle(ingest));
}

/* A stack is looked up for a time of its own. */
static void test_stack_at(void **state)
{
	const struct code_change change = {FIRST + CODE, 2 * S, 0x20};
	uint32_t stack;

	(void)state;
	sample(S, CODE + 5);
	sample(3 * S, CODE + 5);
	stack = ingest->last_stack;
	assert_int_equal(ingest_stack_at(ingest, stack, 3 * S), stack);
	tell(&change, 1);
	assert_true(ingest_settle(ingest));
	assert_int_equal(ingest_stack_at(ingest, stack, 2 * S - 1), stack);
	assert_int_not_equal(ingest_stack_at(ingest, stack, 2 * S), stack);
}

static void test_offsets(void **state)
{
	/* Change 2 replaces only a part of change 1. */
	const struct code_change change[] = {{FIRST + 0x1000, 10, 0x100},
		{FIRST + 0x2000, 50, 0x10}, {2 * FIRST + 0x1080, 20, 0x10},
		{3 * FIRST + 0x1080, 20, 0x10}};
	struct changes_known known;
	uint64_t from_ns;

	(void)state;
	changes_known_init(&known, changes);
	assert_int_equal(changes_tell(changes, 3, change, 4), 0);
	assert_int_equal(changes_offset(&known, 3, 0x1000, 99), 0x1000);
	assert_int_equal(changes_take(&known, &from_ns), 0);
	assert_int_equal(from_ns, 10);
	assert_true(changes_has(&known, 3));
	assert_false(changes_has(&known, 4));
	assert_int_equal(changes_count(&known, 9), 0);
	assert_int_equal(changes_count(&known, 20), 3);
	assert_int_equal(changes_offset(&known, 3, 0x1000, 9), 0x1000);
	assert_int_equal(changes_offset(&known, 3, 0x1000, 10), FIRST + 0x1000);
	assert_int_equal(changes_offset(&known, 3, 0x10ff, 99), FIRST + 0x10ff);
	assert_int_equal(changes_offset(&known, 3, 0x1100, 99), 0x1100);
	assert_int_equal(changes_offset(&known, 3, 0x1080, 19), FIRST + 0x1080);
	assert_int_equal(changes_offset(&known, 3, 0x1080, 20), 3 * FIRST + 0x1080);
	assert_int_equal(changes_offset(&known, 3, 3 * FIRST + 0x1080, 0), 0x1080);
	assert_int_equal(changes_offset(&known, 4, 0x1000, 99), 0x1000);
	assert_int_equal(changes_plain(3 * FIRST + 0x1080), 0x1080);
	assert_int_equal(changes_plain(0xffffffff81000000), 0xffffffff81000000);
	/* No change is new before it is reported. */
	assert_int_equal(changes_take(&known, &from_ns), 0);
	assert_int_equal(from_ns, UINT64_MAX);
	assert_int_equal(changes_tell(changes, 3, change, 4), 0);
	assert_int_equal(changes_tell(changes, 4, change, 1), 0);
	assert_int_equal(changes_take(&known, &from_ns), 0);
	assert_int_equal(from_ns, 10);
	assert_int_equal(changes_offset(&known, 4, 0x1000, 99), FIRST + 0x1000);
	changes_known_fini(&known);
}

static void *settle(void *arg)
{
	(void)arg;
	ingest_settle(ingest);
	return NULL;
}

/* A thread that reports a change waits until samples are attributed by it. */
static void test_waiting(void **state)
{
	const struct code_change change = {FIRST + CODE, 2 * S, 0x20};
	pthread_t thread;

	(void)state;
	sample(3 * S, CODE + 5);
	changes_wait(changes, 60000);
	tell(&change, 1);
	changes_wait(changes, 0);
	assert_int_equal(pthread_create(&thread, NULL, settle, NULL), 0);
	changes_wait(changes, 60000);
	assert_int_equal(count(3 * S, 4 * S, FIRST + CODE + 5, CODE + 0x20), 1);
	pthread_join(thread, NULL);
}

/* --- questions about changes --- */

static void wake(void *ctx)
{
	++*(unsigned int *)ctx;
}

static void *tell_asked(void *arg)
{
	uint32_t image;

	while (!changes_asked(changes, &image))
		sched_yield();
	if (arg)
		changes_decline(changes, image);
	else
		assert_int_equal(changes_tell(changes, image, NULL, 0), 0);
	return NULL;
}

static void test_asking(void **state)
{
	unsigned int woken = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(changes_ask(changes, 5, wake, &woken, 1), -ETIME);
	assert_int_equal(woken, 1);
	for (int declines = 1; declines >= 0; declines--) {
		assert_int_equal(
			pthread_create(&thread, NULL, tell_asked, declines ? &woken : NULL), 0);
		assert_int_equal(
			changes_ask(changes, 5, wake, &woken, 60000), declines ? -ENODATA : 0);
		pthread_join(thread, NULL);
	}
	/* A known answer wakes no thread. */
	assert_int_equal(woken, 3);
	assert_int_equal(changes_ask(changes, 5, wake, &woken, 60000), 0);
	assert_int_equal(woken, 3);
}

/* A different report sorts the samples again. An empty report restores the first state. */
static void test_told_otherwise(void **state)
{
	const struct code_change change = {FIRST + CODE, 3 * S, 0x20};
	const struct code_change earlier[] = {{FIRST + CODE, 2 * S, 0x10},
		{FIRST + CODE + 0x10, 2 * S, 0x10}, {2 * FIRST + CODE, 3 * S, 0x20}};

	(void)state;
	for (uint64_t i = 0; i < 30; i++)
		sample(S + i * S / 10, CODE + 5);
	tell(&change, 1);
	assert_true(ingest_settle(ingest));
	assert_int_equal(count(3 * S, 4 * S, FIRST + CODE + 5, CODE + 0x20), 10);
	tell(earlier, 3);
	assert_true(ingest_settle(ingest));
	assert_int_equal(count(S, 2 * S, CODE + 5, CODE + 0x20), 10);
	assert_int_equal(count(2 * S, 3 * S, FIRST + CODE + 5, CODE + 0x20), 10);
	assert_int_equal(count(3 * S, 4 * S, 2 * FIRST + CODE + 5, CODE + 0x20), 10);
	tell(NULL, 0);
	assert_true(ingest_settle(ingest));
	assert_int_equal(count(S, 4 * S, CODE + 5, CODE + 0x20), 30);
}

/* A part with few samples gets its share of all cells, though no sample is divided. */
static void test_shares(void **state)
{
	const struct code_change change = {FIRST + CODE, S + 3 * S / 4, 0x20};
	uint64_t first = 0, then = 0;

	(void)state;
	for (uint64_t i = 0; i < 16; i++)
		sample(S + i * S / 16, CODE + i);
	sample(2 * S, CODE); /* seals the slice */
	tell(&change, 1);
	assert_true(ingest_settle(ingest));
	for (uint64_t i = 0; i < 16; i++) {
		first += count(S, 2 * S, CODE + i, CODE + 0x20);
		then += count(S, 2 * S, FIRST + CODE + i, CODE + 0x20);
	}
	assert_int_equal(first, 12);
	assert_int_equal(then, 4);
}

static uint32_t image_of(const char *path)
{
	for (uint32_t id = 0; id < images_count(ingest->images); id++)
		if (!strcmp(images_get(ingest->images, id)->path, path))
			return id;
	fail();
	return 0;
}

/* Code that belongs to a file: all its frames move to the file, also those before a change. */
static void test_moved(void **state)
{
	const struct code_change change = {FIRST + CODE, 2 * S, 0x20};
	struct code_move move = {.start = CODE, .end = CODE + 0x100, .until_ns = UINT64_MAX};
	const uint32_t code = (sample(S, CODE + 5), code_image());
	uint32_t moved;

	(void)state;
	sample(3 * S, CODE + 5);
	tell(&change, 1);
	assert_true(ingest_settle(ingest));
	assert_int_equal(count(2 * S, 4 * S, FIRST + CODE + 5, CODE + 0x20), 1);
	move.image = code;
	move.to = image_of("/bin/app");
	move.bias = 0x700 - CODE;
	assert_false(changes_moved(changes, code));
	assert_int_equal(changes_move(changes, &move), 0);
	assert_true(changes_moved(changes, code));
	assert_true(ingest_settle(ingest));
	assert_int_equal(count(0, 4 * S, 0x705, 0x720), 2);
	assert_int_equal(all_samples(), 2);
	assert_false(ingest_settle(ingest));
	/* A kept stack is moved before it is stored. */
	sample(4 * S, CODE + 7);
	moved = ingest_stack_moved(ingest, ingest->last_stack);
	const struct frame *frame =
		stacks_frame_get(ingest->stacks, stacks_node(ingest->stacks, moved)->frame);
	assert_int_equal(frame->image, move.to);
	assert_int_equal(frame->offset, 0x707);
}

/* The move ends early in a slice. All samples of this slice in the memory move. */
static void test_moved_within_a_slice(void **state)
{
	struct code_move move = {.start = CODE, .end = CODE + 0x100, .until_ns = 2 * S + S / 4};

	(void)state;
	sample(S, CODE + 5);
	sample(2 * S + S / 8, CODE + 5);
	sample(3 * S, CODE + 5);
	move.image = code_image();
	move.to = image_of("/bin/app");
	move.bias = 0x700 - CODE;
	assert_int_equal(changes_move(changes, &move), 0);
	assert_true(ingest_settle(ingest));
	assert_int_equal(count(0, 3 * S, 0x705, 0x720), 2);
	assert_int_equal(count(3 * S, 4 * S, CODE + 5, CODE + 0x20), 1);
	assert_int_equal(all_samples(), 3);
}

/* A move holds up to its time and within its bounds. */
static void test_moved_until(void **state)
{
	struct changes_known known;
	struct code_move move = {
		.image = 5, .to = 6, .start = 0x1000, .end = 0x2000, .bias = 0x100, .until_ns = 50};
	const uint64_t offsets[] = {0xfff, 0x1000, 0x1fff, 0x2000};
	uint64_t from_ns;

	(void)state;
	changes_known_init(&known, changes);
	assert_int_equal(changes_move(changes, &move), 0);
	assert_int_equal(changes_take(&known, &from_ns), 0);
	assert_int_equal(from_ns, 0);
	for (int i = 0; i < 4; i++) {
		for (uint64_t time_ns = 50; time_ns <= 51; time_ns++) {
			const bool moved = (i == 1 || i == 2) && time_ns == 50;
			uint64_t offset = offsets[i];
			uint32_t image = 5;

			changes_follow(&known, &image, &offset, time_ns);
			assert_int_equal(image, moved ? 6 : 5);
			assert_int_equal(offset, offsets[i] + (moved ? 0x100 : 0));
		}
	}
	assert_int_equal(changes_take(&known, &from_ns), 0);
	assert_true(from_ns == UINT64_MAX);
	changes_known_fini(&known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_known_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_callers_and_more, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stack_at, setup, teardown),
		cmocka_unit_test_setup_teardown(test_offsets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waiting, setup, teardown),
		cmocka_unit_test_setup_teardown(test_asking, setup, teardown),
		cmocka_unit_test_setup_teardown(test_told_otherwise, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shares, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved_within_a_slice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved_until, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
