/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.h - rows of a snapshot by any combination of keys, with columns side by side.
 *
 * A row is a combination of an event and the requested keys.  Keys of the stack (symbol, image,
 * address, line) are crossed with keys of the sample (process, thread, command, CPU, fields).  A
 * stack counts once in the total of each distinct combination on it, even with recursion.  It
 * counts in self and samples of its leaf's combination.
 *
 * Making a table asks for source lines; names_changes() grows when they arrive.  If rows are by
 * image, too, a symbol belongs to one image; else equal names in all images are one symbol.
 * UI thread.
 */
#ifndef TUI_QUERY_TABLE_H
#define TUI_QUERY_TABLE_H

#include "tui/query/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_question {
	/* `by` is filled in; with column GROUP_EVENT rows cover all events */
	struct scan_question scan;
	/* distinct; GROUP_EVENT has no effect; GROUP_FIELD + i: scan.fields[i], each must be a
	 * key */
	const enum query_group *keys;
	size_t n_keys;
	/* only stacks with this symref, self if it is the leaf; then no key is of the stack */
	bool only;
	uint32_t symref;
};

struct table_cell {
	uint64_t self, total, samples;
	uint32_t column; /* index in scan.columns */
	uint32_t next; /* index + 1 of the row's next cell; 0: none */
};

struct table_row {
	uint64_t self, total, samples; /* over all columns; 0 with columns by event */
	uint32_t part; /* index in parts: the keys of the stack */
	uint32_t task; /* index in scan.tasks, or SCAN_NONE */
	uint32_t fields; /* index in scan.fields, or SCAN_NONE */
	uint32_t cells; /* index + 1 of the first cell; 0: none */
	uint16_t cpu;
	uint8_t event; /* 0 with columns by event */
	uint8_t cgroup; /* for GROUP_CGROUP: the sampled event, which has the cgroup */
};

/* The keys of a row that come from the stack. */
struct table_part {
	uint64_t offset; /* for an address: offset in its image */
	uint32_t symref; /* if several functions share a line, one of their symrefs */
	uint32_t line; /* 0: not known */
	const char *file; /* full path, raw */
};

struct table {
	struct table_row *rows;
	uint32_t n_rows;
	struct table_cell *cells;
	uint32_t n_cells;
	struct scan scan; /* without sides and entries, which are freed */

	/* private */
	struct names *names;
	enum query_group keys[QUERY_KEYS_MAX];
	size_t n_keys;
	enum query_group column;
	struct table_part *parts;
	uint32_t n_parts;
	uint32_t rows_room, cells_room;
};

/* A key of a row, for display. */
struct table_key {
	/* cleaned; borrowed from names or bytes: "postgres (4711)", "3", "malloc",
	 * "libc.so.6+0x1b2c" */
	const char *text;
	int64_t number; /* pid, tid, CPU, event, or a field's number */
	bool is_number;
	bool is_missing; /* the samples lack the field */
	char bytes[512];
};

/* Makes a table.  Returns 0 with *out for table_free(), or -ENOMEM. */
int table_new(struct table **out, const struct table_question *question);
void table_free(struct table *table);

enum table_sort { TABLE_SELF, TABLE_TOTAL };

/* Sorts by event, then by falling weight in the column (SCAN_NONE: in the row), then by names.  The
 * order is total.  Returns 0 or -ENOMEM. */
int table_sort(struct table *table, enum table_sort sort, uint32_t column);

/* The part of the order that is needed.  For each event these are the first `rows` (0: all) with at
 * least its `least` (by event; NULL: all).  Other rows come after them, sorted only by weight,
 * without names. */
struct table_top {
	uint32_t rows;
	const uint64_t *least;
};
int table_sort_top(
	struct table *table, enum table_sort sort, uint32_t column, const struct table_top *top);

/* Returns keys[i] of a row.  The text of an event or cgroup is "": the caller knows its name. */
void table_key(
	const struct table *table, const struct table_row *row, size_t i, struct table_key *out);

/* Stores the place of a row's function: names_place(). */
void table_place(const struct table *table, const struct table_row *row, struct names_place *out);

/* Returns a row's cell in a column; NULL if none. */
const struct table_cell *table_cell(
	const struct table *table, const struct table_row *row, uint32_t column);

#endif
