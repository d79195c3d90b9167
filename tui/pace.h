/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pace.h - what something costs that is made anew as the time goes on, so that it is not made more often than a small share of a CPU
 * allows.  UI thread.
 */
#ifndef TUI_PACE_H
#define TUI_PACE_H

#include "tui/halves.h"

#include <stdint.h>
#include <time.h>

/* Of a CPU, at most 1/100 goes into each thing that is made anew as the time goes on; what the user asks for is there at once. */
#define PACE_SHARE 100u

static inline uint64_t pace_thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CPU time of this thread and of those that helped it so far: what others do meanwhile, as sampling and loading, does not count. */
static inline uint64_t pace_cpu_ns(void)
{
	return pace_thread_ns() + halves_other_ns();
}

#endif
