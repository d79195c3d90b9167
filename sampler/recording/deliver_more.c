// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * deliver_more.c - the other data of samples in a file: their fields, and the counters of a group
 * that they read.
 *
 * Loading thread.  The reading thread calls deliver_more() if attributes come between records,
 * while no records are passed on.
 */
#include "sampler/recording/recording_private.h"

#include "sampler/control/config.h"
#include "sampler/fields/fields.h"
#include "sampler/machine/tracefs.h"
#include "sampler/perfdata/synth.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>

/* Limits the memory for a file of forged counters. */
#define READS_MAX ((size_t)1 << 20)

/* --- fields --- */

/* Takes the formats of tracepoints again if they changed.  In a pipe, they may come between
 * records. */
static int take_tracing_data(struct recording *recording, bool *changed)
{
	const struct reader_info *info = reader_info(recording->reader);
	struct tracing *tracing;
	int err;

	*changed = info->tracing_data_len != recording->tracing_len;
	if (!*changed)
		return 0;
	err = tracing_new(&tracing, info->tracing_data, info->tracing_data_len);
	if (err)
		return err;
	tracing_free(recording->tracing);
	recording->tracing = tracing;
	recording->tracing_len = info->tracing_data_len;
	return 0;
}

/* Whether the tracepoint has the same number and name on this machine, such as
 * "sched:sched_switch". */
static bool is_here(const struct reader_attr *attr)
{
	char name[2 * EVENT_NAME_MAX + 2], event[EVENT_NAME_MAX];

	if (tracefs_name_of(system_dirs(), attr->attr.config, name, event))
		return false;
	strcat(strcat(name, ":"), event);
	return !strcmp(name, attr->name);
}

/* Returns the recorded kernel's build-id among those read up to here; NULL if none. */
static const struct reader_build_id *find_kernel_id(const struct recording *recording)
{
	for (size_t i = 0; i < recording->n_build_ids; i++)
		if (!strcmp(recording->build_ids[i].path, "[kernel.kallsyms]"))
			return &recording->build_ids[i];
	return NULL;
}

/* A release may be built more than once, so build-ids decide if there are any. */
static bool is_running_kernel(const struct recording *recording)
{
	const struct reader_info *info = reader_info(recording->reader);
	const struct reader_build_id *kernel = find_kernel_id(recording);
	uint8_t id[RECORD_BUILD_ID_MAX], id_len;
	struct utsname name;

	if (!info->release || !info->arch || uname(&name) || strcmp(info->release, name.release) ||
		strcmp(info->arch, name.machine) != 0)
		return false;
	id_len = kernel ? synth_kernel_build_id(id) : 0;
	return !id_len || (kernel->build_id_len == id_len && !memcmp(kernel->build_id, id, id_len));
}

/* Sets pmu to "ibs_op" for "ibs_op/cnt_ctl=1/". */
static void pmu_of(const struct reader_attr *attr, char pmu[EVENT_NAME_MAX])
{
	size_t len = strcspn(attr->name, "/");

	memcpy(pmu, attr->name, len);
	pmu[attr->name[len] ? len : 0] = '\0';
}

static int make_fields(
	struct recording *recording, const struct recording_attr *kept, struct fields **fields)
{
	const struct reader_attr *attr = &kept->attr;
	struct perf_event_attr of = attr->attr;
	const struct tracing_source *from = tracing_source(recording->tracing);
	const struct fields_source source = {
		.format = tracing_format(recording->tracing, of.config),
		.is_here = is_running_kernel(recording),
		.swapped = reader_info(recording->reader)->swapped,
		.long_bytes = from->long_bytes,
		.texts = from->texts,
		.texts_len = from->texts_len};
	char pmu[EVENT_NAME_MAX];
	int err;

	/* Raw bytes are useless without their format.  A machine with the other byte order is not
	 * this one. */
	if (of.type == PERF_TYPE_TRACEPOINT &&
		(!(of.sample_type & PERF_SAMPLE_RAW) ||
			(!source.format && (source.swapped || !is_here(attr)))))
		of.type = PERF_TYPE_SOFTWARE;
	pmu_of(attr, pmu);
	err = fields_new_from(fields, &of, source.swapped ? NULL : pmu, system_dirs(), &source);
	if (err == -EBADMSG && of.type == PERF_TYPE_TRACEPOINT) {
		of.type = PERF_TYPE_SOFTWARE;
		err = fields_new(fields, &of, NULL, NULL, NULL);
	}
	if (err)
		*fields = NULL;
	return err == -ENOMEM ? err : 0;
}

static int make_event_fields(struct recording *recording, const struct recording_attr *kept)
{
	struct fields *fields;
	int err = make_fields(recording, kept, &fields);

	if (err || !fields)
		return err;
	ingest_fields(&recording->ingest, (uint8_t)kept->event, fields);
	__atomic_store_n(&recording->fields[kept->event], fields, __ATOMIC_RELEASE);
	return 0;
}

static int make_all_fields(struct recording *recording)
{
	bool changed;
	int err = take_tracing_data(recording, &changed);

	for (size_t i = 0; i < recording->n_attrs && !err; i++) {
		struct recording_attr *kept = &recording->attrs[i];

		if (kept->tells_wake && (!kept->wake_fields || changed)) {
			fields_free(kept->wake_fields);
			err = make_fields(recording, kept, &kept->wake_fields);
		}
		if (err || recording->config.no_fields)
			continue;
		if (kept->attr.attr.mmap_data)
			tasks_keep_data(recording->ingest.tasks);
		if (kept->event == EVENT_NONE || kept->event == RECORDING_OTHER_EVENTS ||
			recording->fields[kept->event] || (kept->has_fields && !changed))
			continue;
		kept->has_fields = true;
		err = make_event_fields(recording, kept);
	}
	return err;
}

/* --- changes of code --- */

#define ASK_STEP_MS 100u
#define ASK_MAX_MS 5000u

static void wake_answerer(void *ctx)
{
	const struct recording *recording = ctx;

	eventfd_write(recording->notify_fd, 1);
}

void deliver_ask_changes(struct recording *recording)
{
	const uint32_t image = tasks_take_dump_image(recording->ingest.tasks);
	unsigned int waited = 0;

	if (!image || !recording->config.changes || recording->stopped_asking)
		return;
	while (waited < ASK_MAX_MS && !recording->cancelled &&
		changes_ask(recording->config.changes, image, wake_answerer, recording,
			ASK_STEP_MS) == -ETIME)
		waited += ASK_STEP_MS;
	recording->stopped_asking = waited >= ASK_MAX_MS;
	ingest_settle(&recording->ingest);
}

/* --- counters --- */

/* Maps ids to attributes, if samples read the counters of other events. */
static int take_ids(struct recording *recording)
{
	bool reads = false;
	int err = 0;

	for (size_t i = 0; i < recording->n_attrs && !reads; i++)
		reads = recording->attrs[i].attr.format.sample_type & PERF_SAMPLE_READ;
	for (; reads && recording->ids_taken < recording->n_attrs && !err; recording->ids_taken++) {
		const struct reader_attr *attr =
			reader_attr(recording->reader, recording->ids_taken);

		for (size_t i = 0; i < attr->n_ids && !err; i++)
			err = idmap_set(&recording->by_id, attr->ids[i],
				(void *)(uintptr_t)(recording->ids_taken + 1));
	}
	return err;
}

/* Returns the advance of a counter since it was last read.  Each task has its own values of
 * inherited counters. */
static uint64_t counted_since(struct recording *recording, const struct recording_attr *kept,
	const struct record *record, const struct record_counter *counter)
{
	uint64_t key = counter->id, before;

	if (kept->attr.attr.inherit)
		key ^= (uint64_t)record->id.tid << 32;
	/* Keeps the value plus one, since 0 means none. */
	before = (uintptr_t)idmap_find(&recording->reads, key);
	if (counter->value == UINT64_MAX || (!before && recording->reads.n >= READS_MAX) ||
		idmap_set(&recording->reads, key, (void *)(uintptr_t)(counter->value + 1)))
		return 0;
	return counter->value - (before ? before - 1 : 0);
}

bool deliver_counter(struct recording *recording, const struct record *record, uint64_t i,
	struct deliver_counted *out)
{
	struct record_counter counter;
	uintptr_t found;
	struct recording_attr *kept;

	record_counter(&record->sample.more.read, i, &counter);
	found = recording->by_id.n ? (uintptr_t)idmap_find(&recording->by_id, counter.id) : 0;
	if (!found || found > recording->n_attrs)
		return false;
	kept = &recording->attrs[found - 1];
	if (kept->event != EVENT_NONE)
		recording->status.events[kept->event].count_by_samples = false;
	out->attr = found - 1;
	out->counted = counted_since(recording, kept, record, &counter);
	return out->counted && out->counted <= INT64_MAX;
}

/* --- all --- */

int deliver_more(struct recording *recording)
{
	int err = take_ids(recording);

	return err ? err : make_all_fields(recording);
}

void deliver_more_fini(struct recording *recording)
{
	for (size_t i = 0; i < ENGINE_EVENTS_TOLD; i++)
		fields_free(recording->fields[i]);
	for (size_t i = 0; i < recording->n_attrs; i++)
		fields_free(recording->attrs[i].wake_fields);
	tracing_free(recording->tracing);
	idmap_fini(&recording->by_id);
	idmap_fini(&recording->reads);
}
