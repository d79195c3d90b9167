/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lanes.c - see lanes.h.
 */
#include "tui/model/lanes.h"

#include "sampler/store/store.h"
#include "tui/model/activity.h"
#include "tui/names/names.h"
#include "tui/query/pace.h"

void model_lanes_fini(struct model_lanes *cache)
{
	lanes_fini(&cache->lanes);
	lanes_fini(&cache->base);
	lanes_forget(&cache->memory);
	cache->known = cache->base_known = false;
}

static int run(struct session *session, struct query query, uint64_t from_ns, uint64_t to_ns,
	size_t columns, struct lanes_memory *memory, struct lanes *out)
{
	struct store *store = session_store(session);
	struct snapshot snapshot;
	int ret = store_snapshot(store, from_ns, to_ns, &snapshot);

	if (ret)
		return ret;
	query.snapshot = &snapshot;
	query.from_ns = from_ns;
	query.to_ns = to_ns;
	ret = lanes_follow(&query, columns, memory, out);
	snapshot_release(store, &snapshot);
	return ret;
}

/* Queries the baseline.  Its samples do not change, so this is done only when the query changes. */
static int ask_base(struct model_lanes *cache, struct session *session, struct model *model,
	model_lanes_recorded *recorded, const struct query *query)
{
	const uint64_t changes =
		model->base_recorded ? 0 : activity_names(model, session, query->filter);
	int ret;

	if (cache->base_known && cache->base_serial == model->base_serial &&
		cache->base_group == query->group && cache->base_event == query->event &&
		cache->base_changes == changes)
		return 0;
	lanes_fini(&cache->base);
	cache->base_known = false;
	if (model->base_recorded)
		ret = recorded(model, query->group, &cache->base);
	else
		ret = run(session, *query, model->base_from_ns, model->base_to_ns, 1, NULL,
			&cache->base);
	if (ret)
		return ret;
	cache->base_known = true;
	cache->base_serial = model->base_serial;
	cache->base_group = query->group;
	cache->base_event = query->event;
	cache->base_changes = changes;
	return 0;
}

/* Returns the time of the last sample in the window.  Later ones do not change it. */
static uint64_t last_of(const struct model *model)
{
	uint64_t last_ns = model->status.store.last_ns;

	return last_ns < model->to_ns ? last_ns : model->to_ns;
}

static bool is_current(const struct model_lanes *cache, const struct model *model,
	const struct filter *filter, uint64_t epoch, enum query_group group, size_t columns)
{
	if (!cache->known || cache->group != group || cache->lanes.columns != columns ||
		cache->event != model->event || cache->hide_idle != model_idle(model) ||
		cache->filter != filter_serial(filter) ||
		cache->has_baseline != model->has_baseline ||
		(model->has_baseline && cache->shown_serial != model->base_serial))
		return false;
	if (cache->lanes.from_ns == model->from_ns && cache->lanes.to_ns == model->to_ns &&
		cache->last_ns == last_of(model) && cache->epoch == epoch)
		return true;
	/* If another window has been selected, it is shown at once. */
	return model_time_goes_on(&cache->time, model) && model->now_ns < cache->not_before_ns;
}

int model_lanes_get(struct model_lanes *cache, struct session *session, struct model *model,
	struct filter *filter, uint64_t epoch, model_lanes_recorded *recorded,
	enum query_group group, size_t columns, const struct lanes **out)
{
	struct query query = activity_query(model, session, filter, NULL);
	uint64_t begin_cpu_ns = pace_cpu_ns();
	int ret;

	*out = &cache->lanes;
	if (is_current(cache, model, filter, epoch, group, columns))
		return 0;
	lanes_fini(&cache->lanes);
	cache->known = false;
	query.group = group;
	/* A selected window does not move, so it needs no cache. */
	ret = run(session, query, model->from_ns, model->to_ns, columns,
		model->window.selected ? NULL : &cache->memory, &cache->lanes);
	if (!ret && model->has_baseline)
		ret = ask_base(cache, session, model, recorded, &query);
	if (!ret && model->has_baseline)
		ret = lanes_compare(&cache->lanes, &cache->base, group, model->base_recorded);
	if (ret)
		return ret;
	cache->known = true;
	cache->group = group;
	cache->event = model->event;
	cache->hide_idle = model_idle(model);
	cache->time = model_time_of(model);
	cache->last_ns = last_of(model);
	cache->epoch = epoch;
	cache->filter = filter_serial(filter);
	cache->has_baseline = model->has_baseline;
	cache->shown_serial = model->base_serial;
	cache->not_before_ns = model->now_ns + PACE_SHARE * (pace_cpu_ns() - begin_cpu_ns);
	return 0;
}
