/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorded.h - a recording that is read in addition to the session on the screen, to compare both.
 *
 * A thread opens it, since an archive may have to be unpacked, or a FIFO may block.  The
 * recording's own thread reads it.  The UI thread does the rest, for no longer than a refresh
 * takes.  Symbols and events of both match by name, processes and threads by counterparts.h, all
 * others by their shown text.
 */
#ifndef TUI_MODEL_RECORDED_H
#define TUI_MODEL_RECORDED_H

#include "tui/model/model.h"
#include "tui/query/expr.h"
#include "tui/session/session.h"
#include "tui/tables/basis.h"
#include "tui/tables/groups.h"
#include "tui/tables/lanes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_breakdown;
struct recorded;

/* Starts reading.  The request's settings for files, debug information and filters apply.  Returns
 * 0, or -errno and a cleaned sentence, with *out NULL. */
int recorded_open(struct recorded **out, const struct request *request, const char *path,
	char *message, size_t size);
/* Stops reading at any point, without waiting for slow operations.  NULL is a no-op. */
void recorded_free(struct recorded *recorded);

enum recorded_state {
	RECORDED_READING,
	RECORDED_READY,
	RECORDED_FAILED,
};

/* Takes in new data.  Returns the state; if RECORDED_FAILED, after writing the reason, a cleaned
 * sentence. */
enum recorded_state recorded_step(struct recorded *recorded, char *message, size_t size);
unsigned int recorded_percent(const struct recorded *recorded); /* above 100: unknown */
const char *recorded_name(const struct recorded *recorded); /* cleaned, without directories */
/* Returns descriptors that become readable when there is new data; -1: none. */
#define RECORDED_FDS 2
void recorded_fds(const struct recorded *recorded, int fds[RECORDED_FDS]);

/* Waits for names that are still missing.  The state must be RECORDED_READY. */
void recorded_wait(struct recorded *recorded, unsigned int timeout_ms);

/* Returns a number that grows when recorded_basis() would give another result, since more names are
 * known.  The state must be RECORDED_READY. */
uint64_t recorded_changes(const struct recorded *recorded);

struct recorded_question {
	struct names *names; /* defines the symrefs of symbols; missing symbols are added */
	const struct engine_status *status; /* defines the ids of events */
	const struct expr *exprs; /* filters; samples must pass all */
	size_t n_exprs;
	bool hide_idle;
};

/* Returns the sums of the samples that pass.  *shared: number of its events with
 * samples that the status has, too.  Returns 0, or -ENOMEM with an empty basis. */
int recorded_basis(struct recorded *recorded, const struct recorded_question *question,
	struct basis *out, size_t *shared);

/* Variant by other keys of a hot table (groups.h).  groups must have been filled with the session's
 * samples.  stands_for: event that represents each of the status's events, if rows are by cgroup.
 * Equal serials select cached sums of the recording.  Returns 0 or -ENOMEM. */
int recorded_groups(struct recorded *recorded, const struct recorded_question *question,
	uint64_t serial, const struct group_by *by, const uint8_t stands_for[STORE_EVENTS_MAX],
	struct groups *groups, struct hot *hot);

/* Return lanes (with one column) and rows for one of the status's events, with the recording's pids
 * and tids.  They are empty if the recording does not have the event.  Return 0 or -ENOMEM. */
int recorded_lanes(struct recorded *recorded, const struct recorded_question *question,
	uint8_t event, enum query_group group, struct lanes *out);
int recorded_rows(struct recorded *recorded, const struct recorded_question *question,
	uint8_t event, const struct model_breakdown *of, struct query_row **rows, size_t *n);

#endif
