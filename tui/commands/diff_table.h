/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff_table.h - rows of several reports side by side.
 *
 * Reports are added one after the other.  The table copies what it needs, so each can be freed
 * before the next is made.  Events are matched by name, rows by event and keys.  Clones of a
 * function that some builds lack are merged into one row.  Different functions of one name are
 * matched by their place, in another build by their order if their numbers are equal.  UI thread.
 */
#ifndef TUI_COMMANDS_DIFF_TABLE_H
#define TUI_COMMANDS_DIFF_TABLE_H

#include "tui/commands/report.h"
#include "tui/session/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct diff_file {
	const char *name; /* cleaned */
	double duration_s; /* within --time; negative: samples without times */
};

/* An event in one recording. */
struct diff_part {
	bool present;
	uint64_t samples, weight; /* those that pass the filters */
};

struct diff_event {
	const char *name;
	bool is_clock;
	struct diff_part *parts; /* by file */
	size_t n_present;
};

/* A row in one recording. */
struct diff_cell {
	uint64_t samples, weight; /* self */
	double percent; /* the report's percentage */
	double value; /* the compared value: percent, or weight per second */
};

enum diff_state { DIFF_BOTH, DIFF_NEW, DIFF_GONE, DIFF_BETWEEN };

struct diff_row {
	uint32_t event;
	const char **keys; /* table.n_keys strings */
	struct names_place place; /* functions of one name are several rows */
	struct diff_cell *cells; /* by file */
	enum diff_state state; /* last against first recording; BETWEEN: in neither */
	double difference; /* value of the last minus the first */
	double ratio; /* last / first; 0 if first is 0 */
};

struct diff_table {
	enum diff_normal normal;
	struct diff_file *files;
	size_t n_files; /* number added so far */
	size_t files_max;
	enum query_group keys[GROUP_KEYS];
	size_t n_keys;
	/* first the compared ones, in the order in which they were added */
	struct diff_event *events;
	uint32_t n_events, events_room;
	uint32_t n_compared; /* events in at least two recordings */
	struct diff_row *rows; /* once finished: by event, then by falling |difference| */
	uint32_t n_rows, rows_room;
	struct intern texts, index; /* index: event, place and keys of each row */
	bool absolute;
};

/* Initializes a table for files_max recordings.  Returns 0 or -ENOMEM; diff_table_fini() is legal
 * in any case. */
int diff_table_init(struct diff_table *table, size_t files_max, enum diff_normal normal);
void diff_table_fini(struct diff_table *table);

/* Adds the next recording.  is_clock[i]: event i of the report is a clock.  Returns 0 or
 * -ENOMEM. */
int diff_table_add(struct diff_table *table, const char *name, const struct report *report,
	const bool *is_clock);

/* Compares and sorts the rows.  Leaves out rows below percent_limit in every recording, and keeps
 * at most `rows` per event (0: all).  Returns 0 or -ENOMEM. */
int diff_table_finish(struct diff_table *table, double percent_limit, size_t rows);

/* Prints the table.  columns: terminal width to fit names to; 0: no limit. */
void diff_put_text(FILE *out, const struct diff_table *table, unsigned int columns, bool color);
void diff_put_csv(FILE *out, const struct diff_table *table, struct csv_style style);
void diff_put_json(FILE *out, const struct diff_table *table);

#endif
