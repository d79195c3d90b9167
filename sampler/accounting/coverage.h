/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * coverage.h - the share of an event's possible samples that were taken.  Pure arithmetic.
 *
 * Clocks and events with a frequency are measured by time: time armed relative to the clock of
 * their task or CPU.  CPUs are weighted by their samples, so idle CPUs do not hide a gap on a busy
 * one.  Any other event is measured by its counter: sampled relative to counted.  Inherited clocks
 * are measured by weight, since the kernel takes few samples of tasks that live only a few periods.
 * For all other clocks, the weight of the samples is an upper limit of the share.
 */
#ifndef SAMPLER_ACCOUNTING_COVERAGE_H
#define SAMPLER_ACCOUNTING_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Coverage of one event on one task or CPU. */
struct coverage_point {
	uint64_t samples; /* since the last coverage_add_time() */
	double rate; /* samples per ns when last armed */
	bool has_rate;
	uint64_t rest; /* counted since the last whole period */
};

/* Coverage of one event on all points. */
struct coverage {
	uint64_t armed_ns, clock_ns;
	double sampled,
		possible; /* samples on CPUs: taken; at the same rate over the whole clock time */
	uint64_t hits, hits_before; /* whole periods counted, now and at the previous reading */
	uint64_t told; /* periods covered by a sample or a reported loss */
	uint64_t weight, lost_weight; /* weight of those samples and of those losses */
	uint64_t clock_ran_ns; /* see coverage_add_clock() */
	uint64_t clock_before_ns; /* clock_ran_ns at the previous reading */
	uint64_t late_ns; /* ns that new tasks ran without their events */
};

/* Adds a time in which the event was armed for armed_ns of clock_ns.  hz is the event's frequency,
 * the assumed rate of a CPU that was never armed.  hz 0: not weighted, for a task; its clock runs
 * only while the task runs. */
void coverage_add_time(struct coverage *coverage, struct coverage_point *point, uint64_t armed_ns,
	uint64_t clock_ns, uint64_t hz);

/* Adds a sample that represents this number of periods. */
void coverage_add_sample(struct coverage *coverage, uint64_t weight, uint64_t periods);
void coverage_add_lost(struct coverage *coverage, uint64_t lost, uint64_t period);
/* Adds the whole periods that `counted` completes. */
void coverage_add_count(
	struct coverage *coverage, struct coverage_point *point, uint64_t counted, uint64_t period);

/* Adds the ns that a clock ran while samples were taken: that of a task, or on CPUs the time of all
 * tasks there. */
void coverage_add_clock(struct coverage *coverage, uint64_t ran_ns);

/* Returns how many ns a task has run in the lifetime_ns since its birth.  cpu_ns and wait_ns are
 * the kernel's last accounting, up to a tick old for a running task. */
uint64_t coverage_ran_ns(bool runs, uint64_t cpu_ns, uint64_t wait_ns, uint64_t lifetime_ns);
/* Returns how many ns of CPU time a process may have without its tasks' events.  missed_ns is the
 * most that they can have run.  counted_ns of the process's CPU time cpu_ns are accounted for;
 * cpu_ns 0: unknown. */
uint64_t coverage_missed_ns(uint64_t missed_ns, uint64_t cpu_ns, uint64_t counted_ns);
/* Adds the ns that new tasks ran without their events. */
void coverage_add_late(struct coverage *coverage, uint64_t ran_ns);

/* Returns the counted periods without a sample or a loss.  Unless final, it uses the previous
 * reading of the counters, since the newest samples may still be in the rings. */
uint64_t coverage_held_back(const struct coverage *coverage, bool final);
/* Called after all points were read. */
void coverage_end_reading(struct coverage *coverage);

/* The share is covered / coverable; unknown if coverable is 0. */
void coverage_by_time(const struct coverage *coverage, double *covered, double *coverable);
void coverage_by_count(const struct coverage *coverage, uint64_t held_back, uint64_t period,
	double *covered, double *coverable);
/* Lowers the share by time to the weight of a clock's samples.  Linux skips periods of a timer that
 * it cannot serve in time, and reports neither a loss nor throttling.  rest_ns: time that may lack
 * samples for other reasons.  final: see coverage_held_back(). */
void coverage_bound_by_weight(const struct coverage *coverage, double rest_ns, bool final,
	double *covered, double coverable);
/* Returns the share of the tasks' time in which new tasks had no event yet. */
double coverage_late_share(const struct coverage *coverage);
/* Lowers the share by the time that tasks ran before their events were opened.  No counter ran in
 * that time: if it is a notable share, the share of a count is unknown. */
void coverage_with_late(const struct coverage *coverage, bool by_count, double *coverable);
/* Sets covered to the weight of a clock's samples, and coverable to the time it ran. */
void coverage_by_weight(const struct coverage *coverage, double *covered, double *coverable);

#endif
