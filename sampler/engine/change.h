/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * change.h - changes of running events.
 */
#ifndef SAMPLER_ENGINE_CHANGE_H
#define SAMPLER_ENGINE_CHANGE_H

#include "sampler/control/config.h"
#include "sampler/engine/engine.h"
#include "sampler/events/clash.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct choice;
struct engine;

/* Takes in all samples and counts up to now, before a change of events. */
void change_settle(struct engine *engine);
/* change_close() closes a choice on every point, after its samples were taken in; change_open()
 * reopens it.  Returns 0, or -errno if it opens on no point. */
void change_close(struct engine *engine, unsigned int choice);
int change_open(struct engine *engine, unsigned int choice);
/* Restores the previous settings after a refusal. */
void change_restore(struct engine *engine, unsigned int choice, const struct choice *before);
/* Notes a change that the kernel refused (error) or that clashes (clash). */
void change_refuse(struct engine *engine, unsigned int choice, const struct perf_event_attr *attr,
	int error, enum event_clash_kind clash);
/* Reopens the event on every point with its choice's current settings.  Returns 0, or -errno if it
 * opened on no point. */
int change_reopen(struct engine *engine, unsigned int choice);
/* Like change_reopen(), for an event without a group and with an unchanged format.  It misses only
 * the hits between two system calls on each point.  On a point where it does not open, the old
 * event stays. */
int change_swap(struct engine *engine, unsigned int choice);
/* Returns whether the event owns the ring of a point, which has no tracker; it cannot be closed
 * then. */
bool change_owns_ring(const struct engine *engine, unsigned int choice);
void change_enabled(struct engine *engine, unsigned int choice, bool enable);
void change_filter(struct engine *engine, unsigned int choice, const char *filter);
void change_call_graph(struct engine *engine, enum engine_call_graph mode);
enum engine_call_graph change_find_call_graph(const struct engine_config *config);
void change_breakpoint(struct engine *engine, unsigned int choice, uint64_t address);
void change_paused(struct engine *engine, bool pause);

#endif
