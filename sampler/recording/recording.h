/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recording.h - a perf.data file being loaded into a store: what engine.h is for a live target.
 *
 * One loading thread reads the file, puts its records in order of time, and feeds ingest.h; it plays the part of the sampling thread.
 * Every other function may be called from any one other thread and never blocks.  The same stacks, tasks,
 * images and store come out as from the engine, and the same struct engine_status, so that reports and
 * views need not know which it was.  Times are those of the file (its clock starts anywhere).
 */
#ifndef SAMPLER_RECORDING_RECORDING_H
#define SAMPLER_RECORDING_RECORDING_H

#include "sampler/engine.h"
#include "sampler/recording/reader.h"

struct recording;

/* Sees each sample in order of time, in the loading thread, as it goes into the store. */
struct recording_sample {
	const struct record *record; /* valid during the call */
	uint8_t event; /* of engine_status.events */
	uint32_t stack, label; /* stacks.h, tasks.h: held while the call lasts */
	bool is_span; /* time off the CPU: a record has ids, last ns, and length as period */
};
typedef int recording_tap(const struct recording_sample *sample, void *ctx);

struct recording_config {
	int fd; /* open at the beginning of the recording; taken, also on failure */
	size_t memory_bytes; /* the store's budget */
	uint64_t from_ns,
		to_ns; /* samples in [from, to) after the first one alone are taken; to 0: all */
	bool no_fields; /* fields of samples are not kept */
	bool no_chains; /* samples are as if they had been taken without chains, where they tell their address */
	struct unwind_source unwind; /* find may wait, as it does not while sampling; NULL: none */
	struct changes *changes; /* borrowed; NULL: no code takes another's place */
	recording_tap *tap; /* or NULL; nonzero ends the loading with that error */
	void *tap_ctx;
};

/* Reads the header and the attributes.  0 or an error of reader_open().  Of what cannot seek nothing is read yet,
 * since it may not have come: an error of reader_open() makes the state FAILED then. */
int recording_new(struct recording **out, const struct recording_config *config);
int recording_start(struct recording *recording);
void recording_cancel(struct recording *recording); /* what was read so far stays */
void recording_free(struct recording *recording); /* cancels, joins; NULL is a no-op */

/* Readable (eventfd, the caller reads it) when there is more, a note was added, or loading ended. */
int recording_notify_fd(const struct recording *recording);

/* state: STARTING, RUNNING (loading), ENDED (read to the end), STOPPED (cancelled), FAILED.
 * started_ns and now_ns are the times of the first and the latest sample, in the range or not.
 * attaching_done and attaching_total are bytes read and bytes in all (0: not known).  count is
 * the sum of the samples' weights.  There are no clocks, so coverage is known only for events with
 * a fixed period, and for the whole file.  lost and throttled cover the whole file.  Of a file with
 * ENGINE_EVENTS_TOLD events or more only those with samples are told, in the order of their first
 * ones; from that number on they are counted as one. */
void recording_status(struct recording *recording, struct engine_status *out);

/* Notes such as engine_notes(): NOTE_FILE_* of engine.h. */
size_t recording_notes(
	struct recording *recording, uint64_t after, struct engine_note *out, size_t max);

/* Counts by record type, what was skipped, and where it was cut. */
void recording_reader_status(struct recording *recording, struct reader_status *out);
uint64_t recording_out_of_order(
	struct recording *recording); /* records older than what had been given out already */

/* Take over what was told of changes of code; while loading, that is the loading thread's work. */
void recording_settle(struct recording *recording);

/* After the end of loading only (state ENDED, STOPPED or FAILED). */
/* The stack that a sample has by what is known of its code now; the thread that settles. */
uint32_t recording_stack_at(struct recording *recording, uint32_t stack, uint64_t time_ns);
const struct reader_info *recording_info(const struct recording *recording);
size_t recording_attr_count(const struct recording *recording);
const struct reader_attr *recording_attr(const struct recording *recording, size_t i);
/* The event id of an attribute: several attributes of one name are one event.  One that only carries side-band
 * records, and has no samples, is none. */
#define RECORDING_NO_EVENT UINT8_MAX
uint8_t recording_event_of(const struct recording *recording, size_t attr);

/* The fields of an event's samples; NULL: it has none.  Immutable, good as long as the recording. */
const struct fields *recording_fields(struct recording *recording, uint8_t event);
const struct values *recording_values(const struct recording *recording);
struct store *recording_store(struct recording *recording);
const struct stacks *recording_stacks(const struct recording *recording);
const struct tasks *recording_tasks(const struct recording *recording);
struct images *recording_images(struct recording *recording);

#endif
