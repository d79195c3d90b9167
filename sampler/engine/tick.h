/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tick.h - work done each second; notes, and the copies for other threads.
 */
#ifndef SAMPLER_ENGINE_TICK_H
#define SAMPLER_ENGINE_TICK_H

#include "sampler/accounting/tasktime.h"
#include "sampler/control/note.h"
#include "sampler/engine/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct point;

struct tick {
	size_t read_cursor; /* the point whose counters are read next */
	uint64_t noted_missed, noted_dropped, noted_corrupt, noted_unread;
	struct tasktime tasks; /* on the sampled CPUs, at the last reading */
	uint64_t tasks_ns; /* time of that reading */
	size_t task_points; /* points at that reading; 0: there was none */
	bool coarsened_noted, fields_noted, late_noted;
};

void engine_note(struct engine *engine, enum engine_note_kind kind, int error, int32_t pid,
	uint64_t value, const char *text);
void engine_add_note(struct engine *engine, struct engine_note *note);
void engine_publish(struct engine *engine);
void engine_read_point(struct engine *engine, struct point *point);
void engine_tick(struct engine *engine, bool all);

#endif
