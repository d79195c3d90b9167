// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_record_side.c - side-band records about tasks, code and counters, including those of later
 * kernels.
 *
 * Each is also truncated at each word, and must then be refused.
 */
#include "record_builder.h"

/* Adds the trailer, decodes and checks the record, and checks that truncated copies are refused.
 * The caller frees the returned header. */
static struct perf_event_header *whole(struct record *out, struct builder *b)
{
	struct perf_event_header *header;

	put_trailer(b);
	header = decode(out, b, &hot);
	check_trailer(out, header);
	assert_bad_when_cut(b, &hot);
	return header;
}

static void reads(void **state)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct record_format format = hot;
	struct record_counter counter;
	struct builder b;
	struct record out;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct perf_event_header *header;

		format.read_format = times | PERF_FORMAT_ID | PERF_FORMAT_LOST;
		format.read_format |= i ? PERF_FORMAT_GROUP : 0;
		begin(&b, PERF_RECORD_READ, 0);
		put_pair(&b, 20, 21);
		put(&b, i ? 1 : 1000);
		put(&b, 11);
		put(&b, 12);
		if (i)
			put(&b, 1000);
		put(&b, 7);
		put(&b, 3);
		put_trailer(&b);
		header = decode(&out, &b, &format);
		assert_int_equal(out.read.pid, 20);
		assert_int_equal(out.read.tid, 21);
		assert_int_equal(out.read.read.n, 1);
		assert_int_equal(out.read.read.enabled_ns, 11);
		assert_int_equal(out.read.read.running_ns, 12);
		record_counter(&out.read.read, 0, &counter);
		assert_int_equal(counter.value, 1000);
		assert_int_equal(counter.id, 7);
		assert_int_equal(counter.lost, 3);
		free(header);
		assert_bad_when_cut(&b, &format);
	}
}

static void traces(void **state)
{
	struct builder b;
	struct record out;

	(void)state;
	begin(&b, PERF_RECORD_AUX, 0);
	put(&b, 4096);
	put(&b, 512);
	put(&b, PERF_AUX_FLAG_TRUNCATED);
	free(whole(&out, &b));
	assert_int_equal(out.aux.offset, 4096);
	assert_int_equal(out.aux.len, 512);
	assert_int_equal(out.aux.flags, PERF_AUX_FLAG_TRUNCATED);

	begin(&b, PERF_RECORD_ITRACE_START, 0);
	put_pair(&b, 20, 21);
	free(whole(&out, &b));
	assert_int_equal(out.itrace.pid, 20);
	assert_int_equal(out.itrace.tid, 21);

	begin(&b, PERF_RECORD_AUX_OUTPUT_HW_ID, 0);
	put(&b, 77);
	free(whole(&out, &b));
	assert_int_equal(out.hw_id, 77);
}

static void deferred_chains(void **state)
{
	const uint64_t counts[] = {3, 1ull << 61, UINT64_MAX};
	struct builder b;
	struct record out;
	struct perf_event_header *header;

	(void)state;
	begin(&b, RECORD_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER);
	put(&b, 0x100000007);
	put(&b, 2);
	put(&b, (uint64_t)PERF_CONTEXT_USER);
	put(&b, 0x401000);
	header = whole(&out, &b);
	assert_int_equal(out.deferred.cookie, 0x100000007);
	assert_int_equal(out.deferred.chain_len, 2);
	assert_int_equal(out.deferred.chain[0], PERF_CONTEXT_USER);
	assert_int_equal(out.deferred.chain[1], 0x401000);
	free(header);
	/* more words than the record has, trailer included */
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		b.words[2] = counts[i];
		assert_bad(&b, &hot);
	}
	b.words[2] = 0;
	header = decode(&out, &b, &hot);
	assert_int_equal(out.deferred.chain_len, 0);
	free(header);
}

static void switches(void **state)
{
	struct builder b;
	struct record out;

	(void)state;
	begin(&b, PERF_RECORD_SWITCH, 0);
	free(whole(&out, &b));
	assert_false(out.switched.out);
	assert_false(out.switched.has_other);
	begin(&b, PERF_RECORD_SWITCH_CPU_WIDE,
		PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	put_pair(&b, 30, 31);
	free(whole(&out, &b));
	assert_true(out.switched.out);
	assert_true(out.switched.preempted);
	assert_true(out.switched.has_other);
	assert_int_equal(out.switched.other_pid, 30);
	assert_int_equal(out.switched.other_tid, 31);
}

static void namespaces(void **state)
{
	struct builder b;
	struct record out;
	struct perf_event_header *header;

	(void)state;
	begin(&b, PERF_RECORD_NAMESPACES, 0);
	put_pair(&b, 20, 21);
	put(&b, 2);
	for (unsigned int i = 0; i < 4; i++)
		put(&b, 40 + i);
	header = whole(&out, &b);
	assert_int_equal(out.namespaces.pid, 20);
	assert_int_equal(out.namespaces.tid, 21);
	assert_int_equal(out.namespaces.n, 2);
	assert_int_equal(out.namespaces.pairs[3], 43);
	free(header);
	b.words[2] = 3;
	assert_bad(&b, &hot);
	b.words[2] = 1ull << 63;
	assert_bad(&b, &hot);
}

static void code(void **state)
{
	struct builder b;
	struct record out;
	struct perf_event_header *header;

	(void)state;
	begin(&b, PERF_RECORD_KSYMBOL, 0);
	put(&b, 0xffffffffc0000000);
	put_pair(&b, 64, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER << 16 | PERF_RECORD_KSYMBOL_TYPE_BPF);
	put_string(&b, "bpf_prog_1");
	header = whole(&out, &b);
	assert_int_equal(out.ksymbol.addr, 0xffffffffc0000000);
	assert_int_equal(out.ksymbol.len, 64);
	assert_int_equal(out.ksymbol.kind, PERF_RECORD_KSYMBOL_TYPE_BPF);
	assert_true(out.ksymbol.unregistered);
	assert_string_equal(out.ksymbol.name, "bpf_prog_1");
	free(header);
	memset(&b.words[3], 'x', 16);
	assert_bad(&b, &hot);

	begin(&b, PERF_RECORD_BPF_EVENT, 0);
	put_pair(&b, 5 << 16 | PERF_BPF_EVENT_PROG_LOAD, 17);
	put(&b, 0x0807060504030201);
	free(whole(&out, &b));
	assert_int_equal(out.bpf.kind, PERF_BPF_EVENT_PROG_LOAD);
	assert_int_equal(out.bpf.flags, 5);
	assert_int_equal(out.bpf.id, 17);
	assert_memory_equal(out.bpf.tag, "\1\2\3\4\5\6\7\10", 8);

	begin(&b, PERF_RECORD_TEXT_POKE, 0);
	put(&b, 0xffffffff81000000);
	put_pair(&b, 6 << 16 | 5, 0x44434241);
	put(&b, 0x4b4a494847464500 >> 8);
	header = whole(&out, &b);
	assert_int_equal(out.text_poke.addr, 0xffffffff81000000);
	assert_int_equal(out.text_poke.old_len, 5);
	assert_int_equal(out.text_poke.new_len, 6);
	assert_memory_equal(out.text_poke.bytes, "ABCDEFGHIJK", 11);
	free(header);
	b.words[2] += 2; /* two bytes more than the record has */
	assert_bad(&b, &hot);
}

static void cgroups(void **state)
{
	struct builder b;
	struct record out;
	struct perf_event_header *header;

	(void)state;
	begin(&b, PERF_RECORD_CGROUP, 0);
	put(&b, 4242);
	put_string(&b, "/system.slice");
	header = whole(&out, &b);
	assert_int_equal(out.cgroup.id, 4242);
	assert_string_equal(out.cgroup.path, "/system.slice");
	free(header);
	memset(&b.words[2], 'x', 16);
	assert_bad(&b, &hot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(traces),
		cmocka_unit_test(deferred_chains),
		cmocka_unit_test(switches),
		cmocka_unit_test(namespaces),
		cmocka_unit_test(code),
		cmocka_unit_test(cgroups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
