/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tasktime.h - the time that tasks ran on some CPUs, by the kernel's accounting.  Pure arithmetic.
 */
#ifndef SAMPLER_ACCOUNTING_TASKTIME_H
#define SAMPLER_ACCOUNTING_TASKTIME_H

#include <stdbool.h>
#include <stdint.h>

typedef bool tasktime_cpu_fn(int cpu, const void *ctx);

struct tasktime {
	uint64_t tasks; /* ticks of user, nice and system time */
	uint64_t idle; /* ticks of idle time, in which tasks may have waited for a disk */
};

/* Adds the times of the wanted CPUs from the text of /proc/stat (proc(5)). */
struct tasktime tasktime_read(const char *text, tasktime_cpu_fn *wanted, const void *ctx);

/* Returns the ticks that tasks ran between two readings of the same CPUs, of together `ticks`.  The
 * kernel may give each tick to what runs at its end.  It may therefore count work that begins with
 * ticks too much or not at all.  Idle time is exact on most kernels and bounds the result. */
double tasktime_since(const struct tasktime *before, const struct tasktime *now, double ticks);

/* Returns by how many ns a sum of ticks in ran_ns may exceed the weight of samples by chance: both
 * are numbers of random events. */
double tasktime_excess(double ran_ns, double tick_ns, double period_ns);

#endif
