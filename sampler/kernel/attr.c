/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * attr.c - see attr.h.
 */
#include "sampler/kernel/attr.h"

bool attr_is_hardware(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT &&
		attr->type != PERF_TYPE_BREAKPOINT;
}

bool attr_fires_by_time(const struct perf_event_attr *attr)
{
	return attr->freq || attr_is_clock(attr);
}

uint64_t attr_highest_hz(const struct perf_event_attr *attr)
{
	if (attr->freq)
		return attr->sample_freq;
	return attr_is_clock(attr) && attr->sample_period ? 1000000000ull / attr->sample_period : 0;
}

bool attr_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
		(attr->config == PERF_COUNT_SW_CPU_CLOCK ||
			attr->config == PERF_COUNT_SW_TASK_CLOCK);
}
