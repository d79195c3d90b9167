/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * groups.h - the model's window by other keys than symbols, for the hot table.
 *
 * The rows are computed when the view requests them, and kept until window, filter, names or key
 * change.  If only time has passed, they are recomputed at most for a small share of the time.  UI
 * thread.
 */
#ifndef TUI_MODEL_GROUPS_H
#define TUI_MODEL_GROUPS_H

#include "tui/model/baseline.h"
#include "tui/model/crumbs.h"
#include "tui/model/model.h"
#include "tui/session/session.h"
#include "tui/tables/groups.h"

#include <stdbool.h>
#include <stdint.h>

/* The query of some sums, including its time. */
struct model_groups_of {
	uint64_t from_ns, to_ns, last_ns, epoch, filter;
	bool known;
	unsigned int hide_idle; /* model_idle() */
};

/* Zero-initialized: empty.  Private to groups.c. */
struct model_groups {
	struct groups *groups;
	struct group_by by;
	struct hot *hot, *base;
	struct model_groups_of hot_of, base_of;
	struct model_time time;
	uint8_t stands_for[STORE_EVENTS_MAX];
	uint64_t not_before_ns;
};

void model_groups_fini(struct model_groups *cache);

/* Implements model_group_ops.rows. */
int model_groups_rows(struct model_groups *cache, struct session *session,
	const struct model *model, const struct model_crumbs *crumbs,
	struct model_baseline *baseline, const struct group_by *by, const struct hot_query *query,
	const struct hot_row **rows, size_t *n, struct hot_sums *sums);
const struct group_key *model_groups_key(const struct model_groups *cache, uint32_t id);
void model_groups_cell(const struct model_groups *cache, uint32_t id, uint8_t event, uint64_t *self,
	uint64_t *total);

#endif
