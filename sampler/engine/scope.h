/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scope.h - opens events on tasks, on CPUs, or inherited, and switches between these scopes.
 */
#ifndef SAMPLER_ENGINE_SCOPE_H
#define SAMPLER_ENGINE_SCOPE_H

#include "sampler/base/idmap.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

struct scope {
	bool trackers; /* enough fds for trackers */
	bool data_maps; /* mappings of data are followed */
	bool cpu_wide; /* events on whole CPUs are permitted */
	bool side_by_cpu; /* side-band rings per CPU are open */
	bool fork_rings; /* each thread has a second ring, while mlock and fds last */
	uint64_t switch_ns; /* time of the last change of the scope; see channel->old */
	int *cpus; /* online CPUs to sample */
	size_t n_cpus;
	uint8_t *cpu_wanted; /* by CPU number; NULL: all */
	size_t cpu_wanted_len;
	struct idmap refused; /* see missing_is_news() */
	uint64_t fds_noted; /* limit of open files named by the last note */
};

/* Finds the CPUs, the permissions and the initial scope.  Returns 0, or -errno with the failure
 * reported. */
int scope_begin(struct engine *engine);
/* Opens every CPU's point.  Returns 0, or -errno with the failure reported. */
int scope_open_cpus(struct engine *engine);
/* Opens side-band rings (FORK and others) on every CPU; false if not permitted. */
bool scope_open_side(struct engine *engine);
/* Opens a running ring of a CPU, in addition to those of points.  Returns 0 or -errno. */
int scope_open_ring(struct engine *engine, const struct perf_event_attr *attr, int cpu,
	unsigned int order, bool wakes);
/* Opens one inherited event per choice on every CPU.  Returns 0 or -errno of the last refusal. */
int scope_open_inherited(struct engine *engine, int32_t pid, int32_t tid, bool on_exec);
/* Forks outran following: covers the whole tree from now on. */
void scope_escalate(struct engine *engine);
void scope_watch_cpus(struct engine *engine);

#endif
