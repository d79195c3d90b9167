/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weaken.h - fallbacks when the kernel refuses an event, and the notes about refusals.
 */
#ifndef SAMPLER_ENGINE_WEAKEN_H
#define SAMPLER_ENGINE_WEAKEN_H

#include "sampler/control/failure.h"
#include "sampler/events/spec.h"

#include <stdbool.h>

struct engine;
struct engine_asked;
struct point;

/* Leaves out bits of sample_more that the kernel accepts for any event but fills with zeros. */
void choice_leave_out(struct engine *engine, unsigned int choice);
/* Chooses the next fallback after a refusal; false: none is left, and the error stands. */
bool choice_weaken(struct engine *engine, unsigned int choice, int error);
/* Shows the name of the event that the kernel is asked for, instead of the requested one, unless
 * another event has it. */
void choice_show_actual(struct engine *engine, unsigned int choice);
/* Called when it opened: notes the fallbacks taken. */
void choice_settle(struct engine *engine, unsigned int choice);
/* point: NULL if the target as a whole is the cause. */
void choice_refuse(
	struct engine *engine, unsigned int choice, int error, const struct point *point);
/* Notes a refusal by the kernel, or by the engine if point is NULL.  asked: NULL if no part of the
 * request beyond the attribute was refused. */
void choice_note_refused(struct engine *engine, const struct event_spec *spec, int error,
	const struct point *point, const struct engine_asked *asked);

#endif
