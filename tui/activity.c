/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * activity.c - see activity.h.
 */
#include "tui/activity.h"

#include <string.h>

struct asking {
	struct activity *activity;
	struct model *model;
	struct session *session;
	struct filter *filter;
};

struct query activity_query(const struct model *model, const struct session *session,
	struct filter *filter, const struct snapshot *snapshot)
{
	return (struct query){
		.snapshot = snapshot,
		.stacks = session_stacks(session),
		.tasks = session_tasks(session),
		.names = session->names,
		.event = model->event,
		.filter = filter,
		.hide_idle = model->hide_idle,
		.idle_by_name = session->limits.pid_namespace,
	};
}

static int ask_activity(const struct asking *asking, uint64_t from_ns, uint64_t to_ns,
	uint64_t *out, size_t columns)
{
	struct store *store = session_store(asking->session);
	struct snapshot snapshot;
	const struct query query =
		activity_query(asking->model, asking->session, asking->filter, &snapshot);
	int ret = store_snapshot(store, from_ns, to_ns, &snapshot);

	if (ret)
		return ret;
	ret = query_activity(&query, from_ns, to_ns, out, columns);
	snapshot_release(store, &snapshot);
	return ret;
}

/* Ask for the seconds that are over by now and not known. */
static int complete_seconds(const struct asking *asking, uint64_t begin, uint64_t end)
{
	struct activity *activity = asking->activity;
	uint64_t from = activity->n_seconds ? activity->first_second + activity->n_seconds : begin;
	uint64_t first_ns;
	size_t missing, excess;
	int ret;

	if (activity->event != asking->model->event ||
		activity->hide_idle != asking->model->hide_idle || from > end) {
		activity->n_seconds = 0;
		from = begin;
	}
	activity->event = asking->model->event;
	activity->hide_idle = asking->model->hide_idle;
	if (end - from > MODEL_COLUMNS) {
		activity->n_seconds = 0;
		from = end - MODEL_COLUMNS;
	}
	missing = (size_t)(end - from);
	if (!missing)
		return 0;
	if (!activity->n_seconds)
		activity->first_second = from;
	if (activity->n_seconds + missing > MODEL_COLUMNS) {
		excess = activity->n_seconds + missing - MODEL_COLUMNS;
		memmove(activity->seconds, activity->seconds + excess,
			(activity->n_seconds - excess) * sizeof(*activity->seconds));
		activity->n_seconds -= excess;
		activity->first_second += excess;
	}
	ret = ask_activity(asking, from * MODEL_COLUMN_NS, end * MODEL_COLUMN_NS,
		activity->seconds + activity->n_seconds, missing);
	if (ret)
		return ret;
	/* Sampling began within the first one. */
	first_ns = asking->model->status.store.first_ns;
	if (first_ns > from * MODEL_COLUMN_NS && first_ns < (from + 1) * MODEL_COLUMN_NS)
		activity->seconds[activity->n_seconds] =
			(uint64_t)((double)activity->seconds[activity->n_seconds] *
				(double)MODEL_COLUMN_NS /
				(double)((from + 1) * MODEL_COLUMN_NS - first_ns));
	activity->n_seconds += missing;
	return 0;
}

/* Of a recording: all its time in equal parts.  It is asked for again only when something has changed. */
static int update_whole(const struct asking *asking)
{
	struct activity *activity = asking->activity;
	struct model *model = asking->model;
	int ret;

	if (model->n_activity && activity->whole_from_ns == model->from_ns &&
		activity->whole_to_ns == model->to_ns && activity->event == model->event &&
		activity->hide_idle == model->hide_idle)
		return 0;
	model->n_activity = 0;
	if (model->to_ns <= model->from_ns)
		return 0;
	ret = ask_activity(asking, model->from_ns, model->to_ns, model->activity, MODEL_COLUMNS);
	if (ret)
		return ret;
	model->n_activity = MODEL_COLUMNS;
	activity->whole_from_ns = model->from_ns;
	activity->whole_to_ns = model->to_ns;
	activity->event = model->event;
	activity->hide_idle = model->hide_idle;
	return 0;
}

int activity_update(struct activity *activity, struct model *model, struct session *session,
	struct filter *filter)
{
	const struct asking asking = {activity, model, session, filter};
	uint64_t first_ns = model->status.store.first_ns, to_ns = model->to_ns;
	uint64_t begin = first_ns / MODEL_COLUMN_NS, end = to_ns / MODEL_COLUMN_NS;
	uint64_t from_ns;
	size_t keep;
	int ret;

	if (filter && activity->changes != names_changes(session->names)) {
		activity->changes = names_changes(session->names);
		activity->n_seconds = 0;
		model->n_activity = 0;
	}
	if (model->recorded)
		return update_whole(&asking);
	model->n_activity = 0;
	if (!to_ns || first_ns >= to_ns)
		return 0;
	if (activity->n_seconds && activity->first_second > begin)
		begin = activity->first_second;
	if (end < begin)
		end = begin;
	ret = complete_seconds(&asking, begin, end);
	if (ret)
		return ret;
	keep = activity->n_seconds < MODEL_COLUMNS - 1 ? activity->n_seconds : MODEL_COLUMNS - 1;
	memcpy(model->activity, activity->seconds + (activity->n_seconds - keep),
		keep * sizeof(*model->activity));
	model->n_activity = keep;
	/* The second that is not over is the last one up to now, so that it does not grow from nothing. */
	from_ns = to_ns - first_ns < MODEL_COLUMN_NS ? first_ns : to_ns - MODEL_COLUMN_NS;
	if (to_ns % MODEL_COLUMN_NS) {
		ret = ask_activity(&asking, from_ns, to_ns, &model->activity[keep], 1);
		if (!ret)
			model->n_activity++;
	}
	return ret;
}
