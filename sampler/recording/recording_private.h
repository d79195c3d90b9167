/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recording_private.h - a recording while it is loaded; only for the recording's own files.
 *
 * The loading thread owns all data, except the fields marked as guarded or as the reading thread's.
 */
#ifndef SAMPLER_RECORDING_PRIVATE_H
#define SAMPLER_RECORDING_PRIVATE_H

#include "sampler/base/idmap.h"
#include "sampler/control/config.h"
#include "sampler/control/notes.h"
#include "sampler/control/status.h"
#include "sampler/perfdata/order.h"
#include "sampler/perfdata/tracing.h"
#include "sampler/recording/chains.h"
#include "sampler/recording/recording.h"
#include "sampler/recording/relay.h"
#include "sampler/store/ingest.h"
#include "sampler/store/offcpu.h"

#include <pthread.h>
#include <stdatomic.h>

#define RECORDING_CPU_WORDS (65536 / 64)

#define EVENT_NONE (-1)
#define RECORDING_OTHER_EVENTS (ENGINE_EVENTS_TOLD - 1) /* all events beyond the limit */

/* A thread that forwards input through a pipe, if the input cannot seek.  Waiting for such input
 * must end when the loading is cancelled. */
struct feeder {
	pthread_t thread;
	bool has_thread;
	int in_fd, out_fd;
	int stop_fd; /* eventfd */
};

/* A copy of an attribute: the reader's own may move while it reads. */
struct recording_attr {
	struct reader_attr attr; /* without ids */
	int16_t event; /* EVENT_NONE, or index in status.events, which is its id */
	bool is_span; /* its samples are stacks of switches, and not counted */
	bool tells_switch; /* its samples are stacks of switches, and counted */
	bool is_wakes; /* its samples are wake-ups that split time off the CPU; not counted */
	bool tells_wake; /* its samples are wake-ups; counted unless is_wakes */
	struct fields *wake_fields; /* for tells_wake; NULL if the format is not known */
	bool has_fields; /* fields were made, or it has none */
};

/* The reading thread: passes records from the file to the relay, in time order. */
struct reading {
	pthread_t thread;
	struct order *order;
	struct chains *chains;
	uint64_t published_ns;
	unsigned int since_published; /* records */
	int fatal; /* error of this machine, or from the loading thread */
};

/* Samples that are delivered together. */
struct recording_batch {
	struct ingest_sample samples[INGEST_BATCH];
	struct record records[INGEST_BATCH]; /* decoded samples, with pointers into the pack */
	bool has_cpu[INGEST_BATCH];
	bool tells_switch[INGEST_BATCH];
	size_t n;
};

struct recording {
	struct recording_config config;
	struct reader
		*reader; /* owned by the reading thread while it runs; NULL before a pipe begins */
	struct reading reading;
	struct relay *relay;
	struct ingest ingest;
	struct recording_batch batch;
	struct notes notes;
	struct feeder feeder;
	pthread_t thread;
	bool has_thread;
	int notify_fd;
	int pipe_fd; /* read end for the reader of a pipe; -1 if none */
	atomic_bool cancelled;
	bool stopped_asking; /* asking for changes of code timed out once */

	struct engine_status status;
	/* reallocated by the reading thread while no records are passed on */
	struct recording_attr *attrs;
	size_t n_attrs, attrs_size;
	size_t n_made; /* attributes that have their events */
	struct fields *fields[ENGINE_EVENTS_TOLD]; /* by event; atomic, any thread may read */
	struct tracing *tracing; /* formats of tracepoints, as recorded */
	size_t tracing_len;
	struct idmap by_id; /* id -> number of its attribute + 1, if samples read counters */
	size_t ids_taken; /* number of attributes with ids in by_id */
	struct idmap reads; /* counter -> value at the last sample + 1 */
	struct offcpu offcpu;
	int span_failed; /* error of the tap for a span */
	size_t span_attr; /* attribute that provides the switch records; SIZE_MAX: none yet */
	int16_t span_events[EVENT_SPAN_PREEMPTED + 1]; /* by kind: event + 1, or 0 */
	uint64_t folded; /* event names counted as the last event */
	uint64_t maps_cut; /* processes with mappings that perf did not read completely */
	uint64_t aux_truncated, aux_partial, aux_collision; /* AUX records with these flags */
	struct reader_build_id *build_ids; /* sorted by path; the reader owns the paths */
	size_t n_build_ids;

	uint64_t from_ns, to_ns; /* absolute; set at the first sample */
	uint64_t slice_end_ns, expire_ns;
	uint64_t last_ns; /* time of a sample, in the range or not */
	/* Lost records: those that the kernel reported in place of dropped ones (LOST), and each
	 * event's counter that perf read at the end (LOST_SAMPLES).  If there is a counter, both
	 * report the same losses. */
	struct {
		uint64_t dropped, counted;
	} lost[ENGINE_EVENTS_TOLD + 1]; /* the last entry: without an event */
	bool has_lost_counters;
	uint64_t bad; /* malformed records, and samples without an attribute */
	uint64_t cpus[RECORDING_CPU_WORDS];
	bool has_sample;
	bool has_times; /* a sample has its own time */

	uint64_t published_ns;

	pthread_mutex_t lock;
	struct engine_status shared; /* guarded, like the next three */
	struct reader_status shared_reader;
	uint64_t shared_bad, shared_late;
};

/* --- deliver.c --- */

/* Copies new attributes.  events: also makes missing events.  Returns 0 or -ENOMEM. */
int deliver_attrs(struct recording *recording, bool events);
/* Collects the recording's build-ids by path.  Returns 0 or -ENOMEM. */
int deliver_build_ids(struct recording *recording);
/* Computes the events' lost and lost_side_band from the records. */
void deliver_settle_lost(struct recording *recording);
/* Sets the build-ids of images that came before them in a pipe. */
void deliver_late_build_ids(struct recording *recording);
/* Returns the hash of a sample's chain, 0 if none.  Runs in the reading thread, which has time for
 * it. */
uint64_t deliver_hash(const struct recording *recording, const struct perf_event_header *header,
	const struct record_format *format);
/* Delivers the records of a pack in order.  Returns 0, -ENOMEM, or the error of the tap. */
int deliver_pack(struct recording *recording, const struct relay_pack *pack);

/* Returns the event of an attribute; attributes with equal names share it. */
int16_t deliver_event(struct recording *recording, const struct reader_attr *attr);
/* Advances the time to that of a sample or a similar record. */
void deliver_pass_time(struct recording *recording, uint64_t time_ns);

/* --- deliver_span.c --- */

void deliver_span_init(struct recording *recording);
void deliver_span_fini(struct recording *recording);
/* Notes whether the attribute, which has its event, measures time off the CPU. */
void deliver_span_attr(struct recording *recording, struct recording_attr *kept);
/* Takes the stack of a switch: from a counted sample, or from one that is not counted.  end: end of
 * its unwound chain.  deliver_span_sample() returns 0 or -ENOMEM. */
void deliver_span_stack(struct recording *recording, const struct ingest_sample *sample);
int deliver_span_sample(
	struct recording *recording, const struct record *record, enum unwind_end end);
/* Takes a sample that names a thread becoming runnable. */
void deliver_span_wake(struct recording *recording, const struct recording_attr *kept,
	const struct record *record);
/* Takes a switch record. */
void deliver_switch(
	struct recording *recording, const struct order_record *from, const struct record *record);
/* Takes other records that concern threads off the CPU. */
void deliver_span_task(struct recording *recording, const struct record *record);
/* Brings threads off the CPU up to date before a slice is sealed. */
void deliver_span_pass(struct recording *recording, uint64_t time_ns);
void deliver_span_finish(struct recording *recording);
/* True if blocked times exist without samples of wake-ups to split them. */
bool deliver_span_lacks_wakes(const struct recording *recording);

/* --- deliver_more.c --- */

/* Prepares fields and counters of the attributes added since the last call.  Returns 0 or
 * -ENOMEM. */
int deliver_more(struct recording *recording);
void deliver_more_fini(struct recording *recording);
/* Called after a mapping: waits until the changes of code in its jitdump are known, before samples
 * of that code are stored.  A stored sample has no exact time any more. */
void deliver_ask_changes(struct recording *recording);

struct deliver_counted {
	size_t attr; /* attribute of the counter */
	uint64_t counted;
};
/* Reads counter i of a sample.  Returns false if it did not advance, or has no attribute. */
bool deliver_counter(struct recording *recording, const struct record *record, uint64_t i,
	struct deliver_counted *out);

/* --- reading.c --- */

/* Starts a thread that reads all records into the relay. */
int reading_start(struct recording *recording); /* 0 or -errno */
/* after relay_take() returned NULL, or relay_stop() */
void reading_join(struct recording *recording);

/* --- recording.c --- */

/* Publishes the reader's status.  The reading thread while it runs. */
void recording_publish_reader(struct recording *recording);

/* --- feeder.c --- */

/* Takes over in_fd, also on failure.  The caller owns *out_fd, the end to read from.  Returns 0 or
 * -errno. */
int feeder_start(struct feeder *feeder, int in_fd, int *out_fd);
void feeder_cancel(struct feeder *feeder); /* ends the input; any thread */
void feeder_stop(struct feeder *feeder); /* joins; the caller must have closed out_fd before */

#endif
