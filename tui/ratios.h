/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ratios.h - what two counts tell together: instructions per cycle, miss rates, page faults by time.
 *
 * Counts are compared only where they were counted at the same time: both in one group, or both all the time that they were
 * enabled.  Pure functions; any thread.
 */
#ifndef TUI_RATIOS_H
#define TUI_RATIOS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RATIOS_MAX 24

/* A count as somebody has it. */
struct ratio_part {
	const char *
		name; /* as of struct event_spec: with modifiers; looked at where there is no attribute */
	double count; /* scaled; of clocks in ns */
	uint16_t group; /* 0: none */
	bool always; /* it counted all the time that it was enabled */
	const struct perf_event_attr *attr; /* or NULL */
	const char *cgroup; /* only counts of one cgroup are compared; NULL: none */
};

enum ratio_form {
	RATIO_NUMBER, /* 1.24 */
	RATIO_PERCENT,
	RATIO_PER_SECOND, /* of time on a CPU, from a clock event */
};

struct ratio {
	const char *name; /* "instructions per cycle" */
	const char *brief; /* "IPC" */
	const char
		*unit; /* behind the number of the part: "per cycle", "% of branches"; NULL: none */
	enum ratio_form form;
	double value; /* of RATIO_PERCENT 0 .. 100 */
	size_t part, other; /* whose numbers these are: part divided by other */
};

/* In a fixed order; at most RATIOS_MAX are stored in out.  How many. */
size_t ratios_find(const struct ratio_part *parts, size_t n, struct ratio out[RATIOS_MAX]);

/* The first one with a unit whose part is that one; of any cache's misses, too.  False: there is none. */
bool ratios_of(const struct ratio_part *parts, size_t n, size_t part, struct ratio *out);

#endif
