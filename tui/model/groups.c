/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * groups.c - see groups.h.
 */
#include "tui/model/groups.h"

#include "sampler/store/store.h"
#include "tui/names/names.h"
#include "tui/query/pace.h"
#include "tui/session/cgroups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void model_groups_fini(struct model_groups *cache)
{
	hot_free(cache->hot);
	hot_free(cache->base);
	groups_free(cache->groups);
	memset(cache, 0, sizeof(*cache));
}

static int begin(
	struct model_groups *cache, const struct session *session, const struct group_by *by)
{
	int ret;

	if (cache->groups && groups_same(&cache->by, by))
		return 0;
	model_groups_fini(cache);
	cache->by = *by;
	ret = groups_new(&cache->groups, by);
	if (!ret)
		ret = hot_new(&cache->hot, session_store(session), session_stacks(session),
			session->names);
	if (!ret)
		ret = hot_new(&cache->base, session_store(session), session_stacks(session),
			session->names);
	if (ret)
		model_groups_fini(cache);
	return ret;
}

static int fill(struct model_groups *cache, struct session *session, const struct model *model,
	struct filter *filter, const struct model_groups_of *of, struct hot *hot)
{
	struct store *store = session_store(session);
	struct cgroup_labels *labels = malloc(sizeof(*labels));
	struct field_schemas schemas;
	struct snapshot snapshot;
	const struct groups_question question = {
		.scan = {.snapshot = &snapshot,
			.from_ns = of->from_ns,
			.to_ns = of->to_ns,
			.stacks = session_stacks(session),
			.tasks = session_tasks(session),
			.names = session->names,
			.filter = filter,
			.hide_idle = of->hide_idle & MODEL_IDLE_HIDDEN,
			/* In a pid namespace, pid 0 does not identify the idle task. */
			.idle_by_name = session->limits.pid_namespace,
			.stands_for = cache->stands_for,
			.schemas = &schemas},
		.cgroups = labels ? labels->of : NULL,
		.baseline = hot == cache->base,
	};
	int ret = labels ? store_snapshot(store, of->from_ns, of->to_ns, &snapshot) : -ENOMEM;

	if (!ret) {
		cgroups_label(&model->status, labels);
		session_schemas(session, &model->status, &schemas);
		ret = groups_fill(cache->groups, &question, hot);
		snapshot_release(store, &snapshot);
	}
	free(labels);
	return ret;
}

static bool is_same(const struct model_groups_of *a, const struct model_groups_of *b)
{
	return a->known && a->from_ns == b->from_ns && a->to_ns == b->to_ns &&
		a->last_ns == b->last_ns && a->epoch == b->epoch && a->filter == b->filter &&
		a->hide_idle == b->hide_idle;
}

static bool is_current(const struct model_groups *cache, const struct model *model,
	const struct model_groups_of *of)
{
	if (is_same(&cache->hot_of, of))
		return true;
	/* If another window or filter has been selected, it is shown at once. */
	if (!cache->hot_of.known || !model_time_goes_on(&cache->time, model) ||
		cache->hot_of.filter != of->filter || cache->hot_of.hide_idle != of->hide_idle)
		return false;
	return model->now_ns < cache->not_before_ns;
}

static int renew(struct model_groups *cache, struct session *session, const struct model *model,
	struct filter *filter, const struct model_groups_of *of)
{
	uint64_t begin_cpu_ns = pace_cpu_ns();
	int ret;

	if (is_current(cache, model, of))
		return 0;
	cache->hot_of.known = false;
	if (groups_tidy(cache->groups))
		cache->base_of.known = false;
	/* Events that differ only in their cgroup are merged only if rows are by cgroup. */
	for (size_t i = 0; i < STORE_EVENTS_MAX; i++)
		cache->stands_for[i] = (uint8_t)i;
	if (cache->by.group == GROUP_CGROUP)
		cgroups_stand_for(&model->status, cache->stands_for);
	ret = fill(cache, session, model, filter, of, cache->hot);
	if (ret)
		return ret;
	cache->hot_of = *of;
	cache->hot_of.known = true;
	cache->time = model_time_of(model);
	cache->not_before_ns = model->now_ns + PACE_SHARE * (pace_cpu_ns() - begin_cpu_ns);
	return 0;
}

static int renew_base(struct model_groups *cache, struct session *session,
	const struct model *model, const struct model_crumbs *crumbs,
	struct model_baseline *baseline, const struct model_groups_of *now)
{
	struct model_groups_of of = *now;
	uint64_t begin_cpu_ns = pace_cpu_ns();
	int ret;

	if (model->base_recorded) {
		of.from_ns = of.to_ns = 0;
		of.last_ns = groups_population(cache->groups);
		of.epoch = model->base_serial;
	} else {
		of.from_ns = model->base_from_ns;
		of.to_ns = model->base_to_ns;
		of.last_ns = 0;
	}
	if (is_same(&cache->base_of, &of))
		return 0;
	cache->base_of.known = false;
	if (model->base_recorded)
		ret = model_baseline_groups(baseline, session, model, crumbs, &cache->by,
			cache->stands_for, cache->groups, cache->base);
	else
		ret = fill(cache, session, model, crumbs->filter, &of, cache->base);
	if (ret)
		return ret;
	cache->base_of = of;
	cache->base_of.known = true;
	cache->not_before_ns += PACE_SHARE * (pace_cpu_ns() - begin_cpu_ns);
	return 0;
}

int model_groups_rows(struct model_groups *cache, struct session *session,
	const struct model *model, const struct model_crumbs *crumbs,
	struct model_baseline *baseline, const struct group_by *by, const struct hot_query *query,
	const struct hot_row **rows, size_t *n, struct hot_sums *sums)
{
	const uint64_t store_ns = model->status.store.last_ns;
	const struct model_groups_of of = {
		.from_ns = model->from_ns,
		.to_ns = model->to_ns,
		/* Samples after the window do not change it. */
		.last_ns = store_ns < model->to_ns ? store_ns : model->to_ns,
		/* Lines and symbols of addresses arrive without a new epoch. */
		.epoch = names_changes(session->names),
		.filter = filter_serial(crumbs->filter),
		.hide_idle = model_idle(model),
	};
	struct hot_query asked = *query;
	int ret = begin(cache, session, by);

	*rows = NULL;
	*n = 0;
	if (!ret)
		ret = renew(cache, session, model, crumbs->filter, &of);
	if (!ret && model->has_baseline)
		ret = renew_base(cache, session, model, crumbs, baseline, &of);
	if (ret)
		return ret;
	asked.event = cache->stands_for[query->event];
	asked.base = model->has_baseline ? cache->base : NULL;
	return hot_rows(cache->hot, &asked, rows, n, sums);
}

const struct group_key *model_groups_key(const struct model_groups *cache, uint32_t id)
{
	static const struct group_key none = {
		.name = {.symbol = "", .image = "", .path = ""}, .symref = GROUPS_NO_SYMBOL};
	const struct group_key *key = cache->groups ? groups_key(cache->groups, id) : NULL;

	return key ? key : &none;
}

void model_groups_cell(const struct model_groups *cache, uint32_t id, uint8_t event, uint64_t *self,
	uint64_t *total)
{
	*self = *total = 0;
	if (cache->hot)
		hot_cell(cache->hot, id, cache->stands_for[event], self, total);
}
