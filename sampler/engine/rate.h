/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rate.h - an event's rate, its changes, and the weight of a sample.
 */
#ifndef SAMPLER_ENGINE_RATE_H
#define SAMPLER_ENGINE_RATE_H

#include <linux/perf_event.h>
#include <stdint.h>

struct engine;
struct point_event;
struct record;

void change_rate(struct engine *engine, unsigned int choice, uint64_t rate);
void change_period(struct engine *engine, unsigned int choice, uint64_t period);
/* Limits the attribute's rate to the fastest one of a clock. */
void rate_limit(struct perf_event_attr *attr);
/* Gives a sample the weight of its event's rate at that time.  event: NULL if unknown. */
void rate_weigh(const struct engine *engine, unsigned int choice, const struct point_event *event,
	struct record *record);

#endif
