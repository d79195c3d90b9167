// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_reader.c - small recordings made in memory: attributes of records, packs, refusals and bad
 * records.
 *
 * Recordings of other machines, and truncated ones, are in tests/oracle/reader.py.
 */
#include "sampler/perfdata/features.h"
#include "sampler/perfdata/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#define FILE_MAX (2 << 20)

struct image {
	uint8_t bytes[FILE_MAX];
	size_t len;
};

static struct image image;

static void add(const void *bytes, size_t len)
{
	assert_true(len <= FILE_MAX - image.len);
	if (!len)
		return;
	memcpy(image.bytes + image.len, bytes, len);
	image.len += len;
}

static void add_64(uint64_t word)
{
	add(&word, sizeof(word));
}

static void add_record(uint32_t type, const void *body, size_t len)
{
	struct perf_event_header header = {.type = type, .size = (uint16_t)(sizeof(header) + len)};

	add(&header, sizeof(header));
	add(body, len);
}

static void add_sample(uint64_t id, uint64_t ip)
{
	const uint64_t words[] = {id, ip};

	add_record(PERF_RECORD_SAMPLE, words, sizeof(words));
}

static void add_attr(uint64_t config, uint64_t id)
{
	struct {
		struct perf_event_attr attr;
		uint64_t id;
	} body = {
		.attr = {.type = PERF_TYPE_SOFTWARE,
			.size = sizeof(body.attr),
			.config = config,
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP,
			.sample_id_all = 1},
		.id = id,
	};

	add_record(PERFDATA_RECORD_HEADER_ATTR, &body, sizeof(body));
}

/* Begins a pipe with two attributes, whose ids are 11 and 12. */
static void begin_pipe(void)
{
	image.len = 0;
	add_64(PERFDATA_MAGIC);
	add_64(sizeof(struct perfdata_pipe_header));
	add_attr(PERF_COUNT_SW_CPU_CLOCK, 11);
	add_attr(PERF_COUNT_SW_PAGE_FAULTS, 12);
}

static int open_image(struct reader **out)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, image.bytes, image.len, 0), image.len);
	return reader_open(out, fd);
}

static void must_open(struct reader **out)
{
	assert_int_equal(open_image(out), 0);
	assert_non_null(*out);
}

static void must_refuse(int error)
{
	struct reader *reader = (struct reader *)&image;

	assert_int_equal(open_image(&reader), error);
	assert_null(reader);
}

static struct reader_status status_of(const struct reader *reader)
{
	struct reader_status status;

	reader_status(reader, &status);
	return status;
}

static void refusals(void **state)
{
	static const char *const compressed[] = {
		"\x1f\x8b\x08...", "\xfd\x37zXZ", "BZh91A", "\x28\xb5\x2f\xfd.."};
	struct perfdata_header header = {.magic = PERFDATA_MAGIC, .size = sizeof(header)};
	struct reader *reader;
	int fds[2];

	(void)state;
	image.len = 0;
	must_refuse(-ENODATA);
	for (size_t i = 0; i < sizeof(compressed) / sizeof(compressed[0]); i++) {
		image.len = 0;
		add(compressed[i], 6);
		must_refuse(-EMEDIUMTYPE);
	}
	image.len = 0;
	add("PERFILE", 7);
	must_refuse(-ENOEXEC);
	add("2", 1);
	must_refuse(-EBADMSG); /* too short for anything more */
	memcpy(image.bytes, "PERFFILE", 8);
	must_refuse(-ENOTSUP);
	memcpy(image.bytes, "#!/bin/s", 8);
	must_refuse(-ENOEXEC);

	image.len = 0;
	add(&header, sizeof(header));
	must_refuse(-EBADMSG); /* attributes of size 0 */
	image.len = 0;
	header.attr_size = sizeof(struct perf_event_attr) + sizeof(struct perfdata_section);
	header.data.offset = UINT64_MAX - 8;
	add(&header, sizeof(header));
	must_refuse(-EBADMSG);
	image.len = 0;
	header.data.offset = sizeof(header);
	header.features[0] = 1ull << PERFDATA_DIR_FORMAT;
	add(&header, sizeof(header));
	must_refuse(-ENOTDIR);
	image.len = 0;
	header.features[0] = 0;
	header.size = 99;
	add(&header, sizeof(header));
	must_refuse(-EBADMSG);

	assert_int_equal(reader_open(&reader, open("/", O_RDONLY | O_CLOEXEC)), -EISDIR);
	assert_int_equal(pipe(fds), 0);
	close(fds[1]);
	assert_int_equal(reader_open(&reader, fds[0]), -ENODATA);
	reader_close(NULL);
}

static void magics(void **state)
{
	(void)state;
	assert_true(reader_is_magic("PERFILE2....", 12));
	assert_true(reader_is_magic("2ELIFREP", 8));
	/* accepted, so that the refusal can give the reason */
	assert_true(reader_is_magic("PERFFILE", 8));
	assert_false(reader_is_magic("PERFILE2", 7));
	assert_false(reader_is_magic("#!/bin/sh\n", 10));
	assert_false(reader_is_magic(NULL, 0));
}

static void belonging(void **state)
{
	const uint64_t ids[] = {12, 11, 12, 0, 99, 11};
	struct reader_record record;
	struct reader *reader;

	(void)state;
	begin_pipe();
	for (size_t i = 0; i < 6; i++)
		add_sample(ids[i], i);
	add_record(PERF_RECORD_SWITCH, &ids[0], 8); /* only its sample_id trailer */
	add_record(60, NULL, 0); /* an unknown type */
	must_open(&reader);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(reader_next(reader, &record), 1);
		assert_int_equal((uintptr_t)record.header & 7, 0);
		assert_int_equal(record.has_attr, i != 4);
		assert_int_equal(record.attr, i == 0 || i == 2 || i == 6);
	}
	assert_int_equal(reader_next(reader, &record), 0);
	assert_int_equal(reader_next(reader, &record), 0);
	assert_int_equal(status_of(reader).counts[PERF_RECORD_SAMPLE], 6);
	assert_int_equal(status_of(reader).unknown, 1);
	assert_false(status_of(reader).truncated);
	assert_int_equal(reader_attr_count(reader), 2);
	assert_null(reader_attr(reader, 2));
	assert_string_equal(reader_attr(reader, 1)->name, "page-faults:HG");
	assert_int_equal(reader_attr(reader, 1)->ids[0], 12);
	reader_close(reader);
}

static void names(void **state)
{
	struct {
		uint64_t kind, id;
		char name[120];
	} update = {2, 12, "named later"};
	struct reader_record record;
	struct reader *reader;

	(void)state;
	begin_pipe();
	memset(update.name + 11, 'x', 100); /* truncated, not overrun */
	add_record(PERFDATA_RECORD_EVENT_UPDATE, &update, sizeof(update));
	must_open(&reader);
	assert_int_equal(reader_next(reader, &record), 0);
	assert_string_equal(reader_attr(reader, 0)->name, "cpu-clock:HG");
	assert_memory_equal(reader_attr(reader, 1)->name, "named laterx", 12);
	assert_int_equal(strlen(reader_attr(reader, 1)->name), EVENT_NAME_MAX - 1);
	reader_close(reader);
}

/* Events that have no name in the recording are named as perf script does (evsel__name() of perf
 * 6.1). */
static void names_of_attributes(void **state)
{
	static const struct {
		struct perf_event_attr attr;
		const char *name;
	} cases[] = {
		{{.type = PERF_TYPE_SOFTWARE, .exclude_guest = 1}, "cpu-clock"},
		{{.type = PERF_TYPE_SOFTWARE}, "cpu-clock:HG"},
		{{.type = PERF_TYPE_SOFTWARE, .exclude_kernel = 1, .exclude_hv = 1}, "cpu-clock:u"},
		{{.type = PERF_TYPE_SOFTWARE,
			 .exclude_kernel = 1,
			 .exclude_hv = 1,
			 .exclude_guest = 1},
			"cpu-clock:uH"},
		{{.type = PERF_TYPE_SOFTWARE, .exclude_user = 1, .exclude_hv = 1}, "cpu-clock:k"},
		{{.type = PERF_TYPE_SOFTWARE, .exclude_hv = 1, .precise_ip = 2, .exclude_guest = 1},
			"cpu-clock:kuppH"},
		{{.type = PERF_TYPE_SOFTWARE, .precise_ip = 1, .exclude_guest = 1}, "cpu-clock:pH"},
		{{.type = PERF_TYPE_SOFTWARE, .exclude_host = 1}, "cpu-clock:G"},
		{{.type = PERF_TYPE_HARDWARE, .config = 0x400000000, .exclude_guest = 1}, "cycles"},
		{{.type = PERF_TYPE_HW_CACHE, .config = 0x800010002, .exclude_guest = 1},
			"LLC-load-misses"},
		{{.type = PERF_TYPE_RAW, .config = 0x1a8, .exclude_guest = 1}, "raw 0x1a8"},
		{{.type = PERF_TYPE_TRACEPOINT, .config = 372}, "tracepoint:372"},
		{{.type = PERF_TYPE_BREAKPOINT,
			 .bp_addr = 0x1000,
			 .bp_type = HW_BREAKPOINT_RW,
			 .exclude_guest = 1},
			"mem:0x1000:rw"},
		{{.type = PERF_TYPE_BREAKPOINT,
			 .bp_addr = 0x10,
			 .bp_type = HW_BREAKPOINT_X,
			 .exclude_kernel = 1,
			 .exclude_hv = 1},
			"mem:0x10:x:u"},
	};
	struct attrs attrs = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct perf_event_attr attr = cases[i].attr;

		attr.size = sizeof(attr);
		assert_int_equal(attrs_add(&attrs, &attr, sizeof(attr), NULL, 0, false), 0);
		assert_string_equal(attrs.list[i].name, cases[i].name);
	}
	attrs_fini(&attrs);
}

/* --- features of a recording --- */

static uint8_t section[1024];
static size_t section_len;

static void put_32(uint32_t value)
{
	memcpy(section + section_len, &value, sizeof(value));
	section_len += sizeof(value);
}

static void put_string(const char *text)
{
	uint32_t size = (uint32_t)(strlen(text) + 64) / 64 * 64;

	put_32(size);
	memset(section + section_len, 0, size);
	strcpy((char *)section + section_len, text);
	section_len += size;
}

static int take(struct features *features, struct attrs *attrs, unsigned int feature)
{
	int ret = features_take(features, attrs, feature, section, section_len, false);

	section_len = 0;
	return ret;
}

/* Adds three attributes with one name.  The last one is perf's own side-band event. */
static void add_three(struct attrs *attrs)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr)};

	for (unsigned int i = 0; i < 3; i++) {
		attr.config = i < 2 ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_DUMMY;
		assert_int_equal(attrs_add(attrs, &attr, sizeof(attr), NULL, 0, false), 0);
	}
}

/* If one event of a recording requests build-ids, mapping records of all its events may have
 * them. */
static void build_ids_of_mappings(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_id_all = 1};
	struct attrs attrs = {0};

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(attrs_add(&attrs, &attr, sizeof(attr), NULL, 0, false), 0);
	assert_true(attrs.list[0].format.no_build_ids && attrs.list[1].format.no_build_ids);
	attr.build_id = 1;
	assert_int_equal(attrs_add(&attrs, &attr, sizeof(attr), NULL, 0, false), 0);
	attr.build_id = 0;
	assert_int_equal(attrs_add(&attrs, &attr, sizeof(attr), NULL, 0, false), 0);
	for (size_t i = 0; i < attrs.n; i++)
		assert_false(attrs.list[i].format.no_build_ids);
	attrs_fini(&attrs);
}

/* The events differ only in their cgroups, which only the command line shows. */
static void cgroups(void **state)
{
	static const struct {
		const char *words[9];
		const char *names[3];
	} cases[] = {
		{{"perf", "record", "-e", "X,X", "-G", "a,b", "--", "cat"},
			{"F@a", "F@b", "dummy"}},
		{{"/usr/bin/perf_6.1", "record", "-e", "X", "-Gone/web", "-e", "X",
			 "--cgroup=two/web"},
			{"F@one/web", "F@two/web", "dummy"}},
		{{"perf", "record", "-e", "X,X", "--cgroup", "machine/web/"},
			{"F@web", "F@web", "dummy"}},
		{{"perf", "record", "-e", "X,X", "-G", ",b"}, {"F", "F@b", "dummy"}},
		{{"perf", "record", "-e", "X,X", "-G", "/"}, {"F@/", "F@/", "dummy"}},
		{{"perf", "record", "-e", "X,X", "-G"}, {"F", "F", "dummy"}},
		{{"perf", "record", "-e", "X,X", "--", "sh", "-G", "a,b"}, {"F", "F", "dummy"}},
		{{"strobe", "record", "-e", "X,X", "-G", "a,b"}, {"F", "F", "dummy"}},
		{{NULL}, {"F", "F", "dummy"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct features features = {0};
		struct attrs attrs = {0};
		uint32_t n = 0;

		add_three(&attrs);
		while (cases[i].words[n])
			n++;
		put_32(n);
		for (uint32_t k = 0; k < n; k++)
			put_string(cases[i].words[k]);
		assert_int_equal(take(&features, &attrs, PERFDATA_CMDLINE), 0);
		put_32(3);
		put_32(0);
		for (unsigned int k = 0; k < 3; k++) {
			put_32(0);
			put_string(k < 2 ? "F" : "dummy");
		}
		assert_int_equal(take(&features, &attrs, PERFDATA_EVENT_DESC), 0);
		for (size_t k = 0; k < 3; k++)
			assert_string_equal(attrs.list[k].name, cases[i].names[k]);
		attrs_fini(&attrs);
		features_fini(&features);
	}
}

static void groups_and_pmus(void **state)
{
	struct features features = {0};
	struct attrs attrs = {0};

	(void)state;
	add_three(&attrs);
	put_32(1);
	put_string("{anon_group}");
	put_32(0);
	put_32(2);
	assert_int_equal(take(&features, &attrs, PERFDATA_GROUP_DESC), 0);
	assert_int_equal(attrs.list[0].group, 1);
	assert_int_equal(attrs.list[1].group, 1);
	assert_int_equal(attrs.list[2].group, 0);
	put_32(1);
	put_string("beyond");
	put_32(2);
	put_32(2);
	assert_int_equal(take(&features, &attrs, PERFDATA_GROUP_DESC), -EBADMSG);
	put_32(2);
	put_32(4);
	put_string("cpu");
	put_32(30);
	put_string("uncore_imc_0");
	assert_int_equal(take(&features, &attrs, PERFDATA_PMU_MAPPINGS), 0);
	assert_int_equal(features.info.n_pmus, 2);
	assert_int_equal(features.info.pmus[1].type, 30);
	assert_string_equal(features.info.pmus[1].name, "uncore_imc_0");
	put_32(UINT32_MAX);
	assert_int_equal(take(&features, &attrs, PERFDATA_PMU_MAPPINGS), -EBADMSG);
	assert_int_equal(features.info.n_pmus, 2);
	put_32(2);
	put_32(4);
	put_string("cpu");
	assert_int_equal(take(&features, &attrs, PERFDATA_PMU_MAPPINGS), -EBADMSG);
	attrs_fini(&attrs);
	features_fini(&features);
}

static void corrupt_sizes(void **state)
{
	for (uint16_t size = 0; size < 8; size++) {
		struct perf_event_header bad = {.type = PERF_RECORD_SAMPLE, .size = size};
		struct reader_record record;
		struct reader *reader;
		size_t where;

		(void)state;
		begin_pipe();
		add_sample(11, 1);
		where = image.len;
		add(&bad, sizeof(bad));
		add_sample(11, 2);
		must_open(&reader);
		assert_int_equal(reader_next(reader, &record), 1);
		assert_int_equal(reader_next(reader, &record), -EBADMSG);
		assert_int_equal(reader_next(reader, &record), -EBADMSG);
		assert_int_equal(status_of(reader).n_faults, 1);
		assert_int_equal(status_of(reader).faults[0].kind, READER_UNREADABLE);
		assert_int_equal(status_of(reader).faults[0].error, EBADMSG);
		assert_int_equal(status_of(reader).faults[0].offset, where);
		assert_string_equal(status_of(reader).faults[0].file, "");
		reader_close(reader);
	}
}

/* Records whose size is not a multiple of 8 are returned padded, and the next record is aligned. */
static void odd_sizes(void **state)
{
	struct reader_record record;
	struct reader *reader;

	(void)state;
	begin_pipe();
	add_record(PERF_RECORD_COMM, "\x14\0\0\0\x15\0\0\0demo\0", 13);
	add_sample(12, 0x401000);
	add_record(PERFDATA_RECORD_TRACING_DATA, "\x05\0\0\0", 4);
	add("12345\0\0\0", 8);
	add_sample(12, 0x402000);
	must_open(&reader);
	assert_int_equal(reader_next(reader, &record), 1);
	assert_int_equal(record.header->size, 24);
	assert_memory_equal(record.header + 1, "\x14\0\0\0\x15\0\0\0demo\0\0\0\0", 16);
	for (uint64_t ip = 0x401000; ip <= 0x402000; ip += 0x1000) {
		assert_int_equal(reader_next(reader, &record), 1);
		assert_int_equal((uintptr_t)record.header & 7, 0);
		assert_int_equal(((const uint64_t *)(const void *)record.header)[2], ip);
		assert_int_equal(record.attr, 1);
	}
	assert_int_equal(reader_next(reader, &record), 0);
	assert_int_equal(reader_info(reader)->tracing_data_len, 8);
	reader_close(reader);
}

/* Packs the image's bytes from `from` on as one zstd stream, at most `each` bytes per pack. */
static void pack(size_t from, size_t each, uint32_t type)
{
	static uint8_t plain[FILE_MAX], packed[65536];
	ZSTD_CCtx *stream = ZSTD_createCCtx();
	size_t len = image.len - from;

	memcpy(plain, image.bytes + from, len);
	image.len = from;
	for (size_t at = 0, some; at < len; at += some) {
		some = len - at < each ? len - at : each;
		ZSTD_inBuffer in = {plain + at, some, 0};
		ZSTD_outBuffer out = {packed + 8, sizeof(packed) - 16, 0};
		uint64_t told;

		assert_false(ZSTD_isError(ZSTD_compressStream2(stream, &out, &in, ZSTD_e_flush)));
		assert_int_equal(in.pos, in.size);
		if (type == PERFDATA_RECORD_COMPRESSED) {
			add_record(type, packed + 8, out.pos);
			continue;
		}
		told = out.pos;
		memcpy(packed, &told, sizeof(told));
		memset(packed + 8 + out.pos, 0, 7);
		add_record(type, packed, (8 + out.pos + 7) & ~(size_t)7);
	}
	ZSTD_freeCCtx(stream);
}

/* Trace data of any size follows its AUXTRACE record.  The reader skips the data and counts the
 * records about it. */
static void traces(void **state)
{
	const uint64_t sizes[] = {0, 8, 40000};
	const uint64_t words[6] = {0};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		static const unsigned int told[] = {
			PERF_RECORD_ITRACE_START, PERF_RECORD_AUX, PERF_RECORD_AUX_OUTPUT_HW_ID};
		struct {
			uint64_t size, offset, reference;
			uint32_t idx, tid, cpu, reserved;
		} trace = {.size = sizes[i]};
		struct reader_record record;
		struct reader *reader;
		size_t n = 0;

		begin_pipe();
		add_sample(11, 1);
		for (size_t k = 0; k < 3; k++)
			add_record(told[k], words, sizeof(words));
		add_record(PERFDATA_RECORD_AUXTRACE, &trace, sizeof(trace));
		for (uint64_t left = trace.size; left; left -= 8)
			add_64(UINT64_MAX); /* nonsense if it is read as a record */
		add_sample(12, 4711);
		must_open(&reader);
		while (reader_next(reader, &record) == 1)
			n += record.header->type == PERF_RECORD_SAMPLE;
		assert_int_equal(n, 2);
		assert_int_equal(status_of(reader).counts[PERFDATA_RECORD_AUXTRACE], 1);
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(status_of(reader).counts[told[k]], 1);
		assert_int_equal(status_of(reader).unknown, 0);
		assert_false(status_of(reader).truncated);
		reader_close(reader);
	}
}

static void packs(void **state)
{
	const size_t sizes[] = {1, 13, 24, 4096, 30000};

	(void)state;
	for (unsigned int i = 0; i < 10; i++) {
		struct reader_record record;
		struct reader *reader;
		size_t from;

		begin_pipe();
		from = image.len;
		for (uint64_t ip = 0; ip < 2000; ip++)
			add_sample(11 + ip % 2, ip);
		pack(from, sizes[i / 2],
			i % 2 ? PERFDATA_RECORD_COMPRESSED : PERFDATA_RECORD_COMPRESSED2);
		add_sample(12, 4711); /* plain records may follow */
		must_open(&reader);
		for (uint64_t ip = 0; ip < 2001; ip++) {
			const uint64_t *words;

			assert_int_equal(reader_next(reader, &record), 1);
			words = (const uint64_t *)(const void *)record.header;
			assert_int_equal(words[2], ip < 2000 ? ip : 4711);
			assert_int_equal(record.attr, ip < 2000 ? ip % 2 : 1);
		}
		assert_int_equal(reader_next(reader, &record), 0);
		assert_int_equal(status_of(reader).counts[PERF_RECORD_SAMPLE], 2001);
		assert_false(status_of(reader).truncated);
		assert_true(reader_info(reader)->compressed);
		reader_close(reader);

		image.bytes[from + 20] ^= 0x55; /* in the stream's first pack */
		must_open(&reader);
		while (reader_next(reader, &record) > 0)
			;
		reader_close(reader);
	}
}

/* One pack that unpacks to more than the buffer holds.  In the first case, the end of the last 128
 * kB block stays pending. */
static void large_packs(void **state)
{
	const uint64_t records[] = {21845, 60000};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct reader_record record;
		struct reader *reader;
		uint64_t n = 0;
		size_t from;

		begin_pipe();
		from = image.len;
		for (uint64_t k = 0; k < records[i]; k++)
			add_sample(11, 1);
		pack(from, SIZE_MAX, PERFDATA_RECORD_COMPRESSED);
		must_open(&reader);
		while (reader_next(reader, &record) > 0)
			n++;
		assert_int_equal(n, records[i]);
		assert_int_equal(status_of(reader).n_faults, 0);
		assert_false(status_of(reader).truncated);
		reader_close(reader);
	}
}

/* A few bytes that unpack to many.  Only the part that is read is held in memory. */
static void bomb(void **state)
{
	static uint8_t zeros[4 << 20];
	static uint8_t packed[60000];
	struct reader_record record;
	struct reader *reader;
	size_t len = ZSTD_compress(packed, sizeof(packed), zeros, sizeof(zeros), 1);

	(void)state;
	assert_false(ZSTD_isError(len));
	begin_pipe();
	add_record(PERFDATA_RECORD_COMPRESSED, packed, len);
	must_open(&reader);
	assert_int_equal(reader_next(reader, &record), -EBADMSG); /* a record of size 0 */
	reader_close(reader);
}

/* The reader's own record types with bodies that are too short. */
static void bad_records(void **state)
{
	const uint32_t types[] = {PERFDATA_RECORD_HEADER_ATTR, PERFDATA_RECORD_TRACING_DATA,
		PERFDATA_RECORD_BUILD_ID, PERFDATA_RECORD_EVENT_UPDATE, PERFDATA_RECORD_FEATURE,
		PERFDATA_RECORD_COMPRESSED2, PERFDATA_RECORD_AUXTRACE};
	struct reader_record record;
	struct reader *reader;

	(void)state;
	begin_pipe();
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		add_record(types[i], NULL, 0);
	add_sample(11, 1);
	must_open(&reader);
	assert_int_equal(reader_next(reader, &record), 1);
	assert_int_equal(record.header->type, PERF_RECORD_SAMPLE);
	assert_int_equal(status_of(reader).bad, sizeof(types) / sizeof(*types));
	assert_int_equal(reader_next(reader, &record), 0);
	reader_close(reader);
}

/* The recorder was killed: the header has no data size, and there are no features. */
static void unfinished(void **state)
{
	struct perfdata_header header = {
		.magic = PERFDATA_MAGIC,
		.size = sizeof(header),
		.attr_size = sizeof(struct perf_event_attr) + sizeof(struct perfdata_section),
		.attrs = {sizeof(header),
			sizeof(struct perf_event_attr) + sizeof(struct perfdata_section)},
		.features = {1ull << PERFDATA_HOSTNAME},
	};
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP};
	struct reader_record record;
	struct reader *reader;

	(void)state;
	header.data.offset = sizeof(header) + header.attrs.size;
	image.len = 0;
	add(&header, sizeof(header));
	add(&attr, sizeof(attr));
	add_64(0);
	add_64(0);
	add_sample(7, 1);
	add_sample(7, 2);
	image.len -= 4;
	must_open(&reader);
	assert_true(status_of(reader).features_missing);
	assert_int_equal(reader_next(reader, &record), 1);
	assert_true(record.has_attr); /* there is only one attribute */
	assert_int_equal(reader_next(reader, &record), 0);
	assert_true(status_of(reader).truncated);
	assert_int_equal(status_of(reader).n_faults, 1);
	assert_int_equal(status_of(reader).faults[0].kind, READER_CUT);
	assert_int_equal(status_of(reader).faults[0].offset, image.len - 20);
	reader_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
		cmocka_unit_test(magics),
		cmocka_unit_test(belonging),
		cmocka_unit_test(names),
		cmocka_unit_test(names_of_attributes),
		cmocka_unit_test(build_ids_of_mappings),
		cmocka_unit_test(cgroups),
		cmocka_unit_test(groups_and_pmus),
		cmocka_unit_test(corrupt_sizes),
		cmocka_unit_test(odd_sizes),
		cmocka_unit_test(traces),
		cmocka_unit_test(packs),
		cmocka_unit_test(large_packs),
		cmocka_unit_test(bomb),
		cmocka_unit_test(bad_records),
		cmocka_unit_test(unfinished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
