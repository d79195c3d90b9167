/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * self_counters.h - events on strobe's own threads, for its cost meter: CPU time and, where there is hardware, instructions.
 *
 * The calling thread's instructions are read without a system call by rdpmc, through the seqlock of the mapped control page
 * (perf_event_open(2), cap_user_rdpmc), where the kernel lets it; everything else by read(2).  The owner of these
 * events is the thread that opens them, so prctl(2) PR_TASK_PERF_EVENTS_ENABLE begins them all at once and touches
 * none of the sampling thread's.  One thread opens, reads and closes.
 */
#ifndef SAMPLER_SELF_COUNTERS_H
#define SAMPLER_SELF_COUNTERS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct self_counters;

struct self_counts {
	uint64_t cpu_ns; /* since self_counters_open(), or since a later thread was first seen */
	uint64_t instructions; /* 0 where they are not counted */
	bool has_instructions;
	bool by_rdpmc; /* those of the calling thread, this time */
	unsigned int threads; /* that are counted */
};

/* 0; or -errno where not even CPU time may be counted (EACCES, ENOSYS ...), and *out is NULL. */
int self_counters_open(struct self_counters **out);
void self_counters_close(struct self_counters *counters); /* NULL is a no-op */

/* Threads that have begun or ended since are noticed.  0 or -errno. */
int self_counters_read(struct self_counters *counters, struct self_counts *out);

/* --- the seqlock, for itself --- */

struct self_value {
	uint64_t count; /* as it is */
	uint64_t enabled_ns, running_ns;
	uint64_t scaled; /* estimated, where it was not counted all the time */
};

/* The instructions that read the hardware; tests pass their own. */
struct self_hardware {
	uint64_t (*pmc)(uint32_t counter, void *ctx);
	uint64_t (*tsc)(void *ctx);
	void *ctx;
};

/* One consistent value from a mapped page, for the thread that the event counts.  0; -ENODATA where it has to be read(2): no
 * cap_user_rdpmc, or no counter at the moment (index 0); -EAGAIN where the kernel never left the page alone. */
int self_page_read(const struct perf_event_mmap_page *page, const struct self_hardware *hardware,
	struct self_value *out);

#endif
