/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recording.h - loads a perf.data file into a store: the counterpart of engine.h for recordings.
 *
 * A reading thread reads the file and sorts its records by time.  The loading thread feeds them to
 * ingest.h, in the role of the sampling thread.  Any one other thread may call every other
 * function; none blocks.
 *
 * The stacks, tasks, images, store and struct engine_status are the same as from the engine, so
 * reports and views need not distinguish the two.  Times are those of the file; its clock has any
 * start.
 */
#ifndef SAMPLER_RECORDING_RECORDING_H
#define SAMPLER_RECORDING_RECORDING_H

#include "sampler/perfdata/reader.h"
#include "sampler/store/unwind.h"

struct changes;
struct engine_note;
struct engine_status;
struct fields; /* fields.h */
struct images;
struct recording;
struct stacks;
struct store;
struct tasks;
struct values; /* values.h */

/* A sample on its way into the store.  The tap receives each one in time order, in the loading
 * thread. */
struct recording_sample {
	const struct record *record; /* valid only during the call */
	uint8_t event; /* index of engine_status.events */
	uint32_t stack, label; /* stacks.h, tasks.h: references held during the call */
	bool is_span; /* time off the CPU: record has ids, last ns, and the length as period */
};
typedef int recording_tap(const struct recording_sample *sample, void *ctx);

struct recording_config {
	int fd; /* at the beginning of the recording; taken over, also on failure */
	size_t memory_bytes; /* budget of the store */
	/* ns after the first sample: only samples in [from, to) are taken; to 0: no end.  A sample
	 * without a time then ends the loading with -ETIME. */
	uint64_t from_ns, to_ns;
	bool no_fields; /* do not keep fields of samples */
	bool no_chains; /* drop the chains of samples that have an address */
	struct unwind_source unwind; /* unlike in live sampling, find may wait; NULL if none */
	struct changes *changes; /* borrowed; NULL: no code replaces other code */
	recording_tap *tap; /* or NULL; a nonzero return ends the loading with that error */
	void *tap_ctx;
};

/* Reads the header and the attributes.  Returns 0 or an error of reader_open().  From input that
 * cannot seek it reads nothing yet, to avoid waiting.  An error of reader_open() then makes the
 * state FAILED later. */
int recording_new(struct recording **out, const struct recording_config *config);
int recording_start(struct recording *recording);
void recording_cancel(struct recording *recording); /* keeps the records read so far */
void recording_free(struct recording *recording); /* cancels, joins; NULL is a no-op */

/* Returns an eventfd that is readable after new data, a new note, or the end of loading.  The
 * caller reads it. */
int recording_notify_fd(const struct recording *recording);

/* Returns the status.  state: STARTING, RUNNING (loading), ENDED (read to the end), STOPPED
 * (cancelled), FAILED.
 *
 * started_ns and now_ns are the times of the first and the latest sample, in the range or not.
 * attaching_done and attaching_total are bytes read and total bytes (0: not known).  count is the
 * sum of the samples' weights: the value of the counter only if samples read it.  There are no
 * clocks, so coverage is known only for events with a fixed period, and for the whole file.  lost
 * and throttled cover the whole file.
 *
 * If a file has ENGINE_EVENTS_TOLD events or more, only those with samples are reported, in the
 * order of their first samples.  From that number on, they are counted as one event. */
void recording_status(struct recording *recording, struct engine_status *out);

/* Like engine_notes(), with the NOTE_FILE_* kinds of note.h. */
size_t recording_notes(
	struct recording *recording, uint64_t after, struct engine_note *out, size_t max);

/* Returns counts by record type, skipped records, and the place of a cut. */
void recording_reader_status(struct recording *recording, struct reader_status *out);
uint64_t recording_out_of_order(
	struct recording *recording); /* records that came after a later one had been passed on */

/* Applies known changes of code.  While loading, the loading thread does that. */
void recording_settle(struct recording *recording);

/* Only after the end of loading (state ENDED, STOPPED or FAILED): */
/* Returns the stack of a sample by the present knowledge of its code.  Only in the thread that
 * calls recording_settle(). */
uint32_t recording_stack_at(struct recording *recording, uint32_t stack, uint64_t time_ns);
const struct reader_info *recording_info(const struct recording *recording);
size_t recording_attr_count(const struct recording *recording);
const struct reader_attr *recording_attr(const struct recording *recording, size_t i);
/* Returns the event id of an attribute.  Attributes with equal names are one event.  An attribute
 * that only carries side-band records, without samples, has RECORDING_NO_EVENT. */
#define RECORDING_NO_EVENT UINT8_MAX
uint8_t recording_event_of(const struct recording *recording, size_t attr);

/* Returns false if there are samples, and none has a time. */
bool recording_has_times(const struct recording *recording);

/* Returns the fields of an event's samples; NULL if none.  Immutable; valid as long as the
 * recording. */
const struct fields *recording_fields(struct recording *recording, uint8_t event);
const struct values *recording_values(const struct recording *recording);
struct store *recording_store(struct recording *recording);
const struct stacks *recording_stacks(const struct recording *recording);
const struct tasks *recording_tasks(const struct recording *recording);
struct images *recording_images(struct recording *recording);

#endif
