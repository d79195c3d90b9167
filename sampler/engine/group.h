/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * group.h - groups of events.
 */
#ifndef SAMPLER_ENGINE_GROUP_H
#define SAMPLER_ENGINE_GROUP_H

#include "sampler/kernel/record.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct point;
struct point_event;

bool group_leads(const struct engine *engine, unsigned int choice);
/* Opens a choice, with its group if it leads, on a point.  Returns 0 or -errno; refusals are
 * noted. */
int group_open(struct engine *engine, struct point *point, unsigned int leader, bool live);
/* Takes in a sample that read its group: each member's count since the previous one.  Returns 0 or
 * -ENOMEM. */
int group_take_sample(
	struct engine *engine, struct point_event *event, struct record *record, bool wanted);
void group_forget_task(struct engine *engine, int32_t tid);
void group_fini(struct engine *engine);

#endif
