/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorder.c - writes an engine's records to a file in a thread of its own; see recorder.h.
 *
 * Lock: one mutex guards the owner of each buffer, counts and flags.  The sampling thread fills the
 * open buffer without it; the writing thread reads the other one without it.
 */
#include "sampler/recording/recorder.h"

#include "sampler/control/config.h"
#include "sampler/control/status.h"
#include "sampler/kernel/sys.h"
#include "sampler/perfdata/synth.h"
#include "sampler/perfdata/tracing.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)8 << 20)
/* A partly filled buffer is written this often, with a mark that a round has ended. */
#define ROUND_NS 100000000ull
#define EVENT_ROUND (SIZE_MAX - 1)

struct buffer {
	uint8_t *at;
	size_t len;
	bool full; /* owned by the writing thread */
};

/* Precedes each record in a buffer; a round has an entry without a record. */
struct entry {
	uint64_t event; /* event of the file, ENGINE_TAP_TRACKER or EVENT_ROUND */
};

struct recorder {
	int fd, error_fd;
	bool pipe, compress;
	char **cmdline;
	size_t n_cmdline, buffer_bytes;
	bool has_thread;
	pthread_t thread;

	/* Owned by the sampling thread. */
	unsigned int filling;
	uint64_t last_round_ns;
	uint64_t dropped[ENGINE_EVENTS_MAX];

	const void *kept; /* for recorder_finish() */
	size_t kept_len;

	/* Owned by the writing thread, then by recorder_finish(). */
	struct writer *writer;
	size_t tracker;

	pthread_mutex_t lock;
	pthread_cond_t changed; /* a change of any field below */
	struct buffer buffers[2]; /* only `full` is guarded */
	struct writer_event *events;
	size_t n_events;
	bool begun, quit, gave_up;
	int error;
	struct recorder_status shared;
};

/* --- the writing thread --- */

static int put_synthesized(const struct perf_event_header *record, void *ctx)
{
	struct recorder *recorder = ctx;

	return writer_record(recorder->writer, record, recorder->tracker);
}

/* Writes the kernel's build-id at the start of a pipe.  At the end it would be too late for the
 * kernel's first names. */
static int put_kernel_build_id(struct recorder *recorder)
{
	struct reader_build_id kernel = {.path = (char[]){"[kernel.kallsyms]"},
		.pid = -1,
		.cpumode = PERF_RECORD_MISC_KERNEL};

	kernel.build_id_len = synth_kernel_build_id(kernel.build_id);
	return kernel.build_id_len ? writer_build_id(recorder->writer, &kernel) : 0;
}

/* Collects the formats of tracepoints.  perf requires them even for group members that only
 * count. */
static int describe_tracepoints(const struct recorder *recorder, struct writer_config *config)
{
	uint64_t ids[ENGINE_EVENTS_MAX + 1];
	size_t n = 0, len;
	void *bytes;
	int ret;

	for (size_t i = 0; i < recorder->n_events && n < ENGINE_EVENTS_MAX; i++) {
		const struct perf_event_attr *attr = &recorder->events[i].attr;

		if (attr->type == PERF_TYPE_TRACEPOINT)
			ids[n++] = attr->config;
	}
	if (!n)
		return 0;
	ret = tracing_make(system_dirs(), ids, n, &bytes, &len);
	config->tracing_data = bytes;
	config->tracing_data_len = len;
	return ret;
}

static int begin_file(struct recorder *recorder)
{
	struct writer_config config = {
		.fd = recorder->fd,
		.pipe = recorder->pipe,
		.compress = recorder->compress,
		.events = recorder->events,
		.n_events = recorder->n_events,
		.cmdline = recorder->cmdline,
		.n_cmdline = recorder->n_cmdline,
	};
	int ret = describe_tracepoints(recorder, &config);

	if (!ret)
		ret = writer_new(&recorder->writer, &config);
	free((void *)(uintptr_t)config.tracing_data);

	recorder->tracker = recorder->n_events - 1;
	if (!ret && recorder->pipe)
		ret = put_kernel_build_id(recorder);
	if (!ret)
		ret = synth_machine(put_synthesized, recorder);
	if (!ret)
		ret = writer_synthesized(recorder->writer);
	return ret;
}

static int write_entry(struct recorder *recorder, uint64_t event, const uint8_t *at, size_t *len,
	uint64_t *samples)
{
	const struct perf_event_header *header = (const void *)at;
	int ret;

	*len = 0;
	if (event == EVENT_ROUND)
		return writer_round(recorder->writer);
	*len = header->size;
	*samples += header->type == PERF_RECORD_SAMPLE;
	ret = writer_record(recorder->writer, header,
		event == ENGINE_TAP_TRACKER ? recorder->tracker : (size_t)event);
	return ret == -EBADMSG ? 0 : ret; /* a record type without a place for an id */
}

/* Writes a buffer.  Adds its samples to *samples once they are written. */
static int write_buffer(struct recorder *recorder, const struct buffer *buffer, uint64_t *samples)
{
	uint64_t passed = 0;
	size_t at = 0, len;
	int ret = recorder->writer ? 0 : begin_file(recorder);

	while (at < buffer->len && !ret) {
		struct entry entry;

		memcpy(&entry, buffer->at + at, sizeof(entry));
		at += sizeof(entry);
		ret = write_entry(recorder, entry.event, buffer->at + at, &len, &passed);
		at += len;
	}
	if (!ret)
		ret = writer_flush(recorder->writer);
	if (!ret)
		*samples += passed;
	return ret;
}

/* Returns the next buffer to write, in the order of filling; NULL at the end. */
static struct buffer *next_full(struct recorder *recorder, unsigned int next)
{
	while (!recorder->buffers[next].full && !recorder->quit)
		pthread_cond_wait(&recorder->changed, &recorder->lock);
	return recorder->buffers[next].full ? &recorder->buffers[next] : NULL;
}

static void *write_main(void *arg)
{
	struct recorder *recorder = arg;
	struct buffer *buffer;

	pthread_mutex_lock(&recorder->lock);
	for (unsigned int next = 0; (buffer = next_full(recorder, next)); next ^= 1) {
		int ret = recorder->error;
		uint64_t samples = 0;

		if (!ret) {
			pthread_mutex_unlock(&recorder->lock);
			ret = write_buffer(recorder, buffer, &samples);
			pthread_mutex_lock(&recorder->lock);
		}
		recorder->shared.samples += samples;
		if (ret && !recorder->error) {
			recorder->error = ret;
			(void)!eventfd_write(recorder->error_fd, 1);
		}
		if (recorder->writer)
			recorder->shared.bytes = writer_bytes(recorder->writer);
		buffer->len = 0;
		buffer->full = false;
		pthread_cond_broadcast(&recorder->changed);
	}
	pthread_mutex_unlock(&recorder->lock);
	return NULL;
}

/* --- the sampling thread --- */

static int start_thread(struct recorder *recorder)
{
	int ret = -pthread_create(&recorder->thread, NULL, write_main, recorder);

	recorder->has_thread = !ret;
	return ret;
}

static void tap_begin(const struct event_spec *specs, size_t n, void *ctx)
{
	struct recorder *recorder = ctx;
	struct writer_event *events = calloc(n, sizeof(*events));
	int ret = events ? 0 : -ENOMEM;

	for (size_t i = 0; events && i < n; i++) {
		events[i].attr = specs[i].attr;
		events[i].group = specs[i].group;
		memcpy(events[i].name, specs[i].name, sizeof(events[i].name));
	}
	pthread_mutex_lock(&recorder->lock);
	recorder->events = events;
	recorder->n_events = n;
	if (!ret)
		ret = start_thread(recorder);
	recorder->begun = !ret;
	if (ret) {
		recorder->error = ret;
		(void)!eventfd_write(recorder->error_fd, 1);
	}
	pthread_mutex_unlock(&recorder->lock);
}

/* Hands the filled buffer to the writing thread.  With wait, it first waits until the other buffer
 * is free. */
static bool hand_over(struct recorder *recorder, bool wait)
{
	struct buffer *buffer = &recorder->buffers[recorder->filling];
	struct buffer *other = &recorder->buffers[recorder->filling ^ 1];
	bool done = false;

	pthread_mutex_lock(&recorder->lock);
	while (wait && other->full && !recorder->gave_up && recorder->begun)
		pthread_cond_wait(&recorder->changed, &recorder->lock);
	if (!other->full && recorder->begun) {
		buffer->full = true;
		recorder->filling ^= 1;
		pthread_cond_broadcast(&recorder->changed);
		done = true;
	}
	pthread_mutex_unlock(&recorder->lock);
	return done;
}

/* Clears the kernel's build-id bit, which another profiler may have set: see
 * record_format.no_build_ids. */
static void drop_build_id_bit(uint8_t *at)
{
	struct perf_event_header header;

	memcpy(&header, at, sizeof(header));
	if (header.type == PERF_RECORD_MMAP2)
		header.misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	memcpy(at, &header, sizeof(header));
}

static bool put(struct recorder *recorder, const struct perf_event_header *record, size_t event,
	bool from_kernel)
{
	struct buffer *buffer = &recorder->buffers[recorder->filling];
	const struct entry entry = {event};
	size_t len = sizeof(entry) + (record ? record->size : 0u);

	if (record && (record->size % 8 || record->size < sizeof(*record)))
		return false;
	if (buffer->len + len > recorder->buffer_bytes) {
		if (!hand_over(recorder, true))
			return false;
		buffer = &recorder->buffers[recorder->filling];
	}
	memcpy(buffer->at + buffer->len, &entry, sizeof(entry));
	if (record)
		memcpy(buffer->at + buffer->len + sizeof(entry), record, record->size);
	if (record && from_kernel)
		drop_build_id_bit(buffer->at + buffer->len + sizeof(entry));
	buffer->len += len;
	return true;
}

static void tap_record(const struct perf_event_header *record, size_t event, void *ctx)
{
	struct recorder *recorder = ctx;

	if (!put(recorder, record, event, true) && record->type == PERF_RECORD_SAMPLE)
		recorder->dropped[event]++;
}

static void tap_mapping(int32_t pid, const struct record_mmap *mmap, uint64_t time_ns, void *ctx)
{
	union synth_record record;

	synth_mapping(&record, pid, mmap, time_ns);
	(void)put(ctx, &record.header, ENGINE_TAP_TRACKER, false);
}

static void tap_comm(int32_t pid, int32_t tid, const char *comm, uint64_t time_ns, void *ctx)
{
	union synth_record record;

	synth_comm(&record, pid, tid, comm, time_ns);
	(void)put(ctx, &record.header, ENGINE_TAP_TRACKER, false);
}

static void tap_round(void *ctx)
{
	struct recorder *recorder = ctx;
	uint64_t now_ns = sys_now_ns();

	if (now_ns - recorder->last_round_ns < ROUND_NS)
		return;
	recorder->last_round_ns = now_ns;
	if (recorder->buffers[recorder->filling].len)
		(void)put(recorder, NULL, EVENT_ROUND, false);
	(void)hand_over(recorder, false);
}

void recorder_tap(struct recorder *recorder, struct engine_tap *out)
{
	*out = (struct engine_tap){
		.begin = tap_begin,
		.record = tap_record,
		.mapping = tap_mapping,
		.comm = tap_comm,
		.round = tap_round,
		.ctx = recorder,
	};
}

/* --- others --- */

static int copy_cmdline(struct recorder *recorder, const struct recorder_config *config)
{
	recorder->cmdline = calloc(config->n_cmdline + 1, sizeof(*recorder->cmdline));
	if (!recorder->cmdline)
		return -ENOMEM;
	for (size_t i = 0; i < config->n_cmdline; i++) {
		recorder->cmdline[i] = strdup(config->cmdline[i]);
		if (!recorder->cmdline[i])
			return -ENOMEM;
		recorder->n_cmdline++;
	}
	return 0;
}

int recorder_new(struct recorder **out, const struct recorder_config *config)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int ret;

	*out = NULL;
	if (!recorder)
		return -ENOMEM;
	pthread_mutex_init(&recorder->lock, NULL);
	pthread_cond_init(&recorder->changed, NULL);
	recorder->fd = config->fd;
	recorder->pipe = config->pipe;
	recorder->compress = config->compress;
	recorder->buffer_bytes = config->buffer_bytes ? config->buffer_bytes : BUFFER_BYTES;
	recorder->buffers[0].at = malloc(recorder->buffer_bytes);
	recorder->buffers[1].at = malloc(recorder->buffer_bytes);
	recorder->error_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = recorder->error_fd < 0 ? -errno : 0;
	if (!recorder->buffers[0].at || !recorder->buffers[1].at)
		ret = -ENOMEM;
	if (!ret)
		ret = copy_cmdline(recorder, config);
	if (ret)
		recorder_free(recorder);
	else
		*out = recorder;
	return ret;
}

static void stop_thread(struct recorder *recorder)
{
	if (!recorder->has_thread)
		return;
	pthread_mutex_lock(&recorder->lock);
	recorder->quit = true;
	pthread_cond_broadcast(&recorder->changed);
	pthread_mutex_unlock(&recorder->lock);
	pthread_join(recorder->thread, NULL);
	recorder->has_thread = false;
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	stop_thread(recorder);
	writer_free(recorder->writer);
	for (size_t i = 0; i < recorder->n_cmdline; i++)
		free(recorder->cmdline[i]);
	free(recorder->cmdline);
	free(recorder->events);
	free(recorder->buffers[0].at);
	free(recorder->buffers[1].at);
	if (recorder->error_fd >= 0)
		close(recorder->error_fd);
	pthread_cond_destroy(&recorder->changed);
	pthread_mutex_destroy(&recorder->lock);
	free(recorder);
}

int recorder_fd(const struct recorder *recorder)
{
	return recorder->error_fd;
}

void recorder_status(struct recorder *recorder, struct recorder_status *out)
{
	pthread_mutex_lock(&recorder->lock);
	*out = recorder->shared;
	out->error = recorder->error;
	out->begun = recorder->begun;
	pthread_mutex_unlock(&recorder->lock);
}

void recorder_give_up(struct recorder *recorder)
{
	pthread_mutex_lock(&recorder->lock);
	recorder->gave_up = true;
	pthread_cond_broadcast(&recorder->changed);
	pthread_mutex_unlock(&recorder->lock);
}

static uint64_t lost_of(const struct engine_status *status, const char *name)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < status->n_events; i++)
		if (!strcmp(status->events[i].name, name))
			lost += status->events[i].lost + status->events[i].held_back;
	return lost;
}

/* Writes each event's lost and held-back samples; the format has one number for both. */
static int write_lost(struct recorder *recorder, const struct engine_status *status)
{
	union synth_record record;
	int ret = 0;

	for (size_t i = 0; i < recorder->tracker && !ret; i++) {
		uint64_t lost = lost_of(status, recorder->events[i].name) + recorder->dropped[i];

		if (!lost)
			continue;
		synth_lost_samples(&record, lost, status->now_ns);
		ret = writer_record(recorder->writer, &record.header, i);
	}
	if (status->lost_side_band && !ret) {
		synth_lost(&record, status->lost_side_band, status->now_ns);
		ret = put_synthesized(&record.header, recorder);
	}
	return ret;
}

void recorder_keep(struct recorder *recorder, const void *bytes, size_t len)
{
	recorder->kept = bytes;
	recorder->kept_len = len;
}

int recorder_finish(struct recorder *recorder, const struct engine_status *status,
	const struct reader_build_id *build_ids, size_t n_build_ids)
{
	struct buffer *last;
	uint64_t samples = 0;
	int ret, finished;

	stop_thread(recorder);
	if (!recorder->begun)
		return recorder->error ? recorder->error : -ENODATA;
	ret = recorder->error;
	last = &recorder->buffers[recorder->filling];
	if (!ret)
		ret = write_buffer(recorder, last, &samples);
	last->len = 0;
	if (!ret)
		ret = write_lost(recorder, status);
	for (size_t i = 0; i < n_build_ids && recorder->writer; i++)
		(void)writer_build_id(recorder->writer, &build_ids[i]);
	if (!ret)
		ret = writer_round(recorder->writer);
	if (!ret && recorder->kept_len)
		ret = writer_kept(recorder->writer, recorder->kept, recorder->kept_len);
	if (recorder->writer) {
		finished = writer_finish(recorder->writer);
		if (!ret)
			ret = finished;
		recorder->shared.bytes = writer_bytes(recorder->writer);
	}
	recorder->shared.samples += samples;
	for (size_t i = 0; i < ENGINE_EVENTS_MAX; i++)
		recorder->shared.dropped += recorder->dropped[i];
	recorder->error = ret;
	return ret;
}
