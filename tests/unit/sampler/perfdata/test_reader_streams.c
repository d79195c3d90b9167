// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_reader_streams.c - synthetic directories as perf record --threads writes them: merged by
 * time, in packs, truncated, damaged.
 */
#include "sampler/perfdata/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#define FILE_MAX 65536
#define ID 7
#define SAMPLE_BYTES 32

/* The file under construction. */
static uint8_t bytes[FILE_MAX];
static size_t len;

static void add(const void *more, size_t more_len)
{
	assert_true(more_len <= sizeof(bytes) - len);
	memcpy(bytes + len, more, more_len);
	len += more_len;
}

static void save(const char *name)
{
	char path[64];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	out = fopen(path, "we");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
	len = 0;
}

static void add_sample(uint64_t time_ns)
{
	const struct {
		struct perf_event_header header;
		uint64_t id, ip, time_ns;
	} sample = {{.type = PERF_RECORD_SAMPLE, .size = sizeof(sample)}, ID, 0x1000, time_ns};

	add(&sample, sizeof(sample));
}

/* perf's own first records have no time. */
static void add_comm(void)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[8];
		uint64_t time_ns, id;
	} comm = {{.type = PERF_RECORD_COMM, .size = sizeof(comm)}, 1, 1, "demo", 0, 0};

	add(&comm, sizeof(comm));
}

static void add_cpu_map(const void *body, size_t body_len)
{
	const struct perf_event_header header = {
		.type = PERFDATA_RECORD_CPU_MAP, .size = (uint16_t)(sizeof(header) + body_len)};

	add(&header, sizeof(header));
	add(body, body_len);
}

/* Saves "data": one event without samples. version: the directory's format. cpus: body of a CPU_MAP
 * record, left out if cpus_len is 0. */
static void save_header_and_cpus(uint64_t version, const void *cpus, size_t cpus_len)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
		.sample_id_all = 1};
	struct perfdata_section section = {sizeof(struct perfdata_header), sizeof(uint64_t)};
	struct perfdata_header header = {.magic = PERFDATA_MAGIC,
		.size = sizeof(header),
		.attr_size = sizeof(attr) + sizeof(section),
		.attrs = {sizeof(header) + 8, sizeof(attr) + sizeof(section)},
		.features = {1ull << PERFDATA_DIR_FORMAT}};
	const uint64_t id = ID;

	header.data.offset = header.attrs.offset + header.attrs.size;
	add(&header, sizeof(header));
	add(&id, sizeof(id));
	add(&attr, sizeof(attr));
	add(&section, sizeof(section));
	if (cpus_len)
		add_cpu_map(cpus, cpus_len);
	add_comm();
	header.data.size = len - header.data.offset;
	section = (struct perfdata_section){len + sizeof(section), sizeof(version)};
	add(&section, sizeof(section));
	add(&version, sizeof(version));
	memcpy(bytes, &header, sizeof(header));
	save("data");
}

static void save_header(uint64_t version)
{
	save_header_and_cpus(version, NULL, 0);
}

static int open_scratch(struct reader **out)
{
	return reader_open(out, open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static uint64_t time_of(const struct reader_record *record)
{
	return ((const uint64_t *)(const void *)record->header)[3];
}

/* Expects the COMM record, then samples with these times. */
static void expect_all(struct reader *reader, const uint64_t *times, size_t n)
{
	struct reader_record record;

	assert_int_equal(reader_next(reader, &record), 1);
	assert_int_equal(record.header->type, PERF_RECORD_COMM);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(reader_next(reader, &record), 1);
		assert_int_equal(record.header->type, PERF_RECORD_SAMPLE);
		assert_true(record.has_attr);
		assert_int_equal(time_of(&record), times[i]);
	}
}

static void expect_fault(const struct reader_status *status, size_t i, const char *file,
	enum reader_fault_kind kind, int error, uint64_t offset)
{
	const struct reader_fault *fault = &status->faults[i];

	assert_true(i < status->n_faults);
	assert_string_equal(fault->file, file);
	assert_int_equal(fault->kind, kind);
	assert_int_equal(fault->error, error);
	assert_int_equal(fault->offset, offset);
}

/* Reads to the end.  Returns the status with all faults. */
static struct reader_status faults_of_all(void)
{
	struct reader_record record;
	struct reader_status status;
	struct reader *reader;

	assert_int_equal(open_scratch(&reader), 0);
	while (reader_next(reader, &record) > 0)
		;
	reader_status(reader, &status);
	reader_close(reader);
	return status;
}

static int setup(void **state)
{
	return scratch_make(state);
}

static int teardown(void **state)
{
	(void)state;
	return scratch_remove_tree(scratch);
}

/* Turns the file's records into a pack.  All packs of one file share a zstd stream. */
static void pack(void)
{
	static uint8_t plain[FILE_MAX], packed[FILE_MAX];
	struct perf_event_header header = {.type = PERFDATA_RECORD_COMPRESSED};
	size_t plain_len = len, packed_len;

	memcpy(plain, bytes, plain_len);
	len = 0;
	packed_len = ZSTD_compress(packed, sizeof(packed), plain, plain_len, 1);
	assert_false(ZSTD_isError(packed_len));
	header.size = (uint16_t)(sizeof(header) + packed_len);
	add(&header, sizeof(header));
	add(packed, packed_len);
}

static void test_merged(void **state)
{
	static const uint64_t times[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct reader_record record;
	struct reader_status status;
	struct reader *reader;

	(void)state;
	save_header(1);
	for (uint64_t time_ns = 1; time_ns < 10; time_ns += 3)
		add_sample(time_ns);
	save("data.0");
	for (uint64_t time_ns = 2; time_ns < 10; time_ns += 3)
		add_sample(time_ns);
	pack();
	save("data.3");
	for (uint64_t time_ns = 3; time_ns < 10; time_ns += 3)
		add_sample(time_ns);
	pack();
	save("data.10");
	save("data.1"); /* empty */
	add_sample(5);
	save("data.old"); /* not part of the recording */
	assert_int_equal(open_scratch(&reader), 0);
	expect_all(reader, times, 9);
	assert_int_equal(reader_next(reader, &record), 0);
	assert_int_equal(reader_next(reader, &record), 0);
	reader_status(reader, &status);
	assert_int_equal(status.counts[PERF_RECORD_SAMPLE], 9);
	assert_int_equal(status.counts[PERFDATA_RECORD_COMPRESSED], 2);
	assert_false(status.truncated);
	assert_int_equal(status.bad, 0);
	assert_int_equal(status.n_faults, 7); /* data.2, data.4 to data.9 */
	reader_close(reader);
}

/* Opens as many files as CPUs, which exceeds many soft limits of descriptors. */
static void test_many_files(void **state)
{
	struct rlimit old, low;
	struct reader *reader;
	char name[32];

	(void)state;
	save_header(1);
	for (unsigned int i = 0; i < 40; i++) {
		add_sample(i + 1);
		snprintf(name, sizeof(name), "data.%u", i);
		save(name);
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = 30;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	assert_int_equal(open_scratch(&reader), 0);
	reader_close(reader);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

/* A truncated or damaged file does not end the reading of the others. */
static void test_damaged(void **state)
{
	static const uint64_t times[] = {1, 2, 3, 5, 7};
	const struct perf_event_header nonsense = {.type = PERF_RECORD_SAMPLE, .size = 3};
	struct reader_record record;
	struct reader_status status;
	struct reader *reader;

	(void)state;
	save_header(1);
	add_sample(1);
	add_sample(3);
	add_sample(5);
	add_sample(7);
	save("data.0");
	add_sample(2);
	add_sample(4);
	len -= 8;
	save("data.1");
	assert_int_equal(open_scratch(&reader), 0);
	expect_all(reader, times, 5);
	assert_int_equal(reader_next(reader, &record), 0);
	reader_status(reader, &status);
	assert_true(status.truncated);
	assert_int_equal(status.n_faults, 1);
	expect_fault(&status, 0, "data.1", READER_CUT, 0, SAMPLE_BYTES);
	reader_close(reader);

	add_sample(2);
	add(&nonsense, sizeof(nonsense));
	save("data.1");
	assert_int_equal(open_scratch(&reader), 0);
	expect_all(reader, times, 5);
	assert_int_equal(reader_next(reader, &record), -EBADMSG);
	assert_int_equal(reader_next(reader, &record), -EBADMSG);
	reader_status(reader, &status);
	assert_false(status.truncated);
	assert_int_equal(status.n_faults, 1);
	expect_fault(&status, 0, "data.1", READER_UNREADABLE, EBADMSG, SAMPLE_BYTES);
	reader_close(reader);

	/* Each fault has its own offset. */
	add_sample(1);
	add_sample(3);
	len -= 8;
	save("data.0");
	status = faults_of_all();
	assert_int_equal(status.n_faults, 2);
	expect_fault(&status, 0, "data.0", READER_CUT, 0, SAMPLE_BYTES);
	expect_fault(&status, 1, "data.1", READER_UNREADABLE, EBADMSG, SAMPLE_BYTES);
}

static void path_in_scratch(char path[64], const char *name)
{
	snprintf(path, 64, "%s/%s", scratch, name);
}

static void test_missing(void **state)
{
	struct reader_status status;
	char path[64];

	(void)state;
	save_header(1);
	status = faults_of_all();
	assert_int_equal(status.n_faults, 1);
	expect_fault(&status, 0, "data.0", READER_MISSING, 0, 0);

	add_sample(1);
	save("data.0");
	status = faults_of_all();
	assert_int_equal(status.n_faults, 0);

	add_sample(2);
	save("data.3");
	path_in_scratch(path, "data.2");
	/* open(2) of a socket fails, also for root */
	assert_int_equal(mknod(path, S_IFSOCK | 0600, 0), 0);
	path_in_scratch(path, "data.4");
	assert_int_equal(symlink("data.0", path), 0);
	status = faults_of_all();
	assert_int_equal(status.counts[PERF_RECORD_SAMPLE], 2);
	assert_false(status.truncated);
	assert_int_equal(status.n_faults, 3);
	expect_fault(&status, 0, "data.1", READER_MISSING, 0, 0);
	expect_fault(&status, 1, "data.2", READER_MISSING, ENXIO, 0);
	expect_fault(&status, 2, "data.4", READER_MISSING, 0, 0);
}

/* perf lists more CPUs than there are files: the last files are missing. */
static void test_missing_at_the_end(void **state)
{
	static const struct {
		uint8_t body[24];
		size_t len;
		uint64_t n;
	} maps[] = {
		{{0, 0, 3, 0, 0, 0, 4, 0, 9, 0}, 16, 3}, /* a list */
		{{1, 0, 1, 0, 4, 0, 0x11, 0, 1, 0}, 16, 3}, /* masks of both sizes */
		{{1, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 1, 0}, 24, 9},
		{{2, 0, 0, 0, 4, 0, 6, 0}, 8, 3}, /* a range */
		{{2, 0, 0, 0, 0, 0, 0xff, 0xff}, 8, 65536},
		{{2, 0, 0, 0, 4, 0, 3, 0}, 8, 1}, /* nonsense: only existing files count */
		{{1, 0, 0xff, 0xff, 8, 0}, 8, 1},
		{{7, 0, 9, 0}, 8, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct reader_status status;

		save_header_and_cpus(1, maps[i].body, maps[i].len);
		add_sample(1);
		save("data.0");
		status = faults_of_all();
		assert_int_equal(status.n_faults, maps[i].n - 1);
		for (size_t k = 0; k + 1 < maps[i].n && k < READER_FAULTS_MAX; k++) {
			char name[READER_FILE_MAX];

			snprintf(name, sizeof(name), "data.%u", (unsigned int)k + 1);
			expect_fault(&status, k, name, READER_MISSING, 0, 0);
		}
	}
}

static void test_refused(void **state)
{
	struct reader_record record;
	struct reader *reader;
	char path[64];

	(void)state;
	assert_int_equal(open_scratch(&reader), -EISDIR); /* it is empty */
	save_header(1);
	snprintf(path, sizeof(path), "%s/data", scratch);
	assert_int_equal(reader_open(&reader, open(path, O_RDONLY | O_CLOEXEC)), -ENOTDIR);
	/* perf record --kcore writes a directory with one file */
	save_header(0);
	add_sample(1);
	save("data.0");
	assert_int_equal(open_scratch(&reader), 0);
	expect_all(reader, NULL, 0);
	assert_int_equal(reader_next(reader, &record), 0);
	reader_close(reader);
	assert_int_equal(reader_open(&reader, open(path, O_RDONLY | O_CLOEXEC)), 0);
	reader_close(reader);
	/* Only files of the directory itself are opened. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(open_scratch(&reader), -EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_merged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing_at_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
