/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flame_threads.c - shows one thread after the other in the flame graph, heaviest first, then all
 * again.
 *
 * Each is an ordinary filter: it appears in the crumbs and stays when the view is left.
 */
#include "tui/model/commands.h"
#include "tui/model/queries.h"
#include "tui/views/flame_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void flame_threads_fini(struct flame_view *flame)
{
	free(flame->threads);
	flame->threads = NULL;
	flame->n_threads = 0;
}

/* Returns whether the last filter is the one that shows the current thread. */
static bool is_shown(const struct flame_view *flame, const struct model *model)
{
	return flame->threads && model->n_crumbs &&
		!strcmp(model->crumbs[model->n_crumbs - 1], flame->thread_crumb);
}

static int list_threads(struct flame_view *flame, struct model *model)
{
	const struct model_breakdown question = {.all = true, .group = GROUP_THREAD};

	flame_threads_fini(flame);
	flame->thread = 0;
	return model->queries->breakdown(model, &question, &flame->threads, &flame->n_threads);
}

unsigned int flame_next_thread(struct flame_view *flame, struct screen *screen)
{
	struct model *model = screen->model;
	const struct query_row *row;
	char number[16];
	unsigned int changed;
	size_t before;
	int ret = 0;

	if (is_shown(flame, model)) {
		model->commands->crumb_drop(model, model->n_crumbs - 1);
		flame->thread++;
	} else {
		ret = list_threads(flame, model);
	}
	if (ret || flame->thread >= flame->n_threads) {
		if (ret || !flame->n_threads)
			screen_message(screen, STYLE_WARN, "No thread is known in this time");
		else
			screen_message(screen, STYLE_GOOD, "All threads again");
		flame_threads_fini(flame);
		return VIEW_HANDLED | VIEW_SETTINGS;
	}
	row = &flame->threads[flame->thread];
	snprintf(number, sizeof(number), "%d", row->tid);
	before = model->n_crumbs;
	changed = screen_narrow(screen, false, FILTER_TID, number);
	if (model->n_crumbs == before)
		return changed | VIEW_SETTINGS;
	memcpy(flame->thread_crumb, model->crumbs[model->n_crumbs - 1],
		sizeof(flame->thread_crumb));
	screen_message(screen, STYLE_GOOD, "Thread %d %s, %zu of %zu (T shows the next one)",
		row->tid, row->name, flame->thread + 1, flame->n_threads);
	return changed;
}
