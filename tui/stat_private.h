/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stat_private.h - counts as they are printed; private to stat*.c.
 *
 * What is printed is gathered into struct stat_table first, so that the formats and the ratios are functions of
 * plain data.
 */
#ifndef TUI_STAT_PRIVATE_H
#define TUI_STAT_PRIVATE_H

#include "sampler/counting.h"
#include "sampler/proc.h"
#include "tui/session.h"

#include <stdio.h>

enum stat_missing {
	STAT_COUNTED,
	STAT_ABSENT, /* this event is not for this row */
	STAT_NOT_SUPPORTED, /* or not permitted: it was never opened */
	STAT_NO_ROOM, /* enabled, and never on the hardware */
	STAT_PINNED_OUT, /* pinned, and the hardware had no room */
	STAT_DID_NOT_RUN, /* its tasks did not run, its CPU was not there */
};

/* What a count amounts to. */
struct stat_metric {
	double value;
	const char *unit; /* "per cycle", "/s"; NULL: there is none */
};

struct stat_count {
	enum stat_missing missing;
	uint64_t count; /* as read */
	uint64_t enabled_ns, running_ns;
	double estimate; /* for all of the time enabled; of --repeat the mean */
	double scaled; /* the same in the event's unit */
	double deviation_percent; /* of --repeat: of the mean; below 0: none */
	struct stat_metric metric;
};

struct stat_event {
	char name[2 * EVENT_NAME_MAX]; /* cleaned */
	char cgroup[256]; /* cleaned; "" without one */
	const char *unit; /* cleaned; "" where counts have none */
	double scale; /* from counts to units */
	struct perf_event_attr attr;
	uint16_t group; /* 0: none, or taken apart */
	bool opened;
	bool no_room; /* refused as a member of its group, which is too large */
	bool by_default; /* nobody asked for it: left out of a text where it is not there */
};

/* -1 and "" where that does not belong to the rows. */
struct stat_row {
	int32_t pid, tid;
	int cpu, core, socket, node;
	struct proc_name seen; /* of a process or thread, as /proc had it last */
	char command[64]; /* cleaned */
	char name[128]; /* cleaned: "worker (4711/4712)", "CPU 3"; "" of the total */
	struct stat_count *counts; /* one for each event */
};

struct stat_table {
	const char *target; /* cleaned */
	enum stat_per per;
	struct stat_event *events;
	size_t n_events;
	struct stat_row *rows;
	size_t n_rows;
	double time_s; /* at the end of what is counted here, from the start */
	double elapsed_s; /* that it was counted for */
	double user_s, system_s; /* of a command that ended; below 0: not known */
	unsigned int runs; /* of --repeat; 0: not repeated */
	double elapsed_deviation_percent; /* of runs */
	char **notes; /* cleaned sentences */
	size_t n_notes;
};

/* "thread", as --per has it. */
const char *stat_per_name(enum stat_per per);
/* What an event without a count is called: "not supported", "no room". */
const char *stat_missing_text(enum stat_missing missing);

/* --- rows --- */

struct stat_cpu {
	int core, socket, node; /* -1: not told */
};
/* Where a CPU is, by what lies below root ("/sys"). */
void stat_find_cpu(const char *root, int cpu, struct stat_cpu *out);

/* Sums of cells by row, and what they were at the last time. */
struct stat_gather {
	struct stat_table table; /* target, per and notes are the caller's */
	const char *command; /* as launched; its processes have no name of their own yet */
	size_t n_cells; /* that rows know of */
	size_t *row_of; /* by cell */
	struct counting_cell *before; /* as of the last interval */
};

/* Events and rows of what was opened.  0 or -ENOMEM. */
int stat_gather_begin(struct stat_gather *gather, const struct counting *counting);
/* Names of processes as they are now: one may have executed another program. */
void stat_gather_rename(struct stat_gather *gather);
/* Take what was read: all from the start, or with interval what came since the last call.  0 or -ENOMEM. */
int stat_gather_take(struct stat_gather *gather, const struct counting *counting, bool interval);
void stat_gather_fini(struct stat_gather *gather);

/* Add a count to a row's; part of stat_gather_take(). */
void stat_add(struct stat_count *count, const struct counting_cell *now,
	const struct counting_cell *before);
/* Once all are added: what is missing, and counts in units. */
void stat_settle(struct stat_count *count, const struct stat_event *event);

/* Rates and ratios of a row, whose counts are settled. */
void stat_metrics(const struct stat_table *table, struct stat_row *row);

/* Means of --repeat: add each run's table to sums, then turn them into the last table. */
struct stat_means;
int stat_means_add(struct stat_means **means,
	const struct stat_table *table); /* 0, -ENOMEM, -EINVAL: other rows */
void stat_means_take(const struct stat_means *means, struct stat_table *table);
void stat_means_free(struct stat_means *means);

/* --- output --- */

/* "1,234,567.89" */
const char *stat_number(char out[64], double value, unsigned int decimals);

void stat_put_text(FILE *out, const struct stat_table *table);
/* One line of an interval for each row; a head comes before the first line and whenever head is true. */
void stat_put_line(FILE *out, const struct stat_table *table, bool head);
void stat_put_csv(FILE *out, const struct stat_table *table, bool head, struct csv_style style);
/* One object; in one line for an interval. */
void stat_put_json(FILE *out, const struct stat_table *table, bool interval);

#endif
