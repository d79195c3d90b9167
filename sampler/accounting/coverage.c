/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * coverage.c - see coverage.h.
 */
#include "sampler/accounting/coverage.h"

#define NS_PER_S 1e9
/* A smaller share of a clock without samples may consist of samples that arrive late. */
#define SKIPPED_SHARE 0.02
/* Up to this share of time not counted, counts are treated as complete. */
#define LATE_SHARE 0.001
/* ns; one tick of the slowest kernels, CONFIG_HZ=100. */
#define TICK_NS 10000000u

void coverage_add_time(struct coverage *coverage, struct coverage_point *point, uint64_t armed_ns,
	uint64_t clock_ns, uint64_t hz)
{
	double most = (double)hz / NS_PER_S, possible;

	/* The counters are read one after the other, so armed_ns may be larger. */
	if (clock_ns && armed_ns > clock_ns)
		armed_ns = clock_ns;
	coverage->armed_ns += armed_ns;
	coverage->clock_ns += clock_ns;
	if (hz && clock_ns) {
		if (armed_ns) {
			point->rate = (double)point->samples / (double)armed_ns;
			point->has_rate = true;
		}
		if (!point->has_rate || point->rate > most)
			point->rate = most;
		possible = point->rate * (double)clock_ns;
		coverage->possible += possible;
		coverage->sampled += possible * (double)armed_ns / (double)clock_ns;
	}
	point->samples = 0;
}

void coverage_add_sample(struct coverage *coverage, uint64_t weight, uint64_t periods)
{
	coverage->told += periods;
	coverage->weight += weight;
}

void coverage_add_lost(struct coverage *coverage, uint64_t lost, uint64_t period)
{
	coverage->told += lost;
	coverage->lost_weight += lost * period;
}

void coverage_add_count(
	struct coverage *coverage, struct coverage_point *point, uint64_t counted, uint64_t period)
{
	if (!period)
		return;
	counted += point->rest;
	coverage->hits += counted / period;
	point->rest = counted % period;
}

void coverage_add_clock(struct coverage *coverage, uint64_t ran_ns)
{
	coverage->clock_ran_ns += ran_ns;
}

uint64_t coverage_ran_ns(bool runs, uint64_t cpu_ns, uint64_t wait_ns, uint64_t lifetime_ns)
{
	const uint64_t told_ns = cpu_ns + wait_ns;
	uint64_t rest_ns = lifetime_ns > told_ns ? lifetime_ns - told_ns : 0;

	if (!runs)
		return cpu_ns;
	return cpu_ns + (rest_ns < TICK_NS ? rest_ns : TICK_NS);
}

uint64_t coverage_missed_ns(uint64_t missed_ns, uint64_t cpu_ns, uint64_t counted_ns)
{
	const uint64_t rest_ns = cpu_ns > counted_ns ? cpu_ns - counted_ns : 0;

	return cpu_ns && rest_ns < missed_ns ? rest_ns : missed_ns;
}

void coverage_add_late(struct coverage *coverage, uint64_t ran_ns)
{
	coverage->late_ns += ran_ns;
}

uint64_t coverage_held_back(const struct coverage *coverage, bool final)
{
	uint64_t hits = final ? coverage->hits : coverage->hits_before;

	return hits > coverage->told ? hits - coverage->told : 0;
}

void coverage_end_reading(struct coverage *coverage)
{
	coverage->hits_before = coverage->hits;
	coverage->clock_before_ns = coverage->clock_ran_ns;
}

void coverage_by_time(const struct coverage *coverage, double *covered, double *coverable)
{
	/* Without a sample on any CPU, no CPU is busier than another. */
	bool weighted = coverage->possible > 0;

	*covered = weighted ? coverage->sampled : (double)coverage->armed_ns;
	*coverable = weighted ? coverage->possible : (double)coverage->clock_ns;
}

void coverage_by_count(const struct coverage *coverage, uint64_t held_back, uint64_t period,
	double *covered, double *coverable)
{
	*covered = (double)coverage->weight;
	*coverable = *covered + (double)coverage->lost_weight + (double)held_back * (double)period;
}

void coverage_bound_by_weight(const struct coverage *coverage, double rest_ns, bool final,
	double *covered, double coverable)
{
	const double ran_ns = (double)(final ? coverage->clock_ran_ns : coverage->clock_before_ns);
	const double weight = (double)coverage->weight;

	if (weight + rest_ns < (1 - SKIPPED_SHARE) * ran_ns &&
		weight * coverable < *covered * ran_ns)
		*covered = weight * coverable / ran_ns;
}

double coverage_late_share(const struct coverage *coverage)
{
	const double late_ns = (double)coverage->late_ns;

	return late_ns > 0 ? late_ns / ((double)coverage->clock_ns + late_ns) : 0;
}

void coverage_with_late(const struct coverage *coverage, bool by_count, double *coverable)
{
	if (!by_count)
		*coverable += (double)coverage->late_ns;
	else if (coverage_late_share(coverage) > LATE_SHARE)
		*coverable = 0;
}

void coverage_by_weight(const struct coverage *coverage, double *covered, double *coverable)
{
	const uint64_t ran_ns = coverage->clock_ran_ns;

	*covered = (double)(coverage->weight < ran_ns ? coverage->weight : ran_ns);
	*coverable = (double)ran_ns;
}
