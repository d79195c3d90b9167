/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ratios.h - ratios of two counts: instructions per cycle, miss rates, page faults by time.
 *
 * Counts are compared only if they were counted at the same time: both in one group, or both during
 * all of the time that they were enabled.  Pure functions; any thread.
 */
#ifndef TUI_QUERY_RATIOS_H
#define TUI_QUERY_RATIOS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RATIOS_MAX 24

/* A count as the caller has it. */
struct ratio_part {
	const char *name; /* with modifiers, as in struct event_spec; used without attr */
	double count; /* scaled; ns for clocks */
	uint16_t group; /* 0: none */
	bool always; /* counted all the time that it was enabled */
	const struct perf_event_attr *attr; /* or NULL */
	const char *cgroup; /* only counts of the same cgroup are compared; NULL: none */
};

enum ratio_form {
	RATIO_NUMBER, /* such as 1.24 */
	RATIO_PERCENT,
	RATIO_PER_SECOND, /* per second of time on a CPU, from a clock event */
};

struct ratio {
	const char *name; /* "instructions per cycle" */
	const char *brief; /* "IPC" */
	const char *unit; /* printed after the part's number: "% of branches"; NULL: none */
	enum ratio_form form;
	double value; /* for RATIO_PERCENT 0 .. 100 */
	size_t part, other; /* indexes of the counts: value = part / other * a factor */
};

/* Computes all ratios of the counts, in a fixed order.  Returns their number, at most
 * RATIOS_MAX. */
size_t ratios_find(const struct ratio_part *parts, size_t n, struct ratio out[RATIOS_MAX]);

/* Computes the first ratio with a unit that has this part, also for misses of any cache.  Returns
 * false if there is none. */
bool ratios_of(const struct ratio_part *parts, size_t n, size_t part, struct ratio *out);

#endif
