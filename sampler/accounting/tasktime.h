/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tasktime.h - the time that tasks ran on some CPUs, by the kernel's accounting.  Pure arithmetic.
 */
#ifndef SAMPLER_ACCOUNTING_TASKTIME_H
#define SAMPLER_ACCOUNTING_TASKTIME_H

#include <stdbool.h>
#include <stdint.h>

typedef bool tasktime_cpu_fn(int cpu, const void *ctx);

/* Returns the ticks of user, nice and system time of the wanted CPUs, from the text of /proc/stat
 * (proc(5)).  Idle time, interrupts and time stolen by a hypervisor are not included. */
uint64_t tasktime_ticks(const char *text, tasktime_cpu_fn *wanted, const void *ctx);

/* Returns by how many ticks such a sum may exceed the true time: the kernel may give each tick to
 * what runs at its end.  Chance exceeds this once in about 30,000 readings. */
double tasktime_excess(double ticks);

#endif
