/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target.h - follows the threads, children and ends of targets; starts the command.
 */
#ifndef SAMPLER_ENGINE_TARGET_H
#define SAMPLER_ENGINE_TARGET_H

#include "sampler/base/idmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct point;
struct record_task;

/* A process that the user detached. */
struct detached {
	int32_t pid;
	uint64_t start_ticks;
};

struct targets {
	struct {
		uint64_t inode;
		bool gone;
	} * cgroups; /* one per cgroup of the target */
	/* pid -> struct detached: children that must not be attached again */
	struct idmap detached;
	bool rescan; /* side-band records were lost */
	bool rescan_again; /* records were lost during a rescan */
	size_t check_position; /* position in follow.processes for the next tick */
	bool had_any;
	uint64_t window_forks, window_missed; /* since the last tick */
};

int target_open_initial(struct engine *engine);
void target_detach(struct engine *engine, int32_t pid);
int target_fork(struct engine *engine, const struct record_task *fork);
void target_exit(struct engine *engine, int32_t tid, uint64_t time_ns);
/* A followed process executed a program and has one thread left. */
int target_exec(struct engine *engine, int32_t pid);
void target_hup(struct engine *engine, struct point *point);
void target_tick(struct engine *engine);
/* When all named targets are attached, starts the command that ends their sampling.  Returns 0 or
 * -errno. */
int target_start_stopwatch(struct engine *engine);
bool target_all_gone(const struct engine *engine);
void target_close_all(struct engine *engine);
void target_fini(struct engine *engine);

#endif
