/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_baseline.c - see model_baseline.h.
 */
#include "tui/model_baseline.h"

#include "tui/model_calls.h"

#include <string.h>

void model_baseline_fini(struct model_baseline *baseline)
{
	uint64_t serial = baseline->serial;

	hot_free(baseline->hot);
	basis_fini(&baseline->basis);
	*baseline = (struct model_baseline){.serial = serial};
}

static int make(struct model_baseline *baseline, const struct model *model, struct filter *filter,
	uint64_t epoch)
{
	basis_fini(&baseline->basis);
	baseline->has_basis = false;
	hot_set_filter(baseline->hot, filter);
	hot_hide_idle(baseline->hot, model->hide_idle);
	baseline->epoch = epoch;
	baseline->filter = filter_serial(filter);
	baseline->hide_idle = model->hide_idle;
	return hot_update(baseline->hot, model->base_from_ns, model->base_to_ns);
}

int model_baseline_set(struct model_baseline *baseline, const struct session *session,
	struct model *model, struct filter *filter, bool set)
{
	int ret;

	model_baseline_fini(baseline);
	model->has_baseline = false;
	if (!set)
		return 0;
	ret = hot_new(
		&baseline->hot, session_store(session), session_stacks(session), session->names);
	if (ret)
		return ret;
	if (!session->limits.pid_namespace)
		hot_set_tasks(baseline->hot, session_tasks(session));
	model->base_from_ns = model->from_ns;
	model->base_to_ns = model->to_ns;
	ret = make(baseline, model, filter, names_epoch(session->names));
	if (ret)
		model_baseline_fini(baseline);
	model->has_baseline = !ret;
	return ret;
}

int model_baseline_update(
	struct model_baseline *baseline, struct model *model, struct filter *filter, uint64_t epoch)
{
	if (!baseline->hot ||
		(baseline->epoch == epoch && baseline->filter == filter_serial(filter) &&
			baseline->hide_idle == model->hide_idle))
		return 0;
	return make(baseline, model, filter, epoch);
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
	if (!baseline->has_basis) {
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
		baseline->serial++;
	}
	if (!ret) {
		*out = &baseline->basis;
		*serial = baseline->serial;
	}
	return ret;
}
