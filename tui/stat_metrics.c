// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * stat_metrics.c - what counts amount to: rates, ratios, and means of several runs.
 *
 * Pure functions of plain data.  A ratio is told only of counts of the same time: members of one group, or two that
 * ran all the time.
 */
#include "tui/stat_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THOUSAND 1000.0

static bool is_kind(const struct stat_event *event, uint32_t type, uint64_t config)
{
	return event->attr.type == type && event->attr.config == config;
}

/* Both count in the same modes. */
static bool alike(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel &&
		a->exclude_hv == b->exclude_hv && a->exclude_idle == b->exclude_idle &&
		a->exclude_host == b->exclude_host && a->exclude_guest == b->exclude_guest;
}

static bool ran_always(const struct stat_count *count)
{
	return count->running_ns >= count->enabled_ns;
}

static bool together(
	const struct stat_table *table, const struct stat_row *row, size_t one, size_t other)
{
	const struct stat_event *a = &table->events[one], *b = &table->events[other];

	if (row->counts[one].missing || row->counts[other].missing ||
		strcmp(a->cgroup, b->cgroup) != 0)
		return false;
	if (a->group && a->group == b->group)
		return true;
	return ran_always(&row->counts[one]) && ran_always(&row->counts[other]);
}

/* The count of another event that this one can be set against; below 0: there is none. */
static double other(const struct stat_table *table, const struct stat_row *row, size_t index,
	uint32_t type, uint64_t config)
{
	for (size_t i = 0; i < table->n_events; i++)
		if (i != index && is_kind(&table->events[i], type, config) &&
			alike(&table->events[i].attr, &table->events[index].attr) &&
			together(table, row, index, i))
			return row->counts[i].estimate;
	return -1;
}

/* Time on CPUs, whatever its modes: a clock knows none. */
static double cpu_time_ns(const struct stat_table *table, const struct stat_row *row, size_t index)
{
	for (size_t i = 0; i < table->n_events; i++)
		if (event_is_clock(&table->events[i].attr) && together(table, row, index, i))
			return row->counts[i].estimate;
	return -1;
}

static bool set(
	struct stat_count *count, double part, double whole, double factor, const char *unit)
{
	if (whole <= 0)
		return false;
	count->metric = (struct stat_metric){factor * part / whole, unit};
	return true;
}

static bool set_hardware(const struct stat_table *table, const struct stat_row *row, size_t index)
{
	struct stat_count *count = &row->counts[index];
	double part = count->estimate;
	static const struct {
		uint64_t config, whole;
		double factor;
		const char *unit;
	} ratios[] = {
		{PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES, 1, "per cycle"},
		{PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100,
			"% of branches"},
		{PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_CACHE_REFERENCES, 100,
			"% of cache references"},
		{PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, PERF_COUNT_HW_CPU_CYCLES, 100,
			"% of cycles"},
		{PERF_COUNT_HW_STALLED_CYCLES_BACKEND, PERF_COUNT_HW_CPU_CYCLES, 100,
			"% of cycles"},
		{PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_INSTRUCTIONS, THOUSAND,
			"per 1,000 instructions"},
		{PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_INSTRUCTIONS, THOUSAND,
			"per 1,000 instructions"},
	};

	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++)
		if (table->events[index].attr.config == ratios[i].config &&
			set(count, part,
				other(table, row, index, PERF_TYPE_HARDWARE, ratios[i].whole),
				ratios[i].factor, ratios[i].unit))
			return true;
	return table->events[index].attr.config == PERF_COUNT_HW_CPU_CYCLES &&
		set(count, part, cpu_time_ns(table, row, index), 1, "GHz");
}

/* Misses of a cache against accesses of the same kind, else against instructions. */
static bool set_cache(const struct stat_table *table, const struct stat_row *row, size_t index)
{
	struct stat_count *count = &row->counts[index];
	uint64_t config = table->events[index].attr.config;
	uint64_t accesses = (config & 0xffff) | (uint64_t)PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16;

	if (config >> 16 != PERF_COUNT_HW_CACHE_RESULT_MISS)
		return false;
	return set(count, count->estimate, other(table, row, index, PERF_TYPE_HW_CACHE, accesses),
		       100, "% of accesses") ||
		set(count, count->estimate,
			other(table, row, index, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS),
			THOUSAND, "per 1,000 instructions");
}

void stat_metrics(const struct stat_table *table, struct stat_row *row)
{
	for (size_t i = 0; i < table->n_events; i++) {
		const struct stat_event *event = &table->events[i];
		struct stat_count *count = &row->counts[i];

		count->metric = (struct stat_metric){0};
		if (count->missing)
			continue;
		if (event_is_clock(&event->attr)) {
			set(count, count->estimate, table->elapsed_s * 1e9, 1, "CPUs utilized");
			continue;
		}
		if (event->attr.type == PERF_TYPE_HARDWARE && set_hardware(table, row, i))
			continue;
		if (event->attr.type == PERF_TYPE_HW_CACHE && set_cache(table, row, i))
			continue;
		/* That nothing happened needs no rate. */
		if (count->scaled > 0)
			set(count, count->scaled, table->elapsed_s, 1, "/s");
	}
}

/* --- means --- */

struct sum {
	double n, mean, squares; /* Welford's */
	uint64_t enabled_ns, running_ns, count;
};

struct stat_means {
	size_t n_rows, n_events;
	unsigned int runs;
	struct sum elapsed, user, system;
	struct sum sums[]; /* row by row */
};

static void add(struct sum *sum, double value)
{
	double delta = value - sum->mean;

	sum->n++;
	sum->mean += delta / sum->n;
	sum->squares += delta * (value - sum->mean);
}

/* Of the mean, in percent of it. */
static double deviation(const struct sum *sum)
{
	if (sum->n < 2 || sum->mean <= 0)
		return sum->n < 2 ? -1 : 0;
	return 100 * sqrt(sum->squares / (sum->n - 1) / sum->n) / sum->mean;
}

int stat_means_add(struct stat_means **means, const struct stat_table *table)
{
	size_t n = table->n_rows * table->n_events;
	struct stat_means *sums = *means;

	if (!sums) {
		sums = calloc(1, sizeof(*sums) + n * sizeof(sums->sums[0]));
		if (!sums)
			return -ENOMEM;
		sums->n_rows = table->n_rows;
		sums->n_events = table->n_events;
		*means = sums;
	}
	if (sums->n_rows != table->n_rows || sums->n_events != table->n_events)
		return -EINVAL;
	sums->runs++;
	add(&sums->elapsed, table->elapsed_s);
	add(&sums->user, table->user_s);
	add(&sums->system, table->system_s);
	for (size_t i = 0; i < n; i++) {
		const struct stat_count *count =
			&table->rows[i / table->n_events].counts[i % table->n_events];
		struct sum *sum = &sums->sums[i];

		sum->enabled_ns += count->enabled_ns;
		sum->running_ns += count->running_ns;
		sum->count += count->count;
		if (!count->missing)
			add(sum, count->estimate);
	}
	return 0;
}

void stat_means_take(const struct stat_means *means, struct stat_table *table)
{
	table->runs = means->runs;
	table->elapsed_s = means->elapsed.mean;
	table->elapsed_deviation_percent = deviation(&means->elapsed);
	table->user_s = means->user.mean;
	table->system_s = means->system.mean;
	for (size_t i = 0; i < table->n_rows * table->n_events; i++) {
		struct stat_count *count =
			&table->rows[i / table->n_events].counts[i % table->n_events];
		const struct sum *sum = &means->sums[i];

		if (sum->n < 1.0)
			continue;
		count->missing = STAT_COUNTED;
		count->estimate = sum->mean;
		count->scaled = sum->mean * table->events[i % table->n_events].scale;
		count->count = sum->count / means->runs;
		count->enabled_ns = sum->enabled_ns / means->runs;
		count->running_ns = sum->running_ns / means->runs;
		count->deviation_percent = deviation(sum);
	}
	for (size_t i = 0; i < table->n_rows; i++)
		stat_metrics(table, &table->rows[i]);
}

void stat_means_free(struct stat_means *means)
{
	free(means);
}
