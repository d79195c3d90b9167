/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pace.h - limits how often derived data is recomputed as time passes, by its CPU cost.  UI thread.
 */
#ifndef TUI_QUERY_PACE_H
#define TUI_QUERY_PACE_H

#include "tui/query/halves.h"

#include <stdint.h>
#include <time.h>

/* Each kind of derived data takes at most 1/100 of a CPU.  Results of user actions are not
 * delayed. */
#define PACE_SHARE 100u

static inline uint64_t pace_thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns the CPU time of this thread and of its helper threads, without that of sampling and
 * loading. */
static inline uint64_t pace_cpu_ns(void)
{
	return pace_thread_ns() + halves_other_ns();
}

#endif
