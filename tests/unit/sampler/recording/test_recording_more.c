/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_recording_more.c - recordings whose samples carry more than addresses: written, loaded, and
 * read back as fields.
 */
#include "sampler/recording/recording.h"

#include "sampler/fields/fields.h"
#include "sampler/perfdata/attrs.h"
#include "sampler/perfdata/synth.h"
#include "sampler/perfdata/tracing.h"
#include "sampler/perfdata/writer.h"
#include "tests/unit/event_fixture.h"
#include "tests/unit/record_builder.h"

#include "sampler/control/status.h"
#include "tests/unit/await_recording.h"

#include <stdio.h>
#include <sys/mman.h>

#define SWITCH 316
#define TYPE                                                                            \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
		PERF_SAMPLE_CPU)
#define READ_FORMAT                                                            \
	(PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | \
		PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_LOST)
#define EVERY                                                                                     \
	(TYPE | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | \
		PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |       \
		PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |      \
		PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |              \
		PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_AUX)

static const char switch_format[] =
	"name: sched_switch\nID: 316\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"prev_comm=%s prev_pid=%d\", REC->prev_comm, REC->prev_pid\n";

struct world {
	struct event_fixture fixture;
	struct recording *recording;
	struct engine_status status;
	void *tracing;
	size_t tracing_len;
};

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	const uint64_t ids[] = {SWITCH, SWITCH, 12345};

	*state = world;
	fixture_make(&world->fixture);
	fixture_file(&world->fixture, "trace/events/sched/sched_switch/format", switch_format);
	fixture_file(&world->fixture, "trace/events/header_page", "page\n");
	fixture_file(&world->fixture, "trace/events/header_event", "event\n");
	fixture_file(&world->fixture, "trace/printk_formats", "0x10 : \"ten\"\n");
	return tracing_make(&world->fixture.system, ids, 3, &world->tracing, &world->tracing_len);
}

static int teardown(void **state)
{
	struct world *world = *state;

	recording_free(world->recording);
	fixture_remove(&world->fixture);
	free(world->tracing);
	free(world);
	return 0;
}

/* --- writing --- */

static struct writer *open_writer(
	const struct world *world, int fd, bool pipe, const struct writer_event *events, size_t n)
{
	const struct writer_config config = {.fd = fd,
		.pipe = pipe,
		.events = events,
		.n_events = n,
		.tracing_data = world->tracing,
		.tracing_data_len = world->tracing_len};
	struct writer *writer;

	assert_int_equal(writer_new(&writer, &config), 0);
	return writer;
}

static void put_record(struct writer *writer, const struct builder *b, size_t event)
{
	struct perf_event_header *header = copy_of(b, b->n);

	assert_int_equal(writer_record(writer, header, event), 0);
	free(header);
}

static void put_head(struct builder *b, uint32_t tid, uint64_t time_ns)
{
	begin(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put(b, 0);
	put(b, 0x401000);
	put_pair(b, 7, tid);
	put(b, time_ns);
}

static void put_raw(struct builder *b, const char *comm, uint32_t pid)
{
	struct {
		uint32_t len;
		uint8_t raw[28];
		uint32_t padding[2];
	} data = {.len = 36};

	snprintf((char *)data.raw + 8, 16, "%s", comm);
	memcpy(data.raw + 24, &pid, sizeof(pid));
	memcpy(&b->words[b->n], &data, sizeof(data));
	b->n += sizeof(data) / 8;
}

static void finish(struct writer *writer)
{
	assert_int_equal(writer_round(writer), 0);
	assert_int_equal(writer_finish(writer), 0);
	writer_free(writer);
}

/* --- reading --- */

static void load(struct world *world, int fd)
{
	const struct recording_config config = {.fd = fd, .memory_bytes = (size_t)16 << 20};

	(void)lseek(fd, 0, SEEK_SET); /* fails for a pipe, which is at its start */
	assert_int_equal(recording_new(&world->recording, &config), 0);
	load_recording(world->recording, &world->status);
}

/* The field of the only sample, as text. */
static const char *text_of(const struct world *world, const char *name)
{
	static char text[256];
	const struct fields *fields = recording_fields(world->recording, 0);
	struct store *store = recording_store(world->recording);
	struct snapshot snapshot;
	struct value value;
	int i = fields_find(fields, name);

	assert_true(i >= 0);
	assert_int_equal(store_snapshot(store, 0, UINT64_MAX, &snapshot), 0);
	assert_int_equal(snapshot.n, 1);
	assert_int_equal(snapshot.slices[0]->cells, 1);
	assert_non_null(snapshot.slices[0]->values);
	assert_true(values_get(recording_values(world->recording), snapshot.slices[0]->values[0],
		(size_t)i, &value));
	fields_format(fields, (size_t)i, &value, text, sizeof(text));
	if (value.has_image) {
		const char *path =
			images_get(recording_images(world->recording), value.image)->path;

		snprintf(text, sizeof(text), "%s+0x%llx", path, (unsigned long long)value.number);
	}
	snapshot_release(store, &snapshot);
	return text;
}

static void expect_field(const struct world *world, const char *name, const char *want)
{
	assert_string_equal(text_of(world, name), want);
}

/* --- tests --- */

static void map_data(struct writer *writer, size_t tracker)
{
	const struct record_mmap code = {.start = 0x401000,
		.len = 0x1000,
		.pgoff = 0x1000,
		.prot = PROT_READ | PROT_EXEC,
		.executable = true,
		.filename = "/bin/a"};
	const struct record_mmap data = {
		.start = 0x402000, .len = 0x2000, .pgoff = 0x2000, .filename = "/bin/a"};
	union synth_record record;

	synth_mapping(&record, 7, &code, 1);
	assert_int_equal(writer_record(writer, &record.header, tracker), 0);
	synth_mapping(&record, 7, &data, 1);
	assert_int_equal(writer_record(writer, &record.header, tracker), 0);
}

/* Every bit of sample_type, in the order of perf_event_open(2). */
static void test_every_bit(void **state)
{
	const struct writer_event events[] = {
		{.attr = {.type = PERF_TYPE_TRACEPOINT,
			 .config = SWITCH,
			 .sample_type = EVERY,
			 .branch_sample_type =
				 PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE,
			 .sample_regs_user = 3,
			 .sample_regs_intr = 1,
			 .sample_id_all = 1},
			.name = "sched:sched_switch"},
		{.attr = {.type = PERF_TYPE_SOFTWARE,
			 .config = PERF_COUNT_SW_DUMMY,
			 .sample_type = TYPE,
			 .sample_id_all = 1,
			 .mmap_data = 1},
			.name = "dummy:u"},
	};
	const struct perf_branch_entry branch = {
		.from = 0x401010, .to = 0x401020, .mispred = 1, .cycles = 9, .type = PERF_BR_CALL};
	struct world *world = *state;
	int fd = memfd_create("more", MFD_CLOEXEC);
	struct writer *writer = open_writer(world, fd, false, events, 2);
	struct builder b;

	map_data(writer, 1);
	put_head(&b, 8, 100);
	put(&b, 0x402040); /* ADDR */
	put_pair(&b, 1, 0); /* CPU */
	put(&b, 5); /* PERIOD */
	put(&b, 2); /* CALLCHAIN */
	put(&b, PERF_CONTEXT_USER);
	put(&b, 0x401000);
	put_raw(&b, "idle", 77);
	put(&b, 1); /* BRANCH_STACK */
	memcpy(&b.words[b.n], &branch, sizeof(branch));
	b.n += sizeof(branch) / 8;
	put(&b, PERF_SAMPLE_REGS_ABI_64); /* REGS_USER */
	put(&b, 11);
	put(&b, 12);
	put(&b, 8); /* STACK_USER: size, data, size that was copied */
	put(&b, 0xabcd);
	put(&b, 8);
	put(&b, 300 | 20ull << 32 | 4ull << 48); /* WEIGHT_STRUCT */
	put(&b, PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L1)); /* DATA_SRC */
	put(&b, PERF_TXN_TRANSACTION | PERF_TXN_CONFLICT); /* TRANSACTION */
	put(&b, PERF_SAMPLE_REGS_ABI_64); /* REGS_INTR */
	put(&b, 13);
	put(&b, 0x123456040); /* PHYS_ADDR */
	put(&b, 4242); /* CGROUP */
	put(&b, 4096); /* DATA_PAGE_SIZE */
	put(&b, 2097152); /* CODE_PAGE_SIZE */
	put(&b, 8); /* AUX */
	put(&b, 0x55);
	put_record(writer, &b, 0);
	finish(writer);

	load(world, fd);
	assert_int_equal(world->status.events[0].samples, 1);
	assert_int_equal(world->status.events[0].count, 5);
	expect_field(world, "prev_comm", "idle");
	expect_field(world, "prev_pid", "77");
	expect_field(world, "addr", "/bin/a+0x2040");
	expect_field(world, "data_src.op", "LOAD");
	expect_field(world, "data_src.level", "L1 hit");
	expect_field(world, "weight", "300");
	expect_field(world, "weight2", "20");
	expect_field(world, "weight3", "4");
	expect_field(world, "transaction", "TX CON");
	expect_field(world, "phys_addr", "0x123456040");
	expect_field(world, "cgroup_id", "4242");
	expect_field(world, "data_page_size", "4096");
	expect_field(world, "code_page_size", "2097152");
	expect_field(world, "branch.from", "/bin/a+0x1010");
	expect_field(world, "branch.to", "/bin/a+0x1020");
	expect_field(world, "branch.prediction", "mispredicted");
	expect_field(world, "branch.cycles", "9");
	expect_field(world, "branch.type", "CALL");
}

static const struct writer_event one_tracepoint[] = {
	{.attr = {.type = PERF_TYPE_TRACEPOINT,
		 .config = SWITCH,
		 .sample_type = TYPE | PERF_SAMPLE_RAW,
		 .sample_period = 1,
		 .sample_id_all = 1},
		.name = "sched:sched_switch"},
};

static void put_switch(struct writer *writer)
{
	struct builder b;

	put_head(&b, 8, 100);
	put_pair(&b, 1, 0);
	put_raw(&b, "idle", 77);
	put_record(writer, &b, 0);
}

/* In a pipe, the formats come between the records. */
static void test_pipe(void **state)
{
	struct world *world = *state;
	struct writer *writer;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	writer = open_writer(world, fds[1], true, one_tracepoint, 1);
	put_switch(writer);
	finish(writer);
	close(fds[1]);
	load(world, fds[0]);
	assert_int_equal(world->status.events[0].samples, 1);
	expect_field(world, "prev_comm", "idle");
}

/* Without recorded formats, those of this machine apply if name and number are the same. */
static void test_no_formats(void **state)
{
	struct world *world = *state;
	struct writer_event events[1];
	int fd = memfd_create("more", MFD_CLOEXEC);
	struct writer *writer;

	memcpy(events, one_tracepoint, sizeof(events));
	events[0].attr.config = 999999;
	world->tracing_len = 0;
	writer = open_writer(world, fd, false, events, 1);
	put_switch(writer);
	finish(writer);
	load(world, fd);
	assert_int_equal(world->status.events[0].samples, 1);
	assert_null(recording_fields(world->recording, 0));
	assert_null(recording_fields(world->recording, 200));
}

/* A group {a,b}:S of two threads that inherited the counters, or of two CPUs. */
static void read_group(struct world *world, bool inherit)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_type = TYPE | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ,
		.read_format = READ_FORMAT,
		.sample_period = 1000,
		.inherit = inherit,
		.sample_id_all = 1};
	struct writer_event events[] = {
		{.attr = attr, .name = "task-clock", .group = 3},
		{.attr = attr, .name = "page-faults", .group = 3},
	};
	static const struct {
		uint32_t tid;
		uint64_t clock, faults;
	} samples[] = {{8, 1000, 5}, {9, 1100, 5}, {8, 2000, 9}, {9, 2100, 5}, {9, 2100, 5}};
	int fd = memfd_create("more", MFD_CLOEXEC);
	struct writer *writer;

	events[1].attr.sample_period = 0;
	writer = open_writer(world, fd, false, events, 2);
	for (size_t i = 0; i < 5; i++) {
		struct builder b;

		put_head(&b, samples[i].tid, 100 + i);
		put_pair(&b, 0, 0);
		put(&b, 1000); /* period */
		put(&b, 3);
		put(&b, 50); /* enabled */
		put(&b, 50); /* running */
		put(&b, samples[i].clock);
		put(&b, 1);
		put(&b, 0);
		put(&b, samples[i].faults);
		put(&b, 2);
		put(&b, 0);
		put(&b, 77); /* id of an unknown event */
		put(&b, 9);
		put(&b, 0);
		put_record(writer, &b, 0);
	}
	finish(writer);
	load(world, fd);
}

static void test_reads(void **state)
{
	struct world *world = *state;

	/* Without `inherit`, both read one counter: 1000, 1100, 2000, 2100.  The other one has 5,
	 * 5, 9, 5: no count, since a value that went back is no sample. */
	read_group(world, false);
	assert_int_equal(world->status.n_events, 2);
	assert_int_equal(world->status.events[0].samples, 4);
	assert_int_equal(world->status.events[0].count, 2100);
	assert_false(world->status.events[0].count_by_samples);
	assert_int_equal(world->status.events[1].samples, 2);
	assert_int_equal(world->status.events[1].count, 9);
	assert_false(world->status.events[1].count_by_samples);
	/* The samples are all those of the leader, which has a period. */
	assert_false(world->status.events[1].rate_varies);
}

static void test_inherited_reads(void **state)
{
	struct world *world = *state;

	read_group(world, true);
	assert_int_equal(world->status.events[0].samples, 4);
	assert_int_equal(world->status.events[0].count, 2000 + 2100);
	assert_int_equal(world->status.events[1].samples, 3);
	assert_int_equal(world->status.events[1].count, 9 + 5);
}

/* Writes n samples of a clock; their type has CPU, PERIOD and perhaps TIME. */
static int write_clock(const struct world *world, uint64_t type, size_t n)
{
	const struct writer_event event = {.attr = {.type = PERF_TYPE_SOFTWARE,
						   .config = PERF_COUNT_SW_CPU_CLOCK,
						   .sample_type = type},
		.name = "cpu-clock"};
	int fd = memfd_create("more", MFD_CLOEXEC);
	struct writer *writer = open_writer(world, fd, false, &event, 1);

	for (size_t i = 0; i < n; i++) {
		struct builder b;

		put_head(&b, 8, 100 + i);
		b.n -= !(type & PERF_SAMPLE_TIME);
		put_pair(&b, 0, 0);
		put(&b, 10);
		put_record(writer, &b, 0);
	}
	finish(writer);
	return fd;
}

/* An event has several rates only if it has samples. */
static void test_no_rate(void **state)
{
	struct world *world = *state;

	load(world, write_clock(world, TYPE | PERF_SAMPLE_PERIOD, 0));
	assert_int_equal(world->status.n_events, 1);
	assert_false(world->status.events[0].rate_varies);
	assert_int_equal(world->status.events[0].period, 0);
	assert_true(recording_has_times(world->recording));
	recording_free(world->recording);
	load(world, write_clock(world, TYPE | PERF_SAMPLE_PERIOD, 2));
	assert_true(world->status.events[0].rate_varies);
	assert_int_equal(world->status.events[0].count, 20);
	assert_true(world->status.events[0].count_by_samples);
	assert_true(recording_has_times(world->recording));
}

/* Samples without times are all taken, but none can be chosen by its time. */
static void test_no_times(void **state)
{
	const uint64_t type = (TYPE & ~(uint64_t)PERF_SAMPLE_TIME) | PERF_SAMPLE_PERIOD;
	struct world *world = *state;

	load(world, write_clock(world, type, 2));
	assert_int_equal(world->status.events[0].samples, 2);
	assert_false(recording_has_times(world->recording));
	for (uint64_t from_ns = 0; from_ns < 2; from_ns++) {
		const struct recording_config config = {.fd = write_clock(world, type, 2),
			.memory_bytes = (size_t)16 << 20,
			.from_ns = from_ns,
			.to_ns = !from_ns};

		(void)lseek(config.fd, 0, SEEK_SET);
		recording_free(world->recording);
		assert_int_equal(recording_new(&world->recording, &config), 0);
		assert_int_equal(recording_start(world->recording), 0);
		await_recording(world->recording, &world->status);
		assert_int_equal(world->status.state, ENGINE_FAILED);
		assert_int_equal(world->status.failure.error, ETIME);
	}
}

static void test_names_by_formats(void **state)
{
	struct world *world = *state;
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = SWITCH};
	struct tracing *tracing;
	struct attrs attrs = {0};
	char name[64];

	assert_int_equal(tracing_new(&tracing, world->tracing, world->tracing_len), 0);
	assert_true(tracing_name(tracing, SWITCH, name, sizeof(name)));
	assert_string_equal(name, "sched:sched_switch");
	assert_false(tracing_name(tracing, 317, name, sizeof(name)));
	assert_false(tracing_name(tracing, SWITCH, name, 10)); /* does not fit */
	assert_string_equal(name, "sched:sched_switch");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(attrs_add(&attrs, &attr, sizeof(attr), NULL, 0, false), 0);
	attrs_name(&attrs, NULL, 1, "mine", 4);
	attrs.list[2].attr.config = 317;
	attrs_name_tracepoints(&attrs, tracing);
	assert_string_equal(attrs.list[0].name, "sched:sched_switch");
	assert_string_equal(attrs.list[1].name, "mine");
	assert_string_equal(attrs.list[2].name, "tracepoint:316"); /* unchanged */
	attrs_fini(&attrs);
	tracing_free(tracing);
}

/* Formats that are truncated at any byte, in the other byte order, or with false lengths. */
static void test_hostile_formats(void **state)
{
	struct world *world = *state;
	struct tracing *tracing;
	uint8_t *copy;

	assert_int_equal(tracing_new(&tracing, world->tracing, world->tracing_len), 0);
	assert_int_equal(tracing_count(tracing), 1);
	assert_string_equal(tracing_format(tracing, SWITCH), switch_format);
	/* properties of the machine that wrote it */
	assert_false(tracing_source(tracing)->swapped);
	assert_int_equal(tracing_source(tracing)->long_bytes, sizeof(long));
	assert_string_equal(tracing_source(tracing)->texts, "0x10 : \"ten\"\n");
	assert_int_equal(tracing_source(tracing)->texts_len, 13);
	assert_null(tracing_source(NULL)->texts);
	assert_null(tracing_format(tracing, 317));
	tracing_free(tracing);
	for (size_t len = 0; len < world->tracing_len; len++) {
		copy = malloc(len ? len : 1);
		memcpy(copy, world->tracing, len);
		assert_int_equal(tracing_new(&tracing, copy, len), 0);
		assert_true(tracing_count(tracing) <= 1);
		tracing_free(tracing);
		free(copy);
	}
	copy = malloc(world->tracing_len);
	for (size_t i = 0; i < world->tracing_len; i++) {
		memcpy(copy, world->tracing, world->tracing_len);
		copy[i] ^= 0xff;
		assert_int_equal(tracing_new(&tracing, copy, world->tracing_len), 0);
		tracing_free(tracing);
	}
	free(copy);
	assert_int_equal(tracing_new(&tracing, NULL, 0), 0);
	assert_int_equal(tracing_count(tracing), 0);
	assert_null(tracing_format(tracing, SWITCH));
	assert_null(tracing_format(NULL, SWITCH));
	tracing_free(tracing);
}

/* No event can be described, and there is no place to look for formats. */
static void test_nothing_to_describe(void **state)
{
	const struct system_dirs nowhere = {0};
	struct world *world = *state;
	const uint64_t ids[] = {SWITCH};
	void *bytes;
	size_t len;

	assert_int_equal(tracing_make(&world->fixture.system, ids, 0, &bytes, &len), 0);
	assert_null(bytes);
	assert_int_equal(tracing_make(&nowhere, ids, 1, &bytes, &len), 0);
	assert_null(bytes);
}

/* --- tid 0 --- */

enum { IN_KERNEL = PERF_RECORD_MISC_KERNEL, IN_USER = PERF_RECORD_MISC_USER };

static void put_idle(struct writer *writer, uint16_t mode, uint64_t time_ns)
{
	struct builder b;

	begin(&b, PERF_RECORD_SAMPLE, mode);
	put(&b, 0);
	put(&b, mode == IN_USER ? 0x401000 : 0xffffffff81000100);
	put_pair(&b, 0, 0);
	put(&b, time_ns);
	put(&b, 0);
	put_record(writer, &b, 0);
}

/* Loads a recording with samples of tid 0 before and after a COMM record of it, and expects one
 * name for both.  mode: that of the second sample. */
static void expect_name(
	struct world *world, const char *comm, uint16_t misc, uint16_t mode, const char *name)
{
	const struct writer_event events[] = {
		{.attr = {.type = PERF_TYPE_SOFTWARE,
			 .size = sizeof(struct perf_event_attr),
			 .config = PERF_COUNT_SW_CPU_CLOCK,
			 .sample_period = 1000,
			 .sample_type = TYPE,
			 .sample_id_all = 1},
			.name = "cpu-clock"},
		{.attr = {.type = PERF_TYPE_SOFTWARE,
			 .size = sizeof(struct perf_event_attr),
			 .config = PERF_COUNT_SW_DUMMY,
			 .sample_type = TYPE,
			 .sample_id_all = 1},
			.name = "dummy:u"},
	};
	int fd = memfd_create("idle", MFD_CLOEXEC);
	struct writer *writer = open_writer(world, fd, false, events, 2);
	union synth_record record;
	struct snapshot snapshot;

	put_idle(writer, IN_KERNEL, 1000000000);
	synth_comm(&record, 0, 0, comm, 2000000000);
	record.header.misc |= misc;
	assert_int_equal(writer_record(writer, &record.header, 1), 0);
	put_idle(writer, mode, 3000000000);
	finish(writer);
	load(world, fd);
	assert_int_equal(world->status.store.samples, 2);
	assert_int_equal(world->status.pid_namespace, !strcmp(name, TASK_OUTSIDE));
	assert_int_equal(
		store_snapshot(recording_store(world->recording), 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++) {
		const struct task_label *label = tasks_label_get(
			recording_tasks(world->recording), snapshot.slices[i]->task[0]);

		assert_int_equal(snapshot.slices[i]->cells, 1);
		assert_string_equal(label->comm, name);
		assert_string_equal(label->process_comm, name);
	}
	snapshot_release(recording_store(world->recording), &snapshot);
	recording_free(world->recording);
	world->recording = NULL;
}

static void test_idle_or_outside(void **state)
{
	struct world *world = *state;

	expect_name(world, "swapper", 0, IN_KERNEL, "swapper");
	expect_name(world, "swapper", 0, IN_USER, "[outside]");
	expect_name(world, "swapper", PERF_RECORD_MISC_COMM_EXEC, IN_KERNEL, "[outside]");
	expect_name(world, "true", PERF_RECORD_MISC_COMM_EXEC, IN_KERNEL, "[outside]");
	expect_name(world, "kworker/0:1", 0, IN_KERNEL, "[outside]");
	expect_name(world, "[outside]", 0, IN_KERNEL, "[outside]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_bit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pipe, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_formats, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_rate, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inherited_reads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_by_formats, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_formats, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_to_describe, setup, teardown),
		cmocka_unit_test_setup_teardown(test_idle_or_outside, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
