/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stack.h - how much stack samples copy.
 */
#ifndef SAMPLER_ENGINE_STACK_H
#define SAMPLER_ENGINE_STACK_H

#include <linux/perf_event.h>
#include <stdint.h>

struct choice;
struct engine;
struct point;

/* Returns the most bytes of a stack copy that the rings permit. */
uint32_t engine_stack_most(const struct engine *engine);
void point_fit_stack(
	const struct engine *engine, const struct point *point, struct perf_event_attr *attr);
/* Returns how many bytes of stack a new event's samples copy. */
uint32_t stack_begin(const struct engine *engine, const struct choice *choice);
/* Returns how many bytes an event's samples copy now; 0 if none. */
uint32_t stack_copied(const struct engine *engine, unsigned int choice);
/* Adapts the sizes to the needs of chains and to their cost. */
void stack_sweep(struct engine *engine);

#endif
