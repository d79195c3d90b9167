/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deliver.c - passes each record of a file to the store, tasks or counters.  Loading thread. */
#include "sampler/base/affix.h"
#include "sampler/base/grow.h"
#include "sampler/control/config.h"
#include "sampler/events/event.h"
#include "sampler/kernel/attr.h"
#include "sampler/kernel/call_stack.h"
#include "sampler/perfdata/told.h"
#include "sampler/recording/recording_private.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define NS_PER_S 1000000000ull
#define TIME_MAX ((uint64_t)INT64_MAX)
#define EXPIRE_NS (5 * NS_PER_S) /* then an ended thread is forgotten: all its records have come */
#define OTHER_EVENTS RECORDING_OTHER_EVENTS
#define NOBODY UINT32_MAX

/* Prefetch distances: enough to hide memory latency, few enough for the cache. */
#define AHEAD 10u
#define NEAR 5u

/* --- events --- */

static bool is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

/* Returns the cgroup that strobe record appends to an event's name.  In uprobes, "@" is no
 * cgroup. */
static const char *cgroup_of(const char *name)
{
	const char *at = strchr(name, '@');

	if (!at || at == name || !at[1] || !strncmp(name, "uprobe:", 7) ||
		!strncmp(name, "uretprobe:", 10))
		return NULL;
	return event_text(at + 1, strlen(at + 1));
}

/* Returns whether each sample alone tells its period. */
static bool has_own_periods(const struct perf_event_attr *attr)
{
	return !attr->sample_period && (attr->freq || attr->sample_type & PERF_SAMPLE_PERIOD);
}

int16_t deliver_event(struct recording *recording, const struct reader_attr *attr)
{
	struct engine_status *status = &recording->status;
	struct engine_event_status *event;

	for (size_t i = 0; i < status->n_events && i < OTHER_EVENTS; i++)
		if (!strcmp(status->events[i].name, attr->name))
			return (int16_t)i;
	if (status->n_events < OTHER_EVENTS) {
		event = &status->events[status->n_events];
		*event = (struct engine_event_status){.id = (uint8_t)status->n_events++,
			.open = true,
			.enabled = true,
			.is_clock = attr_is_clock(&attr->attr),
			.count_by_samples = true};
		memcpy(event->name, attr->name, sizeof(event->name));
		event->cgroup = cgroup_of(event->name);
		event->group = attr->group;
		event->precise = (uint8_t)attr->attr.precise_ip;
		if (attr->attr.freq)
			event->freq_hz = attr->attr.sample_freq;
		else if (!has_own_periods(&attr->attr))
			event->period = attr->attr.sample_period ? attr->attr.sample_period : 1;
		event->stack_bytes = attr->attr.sample_stack_user;
		recording->ingest.by_tables[event->id] = event->stack_bytes;
		ingest_max_stack(&recording->ingest, event->id, attr->attr.sample_max_stack);
		return (int16_t)event->id;
	}
	recording->folded++;
	event = &status->events[OTHER_EVENTS];
	if (status->n_events == OTHER_EVENTS) {
		status->n_events++;
		*event = (struct engine_event_status){.id = OTHER_EVENTS,
			.open = true,
			.enabled = true,
			.period = 1,
			.count_by_samples = true,
			.name = "(other events)"};
	}
	return OTHER_EVENTS;
}

/* Makes events at the first record that may belong to one.  In a pipe, names follow the first
 * side-band records. */
static void make_attr_events(struct recording *recording)
{
	for (; recording->n_made < recording->n_attrs; recording->n_made++) {
		struct recording_attr *kept = &recording->attrs[recording->n_made];
		const struct reader_attr *attr = reader_attr(recording->reader, recording->n_made);

		memcpy(kept->attr.name, attr->name, sizeof(kept->attr.name));
		kept->attr.group = attr->group;
		kept->is_wakes = !strcmp(kept->attr.name, EVENT_WAKEUPS);
		/* An attribute for side-band records is no event, unless it has samples.  If there
		 * are too many events, those with samples get the places. */
		if (recording->n_attrs <= OTHER_EVENTS && !is_dummy(&kept->attr.attr) &&
			!kept->is_wakes)
			kept->event = deliver_event(recording, &kept->attr);
		deliver_span_attr(recording, kept);
	}
}

/* Returns the ELF machine of the recorded code; this machine's if the recording has none. */
static uint16_t machine_of(const char *arch)
{
	struct utsname here;

	if (!arch && !uname(&here))
		arch = here.machine;
	if (!arch)
		return EM_NONE;
	return !strcmp(arch, "x86_64")	   ? EM_X86_64
		: !strcmp(arch, "aarch64") ? EM_AARCH64
					   : EM_NONE;
}

int deliver_attrs(struct recording *recording, bool events)
{
	size_t n = reader_attr_count(recording->reader);

	if (grow_items(&recording->attrs, &recording->attrs_size, n, sizeof(*recording->attrs)))
		return -ENOMEM;
	while (recording->n_attrs < n) {
		struct recording_attr *kept = &recording->attrs[recording->n_attrs];

		kept->attr = *reader_attr(recording->reader, recording->n_attrs++);
		if (kept->attr.attr.sample_stack_user > recording->status.chains.stack_bytes)
			recording->status.chains.stack_bytes = kept->attr.attr.sample_stack_user;
		kept->attr.ids = NULL;
		kept->attr.n_ids = 0;
		kept->event = EVENT_NONE;
		kept->is_span = kept->has_fields = kept->tells_switch = false;
		kept->is_wakes = kept->tells_wake = false;
		kept->wake_fields = NULL;
	}
	recording->ingest.machine = machine_of(reader_info(recording->reader)->arch);
	if (events)
		make_attr_events(recording);
	return deliver_more(recording);
}

/* Makes the event of an attribute that has samples, if it has none yet.  0 or -ENOMEM. */
static int need_event(struct recording *recording, struct recording_attr *kept)
{
	const size_t before = recording->status.n_events;

	if (kept->event != EVENT_NONE)
		return 0;
	kept->event = deliver_event(recording, &kept->attr);
	return recording->status.n_events > before ? deliver_more(recording) : 0;
}

static struct engine_event_status *event_of(
	struct recording *recording, const struct order_record *record)
{
	int16_t event = EVENT_NONE;

	if (record->has_attr && record->attr < recording->n_attrs)
		event = recording->attrs[record->attr].event;
	return event == EVENT_NONE ? NULL : &recording->status.events[event];
}

/* --- build-ids --- */

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct reader_build_id *)a)->path,
		((const struct reader_build_id *)b)->path);
}

static bool same_build_id(const struct reader_build_id *a, const struct reader_build_id *b)
{
	return a->build_id_len == b->build_id_len &&
		!memcmp(a->build_id, b->build_id, a->build_id_len);
}

/* Drops the entries of a path that two files had: the table cannot distinguish their images.  A
 * build-id of zeros matches no file, so neither image gets names from the file that now has the
 * path. */
static void drop_ambiguous(struct recording *recording)
{
	struct reader_build_id *at = recording->build_ids;
	size_t n = recording->n_build_ids, kept = 0;

	for (size_t i = 0, next; i < n; i = next) {
		bool same = true;

		for (next = i + 1; next < n && !strcmp(at[i].path, at[next].path); next++)
			same &= same_build_id(&at[i], &at[next]);
		if (!same && at[i].path[0] != '/')
			continue;
		at[kept] = at[i];
		if (!same)
			memset(at[kept].build_id, 0, sizeof(at[kept].build_id));
		kept++;
	}
	recording->n_build_ids = kept;
}

int deliver_build_ids(struct recording *recording)
{
	const struct reader_info *info = reader_info(recording->reader);

	free(recording->build_ids);
	recording->n_build_ids = 0;
	recording->build_ids =
		calloc(info->n_build_ids ? info->n_build_ids : 1, sizeof(*recording->build_ids));
	if (!recording->build_ids)
		return -ENOMEM;
	for (size_t i = 0; i < info->n_build_ids; i++) {
		const struct reader_build_id *build_id = &info->build_ids[i];
		const struct reader_told *told =
			build_id->path ? told_find(info, build_id->path) : NULL;

		/* Offsets that count from a mapping's start are no file offsets. */
		if (build_id->path && build_id->build_id_len && !(told && told->from_start))
			recording->build_ids[recording->n_build_ids++] = *build_id;
	}
	qsort(recording->build_ids, recording->n_build_ids, sizeof(*recording->build_ids), by_path);
	drop_ambiguous(recording);
	return 0;
}

static const struct reader_build_id *find_build_id(
	const struct recording *recording, const char *path)
{
	const struct reader_build_id key = {.path = (char *)(uintptr_t)path};

	if (!recording->n_build_ids)
		return NULL;
	return bsearch(&key, recording->build_ids, recording->n_build_ids,
		sizeof(*recording->build_ids), by_path);
}

/* The suffix distinguishes a deleted file from its successor at the same path. */
static const struct reader_build_id *find_image_id(
	const struct recording *recording, const struct image *image)
{
	char deleted[PATH_MAX + sizeof(IMAGE_DELETED)];

	if (!image->deleted)
		return find_build_id(recording, image->path);
	if (snprintf(deleted, sizeof(deleted), "%s" IMAGE_DELETED, image->path) >=
		(int)sizeof(deleted))
		return NULL;
	return find_build_id(recording, deleted);
}

/* The vdso of 32-bit processes lies below 4 GiB; 32-bit machines have no other. */
static const char *name_vdso(const struct recording *recording, bool narrow)
{
	const char *arch = reader_info(recording->reader)->arch;
	const bool all_narrow = arch && !strstr(arch, "64") && strcmp(arch, "s390x") != 0;

	return narrow && !all_narrow ? "[vdso32]" : "[vdso]";
}

static void set_kernel_build_id(struct recording *recording)
{
	const struct reader_build_id *found = find_build_id(recording, "[kernel.kallsyms]");

	if (found)
		images_set_build_id(recording->ingest.images, IMAGE_ID_KERNEL, found->build_id,
			found->build_id_len);
}

void deliver_late_build_ids(struct recording *recording)
{
	struct images *images = recording->ingest.images;

	set_kernel_build_id(recording);
	for (uint32_t id = IMAGE_ID_KERNEL + 1; id < images_count(images); id++) {
		const struct image *image = images_get(images, id);
		const struct reader_build_id *found = NULL;

		if (image && (image->kind == IMAGE_FILE || image->kind == IMAGE_MODULE))
			found = find_image_id(recording, image);
		else if (image && image->kind == IMAGE_VDSO)
			found = find_build_id(recording, name_vdso(recording, image->inode));
		if (found)
			images_set_build_id(images, id, found->build_id, found->build_id_len);
	}
}

/* --- mappings --- */

/* Takes perf's synthesized mappings of the kernel ("[kernel.kallsyms]_text") and its modules.
 * pgoff is the address of the symbol at the end of the name. */
static int deliver_kernel_map(struct recording *recording, const struct record_mmap *mmap)
{
	static const char kernel[] = "[kernel.kallsyms]";
	const char *name = mmap->filename;
	struct image_origin origin = {
		.pid = -1, .map_start = mmap->pgoff, .map_end = mmap->start + mmap->len};
	struct image key = {.kind = IMAGE_MODULE, .path = (char *)(uintptr_t)name};

	if (!strncmp(name, kernel, sizeof(kernel) - 1)) {
		set_kernel_build_id(recording);
		if (mmap->build_id_len)
			images_set_build_id(recording->ingest.images, IMAGE_ID_KERNEL,
				mmap->build_id, mmap->build_id_len);
		origin.stext = ends_with(name, "_stext");
		if (mmap->pgoff && (origin.stext || ends_with(name, "_text")))
			images_set_origin(recording->ingest.images, IMAGE_ID_KERNEL, &origin);
		return 0;
	}
	if ((*name != '/' && *name != '[') || !strncmp(name, "[guest.", 7))
		return 0;
	if (mmap->build_id_len) {
		memcpy(key.build_id, mmap->build_id, mmap->build_id_len);
		key.build_id_len = mmap->build_id_len;
	}
	return ingest_module(&recording->ingest, mmap->start, mmap->len, &key);
}

static int deliver_map(struct recording *recording, struct record *record)
{
	struct record_mmap *mmap = &record->mmap;
	const struct reader_build_id *found = NULL;
	char path[READER_TOLD_PATH];
	int err;

	recording->maps_cut += (record->misc & PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT) != 0;
	if (!mmap->build_id_len && mmap->filename)
		found = find_build_id(recording,
			strcmp(mmap->filename, "[vdso]")
				? mmap->filename
				: name_vdso(recording, mmap->start <= UINT32_MAX));
	if (found) {
		memcpy(mmap->build_id, found->build_id, found->build_id_len);
		mmap->build_id_len = found->build_id_len;
	}
	if (reader_info(recording->reader)->recorder && mmap->filename)
		told_map(reader_info(recording->reader), mmap, path);
	switch (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return mmap->filename ? deliver_kernel_map(recording, mmap) : 0;
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		return 0;
	default:
		err = ingest_record(&recording->ingest, record, 0);
		deliver_ask_changes(recording);
		return err;
	}
}

/* --- samples --- */

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > TIME_MAX - b ? TIME_MAX : a + b;
}

/* Starts the time range at the first sample. */
static void begin(struct recording *recording, uint64_t time_ns)
{
	const struct recording_config *config = &recording->config;

	recording->has_sample = true;
	recording->status.started_ns = time_ns;
	recording->from_ns =
		config->from_ns > TIME_MAX ? TIME_MAX : add_saturated(time_ns, config->from_ns);
	recording->to_ns = UINT64_MAX;
	if (config->to_ns && config->to_ns <= TIME_MAX)
		recording->to_ns = add_saturated(time_ns, config->to_ns);
}

void deliver_pass_time(struct recording *recording, uint64_t time_ns)
{
	struct ingest *ingest = &recording->ingest;

	if (time_ns >= recording->slice_end_ns) {
		deliver_span_pass(recording, time_ns);
		if (store_seal(ingest->store, time_ns, false))
			store_maintain(ingest->store);
		recording->slice_end_ns = time_ns - time_ns % STORE_SLICE_NS + STORE_SLICE_NS;
	}
	if (time_ns >= recording->expire_ns) {
		if (time_ns > EXPIRE_NS)
			tasks_expire(ingest->tasks, time_ns - EXPIRE_NS);
		if (time_ns > NS_PER_S)
			offcpu_expire(&recording->offcpu, time_ns - NS_PER_S);
		recording->expire_ns = time_ns + NS_PER_S;
	}
	if (time_ns > recording->last_ns)
		recording->last_ns = time_ns;
	recording->status.now_ns = recording->last_ns;
}

static void note_cpu(struct recording *recording, uint32_t cpu)
{
	uint64_t bit = 1ull << cpu % 64, *word = &recording->cpus[cpu / 64 % RECORDING_CPU_WORDS];

	if (!(*word & bit))
		recording->status.cpus++;
	*word |= bit;
}

/* Delivers the batched samples, in order. */
static int deliver_batch(struct recording *recording)
{
	struct recording_batch *batch = &recording->batch;
	size_t n = batch->n;
	int err;

	batch->n = 0;
	err = ingest_samples(&recording->ingest, batch->samples, n);
	for (size_t i = 0; i < n && !err; i++) {
		const struct ingest_sample *sample = &batch->samples[i];
		struct engine_event_status *event = &recording->status.events[sample->event];
		const struct record *record = sample->record;

		event->samples++;
		event->exact += record_is_exact(record);
		event->count += record->sample.period ? record->sample.period : 1;
		if (batch->has_cpu[i])
			note_cpu(recording, record->id.cpu);
		if (batch->tells_switch[i])
			deliver_span_stack(recording, sample);
		if (recording->config.tap)
			err = recording->config.tap(&(struct recording_sample){.record = record,
							    .event = sample->event,
							    .stack = sample->stack,
							    .label = sample->label},
				recording->config.tap_ctx);
	}
	return err;
}

/* Delivers the batch.  The record after it becomes the first of the next batch. */
static int deliver_before(struct recording *recording)
{
	struct recording_batch *batch = &recording->batch;
	struct record kept = batch->records[batch->n];
	int err = batch->n ? deliver_batch(recording) : 0;

	batch->records[0] = kept;
	return err;
}

/* Unwinds the record after the batch, from its stack copy or its hardware call stack. */
static int unwind_sample(
	struct recording *recording, const struct record_format *format, enum unwind_end *end)
{
	struct recording_batch *batch = &recording->batch;
	const struct record_id *id = &batch->records[batch->n].id;
	int err = 0;

	*end = UNWIND_UNTRIED;
	if (recording->config.no_chains)
		return 0;
	if (call_stack_in(format))
		return ingest_unwind(&recording->ingest, &batch->records[batch->n], format, end);
	if (!(format->sample_type & PERF_SAMPLE_STACK_USER))
		return 0;
	if (!tasks_is_settled(recording->ingest.tasks, (int32_t)id->pid, (int32_t)id->tid))
		err = deliver_before(recording);
	return err ? err
		   : ingest_unwind(&recording->ingest, &batch->records[batch->n], format, end);
}

/* Adds the record after the batch to it. */
static int add_to_batch(struct recording *recording, const struct order_record *from, int16_t event)
{
	struct recording_batch *batch = &recording->batch;
	const struct record_format *format = &recording->attrs[from->attr].attr.format;
	uint64_t type = format->sample_type;
	enum unwind_end end;
	int err = unwind_sample(recording, format, &end);

	if (err)
		return err;
	struct record *record = &batch->records[batch->n];
	const bool hashed = from->hint && end == UNWIND_UNTRIED;

	batch->has_cpu[batch->n] = type & PERF_SAMPLE_CPU;
	batch->tells_switch[batch->n] = recording->attrs[from->attr].tells_switch;
	batch->samples[batch->n] = (struct ingest_sample){.record = record,
		.hash = hashed ? from->hint : ingest_chain_hash(&recording->ingest, record),
		.event = (uint8_t)event,
		.end = (uint8_t)end};
	return ++batch->n == INGEST_BATCH ? deliver_batch(recording) : 0;
}

/* A sample that reads counters counts as one sample of each counter that advanced, weighted by the
 * advance, as in perf. */
static int deliver_reads(struct recording *recording, const struct order_record *from)
{
	struct recording_batch *batch = &recording->batch;
	struct record record = batch->records[batch->n];
	int err = 0;

	for (uint64_t i = 0; i < record.sample.more.read.n && !err; i++) {
		struct deliver_counted counter;
		struct recording_attr *kept;

		if (!deliver_counter(recording, &record, i, &counter))
			continue;
		kept = &recording->attrs[counter.attr];
		err = need_event(recording, kept);
		record.sample.period = counter.counted;
		batch->records[batch->n] = record;
		if (!err)
			err = add_to_batch(recording, from, kept->event);
	}
	return err;
}

static int pass_reads(struct recording *recording, const struct record *record)
{
	struct deliver_counted counter;

	for (uint64_t i = 0; i < record->sample.more.read.n; i++)
		(void)deliver_counter(recording, record, i, &counter);
	return 0;
}

/* Whether the sample has user code, by its CPU mode or its chain. */
static bool has_user_code(const struct record *record)
{
	const struct record_sample *sample = &record->sample;

	if ((record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER)
		return true;
	for (uint64_t i = 0; i + 1 < sample->chain_len; i++)
		if (sample->chain[i] == (uint64_t)PERF_CONTEXT_USER &&
			sample->chain[i + 1] < (uint64_t)PERF_CONTEXT_MAX)
			return true;
	return false;
}

static int deliver_sample(struct recording *recording, const struct order_record *from)
{
	struct recording_batch *batch = &recording->batch;
	struct record *record = &batch->records[batch->n];
	struct recording_attr *kept = &recording->attrs[from->attr];
	const struct reader_attr *attr = &kept->attr;
	uint64_t time_ns = record->id.time_ns;
	bool reads = attr->format.sample_type & PERF_SAMPLE_READ && record->sample.has_more &&
		record->sample.more.read.has_id;
	enum unwind_end end;
	int err;

	/* Times count from the first sample of an event. */
	if (kept->is_wakes && !recording->has_sample)
		return 0;
	err = kept->is_wakes ? 0 : need_event(recording, kept);
	if (err)
		return err;
	if (!(attr->format.sample_type & PERF_SAMPLE_TID))
		record->id.pid = record->id.tid = NOBODY;
	/* The idle task has no user space; tasks outside the recorder's pid namespace have pid 0
	 * too. */
	if (!record->id.pid && !tasks_has_outside(recording->ingest.tasks) && has_user_code(record))
		tasks_set_outside(recording->ingest.tasks);
	if (!(attr->format.sample_type & PERF_SAMPLE_PERIOD))
		record->sample.period = attr->attr.freq ? 1 : attr->attr.sample_period;
	if (attr->format.sample_type & PERF_SAMPLE_TIME)
		recording->has_times = true;
	else if (recording->config.from_ns || recording->config.to_ns)
		return -ETIME;
	/* A sample without a time gets the time of the last one. */
	if (!time_ns || time_ns > TIME_MAX)
		time_ns = recording->last_ns ? recording->last_ns : 1;
	record->id.time_ns = time_ns;
	if (!recording->has_sample)
		begin(recording, time_ns);
	/* Earlier samples belong to the slice that ends. */
	if (batch->n && (time_ns >= recording->slice_end_ns || time_ns >= recording->expire_ns)) {
		err = deliver_before(recording);
		if (err)
			return err;
		record = &batch->records[0];
	}
	deliver_pass_time(recording, time_ns);
	if (kept->tells_wake)
		deliver_span_wake(recording, kept, record);
	if (kept->is_wakes)
		return 0;
	if (kept->is_span) {
		err = unwind_sample(recording, &attr->format, &end);
		return err ? err : deliver_span_sample(recording, &batch->records[batch->n], end);
	}
	if (time_ns < recording->from_ns || time_ns >= recording->to_ns)
		return reads ? pass_reads(recording, record) : 0;
	if (reads)
		return deliver_reads(recording, from);
	recording->status.events[kept->event].rate_varies |= has_own_periods(&attr->attr);
	return add_to_batch(recording, from, kept->event);
}

/* --- records --- */

static int deliver_lost(
	struct recording *recording, const struct order_record *from, const struct record *record)
{
	const struct engine_event_status *event;
	size_t i;
	int err = 0;

	/* An event that lost all its samples is reported too. */
	if (from->has_attr && from->attr < recording->n_attrs && record->lost.lost &&
		!is_dummy(&recording->attrs[from->attr].attr.attr) &&
		!recording->attrs[from->attr].is_wakes)
		err = need_event(recording, &recording->attrs[from->attr]);
	event = event_of(recording, from);
	i = event ? event->id : ENGINE_EVENTS_TOLD;
	if (record->type == PERF_RECORD_LOST) {
		recording->lost[i].dropped += record->lost.lost;
		return err;
	}
	recording->lost[i].counted += record->lost.lost;
	if (from->has_attr &&
		(recording->attrs[from->attr].attr.attr.read_format & PERF_FORMAT_LOST))
		recording->has_lost_counters = true;
	return err;
}

static bool is_hardware(const struct recording *recording, uint8_t event)
{
	for (size_t i = 0; i < recording->n_attrs; i++)
		if (recording->attrs[i].event == event &&
			attr_is_hardware(&recording->attrs[i].attr.attr))
			return true;
	return false;
}

/* A clock's coverage would be a share of time, which no record has.  Samples of a group include the
 * counts of lost ones. */
static void settle_coverage(const struct recording *recording, struct engine_event_status *event)
{
	const struct recording_config *config = &recording->config;

	event->coverable = 0;
	/* No record shows how long an event was throttled, or other events had the hardware. */
	if (event->freq_hz || event->is_clock || event->group || event->span || !event->count ||
		event->throttled || !event->period || config->from_ns || config->to_ns ||
		is_hardware(recording, event->id))
		return;
	event->covered = (double)event->count;
	event->coverable = event->covered + (double)event->lost * (double)event->period;
}

void deliver_settle_lost(struct recording *recording)
{
	struct engine_status *status = &recording->status;

	for (size_t i = 0; i <= ENGINE_EVENTS_TOLD; i++) {
		uint64_t lost = recording->lost[i].counted;

		/* A LOST has the id of the event with the next record, not of the dropped ones. */
		if (!recording->has_lost_counters)
			lost += recording->lost[i].dropped;
		if (i < ENGINE_EVENTS_TOLD)
			status->events[i].lost = lost;
		else
			status->lost_side_band = lost;
	}
	for (size_t i = 0; i < status->n_events; i++)
		settle_coverage(recording, &status->events[i]);
}

/* NULL if not known. */
static const struct record_format *format_of(
	const struct recording *recording, const struct order_record *from)
{
	if (from->has_attr && from->attr < recording->n_attrs)
		return &recording->attrs[from->attr].attr.format;
	return NULL;
}

static int decode(const struct recording *recording, struct record *record,
	const struct perf_event_header *header, const struct record_format *format)
{
	int err = record_decode(record, header, format);

	if (!err && record->type == PERF_RECORD_SAMPLE && recording->config.no_chains &&
		format->sample_type & PERF_SAMPLE_IP)
		record->sample.chain_len = 0;
	return err;
}

uint64_t deliver_hash(const struct recording *recording, const struct perf_event_header *header,
	const struct record_format *format)
{
	struct record record;

	return decode(recording, &record, header, format)
		? 0
		: ingest_chain_hash(&recording->ingest, &record);
}

static int deliver_other(
	struct recording *recording, const struct order_record *from, struct record *record)
{
	struct engine_event_status *event;
	int err = 0;

	/* The record may change the meaning of batched samples.  It comes after them in the
	 * batch. */
	if (recording->batch.n)
		err = deliver_batch(recording);
	if (err)
		return err;
	deliver_span_task(recording, record);
	switch (record->type) {
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		deliver_switch(recording, from, record);
		return 0;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return deliver_map(recording, record);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return deliver_lost(recording, from, record);
	case PERF_RECORD_KSYMBOL:
		recording->status.ksymbols++;
		return ingest_record(&recording->ingest, record, 0);
	case PERF_RECORD_BPF_EVENT:
		recording->status.bpf_events++;
		return 0;
	case PERF_RECORD_AUX:
		recording->aux_truncated += (record->aux.flags & PERF_AUX_FLAG_TRUNCATED) != 0;
		recording->aux_partial += (record->aux.flags & PERF_AUX_FLAG_PARTIAL) != 0;
		recording->aux_collision += (record->aux.flags & PERF_AUX_FLAG_COLLISION) != 0;
		return 0;
	case PERF_RECORD_THROTTLE:
		event = event_of(recording, from);
		if (event)
			event->throttled++;
		return 0;
	default:
		return ingest_record(&recording->ingest, record, 0);
	}
}

static int deliver_record(struct recording *recording, const struct order_record *from)
{
	static const struct record_format nothing;
	const struct record_format *format = format_of(recording, from);
	struct record *record = &recording->batch.records[recording->batch.n];
	int err;

	if (!format && from->header->type == PERF_RECORD_SAMPLE)
		goto bad;
	if (!format)
		format = &nothing;
	err = decode(recording, record, from->header, format);
	if (err == -ENOTSUP)
		return 0;
	if (err)
		goto bad;
	if (record->type == PERF_RECORD_SAMPLE)
		err = deliver_sample(recording, from);
	else
		err = deliver_other(recording, from, record);
	return err ? err : recording->span_failed;
bad:
	recording->bad++;
	return 0;
}

/* Prefetches chain data of samples to come, in two steps. */
static void fetch_ahead(const struct stacks *stacks, const struct relay_pack *pack, size_t i)
{
	if (i + AHEAD < pack->n && pack->records[i + AHEAD].hint)
		stacks_chain_prefetch(stacks, pack->records[i + AHEAD].hint);
	if (i + NEAR < pack->n && pack->records[i + NEAR].hint)
		stacks_chain_prefetch_node(stacks, pack->records[i + NEAR].hint);
}

int deliver_pack(struct recording *recording, const struct relay_pack *pack)
{
	int err = 0;

	for (size_t i = 0; i < pack->n && !err; i++) {
		fetch_ahead(recording->ingest.stacks, pack, i);
		err = deliver_record(recording, &pack->records[i]);
	}
	if (!err && recording->batch.n)
		err = deliver_batch(recording);
	return err;
}
