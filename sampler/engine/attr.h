/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * attr.h - how an event is opened: its attribute, format, points and texts beyond the attribute.
 */
#ifndef SAMPLER_ENGINE_ATTR_H
#define SAMPLER_ENGINE_ATTR_H

#include "sampler/kernel/sys.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct choice;
struct engine;
struct event_spec;
struct point;

/* Fills in the attribute for opening a choice; the caller sets the other fields of setup. */
void choice_attr(const struct engine *engine, unsigned int choice, const struct sys_setup *setup,
	struct perf_event_attr *attr);
void choice_set_format(struct engine *engine, unsigned int choice);
/* Decides, before the first open, whether its samples must carry its id. */
void choice_find_id(struct engine *engine, unsigned int choice);
/* Returns whether it should open on the point: events of a PMU or cgroup open only on (some)
 * CPUs. */
bool choice_fits(const struct engine *engine, unsigned int choice, const struct point *point);
/* Returns 0, or the errno of an event that is impossible for this target. */
int choice_check_target(const struct engine *engine, const struct event_spec *spec);
/* Closes the descriptor that keeps its BPF program attached. */
void choice_close_program(struct choice *choice);
/* Opens the event on the point, with its filter and BPF program.  Returns a descriptor or
 * -errno. */
int choice_open_event(struct engine *engine, unsigned int choice, struct perf_event_attr *attr,
	const struct point *point, int group_fd);
/* Returns the engine's half of an event's attribute. */
struct sys_setup point_setup(const struct engine *engine, const struct point *point, bool carries);
/* Returns how many bytes of the user stack a sample copies; 0 if none. */
uint32_t engine_stack_bytes(const struct engine *engine);

#endif
