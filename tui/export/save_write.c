/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * save_write.c - see save.h: writes cells as samples.
 *
 * The first pass over the snapshot finds the images sampled in each process, and their extent.  The
 * second pass writes the samples.  Runs in any thread that holds the snapshot.
 */
#include "tui/export/save.h"

#include "sampler/base/idmap.h"
#include "sampler/perfdata/synth.h"
#include "sampler/store/changes.h"
#include "tui/base/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE_SIZE_BYTES 4096ull
/* Above all addresses of real processes.  32-bit vdsos need addresses of 32 bits. */
#define FILES_BASE (1ull << 50)
#define VDSO_32_BASE 0xf0000000ull
#define SAMPLES_AT_ONCE 4096u
#define CHAIN_MAX (STACK_DEPTH_MAX * 2 + 2)

/* One image in one process, or one page of anonymous memory. */
struct place {
	int32_t pid;
	uint32_t image;
	uint64_t page; /* page number; only for anonymous memory */
	bool is_program; /* readers take the first mapping for the program */
};

/* A name of a thread; sorted by thread, then by label. */
struct name {
	uint32_t label;
	int32_t tid;
};

struct sample_record {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t period, n;
	uint64_t chain[CHAIN_MAX];
};

struct saving {
	const struct save_source *source;
	struct save_progress *progress;
	struct writer *writer;
	size_t tracker;

	uint64_t *ends; /* by image: end of the sampled offsets */
	uint64_t *bases; /* by image: synthetic address */
	uint32_t n_images;
	struct idmap walked, placed; /* (process, stack) and (process, image) pairs */
	struct place *places;
	uint32_t n_places, places_room;
	struct idmap leaders; /* processes with a name for their first thread */
	struct idmap told; /* tid -> label that was written last */
	struct name *names; /* names in the current slice */
	uint32_t n_names, names_room;
	/* by event number in the store: index in the file; -1: none */
	int event_of[STORE_EVENTS_MAX];
	struct sample_record record;
};

static void *one(void)
{
	static char mark;

	return &mark;
}

static uint64_t pair_of(int32_t pid, uint32_t id)
{
	return (uint64_t)(uint32_t)pid << 32 | id;
}

/* --- the first pass: which image lies where --- */

static int add_place(struct saving *saving, int32_t pid, uint32_t image, uint64_t page)
{
	int ret = grow_room((void **)&saving->places, saving->n_places, &saving->places_room,
		sizeof(*saving->places));

	if (!ret)
		saving->places[saving->n_places++] = (struct place){pid, image, page, false};
	return ret;
}

static bool is_placed(enum image_kind kind)
{
	return kind == IMAGE_FILE || kind == IMAGE_VDSO || kind == IMAGE_ANON;
}

static int note_frame(struct saving *saving, int32_t pid, const struct frame *frame)
{
	const struct image *image = images_get(saving->source->images, frame->image);
	uint64_t key = pair_of(pid, frame->image);
	int ret;

	if (!image || frame->image >= saving->n_images)
		return 0;
	if (image->kind == IMAGE_KSYMBOL)
		saving->ends[frame->image] = 1;
	if (!is_placed(image->kind))
		return 0;
	if (image->kind == IMAGE_ANON)
		return add_place(
			saving, pid, frame->image, changes_plain(frame->offset) / PAGE_SIZE_BYTES);
	if (frame->offset >= saving->ends[frame->image])
		saving->ends[frame->image] = frame->offset + 1;
	if (idmap_find(&saving->placed, key))
		return 0;
	ret = idmap_set(&saving->placed, key, one());
	return ret ? ret : add_place(saving, pid, frame->image, 0);
}

/* Notes the frames of a stack.  Stops at a node that was already seen in this process, since its
 * callers were, too. */
static int note_stack(struct saving *saving, int32_t pid, uint32_t node)
{
	const struct stacks *stacks = saving->source->stacks;
	int ret = 0;

	while (node != STACK_ROOT && !ret) {
		const struct stack_node *at = stacks_node(stacks, node);
		uint64_t key = pair_of(pid, node);

		if (idmap_find(&saving->walked, key))
			return 0;
		ret = idmap_set(&saving->walked, key, one());
		if (!ret)
			ret = note_frame(saving, pid, stacks_frame_get(stacks, at->frame));
		node = at->parent;
	}
	return ret;
}

/* Notes the program of a process, which may have no samples of its own. */
static int note_program(struct saving *saving, const struct task_label *label)
{
	struct image_origin origin;
	struct frame frame = {.image = tasks_label_program(label)};
	const uint32_t before = saving->n_places;
	int ret;

	if (frame.image == IMAGE_ID_UNKNOWN || frame.image >= saving->n_images)
		return 0;
	images_origin(saving->source->images, frame.image, &origin);
	frame.offset = origin.map_offset;
	ret = note_frame(saving, label->pid, &frame);
	if (saving->n_places > before)
		saving->places[before].is_program = true;
	return ret;
}

static int note_slice(struct saving *saving, const struct slice *slice)
{
	int ret = 0;

	for (uint32_t i = 0; i < slice->cells && !ret; i++) {
		const struct task_label *label =
			tasks_label_get(saving->source->tasks, slice->task[i]);

		if (saving->event_of[slice->event[i]] >= 0)
			ret = note_program(saving, label);
		if (saving->event_of[slice->event[i]] >= 0 && !ret)
			ret = note_stack(saving, label->pid, slice->stack[i]);
		if (label->tid == label->pid && !ret)
			ret = idmap_set(&saving->leaders, (uint32_t)label->tid, one());
	}
	if (atomic_load(&saving->progress->cancel))
		return -ECANCELED;
	return ret;
}

static void lay_out(struct saving *saving)
{
	uint64_t next = FILES_BASE, next_32 = VDSO_32_BASE;

	for (uint32_t i = 0; i < saving->n_images; i++) {
		const struct image *image = images_get(saving->source->images, i);
		uint64_t len = (saving->ends[i] + PAGE_SIZE_BYTES - 1) & ~(PAGE_SIZE_BYTES - 1);
		uint64_t *at =
			image && image->kind == IMAGE_VDSO && image->inode ? &next_32 : &next;

		if (!len)
			continue;
		saving->bases[i] = *at;
		/* An empty page separates neighbours, so that they are not merged into one
		 * mapping. */
		*at += len + PAGE_SIZE_BYTES;
	}
}

static int compare_places(const void *a, const void *b)
{
	const struct place *first = a, *second = b;

	if (first->pid != second->pid)
		return first->pid < second->pid ? -1 : 1;
	if (first->is_program != second->is_program)
		return first->is_program ? -1 : 1;
	if (first->image != second->image)
		return first->image < second->image ? -1 : 1;
	return (first->page > second->page) - (first->page < second->page);
}

static int put_mapping(struct saving *saving, const struct place *place, uint64_t pages)
{
	const struct image *image = images_get(saving->source->images, place->image);
	char name[SYNTH_NAME_MAX + sizeof(IMAGE_DELETED)];
	struct record_mmap mmap = {
		.start = place->page * PAGE_SIZE_BYTES,
		.len = pages * PAGE_SIZE_BYTES,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.executable = true,
		.filename = "//anon",
	};
	union synth_record record;

	if (image->kind != IMAGE_ANON) {
		mmap.start = saving->bases[place->image];
		mmap.len =
			(saving->ends[place->image] + PAGE_SIZE_BYTES - 1) & ~(PAGE_SIZE_BYTES - 1);
		snprintf(name, sizeof(name), "%s%s", image->path,
			image->deleted ? IMAGE_DELETED : "");
		mmap.filename = name;
	}
	if (image->kind == IMAGE_FILE) {
		mmap.dev_major = image->dev_major;
		mmap.dev_minor = image->dev_minor;
		mmap.inode = image->inode;
		mmap.inode_generation = image->inode_generation;
		mmap.build_id_len = image->build_id_len;
		memcpy(mmap.build_id, image->build_id, sizeof(mmap.build_id));
		if (!mmap.build_id_len && place->image < saving->source->n_build_ids) {
			mmap.build_id_len = saving->source->build_ids[place->image].len;
			memcpy(mmap.build_id, saving->source->build_ids[place->image].id,
				sizeof(mmap.build_id));
		}
	}
	synth_mapping(&record, place->pid, &mmap, 0);
	return writer_record(saving->writer, &record.header, saving->tracker);
}

/* Writes the mapping that shows readers a process's jitdump.  Its address has no meaning. */
static int put_dump(struct saving *saving, const struct place *place)
{
	struct record_mmap mmap = {
		.start = PAGE_SIZE_BYTES,
		.len = PAGE_SIZE_BYTES,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.executable = true,
	};
	struct image_origin origin;
	union synth_record record;

	images_origin(saving->source->images, place->image, &origin);
	if (images_get(saving->source->images, place->image)->kind != IMAGE_ANON || !origin.jitdump)
		return 0;
	mmap.filename = origin.jitdump;
	synth_mapping(&record, place->pid, &mmap, 0);
	return writer_record(saving->writer, &record.header, saving->tracker);
}

static int put_mappings(struct saving *saving)
{
	int ret = 0;

	if (saving->n_places)
		qsort(saving->places, saving->n_places, sizeof(*saving->places), compare_places);
	for (size_t i = 0, end; i < saving->n_places && !ret; i = end) {
		const struct place *place = &saving->places[i];
		uint64_t pages = 1;

		/* Adjacent pages of anonymous memory become one mapping. */
		for (end = i + 1; end < saving->n_places; end++) {
			const struct place *next = &saving->places[end];

			if (next->pid != place->pid || next->image != place->image ||
				next->page > place->page + pages)
				break;
			pages = next->page - place->page + 1;
		}
		if (!i || place[-1].pid != place->pid || place[-1].image != place->image)
			ret = put_dump(saving, place);
		if (!ret)
			ret = put_mapping(saving, place, pages);
	}
	return ret;
}

static int put_ksymbols(struct saving *saving)
{
	struct images *images = saving->source->images;
	union synth_record record;
	int ret = 0;

	for (uint32_t i = 0; i < saving->n_images && !ret; i++) {
		const struct image *image = images_get(images, i);
		struct image_origin origin;

		/* Only sampled images are sure to stay in memory while in use. */
		if (!saving->ends[i] || !image || image->kind != IMAGE_KSYMBOL)
			continue;
		images_origin(images, i, &origin);
		synth_ksymbol(
			&record, origin.map_start, origin.map_end - origin.map_start, image->path);
		ret = writer_record(saving->writer, &record.header, saving->tracker);
	}
	return ret;
}

/* --- the second pass: samples --- */

static uint64_t marker_of(enum frame_mode mode)
{
	switch (mode) {
	case FRAME_KERNEL:
		return (uint64_t)PERF_CONTEXT_KERNEL;
	case FRAME_HYPERVISOR:
		return (uint64_t)PERF_CONTEXT_HV;
	case FRAME_GUEST:
		return (uint64_t)PERF_CONTEXT_GUEST;
	default:
		return (uint64_t)PERF_CONTEXT_USER;
	}
}

static uint16_t misc_of(enum frame_mode mode)
{
	switch (mode) {
	case FRAME_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case FRAME_HYPERVISOR:
		return PERF_RECORD_MISC_HYPERVISOR;
	case FRAME_GUEST:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	default:
		return PERF_RECORD_MISC_USER;
	}
}

static uint64_t address_of(const struct saving *saving, const struct frame *frame)
{
	const struct image *image = images_get(saving->source->images, frame->image);

	if (image && frame->image < saving->n_images &&
		(image->kind == IMAGE_FILE || image->kind == IMAGE_VDSO))
		return saving->bases[frame->image] + frame->offset;
	return image && image->kind == IMAGE_ANON ? changes_plain(frame->offset) : frame->offset;
}

/* True for the frame that marks a cut callchain.  Readers of the file add it again. */
static bool is_truncated(const struct saving *saving, const struct frame *frame)
{
	const struct image *image = images_get(saving->source->images, frame->image);

	return frame->mode == FRAME_USER && image && image->kind == IMAGE_KSYMBOL;
}

/* Rebuilds the recorded callchain.  Frames of callers are one past their call, like return
 * addresses. */
static void fill_chain(struct saving *saving, uint32_t node)
{
	const struct stacks *stacks = saving->source->stacks;
	struct sample_record *record = &saving->record;
	enum frame_mode mode = FRAME_USER;
	bool first = true, caller = false;

	record->n = 0;
	record->ip = 0;
	record->header.misc = PERF_RECORD_MISC_USER;
	while (node != STACK_ROOT && record->n + 2 <= CHAIN_MAX) {
		const struct stack_node *at = stacks_node(stacks, node);
		const struct frame *frame = stacks_frame_get(stacks, at->frame);
		uint64_t address = address_of(saving, frame);

		if (is_truncated(saving, frame))
			break;
		if (first) {
			record->ip = address;
			record->header.misc = misc_of((enum frame_mode)frame->mode);
		}
		if (first || frame->mode != mode) {
			mode = (enum frame_mode)frame->mode;
			record->chain[record->n++] = marker_of(mode);
			caller = false;
		}
		record->chain[record->n++] = address + caller;
		caller = true;
		first = false;
		node = at->parent;
	}
}

/* Writes the samples of a cell, spread over [from_ns, to_ns). */
static int put_cell(struct saving *saving, const struct slice *slice, uint32_t cell,
	uint64_t from_ns, uint64_t to_ns)
{
	const struct task_label *label = tasks_label_get(saving->source->tasks, slice->task[cell]);
	struct sample_record *record = &saving->record;
	uint64_t count = slice->count[cell], weight = slice->weight[cell];
	uint64_t step_ns = count ? (to_ns - from_ns) / count : 0;
	int event = saving->event_of[slice->event[cell]], ret = 0;

	if (event < 0 || !count)
		return 0;
	fill_chain(saving, slice->stack[cell]);
	record->header.type = PERF_RECORD_SAMPLE;
	record->header.size = (uint16_t)(offsetof(struct sample_record, chain) +
		record->n * sizeof(record->chain[0]));
	record->pid = (uint32_t)label->pid;
	record->tid = (uint32_t)label->tid;
	record->cpu = slice->cpu[cell];
	for (uint64_t i = 0; i < count && !ret; i++) {
		record->period =
			i + 1 < count ? weight / count : weight - weight / count * (count - 1);
		record->time_ns = from_ns + step_ns * i + step_ns / 2;
		ret = writer_record(saving->writer, &record->header, (size_t)event);
		if (i % SAMPLES_AT_ONCE == 0 && atomic_load(&saving->progress->cancel))
			return -ECANCELED;
	}
	atomic_fetch_add(&saving->progress->samples, count);
	return ret;
}

static int put_comm(
	struct saving *saving, int32_t pid, int32_t tid, const char *comm, uint64_t time_ns)
{
	union synth_record record;

	synth_comm(&record, pid, tid, comm, time_ns);
	return writer_record(saving->writer, &record.header, saving->tracker);
}

static int compare_names(const void *a, const void *b)
{
	const struct name *first = a, *second = b;

	if (first->tid != second->tid)
		return first->tid < second->tid ? -1 : 1;
	return (first->label > second->label) - (first->label < second->label);
}

/* Collects the labels of a slice, each once, sorted by thread. */
static int list_names(struct saving *saving, const struct slice *slice)
{
	uint32_t kept = 0;
	int ret = 0;

	saving->n_names = 0;
	for (uint32_t i = 0; i < slice->cells && !ret; i++) {
		/* Neighbouring cells often have the same label. */
		if (saving->n_names && saving->names[saving->n_names - 1].label == slice->task[i])
			continue;
		ret = grow_room((void **)&saving->names, saving->n_names, &saving->names_room,
			sizeof(*saving->names));
		if (!ret)
			saving->names[saving->n_names++] = (struct name){slice->task[i],
				tasks_label_get(saving->source->tasks, slice->task[i])->tid};
	}
	if (saving->n_names)
		qsort(saving->names, saving->n_names, sizeof(*saving->names), compare_names);
	for (size_t i = 0; i < saving->n_names; i++)
		if (!kept || saving->names[kept - 1].label != saving->names[i].label)
			saving->names[kept++] = saving->names[i];
	saving->n_names = kept;
	return ret;
}

/* Returns the part of the slice in which a thread has this name: all of it if the thread has only
 * one. */
static void part_of(const struct saving *saving, uint32_t label, const struct slice *slice,
	uint64_t *from_ns, uint64_t *to_ns)
{
	const struct name key = {label, tasks_label_get(saving->source->tasks, label)->tid};
	const struct name *found =
		bsearch(&key, saving->names, saving->n_names, sizeof(key), compare_names);
	const struct name *end = saving->names + saving->n_names;
	uint64_t len = slice->end_ns - slice->start_ns, n = 1, at = 0;

	for (const struct name *name = found; name > saving->names && name[-1].tid == key.tid;
		name--)
		at++;
	n += at;
	for (const struct name *name = found + 1; name < end && name->tid == key.tid; name++)
		n++;
	*from_ns = slice->start_ns + len / n * at;
	*to_ns = at + 1 == n ? slice->end_ns : slice->start_ns + len / n * (at + 1);
}

/* Writes a process's own name if its first thread was never sampled. */
static int put_process_name(struct saving *saving, const struct task_label *label, uint64_t time_ns)
{
	int ret;

	if (!label->process_comm[0] || idmap_find(&saving->leaders, (uint32_t)label->pid))
		return 0;
	ret = put_comm(saving, label->pid, label->pid, label->process_comm, time_ns);
	return ret ? ret : idmap_set(&saving->leaders, (uint32_t)label->pid, one());
}

/* Writes names that changed since the slice before. */
static int put_names(struct saving *saving, const struct slice *slice)
{
	int ret = 0;

	for (size_t i = 0; i < saving->n_names && !ret; i++) {
		const struct task_label *label =
			tasks_label_get(saving->source->tasks, saving->names[i].label);
		/* Labels never move, so the address identifies the label. */
		void *mark = (void *)(uintptr_t)label;
		uint64_t from_ns, to_ns;

		if (idmap_find(&saving->told, (uint32_t)label->tid) == mark)
			continue;
		part_of(saving, saving->names[i].label, slice, &from_ns, &to_ns);
		ret = put_process_name(saving, label, from_ns);
		if (!ret)
			ret = put_comm(saving, label->pid, label->tid, label->comm, from_ns);
		if (!ret)
			ret = idmap_set(&saving->told, (uint32_t)label->tid, mark);
	}
	return ret;
}

static int put_slice(struct saving *saving, const struct slice *slice)
{
	int ret = list_names(saving, slice);

	if (!ret)
		ret = put_names(saving, slice);
	for (uint32_t i = 0; i < slice->cells && !ret; i++) {
		uint64_t from_ns, to_ns;

		part_of(saving, slice->task[i], slice, &from_ns, &to_ns);
		ret = put_cell(saving, slice, i, from_ns, to_ns);
	}
	if (!ret)
		ret = writer_round(saving->writer);
	atomic_fetch_add(&saving->progress->cells, slice->cells);
	atomic_store(&saving->progress->bytes, writer_bytes(saving->writer));
	return ret;
}

/* --- the whole --- */

static int put_kernel(const struct perf_event_header *record, void *ctx)
{
	struct saving *saving = ctx;

	return writer_record(saving->writer, record, saving->tracker);
}

static int put_build_id(
	struct saving *saving, const char *path, uint16_t mode, const uint8_t *id, uint8_t len)
{
	struct reader_build_id entry = {
		.path = (char *)(uintptr_t)path, .pid = -1, .cpumode = mode, .build_id_len = len};

	if (!len)
		return 0;
	memcpy(entry.build_id, id, len);
	return writer_build_id(saving->writer, &entry);
}

/* Writes build-ids of the kernel and the vdso; mappings carry those of files. */
static int put_machine(struct saving *saving)
{
	uint8_t id[RECORD_BUILD_ID_MAX];
	int ret;

	if (!saving->source->machine)
		return 0;
	ret = put_build_id(saving, "[kernel.kallsyms]", PERF_RECORD_MISC_KERNEL, id,
		synth_kernel_build_id(id));
	if (!ret)
		ret = put_build_id(
			saving, "[vdso]", PERF_RECORD_MISC_USER, id, synth_vdso_build_id(id));
	return ret ? ret : synth_machine(put_kernel, saving);
}

static int write_all(struct saving *saving)
{
	const struct snapshot *snapshot = saving->source->snapshot;
	int ret = put_machine(saving);

	for (size_t i = 0; i < snapshot->n && !ret; i++)
		ret = note_slice(saving, snapshot->slices[i]);
	idmap_fini(&saving->walked);
	lay_out(saving);
	if (!ret)
		ret = put_mappings(saving);
	if (!ret)
		ret = put_ksymbols(saving);
	if (!ret)
		ret = writer_synthesized(saving->writer);
	for (size_t i = 0; i < snapshot->n && !ret; i++)
		ret = put_slice(saving, snapshot->slices[i]);
	if (!ret && saving->source->kept_len)
		ret = writer_kept(saving->writer, saving->source->kept, saving->source->kept_len);
	return ret ? ret : writer_finish(saving->writer);
}

static int start(struct saving *saving, int fd, bool pipe)
{
	const struct save_source *source = saving->source;
	struct writer_event *events = calloc(source->n_events + 1, sizeof(*events));
	struct writer_config config = {
		.fd = fd,
		.pipe = pipe,
		.events = events,
		.n_events = source->n_events + 1,
		.cmdline = source->cmdline,
		.n_cmdline = source->n_cmdline,
	};
	uint64_t total = 0;
	int ret;

	for (size_t i = 0; i < source->snapshot->n; i++)
		total += source->snapshot->slices[i]->cells;
	atomic_store(&saving->progress->cells_total, total);
	for (size_t i = 0; i < STORE_EVENTS_MAX; i++)
		saving->event_of[i] = -1;
	for (size_t i = 0; i < source->n_events; i++)
		saving->event_of[source->event_ids[i]] = (int)i;
	saving->tracker = source->n_events;
	saving->n_images = images_count(source->images);
	saving->ends = calloc(saving->n_images + 1u, sizeof(*saving->ends));
	saving->bases = calloc(saving->n_images + 1u, sizeof(*saving->bases));
	if (!events || !saving->ends || !saving->bases) {
		free(events);
		return -ENOMEM;
	}
	if (source->n_events)
		memcpy(events, source->events, source->n_events * sizeof(*events));
	save_event(&events[source->n_events], "dummy:u", NULL);
	ret = writer_new(&saving->writer, &config);
	free(events);
	return ret;
}

void save_event(struct writer_event *event, const char *name, const struct perf_event_attr *like)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .sample_period = 1};

	if (like)
		attr = *like;
	else
		attr.mmap = attr.mmap2 = attr.comm = attr.task = attr.exclude_kernel = 1;
	attr.size = sizeof(attr);
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
	attr.read_format = PERF_FORMAT_ID;
	attr.sample_id_all = 1;
	attr.disabled = 1;
	attr.use_clockid = 1;
	attr.clockid = 1; /* CLOCK_MONOTONIC */
	*event = (struct writer_event){.attr = attr};
	snprintf(event->name, sizeof(event->name), "%s", name);
}

int save_write(const struct save_source *source, int fd, bool pipe, struct save_progress *progress)
{
	struct saving *saving = calloc(1, sizeof(*saving));
	int ret;

	if (!saving)
		return -ENOMEM;
	saving->source = source;
	saving->progress = progress;
	ret = start(saving, fd, pipe);
	if (!ret)
		ret = write_all(saving);
	if (saving->writer)
		atomic_store(&progress->bytes, writer_bytes(saving->writer));
	writer_free(saving->writer);
	idmap_fini(&saving->walked);
	idmap_fini(&saving->placed);
	idmap_fini(&saving->leaders);
	idmap_fini(&saving->told);
	free(saving->ends);
	free(saving->bases);
	free(saving->places);
	free(saving->names);
	free(saving);
	return ret;
}

void save_default_name(char *out, size_t size)
{
	time_t now = time(NULL);
	struct tm local;

	if (!localtime_r(&now, &local) || !strftime(out, size, "strobe-%Y%m%d-%H%M%S.data", &local))
		snprintf(out, size, "strobe.data");
}
