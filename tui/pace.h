/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pace.h - what something costs that is made anew as the time goes on, so that it is not made more often than a small share of a CPU
 * allows.  UI thread.
 */
#ifndef TUI_PACE_H
#define TUI_PACE_H

#include <stdint.h>
#include <time.h>

/* CPU time of the process so far: that of helping threads counts, that of others who have the CPU meanwhile does not. */
static inline uint64_t pace_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
