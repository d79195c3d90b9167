/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_baseline.c - see model_baseline.h.
 */
#include "tui/model_baseline.h"

#include <string.h>

void model_baseline_fini(struct model_baseline *baseline)
{
	hot_free(baseline->hot);
	memset(baseline, 0, sizeof(*baseline));
}

static int make(struct model_baseline *baseline, const struct model *model, struct filter *filter,
	uint64_t epoch)
{
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
