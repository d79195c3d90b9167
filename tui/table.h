/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.h - rows of a snapshot by any combination of keys, with columns side by side.
 *
 * A row is a combination of an event and the keys asked for.  Keys that a stack tells (symbol, image, address, line) are
 * crossed with those of the sample (process, thread, command, CPU, fields): a stack counts once in the total of
 * each distinct combination on it, however often it recurs, and in self and samples of that of its leaf.
 * Source lines are asked for by making a table, and are not there at once: names_changes() grows when answers came.
 * A symbol is that of one image where rows are by image too; alone it is its name, wherever it is.  UI thread.
 */
#ifndef TUI_TABLE_H
#define TUI_TABLE_H

#include "tui/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_question {
	struct scan_question
		scan; /* `by` is filled in; with column GROUP_EVENT rows are of all events */
	const enum query_group *
		keys; /* distinct; GROUP_EVENT: has no effect, rows are by event; GROUP_FIELD + i: scan.fields[i], each of which is a key */
	size_t n_keys;
	bool only; /* stacks with this symref alone; self: it is the leaf.  Then no key is a stack's. */
	uint32_t symref;
};

struct table_cell {
	uint64_t self, total, samples;
	uint32_t column; /* of scan.columns */
	uint32_t next; /* + 1; 0: the last */
};

struct table_row {
	uint64_t self, total, samples; /* over all columns; of columns by event, nothing */
	uint32_t part; /* what the stack told */
	uint32_t task; /* of scan.tasks, or SCAN_NONE */
	uint32_t fields; /* of scan.fields, or SCAN_NONE */
	uint32_t cells; /* the first + 1, where there are columns */
	uint16_t cpu;
	uint8_t event; /* 0 with columns by event */
	uint8_t cgroup; /* of GROUP_CGROUP: the event as it was sampled, whose cgroup it is */
};

/* What a stack told of a row. */
struct table_part {
	uint64_t offset; /* of an address, in its image */
	uint32_t symref; /* of lines that several functions have, one of these */
	uint32_t line; /* 0: not known */
	const char *file; /* full path, raw */
};

struct table {
	struct table_row *rows;
	uint32_t n_rows;
	struct table_cell *cells;
	uint32_t n_cells;
	struct scan scan; /* its sides and entries are gone */

	/* private */
	struct names *names;
	enum query_group keys[QUERY_KEYS_MAX];
	size_t n_keys;
	enum query_group column;
	struct table_part *parts;
	uint32_t n_parts;
	uint32_t rows_room, cells_room;
};

/* A key of a row, to be shown. */
struct table_key {
	const char *
		text; /* cleaned: "postgres (4711)", "3", "malloc", "libc.so.6+0x1b2c", "/src/a.c:7"; borrowed from names or bytes */
	int64_t number; /* pid, tid, CPU, event, or the number of a field */
	bool is_number;
	bool is_missing; /* a field that the samples do not have */
	char bytes[512];
};

/* 0 and *out for table_free(); or -ENOMEM. */
int table_new(struct table **out, const struct table_question *question);
void table_free(struct table *table);

enum table_sort { TABLE_SELF, TABLE_TOTAL };

/* By event, then by falling weight of the column (SCAN_NONE: of the row), then by names; a total order.  0 or -ENOMEM. */
int table_sort(struct table *table, enum table_sort sort, uint32_t column);

/* What of the order is wanted: of each event the first `rows` (0: all), and of them those of at least so much
 * (by event; NULL: all).  The others come after them, in the order of their weights alone, and need no names. */
struct table_top {
	uint32_t rows;
	const uint64_t *least;
};
int table_sort_top(
	struct table *table, enum table_sort sort, uint32_t column, const struct table_top *top);

/* keys[i] of a row.  The text of an event, and of its cgroup, is empty: its name is for others to know. */
void table_key(
	const struct table *table, const struct table_row *row, size_t i, struct table_key *out);

/* A row's cell of a column, or NULL. */
const struct table_cell *table_cell(
	const struct table *table, const struct table_row *row, uint32_t column);

#endif
