/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_baseline.h - what is compared with: a time of what is shown, or a recording.
 *
 * Sums of a time are made once, and anew where names, filter or idle setting are others; those of a recording when it has been
 * read, and as its names become known.  UI thread.
 */
#ifndef TUI_MODEL_BASELINE_H
#define TUI_MODEL_BASELINE_H

#include "tui/basis.h"
#include "tui/hot.h"
#include "tui/model.h"
#include "tui/model_crumbs.h"
#include "tui/recorded.h"
#include "tui/session.h"

#include <stdbool.h>
#include <stdint.h>

/* All zeros is none.  Private to model_baseline.c. */
struct model_baseline {
	struct hot *hot;
	uint64_t epoch, filter;
	unsigned int hide_idle; /* model_idle() */
	struct basis basis; /* of trees: of a time it is made when the first one is asked for */
	bool has_basis;
	uint64_t serial; /* of its sums: no two have the same */

	struct recorded *recorded; /* that is compared with; or NULL: a time */
	uint64_t recorded_changes, not_before_ns;
	size_t n_events; /* of the status, when it was made */
	struct recorded *reading; /* what comes in its place */
};

/* The model's window becomes the baseline, or there is none.  0 or -ENOMEM: then there is none. */
int model_baseline_set(struct model_baseline *baseline, const struct session *session,
	struct model *model, struct filter *filter, bool set);
/* As in model_ops. */
int model_baseline_file(struct model_baseline *baseline, const struct session *session,
	struct model *model, const char *path, char *message, size_t size);
void model_baseline_stop(struct model_baseline *baseline, struct model *model);
/* With every refresh; epoch is that of the names which the table shows. */
int model_baseline_update(struct model_baseline *baseline, const struct session *session,
	struct model *model, const struct model_crumbs *crumbs, uint64_t epoch);
/* What trees are compared with, borrowed, and a number that no other one has; of no baseline NULL and 0.  0 or -ENOMEM. */
int model_baseline_basis(struct model_baseline *baseline, const struct session *session,
	const struct model *model, struct filter *filter, const struct basis **out,
	uint64_t *serial);
/* Of one that is a recording, as in recorded.h: what its samples are by something else than symbols, of the event that is shown. */
int model_baseline_groups(struct model_baseline *baseline, const struct session *session,
	const struct model *model, const struct model_crumbs *crumbs, const struct group_by *by,
	const uint8_t stands_for[STORE_EVENTS_MAX], struct groups *groups, struct hot *hot);
int model_baseline_lanes(struct model_baseline *baseline, const struct session *session,
	const struct model *model, const struct model_crumbs *crumbs, enum query_group group,
	struct lanes *out);
int model_baseline_rows(struct model_baseline *baseline, const struct session *session,
	const struct model *model, const struct model_crumbs *crumbs,
	const struct model_breakdown *of, struct query_row **rows, size_t *n);
/* Where there is news of a recording, as recorded_fds(). */
void model_baseline_fds(const struct model_baseline *baseline, int fds[RECORDED_FDS]);
/* Wait for the names of a recording. */
void model_baseline_wait(struct model_baseline *baseline, unsigned int timeout_ms);
void model_baseline_fini(struct model_baseline *baseline);

#endif
