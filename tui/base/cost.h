/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cost.h - the CPU time and memory of all of strobe's processes.  UI thread.
 *
 * CPU time and instructions of this process come from its own events (self_counters.h) if these are
 * permitted, else CPU time from getrusage(2).  The values of other processes come from /proc.
 */
#ifndef TUI_BASE_COST_H
#define TUI_BASE_COST_H

#include <stddef.h>
#include <stdint.h>

#define COST_PIDS 4

struct self_counters;

struct cost {
	uint64_t measured_ns; /* time of the last measurement; 0: none */
	uint64_t self_cpu_ns;
	struct {
		int32_t pid;
		uint64_t cpu_ns;
	} others[COST_PIDS];
	struct self_counters *counters; /* NULL if none */
	uint64_t self_instructions; /* at the last measurement */
	double instructions_per_s; /* since the previous measurement; below 0: not known */
	/* percent of one CPU since the previous measurement; below 0: not known */
	double cpu_percent;
	uint64_t memory_bytes; /* resident */
};

void cost_init(struct cost *cost);
void cost_fini(struct cost *cost);

/* Switches to events for this process; if they are refused, nothing changes.  Returns 0 or
 * -errno. */
int cost_open(struct cost *cost);

/* Measures this process and others if the last measurement is at least every_ns ago.  Pids below 1
 * are skipped. */
void cost_update(
	struct cost *cost, uint64_t now_ns, uint64_t every_ns, const int32_t *pids, size_t n);

/* Returns the resident memory of a process; 0 if pid is below 1 or the process has ended. */
uint64_t cost_resident_bytes(int32_t pid);

/* Parses the resident pages in the text of /proc/PID/statm.  Returns 0 or -EBADMSG. */
int cost_parse_statm(const char *text, uint64_t *pages);

#endif
