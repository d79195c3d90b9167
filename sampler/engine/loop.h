/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loop.h - the sampling thread.
 */
#ifndef SAMPLER_ENGINE_LOOP_H
#define SAMPLER_ENGINE_LOOP_H

#include "sampler/control/failure.h"
#include "sampler/engine/engine.h"

#include <linux/perf_event.h>
#include <stdint.h>

struct engine;

struct loop {
	int epoll_fd, timer_fd;
	uint64_t next_tick_ns;
	unsigned int sweeps;
};

void *engine_main(void *engine);
void engine_fail(struct engine *engine, enum engine_failure_kind what, int error,
	const struct perf_event_attr *attr, const char *event, int32_t pid, int cpu);

#endif
