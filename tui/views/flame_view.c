/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flame_view.c - the flame graph: all calls at once, as boxes as wide as their share.
 *
 * The selected frame and the zoom are paths of symbols, so they survive a rebuilt tree.  Siblings
 * are sorted by name, so they keep their places while their weights change.
 */
#include "tui/views/flame_view.h"

#include "tui/base/format.h"
#include "tui/base/grow.h"
#include "tui/model/queries.h"
#include "tui/views/views.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 100000u /* maximum number of frames for a search of all frames at each refresh */
/* factor: smallest drawn weight to smallest requested weight, if not all frames are requested */
#define FINER 64u
#define WIDEST 512u /* assumed columns; frames below one column are not requested */

static int flame_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct flame_view *flame = calloc(1, sizeof(*flame));

	if (!flame)
		return -ENOMEM;
	flame->width = screen->canvas.width;
	flame->wanted = arg;
	view->state = flame;
	return 0;
}

static void flame_close(struct view *view)
{
	struct flame_view *flame = view->state;

	calltree_fini(&flame->tree);
	flame_layout_fini(&flame->layout);
	flame_path_fini(&flame->selected);
	flame_path_fini(&flame->zoom);
	flame_threads_fini(flame);
	free(flame->matches);
	free(flame);
}

/* --- the tree and its boxes --- */

static int compare_names(void *ctx, uint32_t symref, uint32_t other)
{
	struct model *model = ctx;
	const struct symref *left = model->queries->symbol(model, symref);
	const struct symref *right = model->queries->symbol(model, other);
	int result = strcmp(left->symbol, right->symbol);

	if (!result)
		result = strcmp(left->image, right->image);
	return result ? result : (symref > other) - (symref < other);
}

int flame_lay_out(struct flame_view *flame, struct model *model, int width)
{
	const struct flame_order order = {compare_names, model};

	flame->width = width;
	if (!flame->error)
		flame->error = flame_layout_make(
			&flame->layout, &flame->tree, flame->zoomed, width, &order);
	return flame->error;
}

static uint32_t zoom_length(const struct flame_view *flame)
{
	return flame->n_zooms ? flame->zooms[flame->n_zooms - 1] : 0;
}

/* Returns whether the existing tree suffices unless it is outdated: it has these frames and not
 * many more. */
static bool is_enough(const struct flame_view *flame, const struct model *model, uint64_t least)
{
	return flame->tree.n && flame->event == model->event && flame->least <= least &&
		flame->least >= least / 2;
}

static int ask_tree(struct flame_view *flame, struct model *model, uint64_t least)
{
	const struct calltree_query query = {
		.kind = CALLTREE_ROOTS,
		.event = model->event,
		.least = least,
	};
	uint64_t serial;
	uint32_t found;
	int ret;

	if (!is_enough(flame, model, least))
		calltree_fini(&flame->tree);
	serial = flame->tree.serial;
	ret = model->queries->tree(model, &query, &flame->tree);
	if (ret)
		return ret;
	if (!serial || flame->tree.serial != serial) {
		flame->event = model->event;
		flame->least = least;
	}
	flame->zoomed = flame_path_find(&flame->zoom, zoom_length(flame), &flame->tree, &found);
	flame->gone = found < zoom_length(flame);
	return 0;
}

/* Requests the tree.  Frames down to a column of the zoomed frame are needed, but its weight is
 * known only from a tree.  A search requests all frames, unless there are too many. */
static int ask_enough(struct flame_view *flame, struct model *model)
{
	uint64_t weight =
		flame->tree.n ? flame->tree.nodes[flame->zoomed].sums.total : model->sums.weight;
	uint64_t least = weight / WIDEST;
	int ret;

	if (flame->search[0])
		least = flame->coarse ? least / FINER : 0;
	ret = ask_tree(flame, model, least);
	if (!ret && !least)
		flame->coarse = flame->tree.n > FRAMES_MAX;
	if (ret || flame->search[0])
		return ret;
	if (flame->gone)
		return ask_tree(flame, model, least / FINER);
	weight = flame->tree.nodes[flame->zoomed].sums.total;
	return weight / WIDEST < least ? ask_tree(flame, model, weight / WIDEST) : 0;
}

bool flame_matches(struct flame_view *flame, struct model *model, uint32_t symref)
{
	const struct symref *symbol;

	if (!flame->search[0] ||
		grow_zeroed((void **)&flame->matches, symref, &flame->matches_room,
			sizeof(*flame->matches)))
		return false;
	if (!flame->matches[symref]) {
		symbol = model->queries->symbol(model, symref);
		flame->matches[symref] = views_match(symbol->symbol, flame->search) >= 0 ? 2 : 1;
	}
	return flame->matches[symref] == 2;
}

/* Sums the weight of stacks with a matching frame.  Outermost matches include those inside them. */
static void sum_matches(struct flame_view *flame, struct model *model)
{
	const struct calltree *tree = &flame->tree;
	uint32_t node = tree->n ? tree->nodes[0].child : 0;

	/* Forget results: names may have been resolved since. */
	if (flame->matches)
		memset(flame->matches, 0, flame->matches_room);
	flame->matched = 0;
	while (flame->search[0] && node) {
		bool match = flame_matches(flame, model, tree->nodes[node].symref);

		if (match)
			flame->matched += tree->nodes[node].sums.total;
		if (!match && tree->nodes[node].child) {
			node = tree->nodes[node].child;
			continue;
		}
		while (node && !tree->nodes[node].sibling)
			node = tree->nodes[node].parent;
		node = node ? tree->nodes[node].sibling : 0;
	}
}

/* Returns the heaviest frame of a symbol. */
static uint32_t heaviest(const struct calltree *tree, uint32_t symref)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < tree->n; i++) {
		if (tree->nodes[i].symref == symref &&
			(!best || tree->nodes[i].sums.total > tree->nodes[best].sums.total))
			best = i;
	}
	return best;
}

static void flame_refresh(struct view *view, struct screen *screen)
{
	struct flame_view *flame = view->state;
	struct model *model = screen->model;
	uint32_t found;

	flame->error = ask_enough(flame, model);
	if (!flame->error && flame->wanted != VIEWS_NO_SYMBOL && flame->tree.n > 1) {
		flame->error = flame_path_set(
			&flame->selected, &flame->tree, heaviest(&flame->tree, flame->wanted));
		flame->wanted = VIEWS_NO_SYMBOL;
	}
	flame->node = flame_path_find(&flame->selected, flame->selected.n, &flame->tree, &found);
	sum_matches(flame, model);
	flame_lay_out(flame, model, flame->width);
}

uint32_t flame_selected_box(const struct flame_view *flame)
{
	if (flame->error || !flame->tree.n)
		return FLAME_NONE;
	return flame_layout_find(&flame->layout, &flame->tree, flame->node);
}

bool flame_tells_change(const struct flame_view *flame, const struct model *model)
{
	return model->has_baseline && !flame->by_image;
}

double flame_change(const struct flame_view *flame, uint32_t node, bool self)
{
	const struct calltree_node *nodes = flame->tree.nodes, *at = &nodes[node];

	return format_share(self ? at->sums.self : at->sums.total, nodes->sums.total) -
		format_share(self ? at->base.self : at->base.total, nodes->base.total);
}

static unsigned int change_colours(struct flame_view *flame, struct screen *screen)
{
	if (!screen->model->has_baseline) {
		screen_message(screen, STYLE_WARN,
			"There is no baseline to tell changes against: b marks this time as one");
		return VIEW_HANDLED;
	}
	flame->by_image = !flame->by_image;
	screen_message(screen, STYLE_GOOD,
		flame->by_image ? "Colours tell the images of frames"
				: "Colours tell how shares differ from the baseline");
	return VIEW_HANDLED;
}

/* --- moving --- */

static void select_node(struct flame_view *flame, uint32_t node)
{
	flame->error = flame_path_set(&flame->selected, &flame->tree, node);
	flame->node = node;
}

static void select_box(struct flame_view *flame, uint32_t box)
{
	if (box != FLAME_NONE)
		select_node(flame, flame->layout.boxes[box].node);
}

static uint32_t widest_above(const struct flame_layout *layout, uint32_t box)
{
	const struct flame_box *from = &layout->boxes[box];
	uint32_t best = FLAME_NONE;

	for (uint32_t i = from->first; i < from->first + from->n; i++) {
		if (best == FLAME_NONE || layout->boxes[i].width > layout->boxes[best].width)
			best = i;
	}
	return best;
}

/* Moves away from the root, or (negative) towards it. */
static unsigned int move_levels(struct flame_view *flame, int levels)
{
	uint32_t box = flame_selected_box(flame), next = box;

	for (; levels && next != FLAME_NONE; levels += levels > 0 ? -1 : 1) {
		box = next;
		next = levels > 0 ? widest_above(&flame->layout, box)
				  : flame->layout.boxes[box].parent;
	}
	select_box(flame, next != FLAME_NONE ? next : box);
	return VIEW_HANDLED;
}

static unsigned int move_aside(struct flame_view *flame, int step)
{
	const struct flame_layout *layout = &flame->layout;
	uint32_t box = flame_selected_box(flame), row;

	if (box == FLAME_NONE)
		return VIEW_HANDLED;
	row = flame_layout_row(layout, box);
	if (step > 0 ? box + 1 < layout->rows[row + 1] : box > layout->rows[row])
		select_box(flame, step > 0 ? box + 1 : box - 1);
	return VIEW_HANDLED;
}

/* --- zoom --- */

static unsigned int zoom_in(struct flame_view *flame, struct view *view, struct screen *screen)
{
	uint32_t box = flame_selected_box(flame), depth = 0, node;

	if (box == FLAME_NONE)
		return VIEW_HANDLED;
	node = flame->layout.boxes[box].node;
	for (uint32_t at = node; at; at = flame->tree.nodes[at].parent)
		depth++;
	/* Zooming to a caller of the zoomed frame goes back to it. */
	while (flame->n_zooms && zoom_length(flame) >= depth)
		flame->n_zooms--;
	flame->settle = true;
	select_node(flame, node);
	if (!flame->error && depth) {
		flame->error = flame_path_set(&flame->zoom, &flame->tree, node);
		if (flame->n_zooms == FLAME_ZOOMS_MAX)
			memmove(flame->zooms, flame->zooms + 1,
				(size_t)(--flame->n_zooms) * sizeof(*flame->zooms));
		flame->zooms[flame->n_zooms++] = depth;
	}
	flame_refresh(view, screen);
	return VIEW_HANDLED;
}

static unsigned int zoom_out(struct flame_view *flame, struct view *view, struct screen *screen)
{
	flame->n_zooms--;
	flame->settle = true;
	flame_refresh(view, screen);
	return VIEW_HANDLED;
}

/* --- search --- */

static bool box_matches(struct flame_view *flame, struct model *model, uint32_t box)
{
	uint32_t node = flame->layout.boxes[box].node;

	return node && flame_matches(flame, model, flame->tree.nodes[node].symref);
}

static unsigned int search(struct flame_view *flame, struct screen *screen, int step, bool here)
{
	uint32_t n = flame->layout.n, at = flame_selected_box(flame);
	char share[FORMAT_MAX];

	if (at == FLAME_NONE)
		return VIEW_HANDLED;
	if (!flame->search[0]) {
		screen_message(screen, STYLE_WARN, "Nothing was searched yet: / does");
		return VIEW_HANDLED;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0 || !here)
			at = step > 0 ? (at + 1) % n : (at + n - 1) % n;
		if (box_matches(flame, screen->model, at)) {
			select_box(flame, at);
			return VIEW_HANDLED;
		}
	}
	if (flame->matched)
		screen_message(screen, STYLE_WARN,
			"\"%s\" is in frames that are too small here, or not in the zoom: %s",
			flame->search,
			format_whole(share,
				format_share(flame->matched, flame->tree.nodes[0].sums.total)));
	else
		screen_message(screen, STYLE_WARN, "No frame matches \"%s\"", flame->search);
	return VIEW_HANDLED;
}

static unsigned int set_search(
	struct flame_view *flame, struct view *view, struct screen *screen, const char *text)
{
	snprintf(flame->search, sizeof(flame->search), "%s", text);
	flame_refresh(view, screen);
	return VIEW_HANDLED;
}

static unsigned int flame_prompt(struct view *view, struct screen *screen, enum action purpose,
	const char *text, enum prompt_result result)
{
	struct flame_view *flame = view->state;

	(void)purpose;
	set_search(flame, view, screen, result == PROMPT_CANCELLED ? flame->old_search : text);
	if (result == PROMPT_DONE && text[0])
		search(flame, screen, 1, true);
	return VIEW_HANDLED;
}

/* --- actions --- */

/* Returns the node of the selected frame; 0 with a message if all is selected. */
static uint32_t selected_frame(struct flame_view *flame, struct screen *screen)
{
	uint32_t box = flame_selected_box(flame);
	uint32_t node = box == FLAME_NONE ? 0 : flame->layout.boxes[box].node;

	if (!node)
		screen_message(screen, STYLE_WARN, "This is all of it: go to a frame first");
	return node;
}

static unsigned int open_selected(struct flame_view *flame, struct screen *screen,
	const struct view_ops *ops, const char *what)
{
	uint32_t node = selected_frame(flame, screen);

	return node ? views_open(screen, ops, flame->tree.nodes[node].symref, what) : VIEW_HANDLED;
}

static unsigned int narrow(struct flame_view *flame, struct screen *screen, bool exclude)
{
	uint32_t node = selected_frame(flame, screen);
	struct model *model = screen->model;

	if (!node)
		return VIEW_HANDLED;
	return screen_narrow(screen, exclude, FILTER_STACK,
		model->queries->symbol(model, flame->tree.nodes[node].symref)->symbol);
}

/* Moves as seen on the screen: up is towards the root, unless the root is at the bottom. */
static bool move(struct flame_view *flame, enum action action)
{
	int page = flame->height > 1 ? flame->height - 1 : 1, levels;

	switch (action) {
	case ACT_UP:
		levels = -1;
		break;
	case ACT_DOWN:
		levels = 1;
		break;
	case ACT_PAGE_UP:
		levels = -page;
		break;
	case ACT_PAGE_DOWN:
		levels = page;
		break;
	case ACT_HALF_UP:
		levels = -(page + 1) / 2;
		break;
	case ACT_HALF_DOWN:
		levels = (page + 1) / 2;
		break;
	case ACT_FIRST:
	case ACT_LAST:
		move_levels(flame, action == ACT_LAST ? INT_MAX : -INT_MAX);
		return true;
	case ACT_EXPAND:
	case ACT_COLLAPSE:
		move_aside(flame, action == ACT_EXPAND ? 1 : -1);
		return true;
	default:
		return false;
	}
	move_levels(flame, flame->upwards ? -levels : levels);
	return true;
}

static unsigned int flame_action(struct view *view, struct screen *screen, enum action action)
{
	struct flame_view *flame = view->state;

	if (move(flame, action))
		return VIEW_HANDLED;
	switch (action) {
	case ACT_OPEN:
		return zoom_in(flame, view, screen);
	case ACT_RETURN:
		if (flame->n_zooms)
			return zoom_out(flame, view, screen);
		return screen_widen(screen) | VIEW_HANDLED;
	case ACT_BACK:
		if (flame->n_zooms)
			return zoom_out(flame, view, screen);
		return flame->search[0] ? set_search(flame, view, screen, "") : 0;
	case ACT_QUIT:
		return VIEW_HANDLED | VIEW_CLOSE;
	case ACT_SHAPE:
		flame->upwards = !flame->upwards;
		return VIEW_HANDLED;
	case ACT_COLOUR:
		return change_colours(flame, screen);
	case ACT_THREAD:
		return flame_next_thread(flame, screen);
	case ACT_CALLS:
		return open_selected(flame, screen, &view_calls, "The calls cannot be shown");
	case ACT_ANNOTATE:
		return open_selected(flame, screen, &view_annotate, "The code cannot be shown");
	case ACT_INCLUDE:
	case ACT_EXCLUDE:
		return narrow(flame, screen, action == ACT_EXCLUDE);
	case ACT_SEARCH:
		memcpy(flame->old_search, flame->search, sizeof(flame->search));
		flame->coarse = false;
		screen_prompt(screen, action, "Search: ", "");
		return VIEW_HANDLED;
	case ACT_SEARCH_NEXT:
		return search(flame, screen, 1, false);
	case ACT_SEARCH_PREVIOUS:
		return search(flame, screen, -1, false);
	default:
		return 0;
	}
}

static unsigned int flame_click(struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct flame_view *flame = view->state;
	int row = flame->upwards ? flame->y + flame->height - 1 - y : y - flame->y;
	uint32_t box;

	if (y < flame->y || y >= flame->y + flame->height || flame->error)
		return 0;
	box = flame_layout_at(&flame->layout, (uint32_t)(row + flame->top), x);
	if (box == FLAME_NONE)
		return 0;
	select_box(flame, box);
	return twice ? zoom_in(flame, view, screen) : VIEW_HANDLED;
}

static void flame_tags(const struct view *view, char *out, size_t size)
{
	const struct flame_view *flame = view->state;
	char share[FORMAT_MAX];

	if (flame->search[0] && flame->tree.n)
		snprintf(out, size, "%s%s in \"%.60s\"", flame->coarse ? "at least " : "",
			format_whole(share,
				format_share(flame->matched, flame->tree.nodes[0].sums.total)),
			flame->search);
}

const struct view_ops view_flame = {
	.keys = KEYS_FLAME,
	.open = flame_open,
	.action = flame_action,
	.prompt = flame_prompt,
	.click = flame_click,
	.refresh = flame_refresh,
	.draw = flame_draw,
	.tags = flame_tags,
	.close = flame_close,
	.stays = true,
};
