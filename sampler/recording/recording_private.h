/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recording_private.h - a recording while it is loaded, for recording.c, reading.c, deliver.c and feeder.c alone.
 *
 * All belongs to the loading thread, but for what is said to be guarded or the reading thread's.
 */
#ifndef SAMPLER_RECORDING_PRIVATE_H
#define SAMPLER_RECORDING_PRIVATE_H

#include "sampler/idmap.h"
#include "sampler/ingest.h"
#include "sampler/notes.h"
#include "sampler/offcpu.h"
#include "sampler/recording/chains.h"
#include "sampler/recording/order.h"
#include "sampler/recording/recording.h"
#include "sampler/recording/relay.h"
#include "sampler/recording/tracing.h"

#include <pthread.h>
#include <stdatomic.h>

#define RECORDING_CPU_WORDS (65536 / 64)

#define EVENT_NONE (-1)
#define RECORDING_OTHER_EVENTS (ENGINE_EVENTS_TOLD - 1) /* those that there was no place for */

/* Input that cannot seek is passed on through a pipe by a thread of its own, since waiting for it must end when
 * the loading is cancelled. */
struct feeder {
	pthread_t thread;
	bool has_thread;
	int in_fd, out_fd;
	int stop_fd; /* eventfd */
};

/* What is kept of an attribute, since the reader's own may move while it reads. */
struct recording_attr {
	struct reader_attr attr; /* without ids */
	int16_t event; /* EVENT_NONE, or an index of status.events, which is its id */
	bool is_span; /* its samples are stacks of switches, and not counted */
	bool tells_switch; /* the same, and counted */
	bool is_wakes; /* its samples are wake-ups that split time off the CPU; not counted */
	bool tells_wake; /* the same, and counted */
	struct fields *wake_fields; /* for tells_wake; NULL if their formats are not known */
	bool has_fields; /* or it was seen that it has none */
};

/* The reading thread: from the file to the relay, in order of time. */
struct reading {
	pthread_t thread;
	struct order *order;
	struct chains *chains;
	uint64_t published_ns;
	unsigned int since_published; /* records */
	int fatal; /* of this machine, or what the loading thread has met */
};

/* Samples that are delivered together. */
struct recording_batch {
	struct ingest_sample samples[INGEST_BATCH];
	struct record records[INGEST_BATCH]; /* theirs, which point into the pack */
	bool has_cpu[INGEST_BATCH];
	bool tells_switch[INGEST_BATCH];
	size_t n;
};

struct recording {
	struct recording_config config;
	struct reader
		*reader; /* the reading thread's while it runs; NULL while a pipe has not begun */
	struct reading reading;
	struct relay *relay;
	struct ingest ingest;
	struct recording_batch batch;
	struct notes notes;
	struct feeder feeder;
	pthread_t thread;
	bool has_thread;
	int notify_fd;
	int pipe_fd; /* what the reader of a pipe will take; -1 */
	atomic_bool cancelled;
	bool stopped_asking; /* nobody has told of changes of code when asked */

	struct engine_status status;
	struct recording_attr *attrs; /* made anew by the reading thread while nothing is given */
	size_t n_attrs, attrs_size;
	size_t n_made; /* attributes that have their events */
	struct fields *fields[ENGINE_EVENTS_TOLD]; /* by event; atomic: any thread reads */
	struct tracing *tracing; /* formats of tracepoints, as they were there */
	size_t tracing_len;
	struct idmap by_id; /* an attribute's id -> its number + 1, where samples read counters */
	size_t ids_taken; /* attributes whose ids are in by_id */
	struct idmap reads; /* a counter's value at the last sample */
	struct offcpu offcpu;
	int span_failed; /* the tap's error for a span */
	size_t span_attr; /* whose records of switches count; SIZE_MAX: there were none */
	int16_t span_events[EVENT_SPAN_PREEMPTED + 1]; /* by kind: the event + 1, or 0 */
	uint64_t folded; /* names counted as the last event */
	uint64_t maps_cut; /* processes whose mappings perf did not read completely */
	uint64_t aux_truncated, aux_partial, aux_collision; /* AUX records with these flags */
	struct reader_build_id *build_ids; /* by path; the paths are the reader's */
	size_t n_build_ids;

	uint64_t from_ns, to_ns; /* absolute, once there was a sample */
	uint64_t slice_end_ns, expire_ns;
	uint64_t last_ns; /* of a sample, in the range or not */
	/* What was lost, as the kernel told in place of what it dropped (LOST), and as perf has read it from
	 * each event's counter at the end (LOST_SAMPLES): twice the same, where there is the counter. */
	struct {
		uint64_t dropped, counted;
	} lost[ENGINE_EVENTS_TOLD + 1]; /* the last one: of no event */
	bool has_lost_counters;
	uint64_t bad; /* records, samples of no attribute */
	uint64_t cpus[RECORDING_CPU_WORDS];
	bool has_sample;

	uint64_t published_ns;

	pthread_mutex_t lock;
	struct engine_status shared; /* guarded, as are the next three */
	struct reader_status shared_reader;
	uint64_t shared_bad, shared_late;
};

/* --- deliver.c --- */

/* Keeps attributes that came since.  events: also creates missing events.  Returns 0 or -ENOMEM. */
int deliver_attrs(struct recording *recording, bool events);
/* The build-ids of the recording by path.  0 or -ENOMEM. */
int deliver_build_ids(struct recording *recording);
/* Make events' lost and lost_side_band of what records told. */
void deliver_settle_lost(struct recording *recording);
/* Of a pipe, at its end: those of images met before. */
void deliver_late_build_ids(struct recording *recording);
/* The hash of a sample's chain, which the reading thread has time for; 0: none. */
uint64_t deliver_hash(const struct recording *recording, const struct perf_event_header *header,
	const struct record_format *format);
/* Records in their turn.  0, -ENOMEM, or what the tap returned. */
int deliver_pack(struct recording *recording, const struct relay_pack *pack);

/* The event of an attribute: of several with the same name, the same one. */
int16_t deliver_event(struct recording *recording, const struct reader_attr *attr);
/* Time has come so far, of a sample or of what is like one. */
void deliver_pass_time(struct recording *recording, uint64_t time_ns);

/* --- deliver_span.c --- */

void deliver_span_init(struct recording *recording);
void deliver_span_fini(struct recording *recording);
/* An attribute that has its event: whether it is one of time off the CPU. */
void deliver_span_attr(struct recording *recording, struct recording_attr *kept);
/* A sample of a switch that was taken in, or is not to be counted: end is how its unwound chain ends.  The latter
 * returns 0 or -ENOMEM. */
void deliver_span_stack(struct recording *recording, const struct ingest_sample *sample);
int deliver_span_sample(
	struct recording *recording, const struct record *record, enum unwind_end end);
/* Takes a sample that names a thread becoming runnable. */
void deliver_span_wake(struct recording *recording, const struct recording_attr *kept,
	const struct record *record);
/* Its record. */
void deliver_switch(
	struct recording *recording, const struct order_record *from, const struct record *record);
/* What other records say of threads that are out. */
void deliver_span_task(struct recording *recording, const struct record *record);
/* Before a slice is sealed: what is out is brought up to date. */
void deliver_span_pass(struct recording *recording, uint64_t time_ns);
void deliver_span_finish(struct recording *recording);
/* True if blocked times exist without samples of wake-ups to split them. */
bool deliver_span_lacks_wakes(const struct recording *recording);

/* --- deliver_more.c --- */

/* What attributes that came since tell of samples besides.  0 or -ENOMEM. */
int deliver_more(struct recording *recording);
void deliver_more_fini(struct recording *recording);
/* A mapping came: what a jitdump tells of code that took the place of other code is to be known
 * before samples do.  Of those that are stored the times are not known any more. */
void deliver_ask_changes(struct recording *recording);

struct deliver_counted {
	size_t attr; /* whose counter it is */
	uint64_t counted;
};
/* Counter i that a sample has read; false: it counted nothing, or belongs to nobody. */
bool deliver_counter(struct recording *recording, const struct record *record, uint64_t i,
	struct deliver_counted *out);

/* --- reading.c --- */

/* Read all, in a thread of its own, into the relay. */
int reading_start(struct recording *recording); /* 0 or -errno */
void reading_join(struct recording *recording); /* after relay_take() gave NULL, or relay_stop() */

/* --- recording.c --- */

uint64_t recording_monotonic_ns(void);
/* What the reader knows, to others; the reading thread while it runs. */
void recording_publish_reader(struct recording *recording);

/* --- feeder.c --- */

/* in_fd is taken, also on failure; *out_fd, to read from, is the caller's.  0 or -errno. */
int feeder_start(struct feeder *feeder, int in_fd, int *out_fd);
void feeder_cancel(struct feeder *feeder); /* the end comes; any thread */
void feeder_stop(struct feeder *feeder); /* joins; the caller closed out_fd before */

#endif
