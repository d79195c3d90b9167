/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff_table.h - rows of several reports side by side.
 *
 * Reports are added one after the other, each freed before the next is made: what is needed is
 * copied.  Events are joined by name, rows by event and keys.  Clones of a function that not all
 * builds have are one row. UI thread.
 */
#ifndef TUI_DIFF_TABLE_H
#define TUI_DIFF_TABLE_H

#include "tui/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct diff_file {
	const char *name; /* cleaned */
	double duration_s;
};

/* An event in one recording. */
struct diff_part {
	bool present;
	uint64_t samples, weight; /* that pass the filters */
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
	double percent; /* as the report has it */
	double value; /* what is compared: percent, or weight a second */
};

enum diff_state { DIFF_BOTH, DIFF_NEW, DIFF_GONE, DIFF_BETWEEN };

struct diff_row {
	uint32_t event;
	const char **keys; /* of table.n_keys */
	struct diff_cell *cells; /* by file */
	enum diff_state state; /* in the last against the first; BETWEEN: in neither */
	double difference; /* last - first */
	double ratio; /* last / first; 0 where there was nothing */
};

struct diff_table {
	enum diff_normal normal;
	struct diff_file *files;
	size_t n_files; /* added so far */
	size_t files_max;
	enum query_group keys[GROUP_KEYS];
	size_t n_keys;
	struct diff_event *events; /* first those compared, in the order in which they were met */
	uint32_t n_events, events_room;
	uint32_t n_compared; /* in two recordings or more */
	struct diff_row
		*rows; /* after diff_table_finish(): by event, then by falling |difference| */
	uint32_t n_rows, rows_room;
	struct intern texts, index; /* index: event and keys of each row */
	bool absolute;
};

/* For files_max recordings.  0 or -ENOMEM; diff_table_fini() is legal in any case. */
int diff_table_init(struct diff_table *table, size_t files_max, enum diff_normal normal);
void diff_table_fini(struct diff_table *table);

/* The next recording; is_clock says it of the report's events.  0 or -ENOMEM. */
int diff_table_add(struct diff_table *table, const char *name, const struct report *report,
	const bool *is_clock);

/* Compare and sort.  Rows are left out that are below percent_limit in every recording, and those of an event beyond `rows` (0: all).
 * 0 or -ENOMEM. */
int diff_table_finish(struct diff_table *table, double percent_limit, size_t rows);

/* columns: of the terminal, to cut names to; 0: as wide as needed. */
void diff_put_text(FILE *out, const struct diff_table *table, unsigned int columns, bool color);
void diff_put_csv(FILE *out, const struct diff_table *table, struct csv_style style);
void diff_put_json(FILE *out, const struct diff_table *table);

#endif
