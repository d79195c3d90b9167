/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * coverage.h - the share of an event's possible samples that were taken.  Pure arithmetic.
 *
 * Clocks and events with a frequency are measured by time: armed against the clock of their task or
 * CPU.  CPUs are weighted by their samples, so that idle ones do not hide a hole on a busy one.
 * Any other event is measured by its counter: what was sampled of what was counted.  Inherited clocks
 * are measured by weight, since the kernel takes few samples of tasks that live only a few periods;
 * the weight of other clocks bounds their share.
 */
#ifndef SAMPLER_COVERAGE_H
#define SAMPLER_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Coverage of one event on one task or CPU. */
struct coverage_point {
	uint64_t samples; /* since the last coverage_add_time() */
	double rate; /* samples per ns when it was last armed */
	bool has_rate;
	uint64_t rest; /* counted since the last whole period */
};

/* Coverage of one event on all points. */
struct coverage {
	uint64_t armed_ns, clock_ns;
	double sampled,
		possible; /* samples on CPUs: those taken; those of the same rate all the time */
	uint64_t hits, hits_before; /* whole periods counted, now and as of the reading before */
	uint64_t told; /* periods of which there is a sample or a loss */
	uint64_t weight, lost_weight; /* of those samples, of those losses */
	uint64_t clock_ran_ns; /* of a clock, while samples were taken */
	uint64_t clock_before_ns; /* of it, as of the reading before */
	uint64_t late_ns; /* that new tasks had run before their events were opened */
};

/* Add a time in which the event was armed for armed_ns of clock_ns.  hz: its frequency, the assumed
 * rate of a CPU that was never armed.  0: not weighted, as for a task, since its clock runs only
 * while it does. */
void coverage_add_time(struct coverage *coverage, struct coverage_point *point, uint64_t armed_ns,
	uint64_t clock_ns, uint64_t hz);

/* Add a sample that stands for this number of periods. */
void coverage_add_sample(struct coverage *coverage, uint64_t weight, uint64_t periods);
void coverage_add_lost(struct coverage *coverage, uint64_t lost, uint64_t period);
/* Add the whole periods that `counted` completes. */
void coverage_add_count(
	struct coverage *coverage, struct coverage_point *point, uint64_t counted, uint64_t period);

/* Add the time that a clock ran while samples were taken. */
void coverage_add_clock(struct coverage *coverage, uint64_t ran_ns);

/* Returns how long a task has run since it was born so long ago.  cpu_ns, wait_ns: as the kernel
 * last accounted for it, which for one that runs is up to a tick ago. */
uint64_t coverage_ran_ns(bool runs, uint64_t cpu_ns, uint64_t wait_ns, uint64_t lifetime_ns);
/* Add the time that a new task had run before its event was opened. */
void coverage_add_late(struct coverage *coverage, uint64_t ran_ns);

/* Returns the counted periods without a sample or a loss.  Unless final, counters are those of the
 * reading before: samples of the latest are still in the rings. */
uint64_t coverage_held_back(const struct coverage *coverage, bool final);
/* Call after all points were read. */
void coverage_end_reading(struct coverage *coverage);

/* The share is covered / coverable; coverable 0: not known. */
void coverage_by_time(const struct coverage *coverage, double *covered, double *coverable);
void coverage_by_count(const struct coverage *coverage, uint64_t held_back, uint64_t period,
	double *covered, double *coverable);
/* Lower the share by time to the weight of a clock's samples.  Linux skips periods of a timer that
 * it cannot serve in time, and counts neither a loss nor a throttling.  rest_ns: what may lack a
 * sample without that.  final: as of coverage_held_back(). */
void coverage_bound_by_weight(const struct coverage *coverage, double rest_ns, bool final,
	double *covered, double coverable);
/* Returns the part of the time of tasks in which new ones had no event yet. */
double coverage_late_share(const struct coverage *coverage);
/* Lower the share to what it is of the time that tasks ran before their events were opened, too.
 * Nobody counted meanwhile: if that is a notable part, the share of a count is not known. */
void coverage_with_late(const struct coverage *coverage, bool by_count, double *coverable);
/* Covered is the weight of a clock's samples, coverable the time that it ran. */
void coverage_by_weight(const struct coverage *coverage, double *covered, double *coverable);

#endif
