/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_recording.c - small hand-made recordings, loaded into a store.
 */
#include "sampler/recording/recording.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/control/note.h"
#include "sampler/store/stacks.h"
#include "tests/unit/await_recording.h"

#define SEC 1000000000ull
#define TYPE                                                                            \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define KERNEL_IP 0xffffffff81000100ull

/* A file as perf writes it, built in memory. */
struct file {
	char bytes[1 << 20];
	size_t len;
	unsigned int n_attrs;
	struct recording *recording;
	struct engine_status status;
	char comms[512]; /* seen by the tap; each followed by a blank */
	char images[2048];
	uint64_t last_ns;
	int tap_error;
};

static void put(struct file *file, const void *bytes, size_t len)
{
	assert_true(file->len + len <= sizeof(file->bytes));
	if (len)
		memcpy(file->bytes + file->len, bytes, len);
	file->len += len;
}

struct file_attr {
	struct perf_event_attr attr;
	struct perfdata_section ids;
};

/* Begins a file with n software events of the configs `events`.  Attribute i has id i + 1. */
static void begin(struct file *file, const uint64_t *events, unsigned int n, uint64_t period)
{
	struct perfdata_header header = {.magic = PERFDATA_MAGIC,
		.size = sizeof(header),
		.attr_size = sizeof(struct file_attr)};
	uint64_t ids_at = sizeof(header) + n * sizeof(struct file_attr);

	file->n_attrs = n;
	header.attrs = (struct perfdata_section){sizeof(header), n * sizeof(struct file_attr)};
	header.data.offset = ids_at + n * sizeof(uint64_t);
	put(file, &header, sizeof(header));
	for (unsigned int i = 0; i < n; i++) {
		const struct file_attr entry = {.attr = {.type = PERF_TYPE_SOFTWARE,
							.size = sizeof(struct perf_event_attr),
							.config = events[i],
							.sample_period = period,
							.sample_type = TYPE,
							.sample_id_all = 1},
			.ids = {ids_at + i * sizeof(uint64_t), sizeof(uint64_t)}};

		put(file, &entry, sizeof(entry));
	}
	for (uint64_t id = 1; id <= n; id++)
		put(file, &id, sizeof(id));
}

static void end(struct file *file)
{
	struct perfdata_header *header = (struct perfdata_header *)(void *)file->bytes;

	header->data.size = file->len - header->data.offset;
}

static void put_record(
	struct file *file, uint32_t type, uint16_t misc, const void *body, size_t len)
{
	const struct perf_event_header header = {
		.type = type, .misc = misc, .size = (uint16_t)(sizeof(header) + len)};

	put(file, &header, sizeof(header));
	put(file, body, len);
}

static void sample(struct file *file, uint64_t id, uint64_t time_ns, uint32_t tid, uint64_t ip)
{
	const uint64_t body[] = {id, ip, (uint64_t)tid << 32 | tid, time_ns, tid % 4, 10};

	put_record(file, PERF_RECORD_SAMPLE,
		ip >= KERNEL_IP ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, body,
		sizeof(body));
}

/* Writes a side-band record with the trailer: tid, time, cpu, id. */
static void put_side(struct file *file, uint32_t type, uint16_t misc, const void *body, size_t len,
	uint64_t time_ns)
{
	uint64_t room[600];
	const uint64_t trailer[] = {0, time_ns, 0, 1};

	assert_true(len % 8 == 0 && len + sizeof(trailer) <= sizeof(room));
	memcpy(room, body, len);
	memcpy((char *)room + len, trailer, sizeof(trailer));
	put_record(file, type, misc, room, len + sizeof(trailer));
}

static void comm(struct file *file, uint32_t tid, const char *name, uint64_t time_ns)
{
	struct {
		uint32_t pid, tid;
		char comm[16];
	} body = {.pid = tid, .tid = tid};

	snprintf(body.comm, sizeof(body.comm), "%s", name);
	put_side(file, PERF_RECORD_COMM, 0, &body, sizeof(body), time_ns);
}

static void map(struct file *file, uint32_t pid, uint16_t misc, uint64_t start, uint64_t pgoff,
	const char *name)
{
	struct {
		uint32_t pid, tid;
		uint64_t start, len, pgoff;
		char name[64];
	} body = {.pid = pid, .tid = pid, .start = start, .len = 0x1000, .pgoff = pgoff};

	snprintf(body.name, sizeof(body.name), "%s", name);
	put_side(file, PERF_RECORD_MMAP, misc, &body, sizeof(body), 0);
}

static void add_text(char *text, size_t size, const char *more)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s ", more);
}

static int tap(const struct recording_sample *sample, void *ctx)
{
	struct file *file = ctx;
	const struct stacks *stacks = recording_stacks(file->recording);
	const struct frame *frame =
		stacks_frame_get(stacks, stacks_node(stacks, sample->stack)->frame);

	assert_true(sample->record->id.time_ns >= file->last_ns);
	file->last_ns = sample->record->id.time_ns;
	add_text(file->comms, sizeof(file->comms),
		tasks_label_get(recording_tasks(file->recording), sample->label)->comm);
	add_text(file->images, sizeof(file->images),
		images_get(recording_images(file->recording), frame->image)->path);
	return file->tap_error;
}

static int contents(const struct file *file, size_t len)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, file->bytes, len), len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void load_range(struct file *file, uint64_t from_ns, uint64_t to_ns)
{
	const struct recording_config config = {.fd = contents(file, file->len),
		.memory_bytes = (size_t)16 << 20,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.tap = tap,
		.tap_ctx = file};

	recording_free(file->recording);
	file->comms[0] = file->images[0] = '\0';
	file->last_ns = 0;
	assert_int_equal(recording_new(&file->recording, &config), 0);
	assert_int_equal(recording_start(file->recording), 0);
	await_recording(file->recording, &file->status);
}

static void load(struct file *file)
{
	load_range(file, 0, 0);
}

static bool has_note(struct file *file, enum engine_note_kind kind, uint64_t value)
{
	struct engine_note notes[50];
	size_t n = recording_notes(file->recording, 0, notes, 50);

	for (size_t i = 0; i < n; i++)
		if (notes[i].kind == kind && notes[i].value == value)
			return true;
	return false;
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct file));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	recording_free(((struct file *)*state)->recording);
	free(*state);
	return 0;
}

#define CLOCK ((const uint64_t[]){PERF_COUNT_SW_CPU_CLOCK})

/* Two CPUs' buffers: a name and a mapping hold from their time on, in any order in the file. */
static void test_order(void **state)
{
	struct file *file = *state;

	begin(file, CLOCK, 1, 1);
	comm(file, 100, "first", 0);
	map(file, 100, PERF_RECORD_MISC_USER, 0x400000, 0, "/bin/app");
	sample(file, 1, 5 * SEC, 100, 0x400010);
	sample(file, 1, 7 * SEC, 100, 0x500000);
	comm(file, 100, "second", 6 * SEC);
	sample(file, 1, 4 * SEC, 200, KERNEL_IP);
	put_record(file, PERFDATA_RECORD_FINISHED_ROUND, 0, NULL, 0);
	sample(file, 1, 8 * SEC, 0, KERNEL_IP);
	end(file);
	load(file);
	assert_int_equal(file->status.state, ENGINE_ENDED);
	assert_string_equal(file->comms, ":200 first second swapper ");
	assert_string_equal(file->images, "[kernel] /bin/app [unknown] [kernel] ");
	assert_int_equal(file->status.n_events, 1);
	assert_int_equal(file->status.events[0].samples, 4);
	assert_int_equal(file->status.events[0].count, 40);
	assert_int_equal(file->status.started_ns, 4 * SEC);
	assert_int_equal(file->status.now_ns, 8 * SEC);
	assert_int_equal(file->status.cpus, 1);
	assert_int_equal(file->status.store.samples, 4);
	assert_int_equal(recording_out_of_order(file->recording), 0);
	assert_int_equal(file->status.attaching_done, file->status.attaching_total);
	assert_false(has_note(file, NOTE_FILE_BAD_RECORDS, 0));
}

static void test_range(void **state)
{
	struct file *file = *state;

	begin(file, CLOCK, 1, 1);
	for (uint64_t i = 0; i < 10; i++)
		sample(file, 1, 100 * SEC + i * SEC, 7, KERNEL_IP);
	end(file);
	load_range(file, 2 * SEC, 5 * SEC);
	assert_int_equal(file->status.events[0].samples, 3);
	assert_int_equal(file->status.store.first_ns, 102 * SEC);
	assert_int_equal(file->status.started_ns, 100 * SEC);
	load_range(file, 7 * SEC, 0);
	assert_int_equal(file->status.events[0].samples, 3);
	load_range(file, UINT64_MAX, UINT64_MAX);
	assert_int_equal(file->status.events[0].samples, 0);
}

/* One name is one event.  An attribute for side-band is an event once it has a sample. */
static void test_events(void **state)
{
	static const uint64_t events[] = {PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_CPU_CLOCK,
		PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CPU_CLOCK};
	struct file *file = *state;

	begin(file, events, 4, 1);
	sample(file, 2, SEC, 7, KERNEL_IP);
	sample(file, 4, SEC, 7, KERNEL_IP);
	sample(file, 3, SEC, 7, KERNEL_IP);
	end(file);
	load(file);
	assert_int_equal(file->status.n_events, 2);
	assert_int_equal(file->status.events[0].samples, 2);
	assert_true(file->status.events[0].is_clock);
	assert_int_equal(recording_attr_count(file->recording), 4);
	assert_int_equal(recording_event_of(file->recording, 0), RECORDING_NO_EVENT);
	assert_int_equal(recording_event_of(file->recording, 1), 0);
	assert_int_equal(recording_event_of(file->recording, 2), 1);
	assert_int_equal(recording_event_of(file->recording, 3), 0);

	sample(file, 1, 2 * SEC, 7, KERNEL_IP);
	sample(file, 99, 2 * SEC, 7, KERNEL_IP);
	end(file);
	load(file);
	assert_int_equal(file->status.n_events, 3);
	assert_int_equal(file->status.events[2].samples, 1);
	assert_int_equal(recording_event_of(file->recording, 0), 2);
	assert_true(has_note(file, NOTE_FILE_BAD_RECORDS, 1));
}

/* Loads a file of n events.  Each event from index `from` on has one sample. */
static void load_events(struct file *file, unsigned int n, unsigned int from)
{
	uint64_t events[400];

	for (unsigned int i = 0; i < n; i++)
		events[i] = 1000 + i;
	begin(file, events, n, 1);
	for (unsigned int i = from; i < n; i++)
		sample(file, i + 1, SEC, 7, KERNEL_IP);
	end(file);
	load(file);
}

static uint64_t all_samples(const struct file *file)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < file->status.n_events; i++)
		samples += file->status.events[i].samples;
	return samples;
}

static void test_many_events(void **state)
{
	struct file *file = *state;

	load_events(file, 70, 0);
	assert_int_equal(file->status.n_events, 70);
	assert_int_equal(file->status.events[69].samples, 1);
}

/* With too many events, only those with samples are kept. */
static void test_events_with_samples(void **state)
{
	struct file *file = *state;

	load_events(file, 360, 350);
	assert_int_equal(file->status.n_events, 10);
	for (size_t i = 0; i < 10; i++)
		assert_string_equal(file->status.events[i].name,
			recording_attr(file->recording, 350 + i)->name);
	assert_int_equal(recording_event_of(file->recording, 349), RECORDING_NO_EVENT);
}

static void test_too_many_events(void **state)
{
	struct file *file = *state;

	load_events(file, 300, 0);
	assert_int_equal(file->status.n_events, ENGINE_EVENTS_TOLD);
	assert_int_equal(all_samples(file), 300);
	assert_int_equal(file->status.events[ENGINE_EVENTS_TOLD - 1].samples, 46);
	assert_true(has_note(file, NOTE_FILE_EVENTS_FOLDED, 46));
}

static void test_kernel_and_modules(void **state)
{
	struct file *file = *state;
	struct image_origin origin;

	begin(file, CLOCK, 1, 1);
	map(file, UINT32_MAX, PERF_RECORD_MISC_KERNEL, 0xffffffff81000000, 0xffffffff81000000,
		"[kernel.kallsyms]_text");
	map(file, UINT32_MAX, PERF_RECORD_MISC_KERNEL, 0xffffffffc0000000, 0, "/lib/a/b.ko");
	sample(file, 1, SEC, 7, KERNEL_IP);
	sample(file, 1, SEC, 7, 0xffffffffc0000010);
	end(file);
	load(file);
	assert_string_equal(file->images, "[kernel] /lib/a/b.ko ");
	images_origin(recording_images(file->recording), IMAGE_ID_KERNEL, &origin);
	assert_int_equal(origin.map_start, 0xffffffff81000000);
	assert_int_equal(origin.map_end, 0xffffffff81001000);
	assert_false(origin.stext);
}

static void lost(struct file *file, uint32_t type, uint64_t n)
{
	const uint64_t counted[] = {n}, dropped[] = {1, n};

	if (type == PERF_RECORD_LOST)
		put_side(file, type, 0, dropped, sizeof(dropped), SEC);
	else
		put_side(file, type, 0, counted, sizeof(counted), 0);
}

/* perf reads the lost counters at the end.  LOST records then repeat the same losses. */
static void test_lost(void **state)
{
	struct file *file = *state;
	struct file_attr *entry;

	begin(file, CLOCK, 1, 1);
	lost(file, PERF_RECORD_LOST, 5);
	lost(file, PERF_RECORD_LOST_SAMPLES, 7);
	end(file);
	load(file);
	assert_int_equal(file->status.events[0].lost, 12);
	assert_true(has_note(file, NOTE_LOST, 12));
	entry = (struct file_attr *)(void *)(file->bytes + sizeof(struct perfdata_header));
	entry->attr.read_format = PERF_FORMAT_LOST;
	load(file);
	assert_int_equal(file->status.events[0].lost, 7);
}

/* The count missed while throttled is unknown, and so is the coverage. */
static void test_throttled(void **state)
{
	static const uint64_t faults[] = {PERF_COUNT_SW_PAGE_FAULTS};
	const uint64_t throttle[] = {SEC, 1, 1};
	struct file *file = *state;

	begin(file, faults, 1, 10);
	sample(file, 1, SEC, 7, KERNEL_IP);
	end(file);
	load(file);
	assert_true(file->status.events[0].covered == 10);
	assert_true(file->status.events[0].coverable == 10);
	put_side(file, PERF_RECORD_THROTTLE, 0, throttle, sizeof(throttle), SEC);
	end(file);
	load(file);
	assert_int_equal(file->status.events[0].throttled, 1);
	assert_true(file->status.events[0].coverable == 0);
}

/* Samples without a time get the time of the sample before.  Absurd times do no harm. */
static void test_strange_times(void **state)
{
	static const uint64_t times[] = {0, 5, UINT64_MAX, UINT64_MAX - 1, (uint64_t)INT64_MAX, 0};
	struct file *file = *state;

	begin(file, CLOCK, 1, 1);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		sample(file, 1, times[i], 7, KERNEL_IP);
	end(file);
	load(file);
	assert_int_equal(file->status.state, ENGINE_ENDED);
	assert_int_equal(file->status.events[0].samples, 6);
	assert_int_equal(file->status.store.samples, 6);
}

static void test_truncated(void **state)
{
	struct file *file = *state;

	begin(file, CLOCK, 1, 1);
	for (uint64_t i = 0; i < 100; i++)
		sample(file, 1, SEC + i, 7, KERNEL_IP);
	end(file);
	file->len -= 20;
	load(file);
	assert_int_equal(file->status.state, ENGINE_ENDED);
	assert_int_equal(file->status.events[0].samples, 99);
	assert_true(has_note(file, NOTE_FILE_TRUNCATED, file->len + 20 - 56));
}

static void test_tap_ends(void **state)
{
	struct file *file = *state;

	begin(file, CLOCK, 1, 1);
	for (uint64_t i = 0; i < 100; i++)
		sample(file, 1, SEC + i, 7, KERNEL_IP);
	end(file);
	file->tap_error = -EPIPE;
	load(file);
	assert_int_equal(file->status.state, ENGINE_FAILED);
	assert_int_equal(file->status.failure.error, EPIPE);
	assert_string_equal(file->comms, ":7 ");
}

static void test_not_a_recording(void **state)
{
	const struct recording_config config = {.fd = memfd_create("text", MFD_CLOEXEC)};
	struct recording *recording = (struct recording *)*state;

	assert_int_equal(write(config.fd, "just text, but long enough", 26), 26);
	lseek(config.fd, 0, SEEK_SET);
	assert_int_equal(recording_new(&recording, &config), -ENOEXEC);
	assert_null(recording);
}

static void put_build_id(struct file *file, uint8_t first, const char *name)
{
	struct {
		int32_t pid;
		uint8_t build_id[20], rest[4];
		char name[32];
	} body = {.pid = -1, .build_id = {first}};

	snprintf(body.name, sizeof(body.name), "%s", name);
	put_record(file, PERFDATA_RECORD_BUILD_ID, PERF_RECORD_MISC_USER, &body, sizeof(body));
}

/* The first byte of the build-id; 0 if it has none. */
static int build_id_of(struct file *file, enum image_kind kind, uint64_t inode)
{
	struct images *images = recording_images(file->recording);
	uint8_t build_id[IMAGE_BUILD_ID_MAX];

	for (uint32_t id = IMAGE_ID_KERNEL + 1; id < images_count(images); id++) {
		const struct image *image = images_get(images, id);

		if (image && image->kind == kind && image->inode == inode)
			return images_build_id(images, id, build_id) ? build_id[0] : 0;
	}
	fail_msg("there is no such image");
	return -1;
}

/* In a pipe, build-ids come after the samples. */
static void test_late_build_ids(void **state)
{
	struct file *file = *state;

	begin(file, (const uint64_t[]){PERF_COUNT_SW_CPU_CLOCK}, 1, 1000);
	map(file, 7, PERF_RECORD_MISC_USER, 0x1000, 0, "/bin/program");
	map(file, 7, PERF_RECORD_MISC_USER, 0x2000, 0, "[vdso]");
	map(file, 8, PERF_RECORD_MISC_USER, 0x7fff00000000, 0, "[vdso]");
	sample(file, 1, 100, 7, 0x1010);
	sample(file, 1, 101, 7, 0x2010);
	sample(file, 1, 102, 8, 0x7fff00000010);
	put_build_id(file, 3, "/bin/program");
	put_build_id(file, 5, "[vdso]");
	end(file);
	load(file);
	assert_int_equal(build_id_of(file, IMAGE_FILE, 0), 3);
	assert_int_equal(build_id_of(file, IMAGE_VDSO, 0), 5);
	assert_int_equal(build_id_of(file, IMAGE_VDSO, 1), 0);
}

/* An address could belong to either of the files, and at most one is at the path now. */
static void test_two_builds_at_one_path(void **state)
{
	struct file *file = *state;
	struct images *images;
	uint8_t build_id[IMAGE_BUILD_ID_MAX], zeros[IMAGE_BUILD_ID_MAX] = {0};

	begin(file, CLOCK, 1, 1000);
	put_build_id(file, 3, "/bin/program");
	put_build_id(file, 4, "/bin/program");
	map(file, 7, PERF_RECORD_MISC_USER, 0x1000, 0, "/bin/program");
	sample(file, 1, 100, 7, 0x1010);
	end(file);
	load(file);
	images = recording_images(file->recording);
	for (uint32_t id = IMAGE_ID_KERNEL + 1; id < images_count(images); id++) {
		if (images_get(images, id)->kind != IMAGE_FILE)
			continue;
		assert_int_equal(images_build_id(images, id, build_id), 20);
		assert_memory_equal(build_id, zeros, 20);
		return;
	}
	fail_msg("there is no such image");
}

/* A 64-bit machine has two vdsos; only perf's table distinguishes them. */
static void test_vdso_of_32_bits(void **state)
{
	struct file *file = *state;

	begin(file, CLOCK, 1, 1000);
	put_build_id(file, 5, "[vdso]");
	put_build_id(file, 6, "[vdso32]");
	map(file, 7, PERF_RECORD_MISC_USER, 0x2000, 0, "[vdso]");
	map(file, 8, PERF_RECORD_MISC_USER, 0x7fff00000000, 0, "[vdso]");
	sample(file, 1, 101, 7, 0x2010);
	sample(file, 1, 102, 8, 0x7fff00000010);
	end(file);
	load(file);
	assert_int_equal(build_id_of(file, IMAGE_VDSO, 0), 5);
	assert_int_equal(build_id_of(file, IMAGE_VDSO, 1), 6);
}

/* Each sample may carry PERF_RECORD_MISC_EXACT_IP. */
static void test_exact_addresses(void **state)
{
	struct file *file = *state;

	begin(file, CLOCK, 1, 1);
	for (uint64_t i = 0; i < 10; i++) {
		const uint64_t body[] = {1, KERNEL_IP, 7, SEC + i, 0, 10};

		put_record(file, PERF_RECORD_SAMPLE,
			PERF_RECORD_MISC_KERNEL | (i < 3 ? PERF_RECORD_MISC_EXACT_IP : 0), body,
			sizeof(body));
	}
	end(file);
	load(file);
	assert_int_equal(file->status.events[0].samples, 10);
	assert_int_equal(file->status.events[0].exact, 3);
	assert_int_equal(file->status.events[0].precise, 0);
	((struct file_attr *)(void *)(file->bytes + sizeof(struct perfdata_header)))
		->attr.precise_ip = 2;
	load(file);
	assert_int_equal(file->status.events[0].precise, 2);
}

static void aux(struct file *file, uint64_t flags)
{
	const uint64_t body[] = {0, 4096, flags};

	put_side(file, PERF_RECORD_AUX, 0, body, sizeof(body), SEC);
}

/* Each kind of gap that perf or the hardware reports gets one note. */
static void test_missing_parts(void **state)
{
	struct file *file = *state;

	begin(file, CLOCK, 1, 1);
	map(file, 7, PERF_RECORD_MISC_USER, 0x1000, 0, "/bin/whole");
	map(file, 8, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT, 0x1000, 0,
		"/bin/cut");
	map(file, 9, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT, 0x1000, 0,
		"/bin/cut");
	aux(file, PERF_AUX_FLAG_TRUNCATED);
	aux(file, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL);
	aux(file, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_COLLISION);
	aux(file, PERF_AUX_FLAG_OVERWRITE | PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW);
	sample(file, 1, 2 * SEC, 7, 0x1010);
	end(file);
	load(file);
	assert_true(has_note(file, NOTE_FILE_MAPS_CUT, 2));
	assert_true(has_note(file, NOTE_FILE_AUX_TRUNCATED, 3));
	assert_true(has_note(file, NOTE_FILE_AUX_PARTIAL, 1));
	assert_true(has_note(file, NOTE_FILE_AUX_COLLISION, 1));
}

/* Attributes that come between the samples.  There are more samples than one batch holds. */
static void test_late_attributes(void **state)
{
	struct file *file = *state;
	const uint64_t faults = PERF_COUNT_SW_PAGE_FAULTS;
	struct {
		struct perf_event_attr attr;
		uint64_t id;
	} late = {{.type = PERF_TYPE_SOFTWARE,
			  .size = sizeof(late.attr),
			  .config = faults,
			  .sample_period = 1,
			  .sample_type = TYPE,
			  .sample_id_all = 1},
		77};

	begin(file, CLOCK, 1, 1);
	for (uint64_t i = 0; i < 4000; i++)
		sample(file, 1, 100 + i, 7, KERNEL_IP);
	put_record(file, PERFDATA_RECORD_FINISHED_ROUND, 0, NULL, 0);
	put_record(file, PERFDATA_RECORD_FINISHED_ROUND, 0, NULL, 0);
	for (uint64_t i = 0; i < 40; i++) {
		late.id = 77 + i;
		late.attr.config = i % 2 ? faults : PERF_COUNT_SW_CONTEXT_SWITCHES;
		put_record(file, PERFDATA_RECORD_HEADER_ATTR, 0, &late, sizeof(late));
		sample(file, late.id, 10000 + i, 7, KERNEL_IP);
		put_record(file, PERFDATA_RECORD_FINISHED_ROUND, 0, NULL, 0);
	}
	end(file);
	load(file);
	assert_int_equal(file->status.state, ENGINE_ENDED);
	assert_int_equal(file->status.n_events, 3);
	assert_int_equal(file->status.events[0].samples, 4000);
	assert_int_equal(file->status.events[1].samples, 20);
	assert_int_equal(file->status.events[2].samples, 20);
	assert_string_equal(file->status.events[2].name, "page-faults:HG");
	assert_int_equal(recording_attr_count(file->recording), 41);
	assert_int_equal(recording_event_of(file->recording, 40), 2);
	assert_int_equal(recording_out_of_order(file->recording), 0);
}

static void put_update(struct file *file, uint64_t id, const char *name)
{
	struct {
		uint64_t kind, id;
		char name[24];
	} body = {.kind = 2, .id = id};

	snprintf(body.name, sizeof(body.name), "%s", name);
	put_record(file, PERFDATA_RECORD_EVENT_UPDATE, 0, &body, sizeof(body));
}

/* perf writes the first mappings between attributes and their names.  Naming two events does not
 * merge them. */
static void test_late_names(void **state)
{
	struct file *file = *state;
	const uint64_t head[] = {PERFDATA_MAGIC, 2 * sizeof(uint64_t)};
	struct {
		struct perf_event_attr attr;
		uint64_t id;
	} body = {.attr = {.type = PERF_TYPE_SOFTWARE,
			  .size = sizeof(body.attr),
			  .sample_period = 1,
			  .sample_type = TYPE,
			  .sample_id_all = 1}};

	put(file, head, sizeof(head));
	for (body.id = 1; body.id <= 3; body.id++)
		put_record(file, PERFDATA_RECORD_HEADER_ATTR, 0, &body, sizeof(body));
	comm(file, 7, "seven", 0);
	map(file, 7, PERF_RECORD_MISC_USER, 0x1000, 0, "/bin/seven");
	put_update(file, 1, "first");
	put_update(file, 2, "second");
	put_update(file, 3, "third");
	sample(file, 2, 100, 7, KERNEL_IP);
	load(file);
	assert_int_equal(file->status.state, ENGINE_ENDED);
	assert_int_equal(file->status.n_events, 3);
	assert_string_equal(file->status.events[0].name, "first");
	assert_string_equal(file->status.events[1].name, "second");
	assert_int_equal(file->status.events[1].samples, 1);
	assert_int_equal(recording_event_of(file->recording, 2), 2);
	assert_string_equal(file->comms, "seven ");
}

/* In a pipe, events without samples are listed, too. */
static void test_names_without_samples(void **state)
{
	struct file *file = *state;
	const uint64_t head[] = {PERFDATA_MAGIC, 2 * sizeof(uint64_t)};
	struct {
		struct perf_event_attr attr;
		uint64_t id;
	} body = {{.type = PERF_TYPE_SOFTWARE, .size = sizeof(body.attr), .sample_type = TYPE}, 1};

	put(file, head, sizeof(head));
	put_record(file, PERFDATA_RECORD_HEADER_ATTR, 0, &body, sizeof(body));
	put_update(file, 1, "alone");
	load(file);
	assert_int_equal(file->status.state, ENGINE_ENDED);
	assert_int_equal(file->status.n_events, 1);
	assert_string_equal(file->status.events[0].name, "alone");
}

/* A pipe without a writer's data can be cancelled, and an empty pipe fails. */
static void test_pipes(void **state)
{
	struct file *file = *state;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(
		recording_new(&file->recording,
			&(struct recording_config){.fd = fds[0], .memory_bytes = (size_t)16 << 20}),
		0);
	assert_int_equal(recording_start(file->recording), 0);
	recording_cancel(file->recording);
	await_recording(file->recording, &file->status);
	assert_int_equal(file->status.state, ENGINE_STOPPED);
	assert_int_equal(recording_attr_count(file->recording), 0);
	assert_non_null(recording_info(file->recording));
	recording_free(file->recording);
	close(fds[1]);

	assert_int_equal(pipe(fds), 0);
	close(fds[1]);
	assert_int_equal(
		recording_new(&file->recording,
			&(struct recording_config){.fd = fds[0], .memory_bytes = (size_t)16 << 20}),
		0);
	assert_int_equal(recording_start(file->recording), 0);
	await_recording(file->recording, &file->status);
	assert_int_equal(file->status.state, ENGINE_FAILED);
	assert_int_equal(file->status.failure.error, ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_range, setup, teardown),
		cmocka_unit_test_setup_teardown(test_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_events_with_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel_and_modules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_throttled, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strange_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tap_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_a_recording, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late_build_ids, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_builds_at_one_path, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vdso_of_32_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exact_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late_attributes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_without_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pipes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
