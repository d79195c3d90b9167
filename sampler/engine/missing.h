/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * missing.h - events that are open on some of their CPUs or threads only: notes and coverage.
 */
#ifndef SAMPLER_ENGINE_MISSING_H
#define SAMPLER_ENGINE_MISSING_H

#include "sampler/accounting/coverage.h"
#include "sampler/accounting/tasktime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct point;

/* The CPUs without an event, at the last reading of their time. */
struct missing {
	struct tasktime tasks;
	uint64_t read_ns;
	size_t n;
	struct coverage_point coverage;
};

/* Marks an event and its group, unless they are open on the point.  NULL: on no certain one. */
void missing_mark(struct engine *engine, unsigned int choice, const struct point *point);
/* Marks every event. */
void missing_mark_all(struct engine *engine);
/* Returns whether this error of an event on a CPU differs from the last one there. */
bool missing_is_news(struct engine *engine, int cpu, unsigned int choice, int error);
/* Forgets the errors of a CPU that could be opened. */
void missing_forget_cpu(struct engine *engine, int cpu);
/* Marks the events of a CPU on which nothing could be opened, and notes the error unless an event
 * has a note there.  error: positive errno. */
void missing_refuse_cpu(struct engine *engine, int cpu, int error);
/* Notes that events on CPUs need more descriptors than the limit allows. */
void missing_note_fds(struct engine *engine, int error);
/* Adds the time of CPUs without an event to the coverage of marked events.  Called at each tick and
 * after events were opened. */
void missing_add(struct engine *engine);

#endif
