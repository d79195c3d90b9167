/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorded.h - a recording that is read beside what the screen shows, to be compared with it.
 *
 * A thread opens it (an archive may have to be unpacked, a FIFO be waited for), the recording's own thread reads it; all else is
 * the UI thread's, and takes no longer than a refresh does.  Symbols and events of both are one where their names are, processes and
 * threads as in counterparts.h, all else where what is shown of it is.
 */
#ifndef TUI_RECORDED_H
#define TUI_RECORDED_H

#include "tui/basis.h"
#include "tui/expr.h"
#include "tui/groups.h"
#include "tui/lanes.h"
#include "tui/model.h"
#include "tui/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorded;

/* Begin to read; what the request says of files, debug information and filters holds for it, too.  0, or -errno and a sentence
 * (cleaned), with *out NULL. */
int recorded_open(struct recorded **out, const struct request *request, const char *path,
	char *message, size_t size);
/* Stops wherever it is, and waits for nothing that may take long.  NULL is a no-op. */
void recorded_free(struct recorded *recorded);

enum recorded_state {
	RECORDED_READING,
	RECORDED_READY,
	RECORDED_FAILED,
};

/* Take in what has come.  Where it failed, why: a sentence (cleaned). */
enum recorded_state recorded_step(struct recorded *recorded, char *message, size_t size);
unsigned int recorded_percent(const struct recorded *recorded); /* above 100: not known */
const char *recorded_name(const struct recorded *recorded); /* cleaned, without folders */
/* Descriptors that are readable when there is something to take in; -1: none. */
#define RECORDED_FDS 2
void recorded_fds(const struct recorded *recorded, int fds[RECORDED_FDS]);

/* Of one that is ready: wait for names that are on their way. */
void recorded_wait(struct recorded *recorded, unsigned int timeout_ms);

/* Of one that is ready.  Grows when recorded_basis() would tell otherwise, as more names are known. */
uint64_t recorded_changes(const struct recorded *recorded);

struct recorded_question {
	struct names
		*names; /* where symbols get their numbers: those that are not there are added */
	const struct engine_status *status; /* whose events these are to be */
	const struct expr *exprs; /* filters, one after the other */
	size_t n_exprs;
	bool hide_idle;
};

/* What passes of it; *shared: how many of the status's events it has.  0, or -ENOMEM with an empty one. */
int recorded_basis(struct recorded *recorded, const struct recorded_question *question,
	struct basis *out, size_t *shared);

/* The same by what rows of a hot table are: groups.h, filled before with what is here.  stands_for: the status's events by number,
 * where rows are by cgroup.  Of the same serial what the recording has is the same.  0 or -ENOMEM. */
int recorded_groups(struct recorded *recorded, const struct recorded_question *question,
	uint64_t serial, const struct group_by *by, const uint8_t stands_for[STORE_EVENTS_MAX],
	struct groups *groups, struct hot *hot);

/* Lanes without columns, and rows, of one of the status's events, with the numbers of processes and threads that they had there.  Of an
 * event that it does not have there are none.  0 or -ENOMEM. */
int recorded_lanes(struct recorded *recorded, const struct recorded_question *question,
	uint8_t event, enum query_group group, struct lanes *out);
int recorded_rows(struct recorded *recorded, const struct recorded_question *question,
	uint8_t event, const struct model_breakdown *of, struct query_row **rows, size_t *n);

#endif
