/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * baseline.h - the baseline of comparisons: a time of the profile, or a recording.
 *
 * Sums of a time are computed once, and again when names, filter or idle setting change.  Sums of a
 * recording are computed when it has been read, and again as its names become known.  UI thread.
 */
#ifndef TUI_MODEL_BASELINE_H
#define TUI_MODEL_BASELINE_H

#include "tui/model/crumbs.h"
#include "tui/model/model.h"
#include "tui/model/queries.h"
#include "tui/model/recorded.h"
#include "tui/session/session.h"
#include "tui/tables/basis.h"
#include "tui/tables/hot.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialized: no baseline.  Private to baseline.c. */
struct model_baseline {
	struct hot *hot;
	uint64_t epoch, filter;
	unsigned int hide_idle; /* model_idle() */
	struct basis basis; /* for trees; for a time, computed when first used */
	bool has_basis;
	uint64_t serial; /* unique serial of the sums */

	struct recorded *recorded; /* the recording to compare with; NULL: a time */
	uint64_t recorded_changes, not_before_ns;
	size_t n_events; /* status.n_events when the sums were made */
	struct recorded *reading; /* recording being read, which will replace the baseline */
};

/* Makes the model's window the baseline, or removes the baseline.  Returns 0, or -ENOMEM without a
 * baseline. */
int model_baseline_set(struct model_baseline *baseline, const struct session *session,
	struct model *model, struct filter *filter, bool set);
/* See model_queries. */
int model_baseline_file(struct model_baseline *baseline, const struct session *session,
	struct model *model, const char *path, char *message, size_t size);
void model_baseline_stop(struct model_baseline *baseline, struct model *model);
/* Call it at every refresh.  epoch: that of the names in the hot table. */
int model_baseline_update(struct model_baseline *baseline, const struct session *session,
	struct model *model, const struct model_crumbs *crumbs, uint64_t epoch);
/* Returns the sums that trees are compared with (borrowed) and their unique serial; NULL and 0
 * without a baseline.  Returns 0 or -ENOMEM. */
int model_baseline_basis(struct model_baseline *baseline, const struct session *session,
	const struct model *model, struct filter *filter, const struct basis **out,
	uint64_t *serial);
/* For a baseline that is a recording: sums of its samples by other keys than symbols.  See
 * recorded.h. */
int model_baseline_groups(struct model_baseline *baseline, const struct session *session,
	const struct model *model, const struct model_crumbs *crumbs, const struct group_by *by,
	const uint8_t stands_for[STORE_EVENTS_MAX], struct groups *groups, struct hot *hot);
int model_baseline_lanes(struct model_baseline *baseline, const struct session *session,
	const struct model *model, const struct model_crumbs *crumbs, enum query_group group,
	struct lanes *out);
int model_baseline_rows(struct model_baseline *baseline, const struct session *session,
	const struct model *model, const struct model_crumbs *crumbs,
	const struct model_breakdown *of, struct query_row **rows, size_t *n);
/* Returns the descriptors that signal news of a recording, read or being read: recorded_fds(). */
void model_baseline_fds(const struct model_baseline *baseline, int fds[RECORDED_FDS]);
/* Waits for the names of a recording. */
void model_baseline_wait(struct model_baseline *baseline, unsigned int timeout_ms);
void model_baseline_fini(struct model_baseline *baseline);

#endif
