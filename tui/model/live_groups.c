/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live_groups.c - the live model's rows by other keys than symbols.
 */
#include "tui/model/live_private.h"

static int rows(struct model *model, const struct group_by *by, const struct hot_query *query,
	const struct hot_row **out, size_t *n, struct hot_sums *sums)
{
	struct model_live *live = model_live_of(model);

	return model_groups_rows(&live->groups, live->session, model, &live->crumbs,
		&live->baseline, by, query, out, n, sums);
}

static const struct group_key *key(struct model *model, uint32_t id)
{
	return model_groups_key(&model_live_of(model)->groups, id);
}

static void cell(struct model *model, uint32_t id, uint8_t event, uint64_t *self, uint64_t *total)
{
	model_groups_cell(&model_live_of(model)->groups, id, event, self, total);
}

static bool term(struct model *model, uint32_t id, bool negated, char *out, size_t size)
{
	const struct groups *groups = model_live_of(model)->groups.groups;

	return groups && groups_term(groups, id, negated, out, size);
}

const struct model_group_ops model_live_groups = {
	.rows = rows,
	.key = key,
	.cell = cell,
	.term = term,
};
