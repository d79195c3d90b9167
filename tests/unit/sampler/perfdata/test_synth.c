/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_synth.c - the decoder understands synthesized records; the texts that they are made from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "sampler/perfdata/synth.h"

static const struct record_format format = {
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN,
	.sample_id_all = true,
};

static void decode(struct record *out, const union synth_record *record)
{
	assert_int_equal(record->header.size % 8, 0);
	assert_int_equal(record_decode(out, &record->header, &format), 0);
	assert_int_equal(out->id.id, 0);
}

static void test_comm(void **state)
{
	union synth_record record;
	struct record out;
	char name[SYNTH_NAME_MAX + 100];

	(void)state;
	for (size_t len = 0; len < 20; len++) {
		memset(&record, 0xff, sizeof(record));
		memset(name, 'x', len);
		name[len] = '\0';
		synth_comm(&record, 4711, 4712, name, 99);
		decode(&out, &record);
		assert_int_equal(out.type, PERF_RECORD_COMM);
		assert_int_equal(out.comm.pid, 4711);
		assert_int_equal(out.comm.tid, 4712);
		assert_false(out.comm.exec);
		assert_string_equal(out.comm.comm, name);
		assert_int_equal(out.id.time_ns, 99);
		assert_int_equal(out.id.pid, 4711);
		assert_int_equal(out.id.tid, 4712);
	}
	memset(name, 'y', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	synth_comm(&record, 1, 1, name, 1);
	assert_true(record.header.size <= sizeof(record));
	decode(&out, &record);
	assert_int_equal(strlen(out.comm.comm), SYNTH_NAME_MAX - 1);
}

static void test_mapping(void **state)
{
	struct record_mmap mmap = {
		.start = 0x7f0000001000,
		.len = 0x3000,
		.pgoff = 0x2000,
		.dev_major = 254,
		.dev_minor = 3,
		.inode = 12345678901,
		.inode_generation = 7,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.executable = true,
		.filename = "/usr/lib/libc.so.6",
	};
	union synth_record record;
	struct record out;

	(void)state;
	synth_mapping(&record, 4711, &mmap, 5);
	decode(&out, &record);
	assert_int_equal(out.type, PERF_RECORD_MMAP2);
	assert_int_equal(out.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
	assert_int_equal(out.mmap.pid, 4711);
	assert_int_equal(out.mmap.tid, 4711);
	assert_int_equal(out.mmap.start, mmap.start);
	assert_int_equal(out.mmap.len, mmap.len);
	assert_int_equal(out.mmap.pgoff, mmap.pgoff);
	assert_true(out.mmap.has_inode);
	assert_int_equal(out.mmap.dev_major, 254);
	assert_int_equal(out.mmap.dev_minor, 3);
	assert_int_equal(out.mmap.inode, mmap.inode);
	assert_int_equal(out.mmap.inode_generation, 7);
	assert_true(out.mmap.executable);
	assert_int_equal(out.mmap.prot, PROT_READ | PROT_EXEC);
	assert_int_equal(out.mmap.flags, MAP_PRIVATE);
	assert_string_equal(out.mmap.filename, mmap.filename);

	/* Memory that a runtime maps twice is shared. */
	mmap.prot = PROT_READ | PROT_WRITE | PROT_EXEC;
	mmap.flags = MAP_SHARED;
	synth_mapping(&record, 4711, &mmap, 5);
	decode(&out, &record);
	assert_int_equal(out.mmap.prot, PROT_READ | PROT_WRITE | PROT_EXEC);
	assert_int_equal(out.mmap.flags, MAP_SHARED);

	mmap.prot = PROT_READ;
	mmap.executable = false;
	synth_mapping(&record, 4711, &mmap, 5);
	decode(&out, &record);
	assert_false(out.mmap.executable);
	assert_true(out.misc & PERF_RECORD_MISC_MMAP_DATA);

	/* Memory without a file also has a name. */
	mmap.filename = "";
	synth_mapping(&record, 1, &mmap, 5);
	decode(&out, &record);
	assert_string_equal(out.mmap.filename, "//anon");
}

static void test_mapping_with_build_id(void **state)
{
	struct record_mmap mmap = {.start = 0x1000,
		.len = 0x1000,
		.inode = 9,
		.prot = PROT_EXEC,
		.executable = true,
		.filename = "/a"};
	union synth_record record;
	struct record out;

	(void)state;
	for (uint8_t len = 1; len <= RECORD_BUILD_ID_MAX; len++) {
		mmap.build_id_len = len;
		memset(mmap.build_id, len, len);
		synth_mapping(&record, 1, &mmap, 0);
		decode(&out, &record);
		assert_int_equal(out.mmap.build_id_len, len);
		assert_memory_equal(out.mmap.build_id, mmap.build_id, len);
		assert_false(out.mmap.has_inode);
		assert_true(out.mmap.executable);
		assert_string_equal(out.mmap.filename, "/a");
	}
}

static void test_lost(void **state)
{
	union synth_record record;
	struct record out;

	(void)state;
	synth_lost_samples(&record, 123, 7);
	decode(&out, &record);
	assert_int_equal(out.type, PERF_RECORD_LOST_SAMPLES);
	assert_int_equal(out.lost.lost, 123);
	assert_int_equal(out.id.time_ns, 7);
	synth_lost(&record, 456, 8);
	decode(&out, &record);
	assert_int_equal(out.type, PERF_RECORD_LOST);
	assert_int_equal(out.lost.lost, 456);
	assert_int_equal(out.id.time_ns, 8);
}

/* --- the kernel --- */

struct maps {
	struct {
		uint64_t start, len, pgoff;
		char name[256];
	} at[8];
	size_t n;
	int result;
};

static int take(const struct perf_event_header *header, void *ctx)
{
	struct maps *maps = ctx;
	struct record out;

	assert_int_equal(record_decode(&out, header, &format), 0);
	assert_int_equal(out.type, PERF_RECORD_MMAP);
	assert_int_equal(out.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(out.mmap.pid, UINT32_MAX);
	assert_int_equal(out.id.time_ns, 0);
	maps->at[maps->n].start = out.mmap.start;
	maps->at[maps->n].len = out.mmap.len;
	maps->at[maps->n].pgoff = out.mmap.pgoff;
	snprintf(maps->at[maps->n++].name, 256, "%s", out.mmap.filename);
	return maps->result;
}

static int kernel_of(const char *text, struct maps *maps)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int ret;

	assert_non_null(file);
	maps->n = 0;
	ret = synth_kernel(file, take, maps);
	fclose(file);
	return ret;
}

static void test_kernel(void **state)
{
	struct maps maps = {0};

	(void)state;
	assert_int_equal(kernel_of("0000000000000000 A fixed_percpu_data\n"
				   "ffffffff81000000 T _text\n"
				   "ffffffff81000040 T _stext\n"
				   "ffffffff81200000 t my_etext\n"
				   "ffffffff82209988 T _etext\n"
				   "ffffffffc0000000 t _etext\t[module]\n",
				 &maps),
		0);
	assert_int_equal(maps.n, 1);
	assert_int_equal(maps.at[0].start, 0xffffffff81000000);
	assert_int_equal(maps.at[0].len, 0x1209988);
	assert_int_equal(maps.at[0].pgoff, 0xffffffff81000000);
	assert_string_equal(maps.at[0].name, "[kernel.kallsyms]_text");

	/* On arm64 only _stext is listed, below the code. */
	assert_int_equal(
		kernel_of("ffff800008010000 T _stext\nffff800009000000 D _etext\n", &maps), 0);
	assert_string_equal(maps.at[0].name, "[kernel.kallsyms]_stext");
	assert_int_equal(maps.at[0].len, 0xff0000);

	/* Without an end, the kernel is all that follows.  A kernel with hidden addresses has no
	 * mapping. */
	assert_int_equal(kernel_of("ffffffff81000000 T _text\n", &maps), 0);
	assert_int_equal(maps.at[0].start + maps.at[0].len, UINT64_MAX);
	assert_int_equal(
		kernel_of("0000000000000000 T _text\n0000000000000000 T _etext\n", &maps), 0);
	assert_int_equal(maps.n, 0);

	maps.result = -28;
	assert_int_equal(kernel_of("ffffffff81000000 T _text\n", &maps), -28);
}

static void test_modules(void **state)
{
	static const char modules[] = "nf_tables 360448 12 nft_ct, Live 0xffffffffc0a00000\n"
				      "snd_hda 40960 0 - Live 0xffffffffc0b00000 (OE)\n"
				      "hidden 4096 0 - Live 0x0000000000000000\n"
				      "broken\n"
				      "own 8192 1 - Live 0xffffffffc0c00000\n";
	static const char dep[] = "kernel/net/netfilter/nf_tables.ko: kernel/lib/libcrc32c.ko\n"
				  "kernel/sound/snd-hda.ko.xz:\n"
				  "kernel/x/own_other.ko:\n";
	FILE *list = fmemopen((void *)(uintptr_t)modules, strlen(modules), "r");
	FILE *files = fmemopen((void *)(uintptr_t)dep, strlen(dep), "r");
	struct maps maps = {0};

	(void)state;
	assert_int_equal(synth_modules(list, files, "/lib/modules/6.1", take, &maps), 0);
	assert_int_equal(maps.n, 3);
	assert_string_equal(maps.at[0].name, "/lib/modules/6.1/kernel/net/netfilter/nf_tables.ko");
	assert_int_equal(maps.at[0].start, 0xffffffffc0a00000);
	assert_int_equal(maps.at[0].len, 360448);
	assert_int_equal(maps.at[0].pgoff, 0);
	assert_string_equal(maps.at[1].name, "/lib/modules/6.1/kernel/sound/snd-hda.ko.xz");
	assert_string_equal(maps.at[2].name, "[own]");

	rewind(list);
	maps.n = 0;
	assert_int_equal(synth_modules(list, NULL, "", take, &maps), 0);
	assert_string_equal(maps.at[0].name, "[nf_tables]");
	fclose(list);
	fclose(files);
}

static void test_notes(void **state)
{
	/* A note of another owner, then the build-id. */
	static const struct {
		uint32_t head[3];
		char name[8];
		uint32_t body;
		uint32_t head2[3];
		char gnu[4];
		uint8_t id[20];
	} notes = {{6, 4, 3}, "Linux", 7, {4, 20, 3}, "GNU", {1, 2, 3, [19] = 20}};
	uint8_t id[RECORD_BUILD_ID_MAX];

	(void)state;
	assert_int_equal(synth_note_build_id(&notes, sizeof(notes), id), 20);
	assert_memory_equal(id, notes.id, 20);
	for (size_t len = 0; len < sizeof(notes); len++)
		assert_int_equal(synth_note_build_id(&notes, len, id), 0);
	/* The vdso of this process has a build-id. */
	assert_true(synth_vdso_build_id(id) > 0);
	assert_int_equal(synth_module_build_id("no-such-module", id), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comm),
		cmocka_unit_test(test_mapping),
		cmocka_unit_test(test_mapping_with_build_id),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
