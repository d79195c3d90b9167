/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * internal.h - struct engine, shared by the engine's own files, which alone include it.
 *
 * Each part of the engine has a header with its state and functions.
 *
 * choice.h  the chosen events           open.h    points, rings, events
 * loop.h    the sampling thread         round.h   records and credit
 * tick.h    work of each second         attach.h  attaching
 * target.h  following                   scope.h   tasks, CPUs or inheritance
 * attr.h    how an event is opened      weaken.h  fallbacks, refusals
 * group.h   groups of events            change.h  changes of running events
 * rate.h    rates, weights of samples   fields.h  fields of samples
 * flight.h  the flight recorder         tap.h     passes records to the tap
 * span.h    off-CPU time                wake.h    wake-ups, which split it
 * stack.h   size of stack copies        pending.h samples waiting for unwind tables
 * missing.h CPUs without an event
 *
 * The sampling thread owns everything except the members below `lock`.
 */
#ifndef SAMPLER_ENGINE_INTERNAL_H
#define SAMPLER_ENGINE_INTERNAL_H

#include "sampler/accounting/follow.h"
#include "sampler/base/idmap.h"
#include "sampler/control/config.h"
#include "sampler/control/mailbox.h"
#include "sampler/control/notes.h"
#include "sampler/control/status.h"
#include "sampler/engine/attach.h"
#include "sampler/engine/choice.h"
#include "sampler/engine/engine.h"
#include "sampler/engine/fields.h"
#include "sampler/engine/flight.h"
#include "sampler/engine/loop.h"
#include "sampler/engine/missing.h"
#include "sampler/engine/open.h"
#include "sampler/engine/pending.h"
#include "sampler/engine/round.h"
#include "sampler/engine/scope.h"
#include "sampler/engine/span.h"
#include "sampler/engine/tap.h"
#include "sampler/engine/target.h"
#include "sampler/engine/tick.h"
#include "sampler/engine/wake.h"
#include "sampler/events/inherited.h"
#include "sampler/kernel/launch.h"
#include "sampler/kernel/record.h"
#include "sampler/kernel/sys.h"
#include "sampler/machine/proc.h"
#include "sampler/store/ingest.h"

#include <pthread.h>
#include <stdatomic.h>

#define PAGE_BYTES 4096u
#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull
#define SWEEP_NS (100 * NS_PER_MS)
#define FLIGHT_SWEEP_NS NS_PER_S /* no data waits to be read */
#define EARLY_SWEEP_NS (20 * NS_PER_MS) /* the screen waits for its first samples */
#define EARLY_SWEEPS 10

struct engine {
	/* Fixed before the thread starts. */
	struct engine_config config; /* its arrays are copies */
	struct proc_limits limits;
	struct ingest ingest;
	bool has_thread, has_store;
	pthread_t thread;
	int notify_fd;
	struct mailbox mailbox;
	struct notes notes;
	struct launch launch;
	atomic_bool quit;
	/* a request outside the mailbox, since posting mail may fail (it allocates) */
	atomic_bool stop;

	/* Owned by the sampling thread. */
	struct sys_features features;
	struct record_format format; /* format of trackers and of every record's trailer */
	struct engine_status status;
	struct choice choices[ENGINE_EVENTS_MAX];
	struct inherited inherited;
	uint32_t dwarf_bytes; /* bytes of stack, in modes that copy stacks */
	unsigned int next_event_id;
	uint16_t last_group;
	bool paused, stopped;
	bool filter; /* drop samples of tasks that are not followed; false: whole machine */
	struct idmap task_reads; /* tid -> struct task_reads of inherited events; group.c */
	struct idmap ids; /* perf's id -> point_event */
	struct point **points;
	size_t n_points, points_capacity;
	struct channel **channels;
	size_t n_channels, channels_capacity;
	struct follow follow;
	uint64_t n_born; /* threads born while followed */
	bool news; /* write the eventfd at the end of the round */
	bool followed_changed;

	struct attach attach;
	struct budget budget;
	struct engine_fields fields;
	struct flight flight;
	struct loop loop;
	struct pending pending;
	struct round round;
	struct scope scope;
	struct spans spans;
	struct tap tap;
	struct targets targets;
	struct tick tick;
	struct wakes wakes;

	/* Shared with other threads. */
	pthread_mutex_t lock;
	struct engine_status shared; /* guarded */
	int32_t *followed; /* guarded */
	size_t n_followed; /* guarded */
	bool command_runs; /* guarded: launch.pid has not been reaped */
	bool command_execed; /* the command's exec record arrived */
	uint64_t command_execed_ns; /* the command had executed its program by then */
};

static inline struct engine_event_status *status_of(struct engine *engine, unsigned int choice)
{
	return &engine->status.events[choice];
}

static inline void span_pass(struct engine *engine, uint64_t time_ns)
{
	/* Rings of ended threads are read further than the others; at the end, all are. */
	if (time_ns > engine->round.begun_ns && !engine->stopped)
		time_ns = engine->round.begun_ns;
	if (time_ns >= engine->spans.next_ns)
		span_pass_slices(engine, time_ns);
}

/* Returns whether switches are recorded.  Waiting time is then added at slice ends: no slice may be
 * sealed earlier, and time advances for all rings at once. */
static inline bool span_is_on(const struct engine *engine)
{
	return engine->spans.next_ns != UINT64_MAX;
}

#endif
