/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_breakdown.h - the samples of the model's window, or those of one symbol, by process, thread, CPU or a field.
 *
 * Where it is the time alone that goes on, what comes into the window is added and what leaves it is subtracted: a
 * refresh looks into a slice or two, not into all.  Where that is not possible, because names changed, what leaves is
 * no longer there, or rows are by a field, the window is asked anew, and not more often than a small share of the time
 * allows.  A process or thread has the newest name that was met since the window was asked anew.  UI thread.
 */
#ifndef TUI_MODEL_BREAKDOWN_H
#define TUI_MODEL_BREAKDOWN_H

#include "tui/model.h"
#include "tui/query.h"
#include "tui/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A slice whose samples are in the sums. */
struct model_breakdown_slice {
	uint64_t serial, start_ns, end_ns;
};

/* Of what the sums were made, but for the time. */
struct model_breakdown_of {
	bool known, all;
	unsigned int hide_idle; /* model_idle() */
	uint8_t event;
	enum query_group group;
	uint32_t symref;
	uint64_t filter, epoch;
	char field[QUERY_NAME_MAX];
};

/* All zeros is one that knows nothing.  Private to model_breakdown.c. */
struct model_breakdown_sums {
	struct model_breakdown_of of;
	uint64_t from_ns, to_ns;
	struct query_row *rows;
	uint32_t n, room;
	struct model_breakdown_slice *slices; /* by time */
	size_t n_slices;
	struct model_time time;
	uint64_t not_before_ns;
	uint64_t asked; /* how many slices were looked into so far: for tests */
};

void model_breakdown_fini(struct model_breakdown_sums *sums);

/* As model_ops.breakdown, of no baseline. */
int model_breakdown_rows(struct model_breakdown_sums *sums, struct session *session,
	const struct model *model, struct filter *filter, const struct model_breakdown *question,
	struct query_row **rows, size_t *n);
/* The same of a time, asked at once. */
int model_breakdown_ask(struct session *session, const struct model *model, struct filter *filter,
	const struct model_breakdown *question, uint64_t from_ns, uint64_t to_ns,
	struct query_row **rows, size_t *n);

#endif
