// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * stat_metrics.c - derived values of counts: rates, ratios, and means of several runs.
 *
 * Pure functions of plain data.  A ratio needs counts of the same time: members of one group, or
 * two counts that ran all the time.
 */
#include "sampler/kernel/attr.h"
#include "tui/commands/stat_private.h"
#include "tui/query/ratios.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool ran_always(const struct stat_count *count)
{
	return count->running_ns >= count->enabled_ns;
}

static void set(
	struct stat_count *count, double part, double whole, double factor, const char *unit)
{
	if (whole > 0)
		count->metric = (struct stat_metric){factor * part / whole, unit};
}

/* Returns the counts that exist, in the order of events, for free(); *n is their number. */
static struct ratio_part *make_parts(
	const struct stat_table *table, const struct stat_row *row, size_t *n)
{
	struct ratio_part *parts = calloc(table->n_events + 1, sizeof(*parts));

	*n = 0;
	if (!parts)
		return NULL;
	for (size_t i = 0; i < table->n_events; i++) {
		const struct stat_event *event = &table->events[i];

		if (row->counts[i].missing)
			continue;
		parts[(*n)++] = (struct ratio_part){
			.name = event->name,
			.count = row->counts[i].estimate,
			.group = event->group,
			.always = ran_always(&row->counts[i]),
			.attr = &event->attr,
			.cgroup = event->cgroup,
		};
	}
	return parts;
}

void stat_metrics(const struct stat_table *table, struct stat_row *row)
{
	struct ratio ratio;
	size_t n;
	/* If memory runs out, there are only rates. */
	struct ratio_part *parts = make_parts(table, row, &n);

	for (size_t i = 0; i < table->n_events; i++)
		row->counts[i].metric = (struct stat_metric){0};
	for (size_t i = 0, part = 0; i < table->n_events; i++) {
		struct stat_count *count = &row->counts[i];

		if (count->missing)
			continue;
		if (attr_is_clock(&table->events[i].attr))
			set(count, count->estimate, table->elapsed_s * 1e9, 1, "CPUs utilized");
		else if (parts && ratios_of(parts, n, part, &ratio))
			count->metric = (struct stat_metric){ratio.value, ratio.unit};
		/* A count of 0 needs no rate. */
		else if (count->scaled > 0)
			set(count, count->scaled, table->elapsed_s, 1, "/s");
		part++;
	}
	free(parts);
}

/* --- means --- */

struct sum {
	double n, mean, squares; /* Welford's algorithm */
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

/* Returns the deviation of the mean in percent of it; -1 if there is only one run. */
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
