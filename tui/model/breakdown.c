/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * breakdown.c - see breakdown.h.
 */
#include "tui/model/breakdown.h"

#include "sampler/store/store.h"
#include "tui/base/grow.h"
#include "tui/model/activity.h"
#include "tui/names/names.h"
#include "tui/query/pace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 512u /* with more rows, the linear search for each one is too slow */
#define MOST_PARTS 4u /* sums are updated if at most 1/4 of the window's cells come or go */

/* A query and the snapshot that it reads. */
struct asking {
	struct query query;
	struct snapshot snapshot;
	struct field_schemas schemas;
};

void model_breakdown_fini(struct model_breakdown_sums *sums)
{
	free(sums->rows);
	free(sums->slices);
	memset(sums, 0, sizeof(*sums));
}

static int begin_asking(struct asking *asking, struct session *session, const struct model *model,
	struct filter *filter, const struct model_breakdown *question, uint64_t from_ns,
	uint64_t to_ns)
{
	int ret = store_snapshot(session_store(session), from_ns, to_ns, &asking->snapshot);

	if (ret)
		return ret;
	session_schemas(session, &model->status, &asking->schemas);
	asking->query = activity_query(model, session, filter, &asking->snapshot);
	asking->query.group = question->group;
	asking->query.by_symbol = !question->all;
	asking->query.symref = question->symref;
	asking->query.field = question->field;
	asking->query.schemas = &asking->schemas;
	return 0;
}

static void end_asking(struct asking *asking, struct session *session)
{
	snapshot_release(session_store(session), &asking->snapshot);
}

static int ask(
	struct asking *asking, uint64_t from_ns, uint64_t to_ns, struct query_row **rows, size_t *n)
{
	asking->query.from_ns = from_ns;
	asking->query.to_ns = to_ns;
	return query_run(&asking->query, rows, n);
}

int model_breakdown_ask(struct session *session, const struct model *model, struct filter *filter,
	const struct model_breakdown *question, uint64_t from_ns, uint64_t to_ns,
	struct query_row **rows, size_t *n)
{
	struct asking asking;
	int ret = begin_asking(&asking, session, model, filter, question, from_ns, to_ns);

	*rows = NULL;
	*n = 0;
	if (ret)
		return ret;
	ret = ask(&asking, from_ns, to_ns, rows, n);
	end_asking(&asking, session);
	return ret;
}

/* --- sums that follow the time --- */

static struct query_row *find_row(
	const struct model_breakdown_sums *sums, const struct query_row *row)
{
	for (uint32_t i = 0; i < sums->n; i++) {
		struct query_row *sum = &sums->rows[i];

		/* Compare the numbers, since names may change. */
		if (sum->pid == row->pid && sum->tid == row->tid && sum->cpu == row->cpu)
			return sum;
	}
	return NULL;
}

static int add_row(struct model_breakdown_sums *sums, const struct query_row *row)
{
	struct query_row *sum = find_row(sums, row);

	if (!sum) {
		if (grow_room((void **)&sums->rows, sums->n, &sums->room, sizeof(*sums->rows)))
			return -ENOMEM;
		sums->rows[sums->n++] = *row;
		return 0;
	}
	if (row->since_ns >= sum->since_ns) {
		memcpy(sum->name, row->name, sizeof(sum->name));
		sum->since_ns = row->since_ns;
	}
	sum->self += row->self;
	sum->total += row->total;
	sum->samples += row->samples;
	return 0;
}

static int subtract_row(struct model_breakdown_sums *sums, const struct query_row *row)
{
	struct query_row *sum = find_row(sums, row);

	if (!sum || sum->self < row->self || sum->total < row->total || sum->samples < row->samples)
		return -ENOENT;
	sum->self -= row->self;
	sum->total -= row->total;
	sum->samples -= row->samples;
	/* A row that is only a caller has no samples. */
	if (!sum->total && !sum->samples)
		*sum = sums->rows[--sums->n];
	return 0;
}

static int take_slice(struct model_breakdown_sums *sums, struct asking *asking, uint64_t start_ns,
	uint64_t end_ns, bool comes)
{
	struct query_row *rows;
	size_t n;
	int ret = ask(asking, start_ns, end_ns, &rows, &n);

	sums->asked++;
	for (size_t i = 0; i < n && !ret; i++)
		ret = comes ? add_row(sums, &rows[i]) : subtract_row(sums, &rows[i]);
	free(rows);
	return ret;
}

/* The slices of the window and those that have left it.  The snapshot covers both. */
struct change {
	const struct slice *const *now;
	size_t n_now;
	size_t gone, stay; /* numbers of old slices; those that stay are the first ones of now */
};

/* Compares the window's slices with those in the sums.  Returns false if the sums cannot be
 * updated: slices differ in the middle, too many cells come or go, or a slice that leaves is no
 * longer stored. */
static bool find_change(const struct model_breakdown_sums *sums, const struct snapshot *snapshot,
	uint64_t from_ns, uint64_t to_ns, struct change *change)
{
	uint64_t cells = 0, moved = 0;
	size_t at = 0;

	*change = (struct change){.now = snapshot->slices};
	for (; change->gone < sums->n_slices; change->gone++) {
		const struct model_breakdown_slice *old = &sums->slices[change->gone];

		while (at < snapshot->n && snapshot->slices[at]->start_ns < old->start_ns)
			at++;
		if (at == snapshot->n || snapshot->slices[at]->serial != old->serial)
			return false;
		if (slice_is_in(snapshot->slices[at], from_ns, to_ns))
			break;
		moved += snapshot->slices[at]->cells;
	}
	while (at < snapshot->n && !slice_is_in(snapshot->slices[at], from_ns, to_ns))
		at++;
	change->now += at;
	while (at + change->n_now < snapshot->n &&
		slice_is_in(change->now[change->n_now], from_ns, to_ns))
		change->n_now++;
	change->stay = sums->n_slices - change->gone;
	if (change->stay > change->n_now)
		return false;
	for (size_t i = 0; i < change->n_now; i++) {
		cells += change->now[i]->cells;
		if (i >= change->stay)
			moved += change->now[i]->cells;
		else if (change->now[i]->serial != sums->slices[change->gone + i].serial)
			return false;
	}
	return moved <= cells / MOST_PARTS;
}

static int keep_slices(struct model_breakdown_sums *sums, const struct change *change)
{
	struct model_breakdown_slice *slices =
		calloc(change->n_now ? change->n_now : 1, sizeof(*slices));

	if (!slices)
		return -ENOMEM;
	for (size_t i = 0; i < change->n_now; i++)
		slices[i] = (struct model_breakdown_slice){
			change->now[i]->serial, change->now[i]->start_ns, change->now[i]->end_ns};
	free(sums->slices);
	sums->slices = slices;
	sums->n_slices = change->n_now;
	return 0;
}

static int follow(
	struct model_breakdown_sums *sums, struct asking *asking, const struct change *change)
{
	int ret = 0;

	for (size_t i = 0; i < change->gone && !ret; i++)
		ret = take_slice(
			sums, asking, sums->slices[i].start_ns, sums->slices[i].end_ns, false);
	for (size_t i = change->stay; i < change->n_now && !ret; i++)
		ret = take_slice(
			sums, asking, change->now[i]->start_ns, change->now[i]->end_ns, true);
	if (ret)
		return ret;
	if (sums->n)
		qsort(sums->rows, sums->n, sizeof(*sums->rows), query_compare);
	return keep_slices(sums, change);
}

static int ask_anew(
	struct model_breakdown_sums *sums, struct asking *asking, uint64_t from_ns, uint64_t to_ns)
{
	struct change change;
	struct query_row *rows;
	size_t n;
	int ret = ask(asking, from_ns, to_ns, &rows, &n);

	if (ret)
		return ret;
	free(sums->rows);
	sums->rows = rows;
	sums->n = sums->room = (uint32_t)n;
	sums->n_slices = 0;
	(void)find_change(sums, &asking->snapshot, from_ns, to_ns, &change);
	sums->asked += change.n_now;
	return keep_slices(sums, &change);
}

static int copy_rows(const struct model_breakdown_sums *sums, struct query_row **rows, size_t *n)
{
	if (!sums->n)
		return 0;
	*rows = malloc(sums->n * sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	memcpy(*rows, sums->rows, sums->n * sizeof(**rows));
	*n = sums->n;
	return 0;
}

static struct model_breakdown_of of_question(const struct model_breakdown *question,
	const struct session *session, const struct model *model, const struct filter *filter)
{
	struct model_breakdown_of of = {
		.known = true,
		.all = question->all,
		.hide_idle = model_idle(model),
		.event = model->event,
		.group = question->group,
		.symref = question->all ? 0 : question->symref,
		.filter = filter_serial(filter),
		.epoch = names_changes(session->names),
	};

	if (question->group == GROUP_FIELD)
		snprintf(of.field, sizeof(of.field), "%s", question->field);
	return of;
}

/* Whether two queries are equal, without regard to names. */
static bool is_same(const struct model_breakdown_of *a, const struct model_breakdown_of *b)
{
	return a->known == b->known && a->all == b->all && a->hide_idle == b->hide_idle &&
		a->event == b->event && a->group == b->group && a->symref == b->symref &&
		a->filter == b->filter && !strcmp(a->field, b->field);
}

/* Whether the sums can be updated to the window.  Rows by a field cannot: different values may look
 * alike in a row. */
static bool can_follow(
	const struct model_breakdown_sums *sums, const struct model_breakdown_of *of, bool goes_on)
{
	return goes_on && sums->of.epoch == of->epoch && of->group != GROUP_FIELD &&
		sums->n <= MOST_ROWS;
}

static int renew(struct model_breakdown_sums *sums, struct asking *asking,
	const struct model_breakdown_of *of, const struct model *model, bool goes_on)
{
	struct change change;
	int ret = -ENOENT;

	if (can_follow(sums, of, goes_on) &&
		find_change(sums, &asking->snapshot, model->from_ns, model->to_ns, &change))
		ret = follow(sums, asking, &change);
	return ret == -ENOENT ? ask_anew(sums, asking, model->from_ns, model->to_ns) : ret;
}

int model_breakdown_rows(struct model_breakdown_sums *sums, struct session *session,
	const struct model *model, struct filter *filter, const struct model_breakdown *question,
	struct query_row **rows, size_t *n)
{
	const struct model_breakdown_of of = of_question(question, session, model, filter);
	const bool goes_on = is_same(&sums->of, &of) && model->from_ns >= sums->from_ns &&
		model->to_ns >= sums->to_ns;
	uint64_t begin_ns = pace_cpu_ns();
	struct asking asking;
	int ret;

	*rows = NULL;
	*n = 0;
	if (goes_on && model_time_goes_on(&sums->time, model) &&
		model->now_ns < sums->not_before_ns)
		return copy_rows(sums, rows, n);
	ret = begin_asking(&asking, session, model, filter, question,
		goes_on ? sums->from_ns : model->from_ns, model->to_ns);
	if (ret)
		return ret;
	sums->of.known = false;
	ret = renew(sums, &asking, &of, model, goes_on);
	end_asking(&asking, session);
	if (ret) {
		model_breakdown_fini(sums);
		return ret;
	}
	sums->of = of;
	sums->from_ns = model->from_ns;
	sums->to_ns = model->to_ns;
	sums->time = model_time_of(model);
	sums->not_before_ns = model->now_ns + PACE_SHARE * (pace_cpu_ns() - begin_ns);
	return copy_rows(sums, rows, n);
}
