/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_private.h - what the hot table (hot_table.c) and its drawing (hot_draw.c) share.
 */
#ifndef TUI_VIEWS_HOT_PRIVATE_H
#define TUI_VIEWS_HOT_PRIVATE_H

#include "tui/screen.h"
#include "tui/views/columns.h"
#include "tui/views/list.h"

#include <stdbool.h>
#include <stdint.h>

struct hot_table {
	struct list list;
	const struct hot_row *rows; /* the model's, until its next answer */
	size_t n_rows; /* of list.n: those that are looked at */
	struct hot_sums sums;
	uint64_t longest; /* weight that a full bar stands for */
	struct group_by by; /* what the rows are */
	uint32_t selected; /* symref, or the number of what else rows are */
	uint8_t event; /* of the rows */
	bool moved; /* off the first row */
	bool failed; /* out of memory */
	enum hot_sort sort;
	bool reverse, hide_kernel, side_by_side;
	char filter[PROMPT_MAX], old_filter[PROMPT_MAX];
	char search[PROMPT_MAX], old_search[PROMPT_MAX];
	uint32_t search_from; /* symref where the search began */
	struct columns columns; /* as last drawn */
};

static inline bool hot_is_grouped(const struct hot_table *table)
{
	return table->by.group != GROUP_SYMBOL;
}

/* What a row is called, and what stands beside it. */
static inline const struct symref *hot_name(
	const struct hot_table *table, struct model *model, uint32_t id)
{
	return hot_is_grouped(table) ? &model->ops->groups->key(model, id)->name
				     : model->ops->symbol(model, id);
}

/* Where callers are rows of their own, a total is more than a self share. */
static inline bool hot_has_total(const struct hot_table *table)
{
	switch (table->by.group) {
	case GROUP_SYMBOL:
	case GROUP_IMAGE:
	case GROUP_ADDRESS:
	case GROUP_LINE:
		return true;
	default:
		return false;
	}
}

/* What the column beside the rows' names is; NULL: there is none. */
const char *hot_beside(const struct hot_table *table);

uint64_t hot_bar_weight(const struct hot_table *table, const struct hot_row *row);

/* Before another row is looked at. */
void hot_all_rows(struct hot_table *table, struct model *model);

void hot_table_draw(struct view *view, struct screen *screen, struct area area);

#endif
