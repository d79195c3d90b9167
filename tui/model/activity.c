/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * activity.c - see activity.h.
 */
#include "tui/model/activity.h"

#include "sampler/store/store.h"
#include "tui/model/queries.h"
#include "tui/names/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_COLUMNS 48 /* most columns of the strip that a window takes */
#define PEAKS_MAX 65536 /* most columns to search for the busiest stretch */

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

uint64_t activity_names(
	const struct model *model, const struct session *session, const struct filter *filter)
{
	if (filter)
		return names_changes(session->names);
	return model->hide_idle && session->limits.pid_namespace
		? names_kernel_epoch(session->names)
		: 0;
}

int activity_ask(const struct model *model, struct session *session, struct filter *filter,
	uint64_t from_ns, uint64_t to_ns, uint64_t *out, size_t columns)
{
	struct store *store = session_store(session);
	struct snapshot snapshot;
	const struct query query = activity_query(model, session, filter, &snapshot);
	int ret = store_snapshot(store, from_ns, to_ns, &snapshot);

	if (ret)
		return ret;
	ret = query_activity(&query, from_ns, to_ns, out, columns);
	snapshot_release(store, &snapshot);
	return ret;
}

static int ask_activity(const struct asking *asking, uint64_t from_ns, uint64_t to_ns,
	uint64_t *out, size_t columns)
{
	return activity_ask(
		asking->model, asking->session, asking->filter, from_ns, to_ns, out, columns);
}

/* Queries the finished columns up to `end` that are not known yet. */
static int complete(const struct asking *asking, uint64_t begin, uint64_t end)
{
	struct activity *activity = asking->activity;
	uint64_t from = activity->n ? activity->first + activity->n : begin;
	uint64_t first_ns, column_ns = activity->column_ns;
	size_t missing, excess;
	int ret;

	if (activity->event != asking->model->event ||
		activity->hide_idle != model_idle(asking->model) || from > end) {
		activity->n = 0;
		from = begin;
	}
	activity->event = asking->model->event;
	activity->hide_idle = model_idle(asking->model);
	if (end - from > MODEL_COLUMNS) {
		activity->n = 0;
		from = end - MODEL_COLUMNS;
	}
	missing = (size_t)(end - from);
	if (!missing)
		return 0;
	if (!activity->n)
		activity->first = from;
	if (activity->n + missing > MODEL_COLUMNS) {
		excess = activity->n + missing - MODEL_COLUMNS;
		memmove(activity->columns, activity->columns + excess,
			(activity->n - excess) * sizeof(*activity->columns));
		activity->n -= excess;
		activity->first += excess;
	}
	ret = ask_activity(asking, from * column_ns, end * column_ns,
		activity->columns + activity->n, missing);
	if (ret)
		return ret;
	/* Sampling began within the first column: scale its weight up to a full column. */
	first_ns = asking->model->status.store.first_ns;
	if (first_ns > from * column_ns && first_ns < (from + 1) * column_ns)
		activity->columns[activity->n] = (uint64_t)((double)activity->columns[activity->n] *
			(double)column_ns / (double)((from + 1) * column_ns - first_ns));
	activity->n += missing;
	return 0;
}

/* Recordings: divides the whole time into equal columns.  Queries them only after a change. */
static int update_whole(const struct asking *asking)
{
	struct activity *activity = asking->activity;
	struct model *model = asking->model;
	uint64_t from_ns = model->status.store.first_ns, to_ns = model->strip_to_ns;
	int ret;

	if (model->n_activity && activity->whole_from_ns == from_ns &&
		activity->whole_to_ns == to_ns && activity->event == model->event &&
		activity->hide_idle == model_idle(model))
		return 0;
	model->n_activity = 0;
	model->strip_from_ns = from_ns;
	if (to_ns <= from_ns)
		return 0;
	ret = ask_activity(asking, from_ns, to_ns, model->activity, MODEL_COLUMNS);
	if (ret)
		return ret;
	model->n_activity = MODEL_COLUMNS;
	model->column_ns = (to_ns - from_ns) / MODEL_COLUMNS;
	activity->whole_from_ns = from_ns;
	activity->whole_to_ns = to_ns;
	activity->event = model->event;
	activity->hide_idle = model_idle(model);
	return 0;
}

/* Returns the column width in ns: the smallest step that keeps everything since the window's start
 * on the strip and a window within WINDOW_COLUMNS. */
static uint64_t choose_column(const struct model *model)
{
	static const uint64_t steps[] = {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600};
	uint64_t first_ns = model->status.store.first_ns;
	uint64_t from_ns = model->from_ns > first_ns ? model->from_ns : first_ns;
	uint64_t since = model->strip_to_ns > from_ns ? model->strip_to_ns - from_ns : 0;
	uint64_t length = model->to_ns > from_ns ? model->to_ns - from_ns : 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		uint64_t column = steps[i] * MODEL_COLUMN_NS;

		if (since / column <= MODEL_COLUMNS - 4 && length / column <= WINDOW_COLUMNS)
			return column;
	}
	return (since / (MODEL_COLUMNS - 4) / MODEL_COLUMN_NS + 1) * MODEL_COLUMN_NS;
}

int activity_update(struct activity *activity, struct model *model, struct session *session,
	struct filter *filter)
{
	const struct asking asking = {activity, model, session, filter};
	uint64_t first_ns = model->status.store.first_ns, to_ns = model->strip_to_ns;
	const uint64_t names = activity_names(model, session, filter);
	uint64_t column_ns, begin, end, from_ns;
	size_t keep;
	int ret;

	if (activity->names != names || activity->filter != filter_serial(filter)) {
		activity->names = names;
		activity->filter = filter_serial(filter);
		activity->n = 0;
		model->n_activity = 0;
	}
	if (model->recorded)
		return update_whole(&asking);
	model->n_activity = 0;
	if (!to_ns || first_ns >= to_ns)
		return 0;
	column_ns = choose_column(model);
	if (column_ns != activity->column_ns) {
		activity->column_ns = column_ns;
		activity->n = 0;
	}
	begin = first_ns / column_ns;
	end = to_ns / column_ns;
	if (activity->n && activity->first > begin)
		begin = activity->first;
	if (end < begin)
		end = begin;
	ret = complete(&asking, begin, end);
	if (ret)
		return ret;
	keep = activity->n < MODEL_COLUMNS - 1 ? activity->n : MODEL_COLUMNS - 1;
	memcpy(model->activity, activity->columns + (activity->n - keep),
		keep * sizeof(*model->activity));
	model->n_activity = keep;
	model->column_ns = column_ns;
	model->strip_from_ns = (end - keep) * column_ns;
	/* The unfinished column covers the last column_ns up to now, so that it does not grow from
	 * zero. */
	from_ns = to_ns - first_ns < column_ns ? first_ns : to_ns - column_ns;
	if (to_ns % column_ns) {
		ret = ask_activity(&asking, from_ns, to_ns, &model->activity[keep], 1);
		if (!ret)
			model->n_activity++;
	}
	return ret;
}

/* --- the busiest stretch --- */

static void remember(struct activity *activity, uint64_t from_ns, uint64_t to_ns)
{
	if (activity->n_visited == ACTIVITY_VISITED)
		activity->n_visited = 0;
	activity->visited[activity->n_visited].from_ns = from_ns;
	activity->visited[activity->n_visited++].to_ns = to_ns;
}

static uint64_t highest(const uint64_t *columns, size_t first, size_t n)
{
	uint64_t most = 0;

	for (size_t i = first; i < first + n; i++)
		most = columns[i] > most ? columns[i] : most;
	return most;
}

/* Counts the stretches that reach half of the highest column and 1.5 times the median.  Overwrites
 * skip[]. */
static size_t count_spikes(const uint64_t *columns, bool *skip, size_t n)
{
	uint64_t least = highest(columns, 0, n) / 2, usual = window_median(columns, NULL, n);
	size_t count = 0, first, length;

	if (least < usual + usual / 2)
		least = usual + usual / 2;
	memset(skip, 0, n * sizeof(*skip));
	while (count < ACTIVITY_VISITED && window_busiest(columns, skip, n, &first, &length) &&
		highest(columns, first, length) >= least) {
		memset(skip + first, true, length * sizeof(*skip));
		count++;
	}
	return count;
}

int activity_busiest(struct activity *activity, struct model *model, struct session *session,
	struct filter *filter, struct model_spike *out)
{
	const struct asking asking = {activity, model, session, filter};
	const struct window_view view = model_window_view(model);
	uint64_t begin = view.first_ns - view.first_ns % WINDOW_LEAST_NS, part = WINDOW_LEAST_NS;
	uint64_t *columns;
	size_t n, first = 0, length = 0;
	bool *skip;
	int ret = -ENOMEM;

	if (view.last_ns <= begin)
		return -ENODATA;
	while ((view.last_ns - begin) / part >= PEAKS_MAX)
		part *= 2;
	n = (size_t)((view.last_ns - begin + part - 1) / part);
	columns = calloc(n, sizeof(*columns));
	skip = calloc(n, sizeof(*skip));
	if (!columns || !skip)
		goto out;
	if (activity->visited_event != model->event)
		activity->n_visited = 0;
	activity->visited_event = model->event;
	ret = ask_activity(&asking, begin, begin + n * part, columns, n);
	if (ret)
		goto out;
	for (size_t i = 0; i < activity->n_visited; i++) {
		for (size_t at = 0; at < n; at++) {
			uint64_t middle = begin + at * part + part / 2;

			if (middle >= activity->visited[i].from_ns &&
				middle < activity->visited[i].to_ns)
				skip[at] = true;
		}
	}
	if (!window_busiest(columns, skip, n, &first, &length)) {
		activity->n_visited = 0;
		ret = -ENODATA;
		goto out;
	}
	out->from_ns = begin + first * part;
	out->to_ns = out->from_ns + length * part;
	out->nth = activity->n_visited + 1;
	out->of = count_spikes(columns, skip, n);
	remember(activity, out->from_ns, out->to_ns);
out:
	free(columns);
	free(skip);
	return ret;
}
