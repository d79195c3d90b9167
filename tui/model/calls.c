/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calls.c - see calls.h.
 */
#include "tui/model/calls.h"

#include "sampler/store/store.h"
#include "tui/query/pace.h"

#include <errno.h>
#include <string.h>

void model_calls_fini(struct model_calls *cache)
{
	calls_free(cache->calls);
	cache->calls = NULL;
}

bool model_calls_are_old(const struct model_calls *cache, const struct model *model)
{
	/* Samples after the window do not change it. */
	uint64_t last_ns = model->status.store.last_ns < model->to_ns ? model->status.store.last_ns
								      : model->to_ns;

	return cache->calls &&
		(cache->from_ns != model->from_ns || cache->to_ns != model->to_ns ||
			cache->last_ns != last_ns);
}

static bool is_current(const struct model_calls *cache, const struct model *model,
	const struct filter *filter, uint64_t epoch, uint64_t serial)
{
	if (!cache->calls || cache->epoch != epoch || cache->basis != serial ||
		cache->filter != filter_serial(filter) || cache->hide_idle != model_idle(model))
		return false;
	if (!model_calls_are_old(cache, model))
		return true;
	/* If another window has been selected, the tree must be recomputed at once. */
	return model_time_goes_on(&cache->time, model) && model->now_ns < cache->not_before_ns;
}

struct scan_question model_calls_question(const struct session *session, const struct model *model,
	struct filter *filter, const struct snapshot *snapshot)
{
	return (struct scan_question){
		.snapshot = snapshot,
		.from_ns = model->from_ns,
		.to_ns = model->to_ns,
		.stacks = session_stacks(session),
		.tasks = session_tasks(session),
		.names = session->names,
		.filter = filter,
		.hide_idle = model->hide_idle,
		.idle_by_name = session->limits.pid_namespace,
		.event = -1,
		.leave_unresolved = true,
		.column = GROUP_KEYS,
	};
}

static int renew(struct model_calls *cache, struct session *session, const struct model *model,
	struct filter *filter, uint64_t epoch, const struct basis *basis, uint64_t serial)
{
	struct store *store = session_store(session);
	struct scan_question question;
	struct snapshot snapshot;
	int ret;

	model_calls_fini(cache);
	ret = store_snapshot(store, model->from_ns, model->to_ns, &snapshot);
	if (ret)
		return ret;
	question = model_calls_question(session, model, filter, &snapshot);
	ret = calls_new_against(&cache->calls, &question, basis);
	snapshot_release(store, &snapshot);
	if (ret) {
		cache->calls = NULL;
		return ret;
	}
	cache->from_ns = model->from_ns;
	cache->to_ns = model->to_ns;
	cache->last_ns = model->status.store.last_ns < model->to_ns ? model->status.store.last_ns
								    : model->to_ns;
	cache->epoch = epoch;
	cache->filter = filter_serial(filter);
	cache->hide_idle = model_idle(model);
	cache->basis = serial;
	cache->time = model_time_of(model);
	return 0;
}

int model_calls_tree(struct model_calls *cache, struct session *session, const struct model *model,
	struct filter *filter, uint64_t epoch, const struct basis *basis, uint64_t serial,
	const struct calltree_query *query, struct calltree *out)
{
	uint64_t begin_cpu_ns = pace_cpu_ns();
	bool renewed = false;
	int ret = 0;

	if (!is_current(cache, model, filter, epoch, serial)) {
		ret = renew(cache, session, model, filter, epoch, basis, serial);
		renewed = true;
	}
	/* The tree in *out is up to date. */
	if (!ret && out->n && out->serial == calls_serial(cache->calls))
		return 0;
	calltree_fini(out);
	if (!ret)
		ret = calltree_build(out, cache->calls, query);
	if (renewed)
		cache->not_before_ns = model->now_ns + PACE_SHARE * (pace_cpu_ns() - begin_cpu_ns);
	return ret;
}
