/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * attr.h - facts about an event that follow from its perf_event_attr.  Pure functions; any thread.
 */
#ifndef SAMPLER_KERNEL_ATTR_H
#define SAMPLER_KERNEL_ATTR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns true if a sample's period is a time in ns (cpu-clock, task-clock). */
bool attr_is_clock(const struct perf_event_attr *attr);

/* Returns true if strobe chooses the event's rate.  The target determines the rate of other events,
 * and each hit slows it down, so credit does not limit them. */
bool attr_fires_by_time(const struct perf_event_attr *attr);

/* Returns the most samples per second of a CPU; 0 if that is not limited. */
uint64_t attr_highest_hz(const struct perf_event_attr *attr);

/* Returns true if a PMU counts it: it may be multiplexed, and stops while throttled. */
bool attr_is_hardware(const struct perf_event_attr *attr);

#endif
