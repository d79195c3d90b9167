/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * self_counters.h - events on strobe's own threads, for its cost meter.
 *
 * They count CPU time and, if the hardware can, instructions.  If the kernel allows it, rdpmc reads
 * the instructions of the calling thread without a system call.  It uses the seqlock of the mapped
 * control page (perf_event_open(2), cap_user_rdpmc).  All other values are read by read(2).  The
 * thread that opens these events owns them.  So prctl(2) PR_TASK_PERF_EVENTS_ENABLE starts them all
 * at once, and none of the sampling thread's.  One thread opens, reads and closes.
 */
#ifndef SAMPLER_KERNEL_SELF_COUNTERS_H
#define SAMPLER_KERNEL_SELF_COUNTERS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct self_counters;

struct self_counts {
	uint64_t cpu_ns; /* since self_counters_open(), or since a later thread was first seen */
	uint64_t instructions; /* 0 if not counted */
	bool has_instructions;
	bool by_rdpmc; /* this time, for the calling thread's instructions */
	unsigned int threads; /* number of counted threads */
};

/* Opens the events.  Returns 0, or -errno with *out NULL if not even CPU time may be counted
 * (EACCES, ENOSYS ...). */
int self_counters_open(struct self_counters **out);
void self_counters_close(struct self_counters *counters); /* NULL is a no-op */

/* Reads the counts, including threads that began or ended since the last call.  Returns 0 or
 * -errno. */
int self_counters_read(struct self_counters *counters, struct self_counts *out);

/* --- the seqlock alone --- */

struct self_value {
	uint64_t count; /* not scaled */
	uint64_t enabled_ns, running_ns;
	uint64_t scaled; /* estimate for the whole time, if it counted only part of it */
};

/* The instructions that read hardware counters; tests pass their own. */
struct self_hardware {
	uint64_t (*pmc)(uint32_t counter, void *ctx);
	uint64_t (*tsc)(void *ctx);
	void *ctx;
};

/* Reads one consistent value from a mapped page, in the thread that the event counts.  Returns 0;
 * -ENODATA if read(2) is needed: no cap_user_rdpmc, or no counter at the moment (index 0); -EAGAIN
 * if the kernel kept changing the page. */
int self_page_read(const struct perf_event_mmap_page *page, const struct self_hardware *hardware,
	struct self_value *out);

#endif
