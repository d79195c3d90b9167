/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_save.c - a store that is saved and opened again has the same sums.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/recording/recording.h"
#include "tests/unit/await_recording.h"
#include "tests/unit/samples_fixture.h"
#include "tui/export/save.h"

#define SLICE_NS 100000000ull
#define SUMS_MAX 20000
#define KEY_MAX 300
#define TEXT_MAX 65536

/* Weight and samples per (command, process, thread, CPU, event, stack). */
struct sum {
	char key[KEY_MAX];
	uint64_t weight, count;
};

struct sums {
	struct sum at[SUMS_MAX];
	size_t n;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct sum *)a)->key, ((const struct sum *)b)->key);
}

static void add_cell(struct sums *sums, const struct slice *slice, uint32_t i,
	const struct stacks *stacks, const struct tasks *tasks, const struct images *images,
	const char *event)
{
	const struct task_label *label = tasks_label_get(tasks, slice->task[i]);
	struct sum *sum = &sums->at[sums->n++];
	uint32_t node = slice->stack[i];
	static char text[TEXT_MAX];
	uint64_t hash = 14695981039346656037u;
	size_t len;

	assert_true(sums->n < SUMS_MAX);
	len = (size_t)snprintf(text, TEXT_MAX, "%s %d/%d %u %s", label->comm, label->pid,
		label->tid, slice->cpu[i], event);
	for (; node != STACK_ROOT && len < TEXT_MAX; node = stacks_node(stacks, node)->parent) {
		const struct frame *frame =
			stacks_frame_get(stacks, stacks_node(stacks, node)->frame);
		const struct image *image = images_get(images, frame->image);

		len += (size_t)snprintf(text + len, TEXT_MAX - len, ";%u%s%s+%llx", frame->mode,
			image->path, image->inode && image->kind == IMAGE_VDSO ? "32" : "",
			(unsigned long long)frame->offset);
	}
	assert_true(len < TEXT_MAX);
	for (size_t at = 0; at < len; at++)
		hash = (hash ^ (unsigned char)text[at]) * 1099511628211u;
	snprintf(sum->key, KEY_MAX, "%.*s %016llx", KEY_MAX - 20, text, (unsigned long long)hash);
	sum->weight = slice->weight[i];
	sum->count = slice->count[i];
}

static void add_up(struct sums *sums)
{
	size_t kept = 0;

	qsort(sums->at, sums->n, sizeof(sums->at[0]), compare);
	for (size_t i = 0; i < sums->n; i++) {
		if (kept && !strcmp(sums->at[kept - 1].key, sums->at[i].key)) {
			sums->at[kept - 1].weight += sums->at[i].weight;
			sums->at[kept - 1].count += sums->at[i].count;
		} else {
			sums->at[kept++] = sums->at[i];
		}
	}
	sums->n = kept;
}

static void assert_same(const struct sums *a, const struct sums *b)
{
	assert_true(a->n > 0);
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_string_equal(a->at[i].key, b->at[i].key);
		assert_int_equal(a->at[i].weight, b->at[i].weight);
		assert_int_equal(a->at[i].count, b->at[i].count);
	}
}

/* --- saved data --- */

static const uint8_t event_ids[] = {0, 5};
static const char *const event_names[] = {"cpu-clock", "page-faults"};

static void save(
	struct fixture *fixture, int fd, bool pipe, struct save_progress *progress, int expected)
{
	struct writer_event events[2];
	const struct perf_event_attr clock = {
		.type = PERF_TYPE_SOFTWARE, .freq = 1, .sample_freq = 997};
	const struct perf_event_attr faults = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1};
	const struct save_source source = {
		.snapshot = &fixture->snapshot,
		.stacks = fixture->stacks,
		.tasks = fixture->tasks,
		.images = fixture->images,
		.events = events,
		.event_ids = event_ids,
		.n_events = 2,
	};

	save_event(&events[0], event_names[0], &clock);
	save_event(&events[1], event_names[1], &faults);
	assert_int_equal(save_write(&source, fd, pipe, progress), expected);
}

static void sums_of_fixture(struct fixture *fixture, struct sums *sums)
{
	for (size_t s = 0; s < fixture->snapshot.n; s++)
		for (uint32_t i = 0; i < fixture->slices[s].cells; i++)
			for (size_t e = 0; e < 2; e++)
				if (fixture->event[s][i] == event_ids[e])
					add_cell(sums, &fixture->slices[s], i, fixture->stacks,
						fixture->tasks, fixture->images, event_names[e]);
	add_up(sums);
}

static void sums_of_file(int fd, struct sums *sums)
{
	const struct recording_config config = {.fd = fd, .memory_bytes = 64 << 20};
	struct recording *recording;
	struct engine_status *status = calloc(1, sizeof(*status));
	struct snapshot snapshot;
	struct reader_status read_status;

	assert_non_null(status);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(recording_new(&recording, &config), 0);
	load_recording(recording, status);
	recording_reader_status(recording, &read_status);
	assert_int_equal(read_status.bad, 0);
	assert_int_equal(read_status.unknown, 0);
	assert_false(read_status.truncated);
	assert_int_equal(recording_out_of_order(recording), 0);
	assert_int_equal(status->chains.dropped, 0);
	assert_int_equal(store_snapshot(recording_store(recording), 0, UINT64_MAX, &snapshot), 0);
	for (size_t s = 0; s < snapshot.n; s++)
		for (uint32_t i = 0; i < snapshot.slices[s]->cells; i++)
			add_cell(sums, snapshot.slices[s], i, recording_stacks(recording),
				recording_tasks(recording), recording_images(recording),
				status->events[snapshot.slices[s]->event[i]].name);
	add_up(sums);
	snapshot_release(recording_store(recording), &snapshot);
	recording_free(recording);
	free(status);
}

static void check_round_trip(struct fixture *fixture, bool pipe)
{
	struct sums *before = calloc(1, sizeof(*before)), *after = calloc(1, sizeof(*after));
	struct save_progress progress = {0};
	int fd = memfd_create("saved", MFD_CLOEXEC);
	uint64_t count = 0;

	assert_non_null(before);
	assert_non_null(after);
	assert_true(fd >= 0);
	for (size_t i = 0; i < fixture->snapshot.n; i++) {
		fixture->slices[i].start_ns = (i + 1) * SLICE_NS;
		fixture->slices[i].end_ns = (i + 2) * SLICE_NS;
	}
	save(fixture, fd, pipe, &progress, 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), progress.bytes);
	assert_int_equal(progress.cells, progress.cells_total);
	sums_of_fixture(fixture, before);
	sums_of_file(fd, after);
	assert_same(before, after);
	for (size_t i = 0; i < before->n; i++)
		count += before->at[i].count;
	assert_int_equal(progress.samples, count);
	free(before);
	free(after);
}

/* --- stacks of every kind of image --- */

static uint32_t call(struct fixture *fixture, uint32_t parent, uint32_t image, uint64_t offset,
	enum frame_mode mode)
{
	uint32_t frame, made;

	assert_int_equal(stacks_frame(fixture->stacks, image, offset, mode, &frame), 0);
	assert_int_equal(stacks_child(fixture->stacks, parent, frame, &made), 0);
	stacks_ref(fixture->stacks, made);
	return made;
}

static uint32_t image(
	struct fixture *fixture, enum image_kind kind, const char *path, uint64_t inode)
{
	const struct image key = {.kind = kind, .path = (char *)path, .inode = inode};
	uint32_t id;

	assert_int_equal(images_intern(fixture->images, &key, &id), 0);
	return id;
}

static void test_kinds_of_frames(void **state)
{
	struct fixture *fixture = *state;
	uint32_t vdso = image(fixture, IMAGE_VDSO, "[vdso]", 0);
	uint32_t vdso_32 = image(fixture, IMAGE_VDSO, "[vdso]", 1);
	uint32_t anon = image(fixture, IMAGE_ANON, "[anon]", 77);
	const uint64_t kernel = 0xffffffff81000000ull;
	uint32_t main_node = call(fixture, STACK_ROOT, fixture->program, 0x40, FRAME_USER);
	uint32_t in_library = call(fixture, main_node, fixture->library, 0x12345, FRAME_USER);
	uint32_t in_vdso = call(fixture, in_library, vdso, 0x9ff, FRAME_USER);
	uint32_t in_kernel = call(fixture, in_vdso, IMAGE_ID_KERNEL, kernel + 9, FRAME_KERNEL);
	uint32_t jit = call(fixture, main_node, anon, 0x7f0000001010, FRAME_USER);
	uint32_t jit_far = call(fixture, jit, anon, 0x7f0000009fff, FRAME_USER);
	uint32_t again = call(fixture, jit_far, fixture->program, 0x40, FRAME_USER);
	uint32_t lost = call(fixture, STACK_ROOT, IMAGE_ID_UNKNOWN, 0x7f0000004000, FRAME_USER);
	uint32_t nothing = call(fixture, STACK_ROOT, IMAGE_ID_UNKNOWN, 0, FRAME_USER);
	uint32_t low = call(fixture, main_node, vdso_32, 0x10, FRAME_USER);
	uint32_t deep = main_node;
	const uint32_t stacks[] = {main_node, in_library, in_vdso, in_kernel,
		call(fixture, in_kernel, IMAGE_ID_KERNEL, kernel + 0x500, FRAME_KERNEL), jit,
		jit_far, again, lost, nothing, low,
		call(fixture, STACK_ROOT, IMAGE_ID_KERNEL, kernel, FRAME_KERNEL)};
	const uint32_t n = sizeof(stacks) / sizeof(stacks[0]);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t label = 0; label < FIXTURE_LABELS; label++) {
			/* The idle task has only kernel code. */
			if (!label && i + 1 < n)
				continue;
			/* Memory without a file belongs to one process. */
			if ((stacks[i] == jit || stacks[i] == jit_far || stacks[i] == again) &&
				label != 1)
				continue;
			fixture_cell(fixture, i % 3, stacks[i], fixture->labels[label],
				(uint16_t)(i % 5), event_ids[i % 2], 1000 + i * 7 + label,
				1 + (i + label) % 6);
		}
	/* a stack of the maximum depth, and an event that is not saved */
	for (uint32_t i = 1; i < STACK_DEPTH_MAX; i++)
		deep = call(fixture, deep, fixture->program, 0x1000 + (i % 3) * 16, FRAME_USER);
	fixture_cell(fixture, 2, deep, fixture->labels[2], 3, 0, 11, 2);
	fixture_cell(fixture, 1, main_node, fixture->labels[1], 0, 9, 5, 5);
	check_round_trip(fixture, false);
}

/* A truncated chain is saved as far as it goes: its root is not in the program. */
static void test_truncated(void **state)
{
	struct fixture *fixture = *state;
	struct sums *after = calloc(1, sizeof(*after));
	struct save_progress progress = {0};
	uint32_t end = image(fixture, IMAGE_KSYMBOL, "[truncated]", 0);
	uint32_t cut = call(fixture, STACK_ROOT, end, 0, FRAME_USER);
	uint32_t whole = call(fixture, STACK_ROOT, fixture->library, 0x12345, FRAME_USER);
	uint32_t below = call(fixture, cut, fixture->library, 0x12345, FRAME_USER);
	int fd = memfd_create("saved", MFD_CLOEXEC);

	assert_non_null(after);
	assert_true(fd >= 0);
	fixture_cell(fixture, 0, whole, fixture->labels[1], 2, event_ids[0], 100, 3);
	fixture_cell(fixture, 0, below, fixture->labels[1], 2, event_ids[0], 50, 2);
	for (size_t i = 0; i < fixture->snapshot.n; i++) {
		fixture->slices[i].start_ns = (i + 1) * SLICE_NS;
		fixture->slices[i].end_ns = (i + 2) * SLICE_NS;
	}
	save(fixture, fd, false, &progress, 0);
	sums_of_file(fd, after);
	assert_int_equal(after->n, 1);
	assert_int_equal(after->at[0].weight, 150);
	assert_int_equal(after->at[0].count, 5);
	free(after);
}

/* The program of a process is the first of its saved mappings, even without samples. */
static void test_program(void **state)
{
	struct fixture *fixture = *state;
	struct save_progress progress = {0};
	const uint32_t pid = (uint32_t)tasks_label_get(fixture->tasks, fixture->labels[1])->pid;
	const struct record exec = {.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.mmap = {.pid = pid,
			.tid = pid,
			.start = 0x1000,
			.len = 0x3000,
			.pgoff = 0x2000,
			.executable = true,
			.filename = "/bin/caller"}};
	const int fd = memfd_create("saved", MFD_CLOEXEC);
	const struct recording_config config = {.fd = fd, .memory_bytes = 64 << 20};
	struct engine_status *status = calloc(1, sizeof(*status));
	struct recording *recording;
	struct snapshot snapshot;
	uint32_t program;

	assert_non_null(status);
	assert_int_equal(tasks_apply(fixture->tasks, &exec), 0);
	fixture_cell(fixture, 0, call(fixture, STACK_ROOT, fixture->library, 0x123, FRAME_USER),
		fixture->labels[1], 2, event_ids[0], 100, 3);
	for (size_t i = 0; i < fixture->snapshot.n; i++) {
		fixture->slices[i].start_ns = (i + 1) * SLICE_NS;
		fixture->slices[i].end_ns = (i + 2) * SLICE_NS;
	}
	save(fixture, fd, false, &progress, 0);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(recording_new(&recording, &config), 0);
	load_recording(recording, status);
	assert_int_equal(store_snapshot(recording_store(recording), 0, UINT64_MAX, &snapshot), 0);
	program = tasks_label_program(tasks_label_get(
		recording_tasks(recording), snapshot.slices[snapshot.n - 1]->task[0]));
	assert_string_equal(images_get(recording_images(recording), program)->path, "/bin/caller");
	snapshot_release(recording_store(recording), &snapshot);
	recording_free(recording);
	free(status);
}

static void test_chance(void **state)
{
	struct fixture *fixture = *state;
	uint32_t seed = 1;
	uint32_t nodes[40];

	for (uint32_t i = 0; i < 40; i++)
		nodes[i] = call(fixture, i ? nodes[fixture_random(&seed, i)] : STACK_ROOT,
			fixture_random(&seed, 2) ? fixture->program : fixture->stripped,
			fixture_random(&seed, 100000), FRAME_USER);
	for (uint32_t slice = 0; slice < FIXTURE_SLICES; slice++)
		for (uint32_t i = 0; i < 300; i++) {
			uint32_t count = 1 + fixture_random(&seed, 9);

			fixture_cell(fixture, slice, nodes[fixture_random(&seed, 40)],
				fixture->labels[1 + fixture_random(&seed, FIXTURE_LABELS - 1)],
				(uint16_t)fixture_random(&seed, 4),
				event_ids[fixture_random(&seed, 2)],
				count + fixture_random(&seed, 100000), count);
		}
	check_round_trip(fixture, false);
	check_round_trip(fixture, true);
}

/* A cell that has lost detail in the store is saved with the detail that is left. */
static void test_merged_label(void **state)
{
	struct fixture *fixture = *state;
	uint32_t nothing = call(fixture, STACK_ROOT, IMAGE_ID_UNKNOWN, 0, FRAME_USER);

	fixture_cell(fixture, 0, nothing, TASK_LABEL_MERGED, 1, 0, 1234, 100);
	fixture_cell(fixture, 1, fixture_stack(fixture, "0 1 2"), fixture->labels[1], 1, 0, 7, 7);
	check_round_trip(fixture, false);
}

static void test_cancelled(void **state)
{
	struct fixture *fixture = *state;
	struct save_progress progress = {.cancel = true};
	int fd = memfd_create("saved", MFD_CLOEXEC);

	fixture_cell(fixture, 0, fixture_stack(fixture, "0"), fixture->labels[1], 0, 0, 9, 9);
	save(fixture, fd, false, &progress, -ECANCELED);
	close(fd);
}

static void test_default_name(void **state)
{
	char name[64];

	(void)state;
	save_default_name(name, sizeof(name));
	assert_memory_equal(name, "strobe-", 7);
	assert_string_equal(name + strlen(name) - 5, ".data");
	assert_int_equal(strlen(name), strlen("strobe-20260101-000000.data"));
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_FIXTURE(test_kinds_of_frames),
		WITH_FIXTURE(test_truncated),
		WITH_FIXTURE(test_program),
		WITH_FIXTURE(test_chance),
		WITH_FIXTURE(test_merged_label),
		WITH_FIXTURE(test_cancelled),
		cmocka_unit_test(test_default_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
