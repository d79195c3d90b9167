/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * groups.h - the hot table by something else than symbols: by image, process, CPU, source line, a field of samples ...
 *
 * What a row is of has a small number, which takes a symref's place in a hot table and stays as long as rows are by the
 * same: a cursor can stick to it, and a baseline has the same ones.  The sums are those of table.h.  UI thread.
 */
#ifndef TUI_GROUPS_H
#define TUI_GROUPS_H

#include "tui/counterparts.h"
#include "tui/hot.h"
#include "tui/scan.h"
#include "tui/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROUPS_FIELD_MAX 64
#define GROUPS_NO_SYMBOL UINT32_MAX

struct group_by {
	enum query_group group; /* GROUP_SYMBOL: rows are symbols, for which hot.h serves */
	char field[GROUPS_FIELD_MAX]; /* of GROUP_FIELD: its name */
};

/* What a row is of. */
struct group_key {
	/* .symbol is the row's text, .image what stands beside it: the function of an address or a line, the path of an image,
	 * the process of a thread; "" for others. */
	struct symref name;
	uint32_t symref; /* of an address or line: its function; else GROUPS_NO_SYMBOL */
	int64_t number; /* pid, tid, CPU, event of a cgroup */
	bool is_number;
	struct counterpart task; /* of a process or thread, private to groups.c */
	bool foreign; /* of another profile alone, which this one is compared with */
	bool base_unknown; /* which of that one's it is: counterparts.h */
	uint32_t fill; /* private to groups.c */
};

struct groups_question {
	struct scan_question scan; /* of all events; by, fields and column are filled in */
	const char *const *cgroups; /* by event, cleaned; of GROUP_CGROUP */
	bool baseline; /* these are what rows are compared with */
	/* Of a baseline that is another profile: by its event the one that it is here, or negative where it is none.
	 * What is the same is told by its text, processes and threads as in counterparts.h.  NULL: it is that profile. */
	const int *events;
};

struct groups;

int groups_new(struct groups **out, const struct group_by *by);
void groups_free(struct groups *groups); /* NULL is a no-op */

/* Make the hot table one of these sums; its rows have the names of these groups.  0 or -ENOMEM. */
int groups_fill(struct groups *groups, const struct groups_question *question, struct hot *hot);

/* The same in two steps: the sums, for table_free(), may be kept as long as the question's scan has the same answer; what they are
 * here is told by the rest of the question. */
int groups_sum(
	const struct groups *groups, const struct groups_question *question, struct table **out);
int groups_take(struct groups *groups, const struct groups_question *question,
	const struct table *table, struct hot *hot);

/* Of processes and threads another number where others had rows at the last fill that was not of a baseline, or other names: what of
 * another profile they are may be another, too. */
uint64_t groups_population(const struct groups *groups);

/* Forget what no row of the last fill was of, where that has become much: as the time goes on, fields may have ever other
 * values.  True: it was done; numbers from before mean nothing any more and are not given out again, so what was filled with
 * them is to be filled anew. */
bool groups_tidy(struct groups *groups);

/* NULL for a number that was never given out, or is forgotten.  What it points to stays, what it says may be newer after the next fill. */
const struct group_key *groups_key(const struct groups *groups, uint32_t id);

/* The filter (expr.h) that only samples of a row pass, or all but them.  False: there is none. */
bool groups_term(const struct groups *groups, uint32_t id, bool negated, char *out, size_t size);

bool groups_same(const struct group_by *a, const struct group_by *b);

#endif
