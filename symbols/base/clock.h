/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clock.h - monotonic time for limits, independent of the wall clock.  Any thread.
 */
#ifndef SYMBOLS_BASE_CLOCK_H
#define SYMBOLS_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline int64_t clock_now_ms(void)
{
	return (int64_t)(clock_now_ns() / 1000000u);
}

/* Returns the moment in `ms` milliseconds, such as for pthread_cond_timedwait(3). */
static inline struct timespec clock_after(unsigned int ms)
{
	const uint64_t at_ns = clock_now_ns() + ms * UINT64_C(1000000);

	return (struct timespec){(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
}

#endif
