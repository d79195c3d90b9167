/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_ingest.c - decoded records become cells: modes, markers, callers, weights.
 */
#include "sampler/store/ingest.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/ingest_fixture.h"

struct expected {
	enum frame_mode mode;
	uint64_t offset;
	const char *image;
};

/* Checks the stack of the only cell, leaf first. */
static void expect_stack(struct ingest *ingest, const struct expected *expected, unsigned int n)
{
	const struct slice *slice = sealed(ingest);
	uint32_t id = slice->stack[0];

	assert_int_equal(slice->cells, 1);
	for (unsigned int i = 0; i < n; i++) {
		const struct stack_node *node = stacks_node(ingest->stacks, id);
		const struct frame *frame = stacks_frame_get(ingest->stacks, node->frame);

		assert_int_equal(node->depth, n - i);
		assert_int_equal(frame->mode, expected[i].mode);
		assert_int_equal(frame->offset, expected[i].offset);
		assert_string_equal(
			images_get(ingest->images, frame->image)->path, expected[i].image);
		id = node->parent;
	}
	assert_int_equal(id, STACK_ROOT);
}

#define EXPECT(ingest, ...)                                            \
	expect_stack((ingest), (const struct expected[]){__VA_ARGS__}, \
		sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

static void test_callers_one_before(void **state)
{
	/* The leaf is the sampled address. A return address may be past the end of the caller. */
	SAMPLE(*state, PERF_RECORD_MISC_USER, USER, 0x10020, 0x10100, 0x18000);
	EXPECT(*state, {FRAME_USER, 0x3020, "/bin/app"}, {FRAME_USER, 0x30ff, "/bin/app"},
		{FRAME_USER, 0xafff, "/bin/app"});
}

/* The sampled ip is more precise than the start of the chain, which is the interrupt's. */
static void test_precise_ip(void **state)
{
	const uint64_t chain[] = {USER, 0x10024, 0x10100};

	sample(*state, PERF_RECORD_MISC_USER, 0x10020, chain, 3, 1);
	EXPECT(*state, {FRAME_USER, 0x3020, "/bin/app"}, {FRAME_USER, 0x30ff, "/bin/app"});
	/* An equal chain with another ip. */
	sample(*state, PERF_RECORD_MISC_USER, 0x10022, chain, 3, 1);
	EXPECT(*state, {FRAME_USER, 0x3022, "/bin/app"}, {FRAME_USER, 0x30ff, "/bin/app"});
}

/* A user-space chain of a sample in the kernel: the ip becomes the leaf and replaces no frame. */
static void test_chain_of_the_other_side(void **state)
{
	const uint64_t chain[] = {USER, 0x10024, 0x10100};

	sample(*state, PERF_RECORD_MISC_KERNEL, 0xffffffff81000010, chain, 3, 1);
	EXPECT(*state, {FRAME_KERNEL, 0xffffffff81000010, "[kernel]"},
		{FRAME_USER, 0x3024, "/bin/app"}, {FRAME_USER, 0x30ff, "/bin/app"});
}

/* Chains that differ only in the leaf share callers. In another mode, callers differ. */
static void test_callers_once(void **state)
{
	const uint64_t ips[] = {0x10020, 0x10022, 0xffffffff81000010};
	uint64_t chain[] = {USER, 0, 0x10100, 0x18000};
	const struct ingest *ingest = *state;
	const struct frame *frame;
	uint32_t parents[3];

	for (int i = 0; i < 3; i++) {
		uint16_t misc = i < 2 ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;

		chain[0] = i < 2 ? USER : KERNEL;
		chain[1] = ips[i];
		sample(*state, misc, ips[i], chain, 4, 1);
		parents[i] = stacks_node(ingest->stacks, ingest->last_stack)->parent;
	}
	assert_int_equal(parents[0], parents[1]);
	assert_int_not_equal(parents[0], parents[2]);
	frame = stacks_frame_get(ingest->stacks, stacks_node(ingest->stacks, parents[2])->frame);
	assert_int_equal(frame->image, IMAGE_ID_KERNEL);
	assert_int_equal(frame->offset, 0x100ff);
	/* The leaf alone, without the callers of the previous chain. */
	sample(*state, PERF_RECORD_MISC_USER, 0x10024, (const uint64_t[]){USER, 0x10024}, 2, 1);
	assert_int_equal(stacks_node(ingest->stacks, ingest->last_stack)->depth, 1);
}

static void test_modules(void **state)
{
	struct ingest *ingest = *state;
	const struct image first = {.kind = IMAGE_MODULE, .path = (char[]){"/lib/first.ko"}};
	const struct image second = {.kind = IMAGE_MODULE, .path = (char[]){"[second]"}};
	const struct image third = {.kind = IMAGE_MODULE, .path = (char[]){"/lib/third.ko"}};
	struct image_origin origin;

	assert_int_equal(ingest_module(ingest, 0xffffffffc0004000, 0x1000, &second), 0);
	assert_int_equal(ingest_module(ingest, 0xffffffffc0000000, 0x2000, &first), 0);
	assert_int_equal(ingest_module(ingest, 0xffffffffc0009000, 0, &third), 0);
	SAMPLE(ingest, PERF_RECORD_MISC_KERNEL, KERNEL, 0xffffffffc0001fff, 0xffffffffc0004001,
		0xffffffffc0002001, 0xffffffffc0009001);
	EXPECT(ingest, {FRAME_KERNEL, 0x1fff, "/lib/first.ko"}, {FRAME_KERNEL, 0, "[second]"},
		{FRAME_KERNEL, 0xffffffffc0002000, "[kernel]"},
		{FRAME_KERNEL, 0xffffffffc0009000, "[kernel]"});
	images_origin(ingest->images, ingest->modules[1].image, &origin);
	assert_int_equal(origin.map_start, 0xffffffffc0004000);
	assert_int_equal(origin.pid, 0);
	/* Another module is loaded over both, which were unloaded. */
	assert_int_equal(ingest_module(ingest, 0xffffffffc0001000, 0x4000, &third), 0);
	assert_int_equal(ingest->n_modules, 1);
	SAMPLE(ingest, PERF_RECORD_MISC_KERNEL, KERNEL, 0xffffffffc0004008);
	EXPECT(ingest, {FRAME_KERNEL, 0x3008, "/lib/third.ko"});
}

static void ksymbol(struct ingest *ingest, uint64_t addr, uint32_t len, bool gone, const char *name)
{
	const struct record record = {.type = PERF_RECORD_KSYMBOL,
		.ksymbol = {.addr = addr,
			.len = len,
			.kind = PERF_RECORD_KSYMBOL_TYPE_BPF,
			.unregistered = gone,
			.name = name}};

	assert_int_equal(ingest_record(ingest, &record, 0), 0);
}

#define PROG 0xffffffffc0001000

static void test_functions_that_the_kernel_makes(void **state)
{
	struct ingest *ingest = *state;
	uint32_t images;

	ksymbol(ingest, PROG, 0x100, false, "bpf_prog_1_first");
	SAMPLE(ingest, PERF_RECORD_MISC_KERNEL, KERNEL, PROG + 0xff, PROG + 0x100);
	EXPECT(ingest, {FRAME_KERNEL, PROG + 0xff, "bpf_prog_1_first"},
		{FRAME_KERNEL, PROG + 0xff, "bpf_prog_1_first"});
	/* A removal at another address has no effect. */
	ksymbol(ingest, PROG + 8, 0x100, true, "bpf_prog_1_first");
	assert_int_equal(ingest->n_modules, 1);
	/* The chain has another meaning after the function is replaced. */
	ksymbol(ingest, PROG, 0x100, true, "bpf_prog_1_first");
	assert_int_equal(ingest->n_modules, 0);
	SAMPLE(ingest, PERF_RECORD_MISC_KERNEL, KERNEL, PROG + 0xff, PROG + 0x100);
	EXPECT(ingest, {FRAME_KERNEL, PROG + 0xff, "[kernel]"},
		{FRAME_KERNEL, PROG + 0xff, "[kernel]"});
	/* Many functions without samples leave no images. */
	ksymbol(ingest, PROG, 0x100, false, "bpf_prog_2_second");
	images = images_count(ingest->images);
	for (unsigned int i = 0; i < 1000; i++) {
		char name[32];
		snprintf(name, sizeof(name), "bpf_prog_%u", i);
		ksymbol(ingest, PROG + 0x1000, 0x100, false, name);
		if (i % 2)
			ksymbol(ingest, PROG + 0x1000, 0x100, true, name);
	}
	assert_true(images_count(ingest->images) <= images + 2);
	SAMPLE(ingest, PERF_RECORD_MISC_KERNEL, KERNEL, PROG + 0xff, PROG + 0x100);
	EXPECT(ingest, {FRAME_KERNEL, PROG + 0xff, "bpf_prog_2_second"},
		{FRAME_KERNEL, PROG + 0xff, "bpf_prog_2_second"});
}

static void test_caller_at_the_end_of_its_mapping(void **state)
{
	SAMPLE(*state, PERF_RECORD_MISC_USER, USER, 0x10020, 0x20000);
	EXPECT(*state, {FRAME_USER, 0x3020, "/bin/app"}, {FRAME_USER, 0x12fff, "/bin/app"});
}

static void test_kernel_then_user(void **state)
{
	SAMPLE(*state, PERF_RECORD_MISC_KERNEL, KERNEL, 0xffffffff81000010, 0xffffffff81000200,
		USER, 0x10040, 0x10080);
	EXPECT(*state, {FRAME_KERNEL, 0xffffffff81000010, "[kernel]"},
		{FRAME_KERNEL, 0xffffffff810001ff, "[kernel]"}, {FRAME_USER, 0x3040, "/bin/app"},
		{FRAME_USER, 0x307f, "/bin/app"});
}

static void test_mode_without_marker(void **state)
{
	SAMPLE(*state, PERF_RECORD_MISC_KERNEL, 0xffffffff81000010, USER, 0x10040);
	EXPECT(*state, {FRAME_KERNEL, 0xffffffff81000010, "[kernel]"},
		{FRAME_USER, 0x3040, "/bin/app"});
}

static void test_same_chain_in_another_mode(void **state)
{
	struct ingest *ingest = *state;

	SAMPLE(ingest, PERF_RECORD_MISC_USER, 0x10040);
	SAMPLE(ingest, PERF_RECORD_MISC_KERNEL, 0x10040);
	SAMPLE(ingest, PERF_RECORD_MISC_HYPERVISOR, 0x10040);
	SAMPLE(ingest, PERF_RECORD_MISC_GUEST_USER, 0x10040);
	assert_int_equal(sealed(ingest)->cells, 4);
}

static void test_hypervisor_and_guest(void **state)
{
	SAMPLE(*state, PERF_RECORD_MISC_USER, (uint64_t)PERF_CONTEXT_HV, 1,
		(uint64_t)PERF_CONTEXT_GUEST_KERNEL, 2, (uint64_t)PERF_CONTEXT_GUEST_USER, 3, 4);
	EXPECT(*state, {FRAME_HYPERVISOR, 1, "[hypervisor]"}, {FRAME_GUEST, 2, "[guest]"},
		{FRAME_GUEST, 3, "[guest]"}, {FRAME_GUEST, 3, "[guest]"});
}

static void test_unknown_and_deferred_markers(void **state)
{
	/* Entries after an unknown marker and the cookie of a deferred chain are no frames. */
	SAMPLE(*state, PERF_RECORD_MISC_KERNEL, KERNEL, 0x1230, (uint64_t)-4000, 0x1234, USER,
		0x10040, (uint64_t)-640, 0x10050);
	EXPECT(*state, {FRAME_KERNEL, 0x1230, "[kernel]"}, {FRAME_USER, 0x3040, "/bin/app"});
}

static void test_zero_addresses(void **state)
{
	SAMPLE(*state, PERF_RECORD_MISC_USER, USER, 0x10020, 0, 0x10100, 0);
	EXPECT(*state, {FRAME_USER, 0x3020, "/bin/app"}, {FRAME_USER, 0x30ff, "/bin/app"});
}

static void test_markers_alone(void **state)
{
	SAMPLE(*state, PERF_RECORD_MISC_USER, KERNEL, USER);
	EXPECT(*state, {FRAME_USER, 0x3020, "/bin/app"}); /* the ip */
}

static void test_no_chain(void **state)
{
	struct ingest *ingest = *state;

	sample(ingest, PERF_RECORD_MISC_KERNEL, 0xffffffff81000010, NULL, 0, 7);
	EXPECT(ingest, {FRAME_KERNEL, 0xffffffff81000010, "[kernel]"});
	sample(ingest, PERF_RECORD_MISC_USER, 0x10020, NULL, 0, 7);
	EXPECT(ingest, {FRAME_USER, 0x3020, "/bin/app"});
	sample(ingest, PERF_RECORD_MISC_USER, 0x90020, NULL, 0, 7);
	EXPECT(ingest, {FRAME_USER, 0x90020, "[unknown]"});
}

static void test_ip_alone_is_not_a_chain_of_it(void **state)
{
	struct ingest *ingest = *state;

	/* Stacks are equal, with and without a chain. */
	sample(ingest, PERF_RECORD_MISC_USER, 0x10020, NULL, 0, 7);
	SAMPLE(ingest, PERF_RECORD_MISC_USER, USER, 0x10020);
	SAMPLE(ingest, PERF_RECORD_MISC_USER, 0x10020);
	assert_int_equal(sealed(ingest)->cells, 1);
}

static void test_weight(void **state)
{
	struct ingest *ingest = *state;
	const struct slice *slice;

	sample(ingest, PERF_RECORD_MISC_USER, 0x10020, NULL, 0, 70);
	sample(ingest, PERF_RECORD_MISC_USER, 0x10020, NULL, 0, 0); /* no period: one event */
	slice = sealed(ingest);
	assert_int_equal(slice->weight[0], 71);
	assert_int_equal(slice->count[0], 2);
	assert_int_equal(slice->cpu[0], 3);
	assert_int_equal(slice->event[0], 2);
	assert_int_equal(tasks_label_get(ingest->tasks, slice->task[0])->pid, PID);
	assert_string_equal(tasks_label_get(ingest->tasks, slice->task[0])->comm, "app");
	assert_int_equal(ingest->samples, 2);
}

static void test_deep_chain(void **state)
{
	struct ingest *ingest = *state;
	uint64_t chain[STACK_DEPTH_MAX + 50];
	const struct slice *slice;

	chain[0] = USER;
	for (unsigned int i = 1; i < STACK_DEPTH_MAX + 50; i++)
		chain[i] = 0x10000 + i;
	sample(ingest, PERF_RECORD_MISC_USER, 0x10001, chain, STACK_DEPTH_MAX + 1, 1);
	assert_int_equal(ingest->truncated, 0);
	sample(ingest, PERF_RECORD_MISC_USER, 0x10001, chain, STACK_DEPTH_MAX + 50, 1);
	sample(ingest, PERF_RECORD_MISC_USER, 0x10001, chain, STACK_DEPTH_MAX + 50, 1);
	assert_int_equal(ingest->truncated, 2);
	slice = sealed(ingest);
	assert_int_equal(slice->cells, 1); /* the outermost frames are left out */
	assert_int_equal(slice->count[0], 3);
	assert_int_equal(stacks_node(ingest->stacks, slice->stack[0])->depth, STACK_DEPTH_MAX);
}

/* A known chain becomes another stack after a new mapping at its address. */
static void test_mappings_change(void **state)
{
	struct ingest *ingest = *state;
	struct record map = {.type = PERF_RECORD_MMAP2,
		.mmap = {.pid = PID,
			.tid = PID,
			.start = 0x10000,
			.len = 0x1000,
			.executable = true,
			.has_inode = true,
			.inode = 6,
			.filename = "/lib/plugin"}};

	SAMPLE(ingest, PERF_RECORD_MISC_USER, USER, 0x10020);
	EXPECT(ingest, {FRAME_USER, 0x3020, "/bin/app"});
	assert_int_equal(ingest_record(ingest, &map, 0), 0);
	SAMPLE(ingest, PERF_RECORD_MISC_USER, USER, 0x10020);
	EXPECT(ingest, {FRAME_USER, 0x20, "/lib/plugin"});
}

/* Stacks are freed and reused: a cached chain never leads to another stack. */
static void test_chains_across_reuse(void **state)
{
	struct ingest *ingest = *state;

	ingest_fini(ingest);
	/* a small budget, so that stacks are freed soon */
	assert_int_equal(ingest_init(ingest, NULL, 600000), 0);
	srand(3);
	for (unsigned int i = 0; i < 40000; i++) {
		uint64_t leaf = 0x10000 + (uint64_t)(rand() % 3000);
		const uint64_t chain[] = {USER, leaf, leaf * 2, leaf * 3, leaf * 4};
		const struct record record = {.type = PERF_RECORD_SAMPLE,
			.misc = PERF_RECORD_MISC_USER,
			.id = {.pid = PID, .tid = PID, .time_ns = i * (S / 20)},
			.sample = {.chain = chain, .chain_len = 5, .period = leaf}};

		assert_int_equal(ingest_record(ingest, &record, 0), 0);
		if (i % 20 == 0)
			store_maintain(ingest->store);
		if (i % 20 != 19)
			continue;

		const struct slice *slice;
		struct snapshot snapshot;

		store_seal(ingest->store, (i + 1) * (S / 20), false);
		assert_int_equal(
			store_snapshot(ingest->store, (i / 20) * S, UINT64_MAX, &snapshot), 0);
		assert_int_equal(snapshot.n, 1);
		slice = snapshot.slices[0];
		for (uint32_t cell = 0; cell < slice->cells; cell++) {
			const struct stack_node *node =
				stacks_node(ingest->stacks, slice->stack[cell]);

			assert_int_equal(stacks_frame_get(ingest->stacks, node->frame)->offset *
					slice->count[cell],
				slice->weight[cell]);
			assert_int_equal(node->depth, 4);
		}
		snapshot_release(ingest->store, &snapshot);
	}
	assert_int_equal(ingest->samples, 40000);
}

#define PROCESSES 64

/* Similar chains of many processes: each has its own frames, though parts of it are cached. */
static void test_chains_of_many_processes(void **state)
{
	struct ingest *ingest = *state;
	uint32_t images[PROCESSES];

	srand(5);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		const struct record map = {.type = PERF_RECORD_MMAP2,
			.mmap = {.pid = 1000 + i,
				.tid = 1000 + i,
				.start = 0x10000,
				.len = 0x10000,
				.executable = true,
				.has_inode = true,
				.inode = 100 + i,
				.filename = "/bin/fork"}};

		assert_int_equal(ingest_record(ingest, &map, 0), 0);
		images[i] = UINT32_MAX;
	}
	for (unsigned int round = 0; round < 30000; round++) {
		uint32_t process = (uint32_t)rand() % PROCESSES, id;
		uint64_t chain[20] = {USER}, n = 2 + (uint64_t)rand() % 19;
		struct record record = {.type = PERF_RECORD_SAMPLE,
			.misc = PERF_RECORD_MISC_USER,
			.id = {.pid = 1000 + process, .tid = 1000 + process, .time_ns = S},
			.sample = {.chain = chain, .chain_len = n, .period = 1}};

		/* Only low bits differ, as in address space numbers. */
		for (uint64_t i = 1; i < n; i++)
			chain[i] = 0x10400 + (uint64_t)rand() % (i < 4 ? 128 : 2);
		record.sample.ip = chain[1];
		assert_int_equal(ingest_record(ingest, &record, 0), 0);
		id = ingest->last_stack;
		for (uint64_t i = 1; i < n; i++) {
			const struct stack_node *node = stacks_node(ingest->stacks, id);
			const struct frame *frame = stacks_frame_get(ingest->stacks, node->frame);

			if (images[process] == UINT32_MAX)
				images[process] = frame->image;
			assert_int_equal(frame->image, images[process]);
			assert_int_equal(frame->offset, chain[i] - 0x10000 - (i > 1));
			id = node->parent;
		}
		assert_int_equal(id, STACK_ROOT);
	}
}

/* Addresses are shown as image and offset if these are known. */
static void test_fields(void **state)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .sample_type = PERF_SAMPLE_ADDR};
	const uint64_t addresses[] = {0x10020, 0x99990000, 0xffffffff81000000};
	struct ingest *ingest = *state;
	const struct slice *slice;
	struct fields *fields;
	struct value value;

	assert_int_equal(fields_new(&fields, &attr, NULL, NULL, NULL), 0);
	ingest_fields(ingest, 2, fields);
	for (unsigned int i = 0; i < 6; i++) {
		const struct record record = {.type = PERF_RECORD_SAMPLE,
			.misc = PERF_RECORD_MISC_USER,
			.id = {.pid = PID, .tid = PID, .time_ns = S, .cpu = 3},
			.sample = {.ip = 0x10020, .addr = addresses[i % 3], .period = 10}};

		assert_int_equal(ingest_record(ingest, &record, 2), 0);
		assert_int_equal(ingest_record(ingest, &record, 1), 0);
	}
	slice = sealed(ingest);
	assert_int_equal(slice->cells, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(slice->count[i], slice->event[i] == 2 ? 2 : 6);
		assert_int_equal(values_count(ingest->values, slice->values[i]),
			slice->event[i] == 2 ? 1 : 0);
		if (slice->event[i] != 2)
			continue;
		assert_true(values_get(ingest->values, slice->values[i], 0, &value));
		assert_true(value.number == 0x3020 || value.number == addresses[1] ||
			value.number == addresses[2]);
		assert_int_equal(value.has_image, value.number != addresses[1]);
		if (value.number == addresses[2])
			assert_int_equal(value.image, IMAGE_ID_KERNEL);
	}
	assert_int_equal(values_tuples(ingest->values), 3);
	fields_free(fields);
}

static void test_other_records_are_ignored(void **state)
{
	const struct record lost = {.type = PERF_RECORD_LOST};

	assert_int_equal(ingest_record(*state, &lost, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_callers_one_before, setup, teardown),
		cmocka_unit_test_setup_teardown(test_chain_of_the_other_side, setup, teardown),
		cmocka_unit_test_setup_teardown(test_precise_ip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_modules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_callers_once, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_caller_at_the_end_of_its_mapping, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel_then_user, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mode_without_marker, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same_chain_in_another_mode, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hypervisor_and_guest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_and_deferred_markers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_zero_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_markers_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_chain, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_ip_alone_is_not_a_chain_of_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_weight, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deep_chain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mappings_change, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_functions_that_the_kernel_makes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_chains_across_reuse, setup, teardown),
		cmocka_unit_test_setup_teardown(test_chains_of_many_processes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_records_are_ignored, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
