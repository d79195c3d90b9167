/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * breakdown.h - the samples of the model's window, or those with one symbol, by process,
 * thread, CPU or a field.
 *
 * If only time has passed, slices that enter the window are added and slices that leave it are
 * subtracted: a refresh reads one or two slices.  Otherwise the window is queried again, at most
 * for a small share of the time.  That is necessary if names have changed, if a slice that leaves
 * is no longer stored, or for rows by a field.  A process or thread has the newest name since the
 * last full query.  UI thread.
 */
#ifndef TUI_MODEL_BREAKDOWN_H
#define TUI_MODEL_BREAKDOWN_H

#include "tui/model/model.h"
#include "tui/model/queries.h"
#include "tui/query/query.h"
#include "tui/session/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A slice included in the sums. */
struct model_breakdown_slice {
	uint64_t serial, start_ns, end_ns;
};

/* The query of the sums, without its time. */
struct model_breakdown_of {
	bool known, all;
	unsigned int hide_idle; /* model_idle() */
	uint8_t event;
	enum query_group group;
	uint32_t symref;
	uint64_t filter, epoch;
	char field[QUERY_NAME_MAX];
};

/* Zero-initialized: empty.  Private to breakdown.c. */
struct model_breakdown_sums {
	struct model_breakdown_of of;
	uint64_t from_ns, to_ns;
	struct query_row *rows;
	uint32_t n, room;
	struct model_breakdown_slice *slices; /* in the order of time */
	size_t n_slices;
	struct model_time time;
	uint64_t not_before_ns;
	uint64_t asked; /* number of slices read so far, for tests */
};

void model_breakdown_fini(struct model_breakdown_sums *sums);

/* Implements model_queries.breakdown, without a baseline. */
int model_breakdown_rows(struct model_breakdown_sums *sums, struct session *session,
	const struct model *model, struct filter *filter, const struct model_breakdown *question,
	struct query_row **rows, size_t *n);
/* Variant for a given time, queried at once. */
int model_breakdown_ask(struct session *session, const struct model *model, struct filter *filter,
	const struct model_breakdown *question, uint64_t from_ns, uint64_t to_ns,
	struct query_row **rows, size_t *n);

#endif
