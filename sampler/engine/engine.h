/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * engine.h - the sampling engine: opens events on targets, drains their rings, fills the store.
 *
 * One sampling thread per engine does all the work after engine_start().  One other thread at a
 * time may call the other functions; they never block on the sampling thread's work.  Commands are
 * executed in order; status and notes report their results.
 *
 * A point is a task or CPU on which events are opened.  Each point has a tracker: an always-enabled
 * dummy event.  The tracker owns the ring, carries side-band records, and is the clock for
 * measuring coverage.  Each chosen event has one sampling event per point, with output to the
 * tracker's ring.  Clocks and events with a frequency run on credit: PERF_EVENT_IOC_REFRESH.
 */
#ifndef SAMPLER_ENGINE_ENGINE_H
#define SAMPLER_ENGINE_ENGINE_H

#include "sampler/control/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct engine_note;
struct engine_status;
struct event_spec;
struct fields; /* fields.h */
struct images;
struct stacks;
struct store;
struct tasks;
struct values; /* values.h */

/* Checks and copies the configuration; opens no event.  Returns 0, -EINVAL or -ENOMEM. */
int engine_new(struct engine **out, const struct engine_config *config);

/* Starts the sampling thread, which opens all events; engine_status() reports the result. */
int engine_start(struct engine *engine);

/* Stops, joins and frees; does not kill a command.  NULL is a no-op.  Release snapshots first. */
void engine_free(struct engine *engine);

/* Returns an eventfd, which the caller reads.  It is readable after a slice was sealed, a note was
 * added or the state changed. */
int engine_notify_fd(const struct engine *engine);

void engine_status(struct engine *engine, struct engine_status *out);

/* Copies up to max notes with a serial above `after`, oldest first; returns their number.  The last
 * 1,000 notes are kept. */
size_t engine_notes(struct engine *engine, uint64_t after, struct engine_note *out, size_t max);

/* Lists the followed processes, by pid: an array of *n for free().  Returns 0 or -ENOMEM. */
int engine_followed(struct engine *engine, int32_t **pids, size_t *n);

/* Commands for the sampling thread.  Return 0 if queued; -ENOMEM; -EINVAL if obviously invalid. */
int engine_attach(struct engine *engine, int32_t pid);
int engine_detach(struct engine *engine, int32_t pid);
int engine_event_add(struct engine *engine, const struct event_spec *spec);
/* Adds several events at once; members of one group are added together. */
int engine_events_add(struct engine *engine, const struct event_spec *specs, size_t n);
int engine_event_drop(struct engine *engine, uint8_t id); /* dropping a leader drops its group */
int engine_set_freq(struct engine *engine, uint8_t id,
	uint64_t hz); /* or the period, for events that have one */
int engine_set_period(struct engine *engine, uint8_t id, uint64_t period);
int engine_event_enable(
	struct engine *engine, uint8_t id, bool enable); /* switching a leader switches its group */
int engine_set_filter(struct engine *engine, uint8_t id, const char *filter); /* NULL or "": none */
int engine_move_breakpoint(
	struct engine *engine, uint8_t id, uint64_t address); /* MODIFY_ATTRIBUTES */
/* Reopens all events with chains, to collect them in another way: NOTE_CALL_GRAPH. */
int engine_set_call_graph(struct engine *engine, enum engine_call_graph mode);
/* Pauses all rings that carry samples (PAUSE_OUTPUT): the kernel keeps counting; samples are lost
 * and reported as lost. */
int engine_pause(struct engine *engine, bool pause);
/* Moves the flight recorder's samples into the store, each once; NOTE_SNAPSHOT reports the end.
 * -EINVAL without a flight recorder. */
int engine_snapshot(struct engine *engine);
int engine_stop(struct engine *engine); /* stop sampling, drain all rings, keep the store */

/* Sends the command a signal at once.  Returns 0; -ESRCH if it does not run; another -errno. */
int engine_signal_command(struct engine *engine, int signal);

/* Objects that samples refer to; read only ids reached through a snapshot. */
/* Returns the fields of an event's samples; NULL if none.  Immutable; lives as long as the
 * engine. */
const struct fields *engine_fields(struct engine *engine, uint8_t id);
const struct values *engine_values(const struct engine *engine);
struct store *engine_store(struct engine *engine);
const struct stacks *engine_stacks(const struct engine *engine);
const struct tasks *engine_tasks(const struct engine *engine);
struct images *engine_images(struct engine *engine);

#endif
