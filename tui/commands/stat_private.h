/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stat_private.h - counts of strobe stat, private to stat*.c.
 *
 * struct stat_table holds all data of the output, so that formats and ratios are functions of plain
 * data.
 */
#ifndef TUI_COMMANDS_STAT_PRIVATE_H
#define TUI_COMMANDS_STAT_PRIVATE_H

#include "sampler/counting/counting.h"
#include "sampler/machine/proc.h"
#include "tui/session/request.h"
#include "tui/session/session.h"

#include <stdio.h>

enum stat_missing {
	STAT_COUNTED,
	STAT_ABSENT, /* the row lacks this event */
	STAT_NOT_SUPPORTED, /* or not permitted: never opened */
	STAT_NO_ROOM, /* enabled, but never on the hardware */
	STAT_PINNED_OUT, /* pinned, but the hardware had no room */
	STAT_DID_NOT_RUN, /* the tasks did not run, or the CPU was offline */
};

/* A value derived from a count. */
struct stat_metric {
	double value;
	const char *unit; /* "per cycle", "/s"; NULL if there is no metric */
};

struct stat_count {
	enum stat_missing missing;
	uint64_t count; /* raw value */
	uint64_t enabled_ns, running_ns;
	double estimate; /* extrapolated to the enabled time; with --repeat the mean */
	double scaled; /* estimate in the event's unit */
	/* deviation of the mean with --repeat, in percent of it; below 0: none */
	double deviation_percent;
	struct stat_metric metric;
};

struct stat_event {
	char name[2 * EVENT_NAME_MAX]; /* cleaned */
	char cgroup[256]; /* cleaned; "" if none */
	const char *unit; /* cleaned; "" if none */
	double scale; /* factor from counts to units */
	struct perf_event_attr attr;
	uint16_t group; /* 0: none, or split up */
	bool opened;
	bool no_room; /* did not fit into its group, which is too large */
	bool by_default; /* a default event: hidden in text if it is not available */
};

/* Ids are -1 and texts "" if the rows are not by them. */
struct stat_row {
	int32_t pid, tid;
	int cpu, core, socket, node;
	struct proc_name seen; /* last name of the process or thread in /proc */
	char command[64]; /* cleaned */
	char name[128]; /* cleaned: "worker (4711/4712)", "CPU 3"; "" for the total */
	struct stat_count *counts; /* one for each event */
};

struct stat_table {
	const char *target; /* cleaned */
	enum stat_per per;
	struct stat_event *events;
	size_t n_events;
	struct stat_row *rows;
	size_t n_rows;
	double time_s; /* end of these counts, from the start */
	double elapsed_s; /* time covered by these counts */
	double user_s, system_s; /* CPU times of a command that ended; below 0: not known */
	unsigned int runs; /* number of runs; 0: not repeated */
	double elapsed_deviation_percent; /* deviation of the mean of elapsed_s */
	char **notes; /* cleaned sentences */
	size_t n_notes;
};

/* Returns the name in --per: "thread". */
const char *stat_per_name(enum stat_per per);
/* Returns a label for a missing count: "not supported", "no room". */
const char *stat_missing_text(enum stat_missing missing);

/* --- rows --- */

struct stat_cpu {
	int core, socket, node; /* -1: unknown */
};
/* Finds a CPU's core, socket and node in sysfs.  root: "/sys", or a directory of a test. */
void stat_find_cpu(const char *root, int cpu, struct stat_cpu *out);

/* Sums of cells by row, and the cells at the last interval. */
struct stat_gather {
	struct stat_table table; /* target, per and notes belong to the caller */
	const char *command; /* command line's program; names rows until it is executed */
	size_t n_cells; /* number of cells that have a row */
	size_t *row_of; /* by cell: index of its row */
	struct counting_cell *before; /* by cell: its value at the last interval */
};

/* Makes events and rows for all that was opened.  Returns 0 or -ENOMEM. */
int stat_gather_begin(struct stat_gather *gather, const struct counting *counting);
/* Updates the names of processes, which may have executed another program. */
void stat_gather_rename(struct stat_gather *gather);
/* Takes new counts: all since the start, or with `interval` those since the last call.  Returns 0
 * or -ENOMEM. */
int stat_gather_take(struct stat_gather *gather, const struct counting *counting, bool interval);
void stat_gather_fini(struct stat_gather *gather);

/* Adds a cell's count to a row's; part of stat_gather_take(). */
void stat_add(struct stat_count *count, const struct counting_cell *now,
	const struct counting_cell *before);
/* Finishes a sum: sets `missing` and `scaled`. */
void stat_settle(struct stat_count *count, const struct stat_event *event);

/* Computes rates and ratios of a row after stat_settle(). */
void stat_metrics(const struct stat_table *table, struct stat_row *row);

/* Means for --repeat.  stat_means_add() adds the table of a run; returns 0, -ENOMEM, or -EINVAL if
 * its rows differ.  stat_means_take() stores the means in the last table. */
struct stat_means;
int stat_means_add(struct stat_means **means, const struct stat_table *table);
void stat_means_take(const struct stat_means *means, struct stat_table *table);
void stat_means_free(struct stat_means *means);

/* --- output --- */

/* Formats a number like "1,234,567.89".  Returns out. */
const char *stat_number(char out[64], double value, unsigned int decimals);

void stat_put_text(FILE *out, const struct stat_table *table);
/* Writes one line per row for an interval.  head: writes the column heads first. */
void stat_put_line(FILE *out, const struct stat_table *table, bool head);
void stat_put_csv(FILE *out, const struct stat_table *table, bool head, struct csv_style style);
/* Writes one object; on a single line for an interval. */
void stat_put_json(FILE *out, const struct stat_table *table, bool interval);

#endif
