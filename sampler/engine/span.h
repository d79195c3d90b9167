/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * span.h - the events `off-cpu` and `preempted`: the time between switches.
 */
#ifndef SAMPLER_ENGINE_SPAN_H
#define SAMPLER_ENGINE_SPAN_H

#include "sampler/kernel/record.h"
#include "sampler/store/offcpu.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct channel;
struct engine;
struct follow_task;

struct spans {
	struct offcpu offcpu;
	uint64_t next_ns; /* start of the next slice; UINT64_MAX: switches are not recorded */
	uint64_t noted;
	bool wakers_noted;
	uint32_t last_tid; /* tid and time of the last switch sample */
	uint64_t last_ns;
	size_t tasks; /* number of tasks followed at the last query */
	bool ask_again; /* records were lost since the last query */
	uint64_t ask_ns; /* earliest time of the next query */
};

void span_init(struct engine *engine);
void span_fini(struct engine *engine);
/* span_sample() takes a switch-out's sample; span_switch() takes the record that follows it, or
 * that of a switch-in. */
void span_sample(struct engine *engine, unsigned int choice, const struct perf_event_header *header,
	struct record *record);
void span_switch(struct engine *engine, unsigned int choice, const struct perf_event_header *header,
	const struct record *record);
/* span_is_waking() returns whether it is sched:sched_waking or a related event; span_waking() takes
 * its sample. */
bool span_is_waking(const struct engine *engine, unsigned int choice);
void span_waking(struct engine *engine, unsigned int choice, const struct record *record);
/* Processes the sample taken in last; a clock's sample adds on-CPU time to `wall`. */
void span_on_cpu(struct engine *engine, unsigned int choice, const struct record *record);
/* Processes another event's sample, just taken in. */
void span_seen(struct engine *engine, const struct record *record);
/* Records of that ring were lost. */
void span_lost(struct engine *engine, const struct channel *channel);
void span_end_task(struct engine *engine, int32_t tid, uint64_t time_ns);
/* The tid belongs to another task from now on. */
void span_forget_task(struct engine *engine, int32_t tid);
/* Records of switches will be missing from now on.  span_changed(): only if no such event runs any
 * more. */
void span_stop(struct engine *engine);
void span_changed(struct engine *engine);
/* Called when all records up to time_ns are taken in.  Adds the time of off-CPU threads at each
 * slice's end, so that no slice is sealed without it. */
void span_pass_slices(struct engine *engine, uint64_t time_ns);
/* Called at the end of sampling: adds the time of all off-CPU threads up to time_ns. */
void span_finish(struct engine *engine, uint64_t time_ns);
void span_tick(struct engine *engine);
/* Called when a new thread has its events. */
void span_born(struct engine *engine, struct follow_task *task);
/* Called at each sweep: checks for threads that were asleep before their events were opened. */
void span_sweep(struct engine *engine);

#endif
