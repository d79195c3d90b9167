// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_record.c - records built word by word, in the order in which the kernel writes them.
 *
 * Every good record is also truncated at each word.  The decoder must refuse it then, and never
 * read past its end: the copies are exactly as large as their headers say, for ASan.
 */
#include "record_builder.h"

static void hot_sample(void **state)
{
	struct builder b;
	struct record out;
	struct perf_event_header *header;

	(void)state;
	begin(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put(&b, 99);
	put(&b, 0x401000);
	put_pair(&b, 4711, 4712);
	put(&b, 1234567);
	put_pair(&b, 3, 0xdead);
	put(&b, 1003009);
	put(&b, 3);
	put(&b, PERF_CONTEXT_USER);
	put(&b, 0x401000);
	put(&b, 0x402000);
	header = decode(&out, &b, &hot);
	check_trailer(&out, header);
	assert_int_equal(out.type, PERF_RECORD_SAMPLE);
	assert_int_equal(out.misc, PERF_RECORD_MISC_USER);
	assert_int_equal(out.sample.ip, 0x401000);
	assert_int_equal(out.sample.period, 1003009);
	assert_int_equal(out.sample.chain_len, 3);
	assert_true(out.sample.chain[0] == PERF_CONTEXT_USER);
	assert_int_equal(out.sample.chain[2], 0x402000);
	assert_int_equal(out.sample.addr, 0);
	assert_null(out.sample.raw);
	free(header);
	assert_bad_when_cut(&b, &hot);
}

static void hostile_chain_lengths(void **state)
{
	const uint64_t lengths[] = {1, 2, UINT64_MAX, 1ull << 61, (1ull << 61) + 1, 1ull << 63};
	struct builder b;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		begin(&b, PERF_RECORD_SAMPLE, 0);
		for (unsigned int w = 0; w < 6; w++)
			put(&b, 0);
		put(&b, lengths[i]);
		assert_bad(&b, &hot);
	}
}

static void check_more(const struct record_more *more)
{
	struct record_counter counter;

	assert_int_equal(more->read.n, 2);
	assert_int_equal(more->read.enabled_ns, 51);
	assert_int_equal(more->read.running_ns, 52);
	record_counter(&more->read, 1, &counter);
	assert_int_equal(counter.value, 56);
	assert_int_equal(counter.id, 57);
	assert_int_equal(counter.lost, 58);
	assert_int_equal(more->n_branches, 2);
	assert_int_equal(more->branch_index, 100);
	assert_int_equal(more->branches[0].from, 101);
	assert_int_equal(more->branches[1].to, 105);
	assert_null(more->branch_counters);
	assert_int_equal(more->regs_user.abi, PERF_SAMPLE_REGS_ABI_64);
	assert_int_equal(more->regs_user.values[19], 219);
	assert_int_equal(more->stack_len, 8); /* 8 of 16 bytes */
	assert_true(more->stack_ends);
	assert_int_equal(*(const uint64_t *)more->stack, 300);
	assert_int_equal(more->weight, 0x0403020100000001);
	assert_int_equal(more->data_src, 401);
	assert_int_equal(more->transaction, 402);
	assert_int_equal(more->regs_intr.abi, PERF_SAMPLE_REGS_ABI_32);
	assert_int_equal(more->regs_intr.values[2], 502);
	assert_int_equal(more->phys_addr, 600);
	assert_int_equal(more->cgroup, 601);
	assert_int_equal(more->data_page_size, 602);
	assert_int_equal(more->code_page_size, 603);
	assert_int_equal(more->aux_len, 8);
	assert_int_equal(*(const uint64_t *)more->aux, 700);
}

/* All sample fields at once; refused when it is one word short. */
static void every_field(void **state)
{
	struct record_format format = {
		.sample_type = (PERF_SAMPLE_MAX - 1) & ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			PERF_FORMAT_ID | PERF_FORMAT_GROUP | PERF_FORMAT_LOST,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX,
		.regs_user = 0xff0fff,
		.regs_intr = 0x7,
	};
	struct builder b;
	struct record out;
	struct perf_event_header *header;

	(void)state;
	begin(&b, PERF_RECORD_SAMPLE, 0);
	put(&b, 99); /* IDENTIFIER */
	put(&b, 0x1000); /* IP */
	put_pair(&b, 10, 11);
	put(&b, 777); /* TIME */
	put(&b, 0xadd4); /* ADDR */
	put(&b, 99); /* ID */
	put(&b, 5); /* STREAM_ID */
	put_pair(&b, 2, 0);
	put(&b, 4000); /* PERIOD */
	put(&b, 2); /* READ: nr, enabled, running, 2 x (value, id, lost) */
	for (unsigned int i = 0; i < 8; i++)
		put(&b, 51 + i);
	put(&b, 1); /* CALLCHAIN */
	put(&b, 0x1000);
	put_pair(&b, 12, 0x44434241); /* RAW */
	put_pair(&b, 0x48474645, 0);
	put(&b, 2); /* BRANCH_STACK: nr, hw_idx, 2 x (from, to, flags) */
	for (unsigned int i = 0; i < 7; i++)
		put(&b, 100 + i);
	put(&b, PERF_SAMPLE_REGS_ABI_64);
	for (unsigned int i = 0; i < 20; i++)
		put(&b, 200 + i);
	put(&b, 16); /* STACK_USER: size, data, dyn_size */
	put(&b, 300);
	put(&b, 301);
	put(&b, 8);
	put(&b, 0x0403020100000001); /* WEIGHT, DATA_SRC, TRANSACTION */
	put(&b, 401);
	put(&b, 402);
	put(&b, PERF_SAMPLE_REGS_ABI_32);
	for (unsigned int i = 0; i < 3; i++)
		put(&b, 500 + i);
	for (unsigned int i = 0; i < 4; i++) /* PHYS_ADDR, CGROUP, both page sizes */
		put(&b, 600 + i);
	put(&b, 8); /* AUX */
	put(&b, 700);

	header = decode(&out, &b, &format);
	assert_int_equal(out.id.id, 99);
	assert_int_equal(out.id.pid, 10);
	assert_int_equal(out.id.tid, 11);
	assert_int_equal(out.id.time_ns, 777);
	assert_int_equal(out.id.cpu, 2);
	assert_int_equal(out.sample.addr, 0xadd4);
	assert_int_equal(out.sample.period, 4000);
	assert_int_equal(out.sample.chain_len, 1);
	assert_int_equal(out.sample.chain[0], 0x1000);
	assert_int_equal(out.sample.raw_len, 12);
	assert_memory_equal(out.sample.raw, "ABCDEFGH\0\0\0\0", 12);
	assert_int_equal(record_time(header, &format), 777);
	assert_true(out.sample.has_more);
	assert_int_equal(out.id.stream_id, 5);
	check_more(&out.sample.more);
	free(header);
	assert_bad_when_cut(&b, &format);

	/* takes equally many bytes */
	format.sample_type ^= PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
	header = decode(&out, &b, &format);
	assert_int_equal(out.sample.more.weight, 1);
	assert_int_equal(out.sample.more.weight_2, 0x0201);
	assert_int_equal(out.sample.more.weight_3, 0x0403);
	free(header);
	assert_bad_when_cut(&b, &format);
}

/* The five read formats, each followed by a callchain. */
static void read_formats(void **state)
{
	const struct {
		uint64_t format;
		unsigned int words;
		uint64_t nr;
	} cases[] = {
		{0, 1, 0},
		{PERF_FORMAT_ID, 2, 0},
		{PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST, 3, 0},
		{PERF_FORMAT_GROUP, 4, 3},
		{PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_RUNNING, 6, 2},
		{PERF_FORMAT_GROUP | PERF_FORMAT_LOST | PERF_FORMAT_ID, 4, 1},
		{PERF_FORMAT_GROUP, 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct record_format format = {
			.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN,
			.read_format = cases[i].format,
		};
		struct builder b;
		struct record out;

		begin(&b, PERF_RECORD_SAMPLE, 0);
		for (unsigned int w = 0; w < cases[i].words; w++)
			put(&b, w || !(cases[i].format & PERF_FORMAT_GROUP) ? 7 : cases[i].nr);
		put(&b, 1);
		put(&b, 0xc0de);
		struct perf_event_header *header = decode(&out, &b, &format);
		assert_int_equal(out.sample.chain_len, 1);
		assert_int_equal(out.sample.chain[0], 0xc0de);
		free(header);
		assert_bad_when_cut(&b, &format);
	}
}

static void hostile_lengths(void **state)
{
	const uint64_t lengths[] = {1ull << 61, UINT64_MAX, UINT64_MAX - 7, 1ull << 63, 1ull << 32,
		0xaaaaaaaaaaaaaaabull /* times 3 is 1 */, 0x5555555555555556ull, 12};
	const struct record_format formats[] = {
		{.sample_type = PERF_SAMPLE_READ, .read_format = PERF_FORMAT_GROUP},
		{.sample_type = PERF_SAMPLE_READ,
			.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST},
		{.sample_type = PERF_SAMPLE_CALLCHAIN},
		{.sample_type = PERF_SAMPLE_BRANCH_STACK},
		{.sample_type = PERF_SAMPLE_BRANCH_STACK,
			.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX},
		{.sample_type = PERF_SAMPLE_STACK_USER},
		{.sample_type = PERF_SAMPLE_AUX},
	};

	(void)state;
	for (size_t f = 0; f < sizeof(formats) / sizeof(*formats); f++)
		for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
			struct builder b;

			begin(&b, PERF_RECORD_SAMPLE, 0);
			put(&b, lengths[i]);
			for (unsigned int w = 0; w < 4; w++)
				put(&b, 0);
			assert_bad(&b, &formats[f]);
		}
	for (uint32_t len = 0; len < 64; len++) {
		const struct record_format format = {.sample_type = PERF_SAMPLE_RAW};
		struct builder b;
		struct record out;

		begin(&b, PERF_RECORD_SAMPLE, 0);
		put_pair(&b, len, 0);
		put(&b, 0);
		if (len == 4 || len == 12)
			free(decode(&out, &b, &format));
		else
			assert_bad(&b, &format);
	}
}

/* An empty branch stack, with and without hw_idx. */
static void empty_branch_stacks(void **state)
{
	const struct record_format format = {
		.sample_type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
		.regs_user = 7,
	};
	struct builder b;
	struct record out;

	(void)state;
	for (unsigned int has_index = 0; has_index < 2; has_index++) {
		begin(&b, PERF_RECORD_SAMPLE, 0);
		put(&b, 0);
		if (has_index)
			put(&b, UINT64_MAX);
		put(&b, PERF_SAMPLE_REGS_ABI_64);
		for (unsigned int i = 0; i < 3; i++)
			put(&b, 1);
		free(decode(&out, &b, &format));
	}
}

static void mmap_records(void **state)
{
	struct builder b;
	struct record out;
	struct perf_event_header *header;

	(void)state;
	for (unsigned int data = 0; data < 2; data++) {
		begin(&b, PERF_RECORD_MMAP, data ? PERF_RECORD_MISC_MMAP_DATA : 0);
		put_pair(&b, 20, 21);
		put(&b, 0x7f0000000000);
		put(&b, 0x5000);
		put(&b, 0x1000);
		put_string(&b, "/usr/lib/libfoo.so");
		put_trailer(&b);
		header = decode(&out, &b, &hot);
		check_trailer(&out, header);
		assert_int_equal(out.mmap.pid, 20);
		assert_int_equal(out.mmap.tid, 21);
		assert_int_equal(out.mmap.start, 0x7f0000000000);
		assert_int_equal(out.mmap.len, 0x5000);
		assert_int_equal(out.mmap.pgoff, 0x1000);
		assert_string_equal(out.mmap.filename, "/usr/lib/libfoo.so");
		assert_int_equal(out.mmap.executable, !data);
		assert_false(out.mmap.has_inode);
		assert_int_equal(out.mmap.build_id_len, 0);
		free(header);
	}
}

static void mmap2_records(void **state)
{
	struct builder b;
	struct record out;
	struct perf_event_header *header;
	struct record_format unasked = hot;
	uint8_t id[24] = {20};

	(void)state;
	begin(&b, PERF_RECORD_MMAP2, 0);
	put_pair(&b, 20, 21);
	put(&b, 0x400000);
	put(&b, 0x5000);
	put(&b, 0x1000);
	put_pair(&b, 8, 1);
	put(&b, 123456);
	put(&b, 42);
	put_pair(&b, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	put_string(&b, "1234567"); /* fills its word, including the terminator */
	put_trailer(&b);
	header = decode(&out, &b, &hot);
	check_trailer(&out, header);
	assert_true(out.mmap.executable);
	assert_true(out.mmap.has_inode);
	assert_int_equal(out.mmap.dev_major, 8);
	assert_int_equal(out.mmap.dev_minor, 1);
	assert_int_equal(out.mmap.inode, 123456);
	assert_int_equal(out.mmap.inode_generation, 42);
	assert_int_equal(out.mmap.prot, PROT_READ | PROT_EXEC);
	assert_int_equal(out.mmap.flags, MAP_PRIVATE);
	assert_int_equal(out.mmap.build_id_len, 0);
	assert_string_equal(out.mmap.filename, "1234567");

	/* Another profiler requested build-ids; this event did not. */
	header->misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	unasked.no_build_ids = true;
	assert_int_equal(record_decode(&out, header, &unasked), 0);
	assert_true(out.mmap.has_inode);
	assert_int_equal(out.mmap.dev_major, 8);
	assert_int_equal(out.mmap.build_id_len, 0);
	free(header);

	/* The name must end before the trailer.  The trailer's zero bytes do not terminate it. */
	memset(&b.words[9], 'x', 8);
	assert_bad(&b, &hot);

	b.words[0] = 0;
	begin(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
	b.n = 5;
	for (uint8_t i = 4; i < 24; i++)
		id[i] = i;
	memcpy(&b.words[5], id, 24);
	b.n = 8;
	put_pair(&b, PROT_READ, 0);
	put_string(&b, "");
	put_trailer(&b);
	header = decode(&out, &b, &hot);
	check_trailer(&out, header);
	assert_false(out.mmap.executable);
	assert_false(out.mmap.has_inode);
	assert_int_equal(out.mmap.inode, 0);
	assert_int_equal(out.mmap.build_id_len, 20);
	assert_memory_equal(out.mmap.build_id, id + 4, 20);
	assert_string_equal(out.mmap.filename, "");
	/* perf inject also adds build-ids to records of events that did not request them. */
	assert_int_equal(record_decode(&out, header, &unasked), 0);
	assert_int_equal(out.mmap.build_id_len, 20);
	free(header);
	*(uint8_t *)&b.words[5] = 21;
	assert_bad(&b, &hot);
}

static void comm_records(void **state)
{
	struct builder b;
	struct record out;
	struct perf_event_header *header;

	(void)state;
	begin(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put_pair(&b, 20, 21);
	put_string(&b, "kworker/0:1-ev");
	put_trailer(&b);
	header = decode(&out, &b, &hot);
	check_trailer(&out, header);
	assert_int_equal(out.comm.pid, 20);
	assert_int_equal(out.comm.tid, 21);
	assert_true(out.comm.exec);
	assert_string_equal(out.comm.comm, "kworker/0:1-ev");
	free(header);
	memset(&b.words[2], 'x', 16);
	assert_bad(&b, &hot);
	begin(&b, PERF_RECORD_COMM, 0);
	put_pair(&b, 20, 21);
	put_trailer(&b);
	assert_bad(&b, &hot); /* no room for any name */
}

static void task_records(void **state)
{
	const uint32_t types[] = {PERF_RECORD_FORK, PERF_RECORD_EXIT};
	struct builder b;
	struct record out;
	struct perf_event_header *header;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		begin(&b, types[i], 0);
		put_pair(&b, 20, 10);
		put_pair(&b, 21, 11);
		put(&b, 555);
		put_trailer(&b);
		header = decode(&out, &b, &hot);
		check_trailer(&out, header);
		assert_int_equal(out.task.pid, 20);
		assert_int_equal(out.task.ppid, 10);
		assert_int_equal(out.task.tid, 21);
		assert_int_equal(out.task.ptid, 11);
		assert_int_equal(out.task.time_ns, 555);
		free(header);
		assert_bad_when_cut(&b, &hot);
	}
}

static void loss_and_throttle_records(void **state)
{
	struct builder b;
	struct record out;
	struct perf_event_header *header;

	(void)state;
	begin(&b, PERF_RECORD_LOST, 0);
	put(&b, 31);
	put(&b, 1000);
	put_trailer(&b);
	header = decode(&out, &b, &hot);
	check_trailer(&out, header);
	assert_int_equal(out.lost.id, 31);
	assert_int_equal(out.lost.lost, 1000);
	free(header);
	assert_bad_when_cut(&b, &hot);

	begin(&b, PERF_RECORD_LOST_SAMPLES, 0);
	put(&b, 1001);
	put_trailer(&b);
	header = decode(&out, &b, &hot);
	check_trailer(&out, header);
	assert_int_equal(out.lost.id, 99);
	assert_int_equal(out.lost.lost, 1001);
	free(header);
	assert_bad_when_cut(&b, &hot);

	for (uint32_t type = PERF_RECORD_THROTTLE; type <= PERF_RECORD_UNTHROTTLE; type++) {
		begin(&b, type, 0);
		put(&b, 555);
		put(&b, 31);
		put(&b, 32);
		put_trailer(&b);
		header = decode(&out, &b, &hot);
		check_trailer(&out, header);
		assert_int_equal(out.type, type);
		assert_int_equal(out.throttle.time_ns, 555);
		assert_int_equal(out.throttle.id, 31);
		assert_int_equal(out.throttle.stream_id, 32);
		free(header);
		assert_bad_when_cut(&b, &hot);
	}
}

static void trailers_of_every_kind(void **state)
{
	const struct record_format all = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
		.sample_id_all = true,
	};
	const struct record_format none = {.sample_type = all.sample_type};
	struct builder b;
	struct record out;
	struct perf_event_header *header;

	(void)state;
	begin(&b, PERF_RECORD_LOST_SAMPLES, 0);
	put(&b, 7);
	put_pair(&b, 1, 2);
	put(&b, 3);
	put(&b, 4);
	put(&b, 5);
	put_pair(&b, 6, 0);
	put(&b, 4);
	header = decode(&out, &b, &all);
	assert_int_equal(out.id.pid, 1);
	assert_int_equal(out.id.tid, 2);
	assert_int_equal(out.id.time_ns, 3);
	assert_int_equal(out.id.id, 4);
	assert_int_equal(out.id.cpu, 6);
	assert_int_equal(record_time(header, &all), 3);
	free(header);
	header = decode(&out, &b, &none);
	assert_int_equal(out.id.pid, 0);
	assert_int_equal(out.id.time_ns, 0);
	assert_int_equal(record_time(header, &none), 0);
	free(header);
}

static void other_types(void **state)
{
	struct builder b;
	struct record out;
	struct perf_event_header *header;

	(void)state;
	for (uint32_t type = 0; type < 300; type++) {
		if (type >= PERF_RECORD_MMAP && type <= RECORD_CALLCHAIN_DEFERRED)
			continue;
		begin(&b, type, 5);
		put(&b, 0);
		put_trailer(&b);
		header = copy_of(&b, b.n);
		assert_int_equal(record_decode(&out, header, &hot), -ENOTSUP);
		assert_int_equal(out.type, type);
		assert_int_equal(out.misc, 5);
		if (type < 64)
			check_trailer(&out, header);
		else
			assert_int_equal(out.id.pid, 0);
		free(header);
	}
}

static void sizes_that_cannot_be(void **state)
{
	uint64_t words[8] = {0};
	struct perf_event_header *header = (struct perf_event_header *)(void *)words;
	struct record out;

	(void)state;
	for (uint16_t size = 0; size < 64; size++) {
		header->type = PERF_RECORD_SAMPLE;
		header->size = size;
		if (size >= 8 && size % 8 == 0)
			continue;
		assert_int_equal(record_decode(&out, header, &hot), -EBADMSG);
		assert_int_equal(record_time(header, &hot), 0);
	}
	for (uint16_t size = 8; size <= 32; size = (uint16_t)(size + 8)) {
		header->size = size;
		assert_int_equal(record_time(header, &hot), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hot_sample),
		cmocka_unit_test(hostile_chain_lengths),
		cmocka_unit_test(every_field),
		cmocka_unit_test(read_formats),
		cmocka_unit_test(hostile_lengths),
		cmocka_unit_test(empty_branch_stacks),
		cmocka_unit_test(mmap_records),
		cmocka_unit_test(mmap2_records),
		cmocka_unit_test(comm_records),
		cmocka_unit_test(task_records),
		cmocka_unit_test(loss_and_throttle_records),
		cmocka_unit_test(trailers_of_every_kind),
		cmocka_unit_test(other_types),
		cmocka_unit_test(sizes_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
