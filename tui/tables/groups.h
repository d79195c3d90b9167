/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * groups.h - the hot table by other keys than symbols: image, process, CPU, source line, sample
 * field.
 *
 * The key of a row has a small id, which replaces the symref in a hot table.  The id is stable
 * while the grouping is the same: a cursor can follow it, and a baseline has the same ids.  The
 * sums come from table.h.  UI thread.
 */
#ifndef TUI_TABLES_GROUPS_H
#define TUI_TABLES_GROUPS_H

#include "tui/query/scan.h"
#include "tui/query/table.h"
#include "tui/tables/counterparts.h"
#include "tui/tables/hot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROUPS_FIELD_MAX 64
#define GROUPS_NO_SYMBOL UINT32_MAX

struct group_by {
	enum query_group group; /* for GROUP_SYMBOL, hot.h is used instead */
	char field[GROUPS_FIELD_MAX]; /* name of the field, for GROUP_FIELD */
};

/* The key of a row. */
struct group_key {
	/* .symbol is the row's text.  .image is the text next to it: the function of an address or
	 * line, the path of an image, the process of a thread; else "". */
	struct symref name;
	uint32_t symref; /* function of an address or line; else GROUPS_NO_SYMBOL */
	int64_t number; /* pid, tid, CPU, event of a cgroup */
	bool is_number;
	struct counterpart task; /* for a process or thread; private to groups.c */
	bool foreign; /* only in the other profile of a comparison */
	/* its counterpart in the other profile is ambiguous: see counterparts.h */
	bool base_unknown;
	uint32_t fill; /* private to groups.c */
};

struct groups_question {
	/* over all events; groups_sum() fills in event, column and fields */
	struct scan_question scan;
	const char *const *cgroups; /* by event, cleaned; for GROUP_CGROUP */
	bool baseline; /* these samples are the baseline */
	/* For a baseline from another profile: by event there, the event here, or negative if none.
	 * Keys match by text; processes, threads and images of generated code as in counterparts.h.
	 * NULL: same profile. */
	const int *events;
};

struct groups;

int groups_new(struct groups **out, const struct group_by *by);
void groups_free(struct groups *groups); /* NULL is a no-op */

/* Fills the hot table with these sums.  Its rows take their names from these groups.  Returns 0 or
 * -ENOMEM. */
int groups_fill(struct groups *groups, const struct groups_question *question, struct hot *hot);

/* groups_fill() in two steps.  groups_sum() computes the sums, for table_free(); they stay valid
 * while the question's scan has the same answer.  groups_take() fills the hot table from them by
 * the rest of the question.  Both return 0 or -ENOMEM. */
int groups_sum(
	const struct groups *groups, const struct groups_question *question, struct table **out);
int groups_take(struct groups *groups, const struct groups_question *question,
	const struct table *table, struct hot *hot);

/* Returns a hash of the processes or threads, with their names, in the last fill that was not a
 * baseline.  When it changes, counterparts in another profile may change, too. */
uint64_t groups_population(const struct groups *groups);

/* Drops all keys when most are in no row of the last fill, since field values can grow without
 * bound.  Returns true if it did so: old ids are then invalid and are not reused.  The caller must
 * fill again all that was filled with them. */
bool groups_tidy(struct groups *groups);

/* Returns the key of an id; NULL if it was never given out or was dropped.  Its strings stay valid
 * until groups_tidy() drops the keys, the pointer only until the next fill. */
const struct group_key *groups_key(const struct groups *groups, uint32_t id);

/* Writes the filter (expr.h) that only samples of a row pass, or all others.  Returns false if
 * there is none. */
bool groups_term(const struct groups *groups, uint32_t id, bool negated, char *out, size_t size);

bool groups_same(const struct group_by *a, const struct group_by *b);

#endif
