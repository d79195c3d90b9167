/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cost.h - what strobe itself costs: CPU and memory of all its processes.  UI thread.
 *
 * This process's CPU time and instructions come from events of its own (self_counters.h) where those are permitted, else its
 * CPU time from getrusage(2); what others cost, from /proc.
 */
#ifndef TUI_COST_H
#define TUI_COST_H

#include <stddef.h>
#include <stdint.h>

#define COST_PIDS 4

struct self_counters;

struct cost {
	uint64_t measured_ns; /* when; 0: never */
	uint64_t self_cpu_ns;
	struct {
		int32_t pid;
		uint64_t cpu_ns;
	} others[COST_PIDS];
	struct self_counters *counters; /* NULL: none */
	uint64_t self_instructions; /* as of the last measurement */
	double instructions_per_s; /* since the measurement before; below 0: not known */
	double cpu_percent; /* of one CPU, since the measurement before; below 0: not known yet */
	uint64_t memory_bytes; /* resident */
};

void cost_init(struct cost *cost);
void cost_fini(struct cost *cost);

/* From now on by events of its own; where they are refused, as before.  0 or -errno. */
int cost_open(struct cost *cost);

/* Measure this process and others (pids below 1 are skipped), where the last time is at least
 * every_ns ago. */
void cost_update(
	struct cost *cost, uint64_t now_ns, uint64_t every_ns, const int32_t *pids, size_t n);

/* Returns the resident memory of a process; 0 if pid is below 1 or the process has ended. */
uint64_t cost_resident_bytes(int32_t pid);

/* Resident pages in the text of /proc/PID/statm.  0, or -EBADMSG. */
int cost_parse_statm(const char *text, uint64_t *pages);

#endif
