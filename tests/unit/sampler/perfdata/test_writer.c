/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_writer.c - records of the writer, read back by the reader.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/perfdata/synth.h"
#include "sampler/perfdata/writer.h"

#define TYPE                                                                            \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
		PERF_SAMPLE_CPU)
#define N_EVENTS 3
#define TRACKER 2

/* An id as the kernel might give it.  The file must not contain it. */
#define FOREIGN 0xabcdef

static struct writer *open_writer(int fd, bool pipe, bool compress)
{
	static char *const cmdline[] = {"strobe", "record", "-a"};
	struct writer_event events[N_EVENTS] = {
		{.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK},
			.name = "cpu-clock"},
		{.attr = {.type = PERF_TYPE_RAW, .config = 0x1a8, .exclude_kernel = 1},
			.name = "raw 0x1a8:u"},
		{.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .mmap = 1},
			.name = "dummy:u"},
	};
	const struct writer_config config = {
		.fd = fd,
		.pipe = pipe,
		.compress = compress,
		.events = events,
		.n_events = N_EVENTS,
		.cmdline = cmdline,
		.n_cmdline = 3,
	};
	struct writer *writer;

	for (size_t i = 0; i < N_EVENTS; i++) {
		events[i].attr.sample_type = TYPE | (i == 1 ? PERF_SAMPLE_PERIOD : 0);
		events[i].attr.sample_id_all = 1;
		events[i].attr.use_clockid = 1;
		events[i].attr.clockid = 1;
		events[i].attr.sample_period = 1000 + i;
	}
	assert_int_equal(writer_new(&writer, &config), 0);
	return writer;
}

/* Only samples of event 1 have a period. */
static int put_sample(struct writer *writer, size_t event, uint64_t time_ns, uint64_t ip)
{
	struct {
		struct perf_event_header header;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time_ns;
		uint32_t cpu, reserved;
		uint64_t period;
	} sample = {.header = {.type = PERF_RECORD_SAMPLE,
			    .misc = PERF_RECORD_MISC_USER,
			    .size = (uint16_t)(sizeof(sample) - (event == 1 ? 0 : 8))},
		.id = FOREIGN,
		.ip = ip,
		.pid = 1,
		.tid = 2,
		.time_ns = time_ns,
		.period = 55};

	return writer_record(writer, &sample.header, event);
}

static void put_comm(struct writer *writer, const char *name, uint64_t time_ns)
{
	union synth_record record;

	synth_comm(&record, 1, 2, name, time_ns);
	assert_int_equal(writer_record(writer, &record.header, TRACKER), 0);
}

static int new_file(void)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Found by the reader: records by type, samples by attribute, the sum of their ips. */
struct found {
	uint64_t types[PERFDATA_RECORD_TYPES], samples[N_EVENTS], ips;
	struct reader_status status;
	struct reader *reader;
};

static void read_back(int fd, struct found *found)
{
	struct reader_record record;
	int ret;

	memset(found, 0, sizeof(*found));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(reader_open(&found->reader, fd), 0);
	while ((ret = reader_next(found->reader, &record)) == 1) {
		const struct reader_attr *attr;
		struct record decoded;

		found->types[record.header->type]++;
		if (record.header->type >= PERFDATA_RECORD_HEADER_ATTR)
			continue;
		assert_true(record.has_attr);
		attr = reader_attr(found->reader, record.attr);
		assert_int_equal(record_decode(&decoded, record.header, &attr->format), 0);
		assert_int_equal(decoded.id.id, record.attr + 1);
		if (decoded.type != PERF_RECORD_SAMPLE) {
			if (decoded.type == PERF_RECORD_COMM)
				assert_int_equal(record.attr, TRACKER);
			continue;
		}
		found->samples[record.attr]++;
		found->ips += decoded.sample.ip;
		assert_int_equal(decoded.sample.period, record.attr == 1 ? 55 : 0);
	}
	assert_int_equal(ret, 0);
	assert_int_equal(reader_attr_count(found->reader), N_EVENTS);
	reader_status(found->reader, &found->status);
	assert_int_equal(found->status.bad, 0);
	assert_int_equal(found->status.unknown, 0);
}

static void write_some(struct writer *writer, size_t n)
{
	put_comm(writer, "worker", 1);
	assert_int_equal(writer_synthesized(writer), 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(put_sample(writer, i % 2, 1000 + i, i), 0);
		if (i % 100 == 99)
			assert_int_equal(writer_round(writer), 0);
	}
}

static void check_some(const struct found *found, size_t n)
{
	assert_int_equal(found->types[PERF_RECORD_COMM], 1);
	assert_int_equal(found->types[PERFDATA_RECORD_FINISHED_INIT], 1);
	assert_int_equal(found->types[PERFDATA_RECORD_FINISHED_ROUND], n / 100);
	assert_int_equal(found->samples[0], (n + 1) / 2);
	assert_int_equal(found->samples[1], n / 2);
	assert_int_equal(found->ips, n * (n - 1) / 2);
	assert_false(found->status.truncated);
}

static void check_info(const struct reader_info *info)
{
	assert_int_equal(info->n_cmdline, 3);
	assert_string_equal(info->cmdline[1], "record");
	assert_non_null(info->hostname);
	assert_non_null(info->release);
	assert_non_null(info->arch);
	assert_memory_equal(info->perf_version, "strobe ", 7);
	assert_true(info->cpus_online >= 1 && info->cpus_available >= info->cpus_online);
	assert_true(info->total_mem_kb > 0);
	assert_true(info->has_clockid);
	assert_true(info->clockid >= 1);
}

/* The data kept to name code, which takes several records in a pipe. */
static void check_kept(bool pipe, bool compress)
{
	static char kept[100003], found_bytes[sizeof(kept) + 1];
	int fd = new_file();
	struct writer *writer = open_writer(fd, pipe, compress);
	struct found found;

	for (size_t i = 0; i < sizeof(kept); i++)
		kept[i] = (char)(i * 7 % 251);
	memcpy(kept, PERFDATA_KEPT_MAGIC, sizeof(PERFDATA_KEPT_MAGIC) - 1);
	write_some(writer, 300);
	assert_int_equal(writer_round(writer), 0);
	assert_int_equal(writer_kept(writer, kept, sizeof(kept)), 0);
	assert_int_equal(writer_finish(writer), 0);
	assert_int_equal(writer_bytes(writer), lseek(fd, 0, SEEK_END));
	writer_free(writer);
	read_back(fd, &found);
	check_some(&found, 300);
	check_info(reader_info(found.reader));
	const int kept_fd = reader_info(found.reader)->kept_fd;
	assert_true(kept_fd > 0);
	assert_int_equal(pread(kept_fd, found_bytes, sizeof(found_bytes), 0), sizeof(kept));
	assert_memory_equal(found_bytes, kept, sizeof(kept));
	reader_close(found.reader);
}

static void test_kept(void **state)
{
	(void)state;
	check_kept(false, false);
	check_kept(false, true);
	check_kept(true, false);
	check_kept(true, true);
}

/* Old files have other data there, which is ignored.  A truncated file is reported. */
static void test_kept_not(void **state)
{
	static const char kept[] = PERFDATA_KEPT_MAGIC "and more",
			  other[] = "something else that is no copy";
	struct found found;

	(void)state;
	for (int is_cut = 0; is_cut < 2; is_cut++) {
		int fd = new_file();
		struct writer *writer = open_writer(fd, false, false);

		write_some(writer, 300);
		assert_int_equal(writer_kept(writer, is_cut ? kept : other, sizeof(kept)), 0);
		assert_int_equal(writer_finish(writer), 0);
		writer_free(writer);
		if (is_cut)
			assert_int_equal(ftruncate(fd, lseek(fd, 0, SEEK_END) - 1), 0);
		read_back(fd, &found);
		assert_int_equal(reader_info(found.reader)->kept_fd, 0);
		assert_int_equal(found.status.truncated, is_cut);
		assert_int_equal(found.samples[0], 150);
		reader_close(found.reader);
	}
}

/* Memory files have a size limit: samples are read, and the error is reported. */
static void test_kept_limited(void **state)
{
	static char kept[100003] = PERFDATA_KEPT_MAGIC;
	struct rlimit before, small = {0};
	int fd = new_file();
	struct writer *writer = open_writer(fd, false, false);
	struct found found;

	(void)state;
	write_some(writer, 300);
	assert_int_equal(writer_kept(writer, kept, sizeof(kept)), 0);
	assert_int_equal(writer_finish(writer), 0);
	writer_free(writer);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){20000, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	read_back(fd, &found);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(found.samples[0], 150);
	assert_int_equal(found.status.n_faults, 1);
	assert_int_equal(found.status.faults[0].kind, READER_UNREADABLE);
	assert_int_equal(found.status.faults[0].error, EFBIG);
	reader_close(found.reader);
}

static void check_round_trip(bool pipe, bool compress, size_t n)
{
	int fd = new_file();
	struct writer *writer = open_writer(fd, pipe, compress);
	struct reader_build_id build_id = {.path = (char[]){"/usr/bin/node"},
		.pid = -1,
		.cpumode = PERF_RECORD_MISC_USER,
		.build_id = {1, 2, 3},
		.build_id_len = 16};
	const struct reader_info *info;
	struct found found;

	write_some(writer, n);
	assert_int_equal(writer_build_id(writer, &build_id), 0);
	assert_int_equal(writer_finish(writer), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), writer_bytes(writer));
	writer_free(writer);
	read_back(fd, &found);
	check_some(&found, n);
	info = reader_info(found.reader);
	assert_int_equal(info->pipe, pipe);
	assert_int_equal(info->compressed, compress);
	check_info(info);
	assert_int_equal(info->n_build_ids, 1);
	assert_string_equal(info->build_ids[0].path, "/usr/bin/node");
	assert_int_equal(info->build_ids[0].build_id_len, 16);
	assert_memory_equal(info->build_ids[0].build_id, build_id.build_id, 16);
	assert_int_equal(info->build_ids[0].cpumode, PERF_RECORD_MISC_USER);
	if (!pipe) {
		assert_int_equal(info->first_sample_ns, 1000);
		assert_int_equal(info->last_sample_ns, 1000 + n - 1);
	}
	assert_string_equal(reader_attr(found.reader, 0)->name, "cpu-clock");
	assert_string_equal(reader_attr(found.reader, 1)->name, "raw 0x1a8:u");
	assert_int_equal(reader_attr(found.reader, 1)->attr.config, 0x1a8);
	assert_true(reader_attr(found.reader, 1)->attr.exclude_kernel);
	assert_int_equal(reader_attr(found.reader, 2)->attr.sample_period, 1002);
	assert_true(reader_attr(found.reader, 2)->attr.mmap);
	reader_close(found.reader);
}

static void test_file(void **state)
{
	(void)state;
	check_round_trip(false, false, 1);
	check_round_trip(false, false, 40000); /* more than the buffer */
}

static void test_pipe(void **state)
{
	(void)state;
	check_round_trip(true, false, 40000);
}

static void test_compressed(void **state)
{
	(void)state;
	check_round_trip(false, true, 40000);
	check_round_trip(true, true, 40000);
}

/* Incompressible records are not too large for a pack. */
static void test_noise(void **state)
{
	int fd = new_file();
	struct writer *writer = open_writer(fd, false, true);
	uint64_t sum = 0, random = 88172645463325252u;
	struct found found;

	(void)state;
	for (size_t i = 0; i < 20000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		sum += random;
		assert_int_equal(put_sample(writer, 0, random, random), 0);
	}
	assert_int_equal(writer_finish(writer), 0);
	writer_free(writer);
	read_back(fd, &found);
	assert_int_equal(found.samples[0], 20000);
	assert_int_equal(found.ips, sum);
	reader_close(found.reader);
}

/* A recorder that was killed: everything up to the last flush can be read. */
static void test_unfinished(void **state)
{
	int fd = new_file();
	struct writer *writer = open_writer(fd, false, false);
	struct perfdata_header header;
	struct found found;

	(void)state;
	write_some(writer, 1000);
	assert_int_equal(writer_flush(writer), 0);
	/* perf reads nothing if the size is 0. */
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(header.data.offset + header.data.size, lseek(fd, 0, SEEK_END));
	for (int i = 0; i < 10; i++)
		assert_int_equal(put_sample(writer, 0, 5000, 1), 0);
	writer_free(writer);
	read_back(fd, &found);
	check_some(&found, 1000);
	assert_int_equal(reader_info(found.reader)->n_cmdline, 0);
	reader_close(found.reader);
}

/* Ids in record bodies are replaced, too. */
static void test_ids_in_bodies(void **state)
{
	struct {
		struct perf_event_header header;
		uint64_t time_ns, id, stream, trailer[4];
	} throttle = {{.type = PERF_RECORD_THROTTLE, .size = sizeof(throttle)}, 7, FOREIGN, FOREIGN,
		{1, 7, 0, FOREIGN}};
	union synth_record lost;
	int fd = new_file();
	struct writer *writer = open_writer(fd, false, false);
	struct reader_record record;
	struct reader *reader;

	(void)state;
	synth_lost(&lost, 9, 3);
	assert_int_equal(writer_record(writer, &throttle.header, 1), 0);
	assert_int_equal(writer_record(writer, &lost.header, 0), 0);
	assert_int_equal(writer_finish(writer), 0);
	writer_free(writer);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(reader_open(&reader, fd), 0);
	assert_int_equal(reader_next(reader, &record), 1);
	assert_int_equal(record.attr, 1);
	memcpy(&throttle, record.header, sizeof(throttle));
	assert_int_equal(throttle.time_ns, 7);
	assert_int_equal(throttle.id, 2);
	assert_int_equal(throttle.stream, 2);
	assert_int_equal(throttle.trailer[3], 2);
	assert_int_equal(reader_next(reader, &record), 1);
	assert_int_equal(record.attr, 0);
	assert_int_equal(((const uint64_t *)(record.header + 1))[0], 1);
	assert_int_equal(((const uint64_t *)(record.header + 1))[1], 9);
	reader_close(reader);
}

static void test_refusals(void **state)
{
	struct perf_event_header bare = {.type = PERF_RECORD_COMM, .size = sizeof(bare)};
	uint64_t body[2] = {0};
	struct reader_build_id build_id = {.path = (char[]){"/a"}, .build_id_len = 21};
	int fd = new_file();
	struct writer *writer = open_writer(fd, false, false);

	(void)state;
	memcpy(body, &bare, sizeof(bare));
	assert_int_equal(writer_record(writer, (void *)body, 0), -EBADMSG);
	assert_int_equal(put_sample(writer, N_EVENTS, 1, 1), -EBADMSG);
	bare = (struct perf_event_header){.type = PERF_RECORD_LOST, .size = 16};
	memcpy(body, &bare, sizeof(bare));
	assert_int_equal(writer_record(writer, (void *)body, 0), -EBADMSG);
	assert_int_equal(writer_build_id(writer, &build_id), -EINVAL);
	assert_int_equal(writer_finish(writer), 0);
	writer_free(writer);
	close(fd);
}

/* A file at its size limit: the records that fit are whole, and the header is there. */
static void test_full(void **state)
{
	char path[] = "/tmp/strobe-writer-XXXXXX";
	struct rlimit before, small = {0};
	int fd = mkstemp(path), ret = 0;
	struct writer *writer;
	struct found found;
	size_t n = 0;

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){(3 << 20) + 100, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	writer = open_writer(fd, false, false);
	while (!ret && n < 1000000)
		ret = put_sample(writer, 0, ++n, 1);
	assert_int_equal(ret, -EFBIG);
	assert_int_equal(put_sample(writer, 0, n, 1), -EFBIG);
	assert_int_equal(writer_finish(writer), -EFBIG);
	writer_free(writer);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	read_back(fd, &found);
	assert_true(found.samples[0] > 30000 && found.samples[0] < n);
	assert_false(found.status.truncated);
	check_info(reader_info(found.reader));
	reader_close(found.reader);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_kept_not),
		cmocka_unit_test(test_kept_limited),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_ids_in_bodies),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
