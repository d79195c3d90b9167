/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_private.h - state shared by hot_table.c and hot_draw.c.
 */
#ifndef TUI_VIEWS_HOT_PRIVATE_H
#define TUI_VIEWS_HOT_PRIVATE_H

#include "tui/model/queries.h"
#include "tui/screen/screen.h"
#include "tui/views/columns.h"
#include "tui/views/list_view.h"

#include <stdbool.h>
#include <stdint.h>

struct hot_table {
	struct list_view view; /* keys are symrefs, or numbers of rows that are no symbols */
	const struct hot_row *rows; /* owned by the model, valid until its next answer */
	size_t n_rows; /* number of valid rows, out of view.list.n */
	struct hot_sums sums;
	uint64_t longest; /* weight of a full bar */
	struct group_by by; /* grouping of the rows */
	uint8_t event; /* event of the rows */
	bool failed; /* out of memory */
	bool hide_kernel, side_by_side;
	struct columns columns; /* columns of the last drawing */
};

static inline bool hot_is_grouped(const struct hot_table *table)
{
	return table->by.group != GROUP_SYMBOL;
}

/* Returns the name of a row, and in `image` the text next to it. */
static inline const struct symref *hot_name(
	const struct hot_table *table, struct model *model, uint32_t id)
{
	return hot_is_grouped(table) ? &model->queries->groups->key(model, id)->name
				     : model->queries->symbol(model, id);
}

/* Returns whether totals differ from self weights, because callers have rows, too. */
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

/* Returns the head of the column next to the names; NULL if none. */
const char *hot_beside(const struct hot_table *table);

uint64_t hot_bar_weight(const struct hot_table *table, const struct hot_row *row);

/* Makes all rows valid; call it before looking at rows from n_rows on. */
void hot_all_rows(struct hot_table *table, struct model *model);

void hot_table_draw(struct view *view, struct screen *screen, struct area area);

#endif
