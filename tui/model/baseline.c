/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * baseline.c - see baseline.h.
 */
#include "tui/model/baseline.h"

#include "sampler/control/status.h"
#include "sampler/store/store.h"
#include "symbols/base/clock.h"
#include "tui/base/clean.h"
#include "tui/model/calls.h"
#include "tui/names/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NAMES_SHARE 20u /* recomputing sums for new names takes at most 1/20 of the time */

/* Drops the baseline, but not the recording being read. */
static void forget(struct model_baseline *baseline)
{
	hot_free(baseline->hot);
	basis_fini(&baseline->basis);
	recorded_free(baseline->recorded);
	*baseline =
		(struct model_baseline){.serial = baseline->serial, .reading = baseline->reading};
}

void model_baseline_fini(struct model_baseline *baseline)
{
	forget(baseline);
	recorded_free(baseline->reading);
	baseline->reading = NULL;
}

static int new_hot(struct model_baseline *baseline, const struct session *session)
{
	int ret = hot_new(
		&baseline->hot, session_store(session), session_stacks(session), session->names);

	if (!ret && !session->limits.pid_namespace)
		hot_set_tasks(baseline->hot, session_tasks(session));
	return ret;
}

static int make(struct model_baseline *baseline, const struct model *model, struct filter *filter,
	uint64_t epoch)
{
	basis_fini(&baseline->basis);
	baseline->has_basis = false;
	baseline->serial++;
	hot_set_filter(baseline->hot, filter);
	hot_hide_idle(baseline->hot, model->hide_idle);
	if (model->status.pid_namespace)
		hot_set_tasks(baseline->hot, NULL);
	baseline->epoch = epoch;
	baseline->filter = filter_serial(filter);
	baseline->hide_idle = model_idle(model);
	return hot_update(baseline->hot, model->base_from_ns, model->base_to_ns);
}

int model_baseline_set(struct model_baseline *baseline, const struct session *session,
	struct model *model, struct filter *filter, bool set)
{
	int ret;

	model_baseline_stop(baseline, model);
	forget(baseline);
	model->has_baseline = model->base_recorded = false;
	if (!set)
		return 0;
	ret = new_hot(baseline, session);
	if (ret)
		return ret;
	model->base_from_ns = model->from_ns;
	model->base_to_ns = model->to_ns;
	ret = make(baseline, model, filter, names_epoch(session->names));
	if (ret)
		forget(baseline);
	model->has_baseline = !ret;
	model->base_serial = baseline->serial;
	return ret;
}

/* --- a recording --- */

int model_baseline_file(struct model_baseline *baseline, const struct session *session,
	struct model *model, const char *path, char *message, size_t size)
{
	struct recorded *reading;
	int ret = recorded_open(&reading, session->request, path, message, size);

	if (ret)
		return ret;
	recorded_free(baseline->reading);
	baseline->reading = reading;
	model->base_reading.active = true;
	model->base_reading.percent = 0;
	snprintf(model->base_reading.name, sizeof(model->base_reading.name), "%.63s",
		recorded_name(reading));
	return 0;
}

void model_baseline_stop(struct model_baseline *baseline, struct model *model)
{
	recorded_free(baseline->reading);
	baseline->reading = NULL;
	model->base_reading.active = false;
}

void model_baseline_fds(const struct model_baseline *baseline, int fds[RECORDED_FDS])
{
	const struct recorded *of = baseline->reading ? baseline->reading : baseline->recorded;

	for (int i = 0; i < RECORDED_FDS; i++)
		fds[i] = -1;
	if (of)
		recorded_fds(of, fds);
}

void model_baseline_wait(struct model_baseline *baseline, unsigned int timeout_ms)
{
	if (!baseline->recorded)
		return;
	recorded_wait(baseline->recorded, timeout_ms);
	baseline->not_before_ns = 0;
}

static struct recorded_question question_of(
	const struct session *session, const struct model *model, const struct model_crumbs *crumbs)
{
	return (struct recorded_question){
		.names = session->names,
		.status = &model->status,
		.exprs = crumbs->exprs,
		.n_exprs = model->n_crumbs,
		.hide_idle = model->hide_idle,
	};
}

static int make_recorded(struct model_baseline *baseline, const struct session *session,
	const struct model *model, const struct model_crumbs *crumbs, size_t *shared)
{
	const struct recorded_question question = question_of(session, model, crumbs);
	uint64_t begin_ns = clock_now_ns(), end_ns;
	int ret;

	basis_fini(&baseline->basis);
	baseline->recorded_changes = recorded_changes(baseline->recorded);
	baseline->epoch = names_changes(session->names);
	baseline->filter = filter_serial(crumbs->filter);
	baseline->hide_idle = model_idle(model);
	baseline->n_events = model->status.n_events;
	baseline->serial++;
	ret = recorded_basis(baseline->recorded, &question, &baseline->basis, shared);
	if (!ret)
		ret = hot_load(baseline->hot, &baseline->basis);
	baseline->has_basis = !ret;
	end_ns = clock_now_ns();
	baseline->not_before_ns = end_ns + NAMES_SHARE * (end_ns - begin_ns);
	return ret;
}

static void tell(struct model *model, enum explain_level level, const char *text)
{
	char clean[512];

	clean_string(clean, sizeof(clean), text);
	logbook_add(&model->log, model->recorded ? model->status.now_ns : model->now_ns, level,
		false, clean);
}

/* Makes the recording the baseline, after it has been read. */
static int take_over(struct model_baseline *baseline, const struct session *session,
	struct model *model, const struct model_crumbs *crumbs)
{
	struct recorded *recorded = baseline->reading;
	char text[512];
	size_t shared = 0;
	int ret;

	baseline->reading = NULL;
	model->base_reading.active = false;
	forget(baseline);
	model->has_baseline = false;
	baseline->recorded = recorded;
	ret = new_hot(baseline, session);
	if (!ret)
		ret = make_recorded(baseline, session, model, crumbs, &shared);
	if (ret) {
		forget(baseline);
		tell(model, EXPLAIN_ERROR, "Out of memory: there is no baseline");
		return ret;
	}
	model->has_baseline = model->base_recorded = true;
	snprintf(model->base_name, sizeof(model->base_name), "%.63s", recorded_name(recorded));
	if (shared)
		snprintf(text, sizeof(text),
			"%s is the baseline: CHANGE and the colours of flames tell how shares "
			"differ from it",
			model->base_name);
	else
		snprintf(text, sizeof(text),
			"%s is the baseline, but has no samples of any event that is sampled here: "
			"everything seems to be new",
			model->base_name);
	tell(model, shared ? EXPLAIN_INFO : EXPLAIN_WARNING, text);
	return 0;
}

static int read_on(struct model_baseline *baseline, const struct session *session,
	struct model *model, const struct model_crumbs *crumbs)
{
	char reason[512], text[700];

	switch (recorded_step(baseline->reading, reason, sizeof(reason))) {
	case RECORDED_READY:
		/* The events must be known before they can be compared. */
		if (model->status.state == ENGINE_STARTING)
			return 0;
		return take_over(baseline, session, model, crumbs);
	case RECORDED_FAILED:
		snprintf(text, sizeof(text), "No other baseline: %s", reason);
		tell(model, EXPLAIN_ERROR, text);
		model_baseline_stop(baseline, model);
		return 0;
	default:
		model->base_reading.percent = recorded_percent(baseline->reading);
		return 0;
	}
}

/* Recomputes the baseline when names have become known on either side. */
static int follow_names(struct model_baseline *baseline, const struct session *session,
	struct model *model, const struct model_crumbs *crumbs)
{
	char reason[512];
	size_t shared;
	bool other = baseline->filter != filter_serial(crumbs->filter) ||
		baseline->hide_idle != model_idle(model) ||
		baseline->n_events != model->status.n_events;

	(void)recorded_step(baseline->recorded, reason, sizeof(reason));
	if (!other && baseline->epoch == names_changes(session->names) &&
		baseline->recorded_changes == recorded_changes(baseline->recorded))
		return 0;
	if (!other && model->now_ns < baseline->not_before_ns) {
		if (!model->soon_ns || baseline->not_before_ns < model->soon_ns)
			model->soon_ns = baseline->not_before_ns;
		return 0;
	}
	return make_recorded(baseline, session, model, crumbs, &shared);
}

static int update(struct model_baseline *baseline, const struct session *session,
	struct model *model, const struct model_crumbs *crumbs, uint64_t epoch)
{
	int ret;

	if (baseline->reading) {
		ret = read_on(baseline, session, model, crumbs);
		if (ret)
			return ret;
	}
	if (baseline->recorded)
		return follow_names(baseline, session, model, crumbs);
	if (!baseline->hot ||
		(baseline->epoch == epoch && baseline->filter == filter_serial(crumbs->filter) &&
			baseline->hide_idle == model_idle(model)))
		return 0;
	return make(baseline, model, crumbs->filter, epoch);
}

int model_baseline_update(struct model_baseline *baseline, const struct session *session,
	struct model *model, const struct model_crumbs *crumbs, uint64_t epoch)
{
	struct hot_sums sums = {.weight = 0};
	int ret = update(baseline, session, model, crumbs, epoch);

	if (!ret && baseline->recorded)
		hot_sums(baseline->hot, model->event, &sums);
	model->base_empty = baseline->recorded && !sums.weight;
	model->base_serial = baseline->serial;
	return ret;
}

int model_baseline_groups(struct model_baseline *baseline, const struct session *session,
	const struct model *model, const struct model_crumbs *crumbs, const struct group_by *by,
	const uint8_t stands_for[STORE_EVENTS_MAX], struct groups *groups, struct hot *hot)
{
	const struct recorded_question question = question_of(session, model, crumbs);

	return recorded_groups(
		baseline->recorded, &question, baseline->serial, by, stands_for, groups, hot);
}

int model_baseline_lanes(struct model_baseline *baseline, const struct session *session,
	const struct model *model, const struct model_crumbs *crumbs, enum query_group group,
	struct lanes *out)
{
	const struct recorded_question question = question_of(session, model, crumbs);

	return recorded_lanes(baseline->recorded, &question, model->event, group, out);
}

int model_baseline_rows(struct model_baseline *baseline, const struct session *session,
	const struct model *model, const struct model_crumbs *crumbs,
	const struct model_breakdown *of, struct query_row **rows, size_t *n)
{
	const struct recorded_question question = question_of(session, model, crumbs);

	return recorded_rows(baseline->recorded, &question, model->event, of, rows, n);
}

int model_baseline_basis(struct model_baseline *baseline, const struct session *session,
	const struct model *model, struct filter *filter, const struct basis **out,
	uint64_t *serial)
{
	int ret = 0;

	*out = NULL;
	*serial = 0;
	if (!baseline->hot)
		return 0;
	if (!baseline->has_basis && !baseline->recorded) {
		struct scan_question question;
		struct snapshot snapshot;

		ret = store_snapshot(
			session_store(session), model->base_from_ns, model->base_to_ns, &snapshot);
		if (ret)
			return ret;
		question = model_calls_question(session, model, filter, &snapshot);
		question.from_ns = model->base_from_ns;
		question.to_ns = model->base_to_ns;
		ret = basis_scan(&baseline->basis, &question);
		snapshot_release(session_store(session), &snapshot);
		baseline->has_basis = !ret;
	}
	if (!ret) {
		*out = &baseline->basis;
		*serial = baseline->serial;
	}
	return ret;
}
