/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recording.c - a recording's life cycle, its loading thread, and the data for other threads; see
 * recording.h.
 */
#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "sampler/kernel/sys.h"
#include "sampler/recording/recording_private.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PUBLISH_NS 50000000ull

/* --- the loading thread: publishing --- */

static void note(struct recording *recording, enum engine_note_kind kind, int error, uint64_t value,
	const char *text)
{
	struct engine_note note = {
		.time_ns = recording->last_ns, .kind = kind, .error = error, .value = value};

	if (text)
		snprintf(note.text, sizeof(note.text), "%s", text);
	recording->status.last_note = notes_add(&recording->notes, &note);
}

static void publish(struct recording *recording)
{
	struct engine_status *status = &recording->status;

	ingest_settle(&recording->ingest);
	deliver_settle_lost(recording);
	for (size_t i = 0; i < status->n_events; i++)
		status->events[i].chains = recording->ingest.ends[status->events[i].id];
	ingest_unwind_totals(&recording->ingest, &status->chains);
	status->pid_namespace = tasks_has_outside(recording->ingest.tasks);
	store_status(recording->ingest.store, &status->store);
	pthread_mutex_lock(&recording->lock);
	recording->shared = *status;
	recording->shared_bad = recording->bad;
	pthread_mutex_unlock(&recording->lock);
	eventfd_write(recording->notify_fd, 1);
}

static void publish_sometimes(struct recording *recording)
{
	uint64_t now_ns = sys_now_ns();

	if (now_ns - recording->published_ns < PUBLISH_NS)
		return;
	recording->published_ns = now_ns;
	publish(recording);
}

void recording_publish_reader(struct recording *recording)
{
	uint64_t late = order_late(recording->reading.order);
	struct reader_status reader;

	reader_status(recording->reader, &reader);
	pthread_mutex_lock(&recording->lock);
	recording->shared_reader = reader;
	recording->shared_late = late;
	pthread_mutex_unlock(&recording->lock);
	eventfd_write(recording->notify_fd, 1);
}

/* --- the loading thread: loading --- */

/* Loads records until the end.  *fatal: an error that the reader's status does not report, or 0. */
static void load_all(struct recording *recording, int *fatal)
{
	const struct relay_pack *pack;

	*fatal = reading_start(recording);
	if (*fatal)
		return;
	while (!*fatal && (pack = relay_take(recording->relay))) {
		*fatal = deliver_pack(recording, pack);
		publish_sometimes(recording);
	}
	if (*fatal) {
		relay_stop(recording->relay, *fatal);
		feeder_cancel(&recording->feeder);
	}
	reading_join(recording);
	if (!*fatal)
		*fatal = recording->reading.fatal;
}

static void add_count_note(struct recording *recording, enum engine_note_kind kind, uint64_t count)
{
	if (count)
		note(recording, kind, 0, count, NULL);
}

static void add_fault_notes(struct recording *recording, const struct reader_status *reader)
{
	static const enum engine_note_kind kinds[] = {
		[READER_CUT] = NOTE_FILE_TRUNCATED,
		[READER_UNREADABLE] = NOTE_FILE_ERROR,
		[READER_MISSING] = NOTE_FILE_MISSING,
	};
	uint64_t n = reader->n_faults < READER_FAULTS_MAX ? reader->n_faults : READER_FAULTS_MAX;

	for (uint64_t i = 0; i < n; i++) {
		const struct reader_fault *fault = &reader->faults[i];

		note(recording, kinds[fault->kind], fault->error, fault->offset, fault->file);
	}
	add_count_note(recording, NOTE_FILE_MORE_FAULTS, reader->n_faults - n);
}

static void add_notes(struct recording *recording)
{
	const struct engine_status *status = &recording->status;
	struct reader_status reader;

	reader_status(recording->reader, &reader);
	deliver_settle_lost(recording);
	add_fault_notes(recording, &reader);
	if (reader.features_missing)
		note(recording, NOTE_FILE_UNFINISHED, 0, 0, NULL);
	add_count_note(recording, NOTE_FILE_BAD_RECORDS, reader.bad + recording->bad);
	add_count_note(recording, NOTE_FILE_UNKNOWN_RECORDS, reader.unknown);
	add_count_note(recording, NOTE_FILE_OUT_OF_ORDER, recording->shared_late);
	add_count_note(recording, NOTE_FILE_EVENTS_FOLDED, recording->folded);
	add_count_note(recording, NOTE_FILE_MAPS_CUT, recording->maps_cut);
	add_count_note(recording, NOTE_FILE_AUX_TRUNCATED, recording->aux_truncated);
	add_count_note(recording, NOTE_FILE_AUX_PARTIAL, recording->aux_partial);
	add_count_note(recording, NOTE_FILE_AUX_COLLISION, recording->aux_collision);
	if (recording->offcpu.dropped + recording->offcpu.left_out)
		note(recording, NOTE_SPANS_DROPPED, 0,
			recording->offcpu.dropped + recording->offcpu.left_out, "off-cpu");
	if (deliver_span_lacks_wakes(recording))
		note(recording, NOTE_WAITS_SUMMED, 0, 0, "off-cpu");
	for (size_t i = 0; i < status->n_events; i++)
		if (status->events[i].lost)
			note(recording, NOTE_LOST, 0, status->events[i].lost,
				status->events[i].name);
	store_status(recording->ingest.store, &recording->status.store);
	if (recording->status.store.merges)
		note(recording, NOTE_COARSENED, 0, 0, NULL);
}

static void fail(struct recording *recording, int error)
{
	recording->status.state = ENGINE_FAILED;
	recording->status.failure =
		(struct engine_failure){.what = FAIL_SYSTEM, .error = -error, .pid = -1, .cpu = -1};
}

/* Opens a pipe in this thread, because its header may come late. */
static int open_pipe(struct recording *recording)
{
	int fd = recording->pipe_fd;

	if (fd < 0)
		return 0;
	recording->pipe_fd = -1;
	return reader_open(&recording->reader, fd);
}

/* Whether the formats that name events are in the header.  Pipes and simpleperf's files have them
 * in records. */
static bool has_formats(const struct reader_info *info)
{
	return !info->pipe && !info->recorder;
}

static void *recording_main(void *ctx)
{
	struct recording *recording = ctx;
	int fatal = open_pipe(recording);

	if (fatal)
		goto out;
	recording->status.state = ENGINE_RUNNING;
	fatal = deliver_build_ids(recording);
	if (!fatal)
		fatal = deliver_attrs(recording, has_formats(reader_info(recording->reader)));
	if (!fatal)
		publish(recording);
	if (!fatal)
		load_all(recording, &fatal);
	if (!fatal)
		fatal = deliver_attrs(recording, true);
	if (!fatal)
		fatal = deliver_build_ids(recording);
	if (!fatal)
		deliver_late_build_ids(recording);
	deliver_span_finish(recording);
	if (store_finish(recording->ingest.store, recording->last_ns))
		store_maintain(recording->ingest.store);
	add_notes(recording);
	recording->status.state = recording->cancelled ? ENGINE_STOPPED : ENGINE_ENDED;
out:
	/* Before the first bytes of a pipe there is nothing to keep. */
	if (fatal && recording->cancelled && !recording->reader)
		recording->status.state = ENGINE_STOPPED;
	else if (fatal)
		fail(recording, fatal);
	publish(recording);
	return NULL;
}

/* --- life --- */

static bool can_seek(int fd)
{
	return lseek(fd, 0, SEEK_CUR) >= 0;
}

int recording_new(struct recording **out, const struct recording_config *config)
{
	const struct tasks_reader nobody = {.recorded = true};
	struct recording *recording = calloc(1, sizeof(*recording));
	int ret = 0;

	*out = NULL;
	if (!recording) {
		close(config->fd);
		return -ENOMEM;
	}
	recording->config = *config;
	recording->feeder = (struct feeder){.in_fd = -1, .out_fd = -1, .stop_fd = -1};
	recording->pipe_fd = -1;
	pthread_mutex_init(&recording->lock, NULL);
	recording->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (can_seek(config->fd))
		ret = reader_open(&recording->reader, config->fd);
	else
		ret = feeder_start(&recording->feeder, config->fd, &recording->pipe_fd);
	if (!ret && recording->notify_fd < 0)
		ret = -EMFILE;
	if (!ret)
		ret = notes_init(&recording->notes);
	if (!ret)
		ret = ingest_init(&recording->ingest, &nobody, config->memory_bytes);
	if (!ret) {
		ingest_set_changes(&recording->ingest, config->changes);
		ingest_settle(&recording->ingest); /* changes known from an earlier reading */
	}
	if (!ret && config->unwind.find)
		ret = ingest_set_unwind(&recording->ingest, &config->unwind);
	if (!ret)
		deliver_span_init(recording);
	if (ret) {
		recording_free(recording);
		return ret;
	}
	recording->status.state = ENGINE_STARTING;
	recording->shared = recording->status;
	*out = recording;
	return 0;
}

int recording_start(struct recording *recording)
{
	sigset_t all, before;
	int ret;

	if (recording->has_thread)
		return -EALREADY;
	/* Only the front end handles signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = -pthread_create(&recording->thread, NULL, recording_main, recording);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	recording->has_thread = !ret;
	return ret;
}

void recording_cancel(struct recording *recording)
{
	atomic_store(&recording->cancelled, true);
	feeder_cancel(&recording->feeder);
}

static void join(struct recording *recording)
{
	if (recording->has_thread)
		pthread_join(recording->thread, NULL);
	recording->has_thread = false;
}

static bool is_over(struct recording *recording)
{
	enum engine_state state;

	pthread_mutex_lock(&recording->lock);
	state = recording->shared.state;
	pthread_mutex_unlock(&recording->lock);
	return state == ENGINE_ENDED || state == ENGINE_STOPPED || state == ENGINE_FAILED;
}

void recording_settle(struct recording *recording)
{
	if (!is_over(recording))
		return;
	join(recording);
	if (ingest_settle(&recording->ingest))
		publish(recording);
}

uint32_t recording_stack_at(struct recording *recording, uint32_t stack, uint64_t time_ns)
{
	return ingest_stack_at(&recording->ingest, stack, time_ns);
}

void recording_free(struct recording *recording)
{
	if (!recording)
		return;
	recording_cancel(recording);
	join(recording);
	if (recording->pipe_fd >= 0)
		close(recording->pipe_fd);
	reader_close(recording->reader);
	feeder_stop(&recording->feeder);
	deliver_span_fini(recording);
	ingest_fini(&recording->ingest);
	deliver_more_fini(recording);
	notes_fini(&recording->notes);
	if (recording->notify_fd >= 0)
		close(recording->notify_fd);
	pthread_mutex_destroy(&recording->lock);
	free(recording->attrs);
	free(recording->build_ids);
	free(recording);
}

/* --- other threads --- */

int recording_notify_fd(const struct recording *recording)
{
	return recording->notify_fd;
}

void recording_status(struct recording *recording, struct engine_status *out)
{
	pthread_mutex_lock(&recording->lock);
	*out = recording->shared;
	out->unknown_records = recording->shared_reader.unknown;
	out->attaching_done = recording->shared_reader.bytes_read;
	out->attaching_total = recording->shared_reader.bytes_total;
	pthread_mutex_unlock(&recording->lock);
}

size_t recording_notes(
	struct recording *recording, uint64_t after, struct engine_note *out, size_t max)
{
	return notes_read(&recording->notes, after, out, max);
}

void recording_reader_status(struct recording *recording, struct reader_status *out)
{
	pthread_mutex_lock(&recording->lock);
	*out = recording->shared_reader;
	out->bad += recording->shared_bad;
	pthread_mutex_unlock(&recording->lock);
}

uint64_t recording_out_of_order(struct recording *recording)
{
	uint64_t late;

	pthread_mutex_lock(&recording->lock);
	late = recording->shared_late;
	pthread_mutex_unlock(&recording->lock);
	return late;
}

const struct reader_info *recording_info(const struct recording *recording)
{
	static const struct reader_info nothing;

	return recording->reader ? reader_info(recording->reader) : &nothing;
}

size_t recording_attr_count(const struct recording *recording)
{
	return recording->reader ? reader_attr_count(recording->reader) : 0;
}

const struct reader_attr *recording_attr(const struct recording *recording, size_t i)
{
	return reader_attr(recording->reader, i);
}

bool recording_has_times(const struct recording *recording)
{
	return recording->has_times || !recording->has_sample;
}

uint8_t recording_event_of(const struct recording *recording, size_t attr)
{
	if (attr >= recording->n_attrs || recording->attrs[attr].event == EVENT_NONE)
		return RECORDING_NO_EVENT;
	return (uint8_t)recording->attrs[attr].event;
}

const struct fields *recording_fields(struct recording *recording, uint8_t event)
{
	if (event >= ENGINE_EVENTS_TOLD)
		return NULL;
	return __atomic_load_n(&recording->fields[event], __ATOMIC_ACQUIRE);
}

const struct values *recording_values(const struct recording *recording)
{
	return recording->ingest.values;
}

struct store *recording_store(struct recording *recording)
{
	return recording->ingest.store;
}

const struct stacks *recording_stacks(const struct recording *recording)
{
	return recording->ingest.stacks;
}

const struct tasks *recording_tasks(const struct recording *recording)
{
	return recording->ingest.tasks;
}

struct images *recording_images(struct recording *recording)
{
	return recording->ingest.images;
}
