/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wake.h - the times at which blocked threads become runnable.
 */
#ifndef SAMPLER_ENGINE_WAKE_H
#define SAMPLER_ENGINE_WAKE_H

#include "sampler/accounting/rundelay.h"
#include "sampler/kernel/record.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct engine;
struct fields;
struct offcpu_span;

/* How the engine learns that blocked threads become runnable; wake.c. */
struct wakes {
	enum wakes_state {
		WAKES_OFF, /* not needed */
		WAKES_SEEN, /* each wake-up is a sample of sched:sched_wakeup */
		WAKES_SUMMED, /* run delays of threads, since samples are refused */
	} state;
	int error; /* WAKES_SUMMED: the reason, positive errno */
	struct perf_event_attr attr;
	struct record_format format;
	struct fields *fields;
	struct rundelay delays;
	uint64_t lost, noted_lost;
	bool noted;
};

void wake_init(struct engine *engine);
void wake_fini(struct engine *engine);
/* Opens the rings that the running events need and closes the others. */
void wake_settle(struct engine *engine);
int wake_open_ring(struct engine *engine, int cpu); /* 0 or -errno */
void wake_sample(struct engine *engine, const struct perf_event_header *header);
/* Returns the part of a blocked span's end that was a wait for a CPU, if no sample reports it. */
uint64_t wake_take_delay(struct engine *engine, int32_t tid, const struct offcpu_span *span);
/* Adds notes; event is the name of an affected event. */
void wake_tick(struct engine *engine, const char *event);

#endif
