/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heat.c - see heat.h.
 */
#include "tui/model/heat.h"

#include "tui/model/activity.h"
#include "tui/model/queries.h"
#include "tui/names/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

void heat_fini(struct heat *heat)
{
	free(heat->cells);
	*heat = (struct heat){.cells = NULL};
}

static bool is_same_question(const struct heat *heat, const struct model *model,
	const struct session *session, const struct filter *filter)
{
	return heat->event == model->event && heat->hide_idle == model_idle(model) &&
		heat->filter == filter_serial(filter) &&
		heat->names == activity_names(model, session, filter);
}

/* Moves the cells that are known in [from_ns, from_ns + seconds) to their new places.  *first and
 * *n: the known seconds. */
static int move_known(struct heat *heat, uint64_t from_ns, size_t seconds, size_t *first, size_t *n)
{
	uint64_t begin = heat->from_ns, end = begin + heat->n_over * SECOND;
	uint64_t *cells;

	*first = *n = 0;
	if (begin < from_ns)
		begin = from_ns;
	if (end > from_ns + seconds * SECOND)
		end = from_ns + seconds * SECOND;
	if (heat->from_ns % SECOND != from_ns % SECOND || end < begin)
		end = begin;
	if (heat->from_ns == from_ns && seconds <= heat->room) {
		*n = (size_t)((end - begin) / SECOND);
		return 0;
	}
	cells = calloc(seconds * HEAT_ROWS, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	*n = (size_t)((end - begin) / SECOND);
	if (*n) {
		*first = (size_t)((begin - from_ns) / SECOND);
		memcpy(cells + *first * HEAT_ROWS,
			heat->cells + (begin - heat->from_ns) / SECOND * HEAT_ROWS,
			*n * HEAT_ROWS * sizeof(*cells));
	}
	free(heat->cells);
	heat->cells = cells;
	heat->room = seconds;
	return 0;
}

static int ask(struct heat *heat, const struct model *model, struct session *session,
	struct filter *filter, size_t first, size_t last)
{
	if (last <= first)
		return 0;
	return activity_ask(model, session, filter, heat->from_ns + first * SECOND,
		heat->from_ns + last * SECOND, heat->cells + first * HEAT_ROWS,
		(last - first) * HEAT_ROWS);
}

int heat_get(struct heat *heat, const struct model *model, struct session *session,
	struct filter *filter, uint64_t from_ns, size_t seconds, const uint64_t **cells)
{
	uint64_t over_ns = model->status.store.last_ns;
	size_t first, n;
	int ret;

	*cells = NULL;
	if (!is_same_question(heat, model, session, filter))
		heat->n_over = 0;
	heat->event = model->event;
	heat->hide_idle = model_idle(model);
	heat->filter = filter_serial(filter);
	heat->names = activity_names(model, session, filter);
	ret = move_known(heat, from_ns, seconds, &first, &n);
	if (ret)
		return ret;
	heat->from_ns = from_ns;
	heat->n = seconds;
	heat->n_over = 0;
	if (n) {
		ret = ask(heat, model, session, filter, 0, first);
		if (!ret)
			ret = ask(heat, model, session, filter, first + n, seconds);
	} else {
		ret = ask(heat, model, session, filter, 0, seconds);
	}
	if (ret)
		return ret;
	if (over_ns > from_ns)
		heat->n_over = (size_t)((over_ns - from_ns) / SECOND);
	if (heat->n_over > seconds)
		heat->n_over = seconds;
	*cells = heat->cells;
	return 0;
}
