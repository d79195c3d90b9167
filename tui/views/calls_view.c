/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calls_view.c - callers and callees: the butterfly of one symbol, the call tree, callers of the
 * hottest symbols.
 *
 * Rows are those of calls_rows.h; the cursor stays on a path.  The butterfly can be moved to any
 * visible symbol, and back.
 */
#include "tui/base/format.h"
#include "tui/base/shorten.h"
#include "tui/model/queries.h"
#include "tui/screen/screen.h"
#include "tui/views/calls_rows.h"
#include "tui/views/list.h"
#include "tui/views/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CENTRES_MAX 32
#define LEAST_PART 2000u /* leaves out nodes below this fraction of the whole */
#define ROOTS_MAX 500u
#define BAR_WIDTH 4
#define SHARE_WIDTH 8
#define NARROW 50 /* columns; no bars below it */
#define WIDE 90 /* columns; images from here on */
#define IMAGE_WIDTH 20
#define CHANGE_WIDTH 6
#define INDENT 2
#define SYMBOL_LEAST 24 /* least columns for the symbol after indentation */

struct calls_view {
	struct list list;
	struct calls_rows rows;
	enum calls_shape shape;
	struct calltree callers, tree; /* for this shape, center and event */
	uint8_t event;
	uint32_t centres[CENTRES_MAX]; /* centers of butterflies; the last one is current */
	int n_centres;
	uint64_t selected; /* path */
	bool moved; /* the cursor left the row that the view chose */
	uint64_t whole, base_whole;
	int error;
	char search[PROMPT_MAX], old_search[PROMPT_MAX];
};

static uint32_t centre_of(const struct calls_view *calls)
{
	return calls->n_centres ? calls->centres[calls->n_centres - 1] : VIEWS_NO_SYMBOL;
}

static int calls_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct calls_view *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return -ENOMEM;
	calls->shape = (enum calls_shape)screen->model->calls_shape;
	if (arg == VIEWS_NO_SYMBOL && calls->shape == CALLS_BUTTERFLY)
		calls->shape = CALLS_TREE;
	if (arg != VIEWS_NO_SYMBOL)
		calls->centres[calls->n_centres++] = arg;
	view->state = calls;
	return 0;
}

static void forget_trees(struct calls_view *calls)
{
	calltree_fini(&calls->callers);
	calltree_fini(&calls->tree);
	memset(&calls->callers, 0, sizeof(calls->callers));
	memset(&calls->tree, 0, sizeof(calls->tree));
}

static void calls_close(struct view *view)
{
	struct calls_view *calls = view->state;

	forget_trees(calls);
	calls_rows_fini(&calls->rows);
	free(calls);
}

/* --- rows --- */

/* Builds the trees.  closed: with the contents of closed rows, which are most of a tree and only
 * needed for a search. */
static int ask_trees(struct calls_view *calls, struct model *model, bool closed)
{
	static const enum calltree_kind kinds[] = {
		[CALLS_BUTTERFLY] = CALLTREE_CALLEES,
		[CALLS_TREE] = CALLTREE_ROOTS,
		[CALLS_CALLERS] = CALLTREE_CALLERS,
	};
	struct calls_opening opening = {.rows = &calls->rows, .shape = calls->shape};
	struct calltree_query query = {
		.kind = kinds[calls->shape],
		.event = model->event,
		.least = model->sums.weight / LEAST_PART,
		.by_self = calls->shape == CALLS_CALLERS,
		.max_roots = ROOTS_MAX,
		.one = calls->shape == CALLS_BUTTERFLY,
		.symref = centre_of(calls),
		.opens = closed ? NULL : calls_rows_opens,
		.ctx = &opening,
	};
	int ret;

	if (calls->event != model->event)
		forget_trees(calls);
	calls->event = model->event;
	ret = model->queries->tree(model, &query, &calls->tree);
	if (ret || calls->shape != CALLS_BUTTERFLY)
		return ret;
	query.kind = CALLTREE_CALLERS;
	opening.above = true;
	return model->queries->tree(model, &query, &calls->callers);
}

static void make_rows(struct calls_view *calls)
{
	long at;

	calls->error = calls_rows_make(&calls->rows, calls->shape,
		calls->shape == CALLS_BUTTERFLY ? &calls->callers : NULL, &calls->tree,
		calls->whole);
	list_set_count(&calls->list, calls->rows.n);
	if (calls->moved) {
		at = calls_rows_find(&calls->rows, calls->selected);
		list_stick(&calls->list, at);
		return;
	}
	/* In a butterfly the cursor starts at the center, else at the first row. */
	for (size_t i = 0; i < calls->rows.n; i++) {
		if (calls->rows.rows[i].centre) {
			list_set_cursor(&calls->list, i);
			return;
		}
	}
}

static void calls_refresh(struct view *view, struct screen *screen)
{
	struct calls_view *calls = view->state;
	bool same_event = calls->event == screen->model->event;
	uint64_t made_of = same_event && !calls->error ? calls->tree.serial : 0;
	uint64_t whole = calls->whole;

	calls->whole = screen->model->sums.weight;
	calls->error = ask_trees(calls, screen->model, false);
	if (calls->error) {
		forget_trees(calls);
		list_set_count(&calls->list, 0);
		return;
	}
	if (screen->model->calls_weight)
		calls->whole = screen->model->calls_weight;
	calls->base_whole = calls->tree.n ? calls->tree.nodes[0].base.total : 0;
	/* Both trees are from the same time, so one serial is enough. */
	if (!made_of || made_of != calls->tree.serial || whole != calls->whole)
		make_rows(calls);
}

static const struct calls_row *current(const struct calls_view *calls)
{
	return calls->list.n ? &calls->rows.rows[calls->list.cursor] : NULL;
}

static void remember_selection(struct calls_view *calls)
{
	const struct calls_row *row = current(calls);

	calls->moved = row != NULL;
	calls->selected = row ? row->path : 0;
}

static void start_anew(struct calls_view *calls, struct view *view, struct screen *screen)
{
	calls_rows_forget(&calls->rows);
	forget_trees(calls);
	calls->moved = false;
	list_set_cursor(&calls->list, 0);
	calls_refresh(view, screen);
}

/* Rebuilds the trees after rows were opened or closed. */
static void open_anew(struct calls_view *calls, struct view *view, struct screen *screen)
{
	forget_trees(calls);
	calls_refresh(view, screen);
}

static unsigned int open_row(
	struct calls_view *calls, struct view *view, struct screen *screen, bool open)
{
	const struct calls_row *row = current(calls);

	if (!row || row->more)
		return VIEW_HANDLED;
	remember_selection(calls);
	if (row->can_open && row->open != open) {
		if (!calls_rows_open(&calls->rows, row->path, open))
			open_anew(calls, view, screen);
		return VIEW_HANDLED;
	}
	/* Already closed: go to the parent.  Already open: go to the first child. */
	for (size_t i = calls->list.cursor; open ? ++i < calls->list.n : i-- > 0;) {
		const struct calls_row *other = &calls->rows.rows[i];

		if (other->depth + (open ? 0 : 1) == row->depth + (open ? 1 : 0)) {
			list_set_cursor(&calls->list, i);
			remember_selection(calls);
			break;
		}
	}
	return VIEW_HANDLED;
}

static unsigned int move_centre(struct calls_view *calls, struct view *view, struct screen *screen)
{
	const struct calls_row *row = current(calls);

	if (!row || row->more)
		return VIEW_HANDLED;
	if (calls->shape == CALLS_BUTTERFLY && row->symref == centre_of(calls))
		return VIEW_HANDLED;
	if (calls->n_centres == CENTRES_MAX) {
		memmove(calls->centres, calls->centres + 1,
			(CENTRES_MAX - 1) * sizeof(*calls->centres));
		calls->n_centres--;
	}
	calls->centres[calls->n_centres++] = row->symref;
	calls->shape = CALLS_BUTTERFLY;
	start_anew(calls, view, screen);
	return VIEW_HANDLED;
}

static unsigned int go_back(struct calls_view *calls, struct view *view, struct screen *screen)
{
	if (calls->n_centres < 2) {
		screen_message(screen, STYLE_WARN, "There is nothing to go back to");
		return VIEW_HANDLED;
	}
	calls->n_centres--;
	calls->shape = CALLS_BUTTERFLY;
	start_anew(calls, view, screen);
	return VIEW_HANDLED;
}

static unsigned int next_shape(struct calls_view *calls, struct view *view, struct screen *screen)
{
	calls->shape = (enum calls_shape)(((int)calls->shape + 1) % CALLS_SHAPES);
	if (calls->shape == CALLS_BUTTERFLY && !calls->n_centres) {
		const struct calls_row *row = current(calls);

		if (row && !row->more)
			calls->centres[calls->n_centres++] = row->symref;
		else
			calls->shape = CALLS_TREE;
	}
	screen->model->calls_shape = (int)calls->shape;
	start_anew(calls, view, screen);
	return VIEW_HANDLED;
}

/* --- search in the whole tree --- */

static bool node_matches(const struct calls_view *calls, struct model *model,
	const struct calltree *tree, uint32_t node)
{
	return views_match(model->queries->symbol(model, tree->nodes[node].symref)->symbol,
		       calls->search) >= 0;
}

/* Returns the next (direction < 0: previous) matching node in the order of the tree, with
 * wraparound; 0 if none.  here: `from` counts, too. */
static uint32_t find_node(const struct calls_view *calls, struct model *model,
	const struct calltree *tree, uint32_t from, int direction, bool here)
{
	uint32_t n = tree->n, at = from;

	for (uint32_t step = 0; step < n; step++) {
		if ((step || here) && at && node_matches(calls, model, tree, at))
			return at;
		at = direction > 0 ? (at + 1) % n : (at + n - 1) % n;
	}
	return at && n && node_matches(calls, model, tree, at) ? at : 0;
}

static void choose_node(struct calls_view *calls, bool above, uint32_t node)
{
	const struct calltree *tree = above ? &calls->callers : &calls->tree;

	for (uint32_t at = tree->nodes[node].parent; at; at = tree->nodes[at].parent)
		calls_rows_open(&calls->rows, calls_rows_path(calls->shape, above, tree, at), true);
	calls->moved = true;
	calls->selected = calls_rows_path(calls->shape, above, tree, node);
}

/* Returns the node of a path; 0 if none. */
static uint32_t node_of(const struct calls_view *calls, bool above, uint64_t path)
{
	const struct calltree *tree = above ? &calls->callers : &calls->tree;

	for (uint32_t i = 1; i < tree->n; i++)
		if (calls_rows_path(calls->shape, above, tree, i) == path)
			return i;
	return 0;
}

static unsigned int search(struct calls_view *calls, struct view *view, struct screen *screen,
	int direction, bool here)
{
	const struct calls_row *row = current(calls);
	bool above = row && row->above;
	uint64_t path;
	uint32_t node;

	if (!calls->search[0] || calls->error)
		return VIEW_HANDLED;
	path = row ? calls_rows_path(
			     calls->shape, above, above ? &calls->callers : &calls->tree, row->node)
		   : 0;
	forget_trees(calls);
	calls->error = ask_trees(calls, screen->model, true);
	if (calls->error) {
		open_anew(calls, view, screen);
		return VIEW_HANDLED;
	}
	node = find_node(calls, screen->model, above ? &calls->callers : &calls->tree,
		path ? node_of(calls, above, path) : 0, direction, here);
	if (!node && calls->shape == CALLS_BUTTERFLY) {
		above = !above;
		node = find_node(calls, screen->model, above ? &calls->callers : &calls->tree, 0,
			direction, true);
	}
	if (node)
		choose_node(calls, above, node);
	else
		screen_message(screen, STYLE_WARN, "No call of \"%s\" in this tree", calls->search);
	open_anew(calls, view, screen);
	return VIEW_HANDLED;
}

static unsigned int calls_prompt(struct view *view, struct screen *screen, enum action purpose,
	const char *text, enum prompt_result result)
{
	struct calls_view *calls = view->state;

	(void)purpose;
	if (result == PROMPT_CANCELLED) {
		memcpy(calls->search, calls->old_search, sizeof(calls->search));
		return VIEW_HANDLED;
	}
	snprintf(calls->search, sizeof(calls->search), "%s", text);
	return search(calls, view, screen, 1, true);
}

/* --- actions --- */

static unsigned int calls_action(struct view *view, struct screen *screen, enum action action)
{
	struct calls_view *calls = view->state;
	const struct calls_row *row = current(calls);

	if (list_action(&calls->list, action)) {
		remember_selection(calls);
		return VIEW_HANDLED;
	}
	switch (action) {
	case ACT_OPEN:
		return row ? open_row(calls, view, screen, !row->open) : VIEW_HANDLED;
	case ACT_EXPAND:
		return open_row(calls, view, screen, true);
	case ACT_COLLAPSE:
		return open_row(calls, view, screen, false);
	case ACT_CALLS:
		return move_centre(calls, view, screen);
	case ACT_RETURN:
		return go_back(calls, view, screen);
	case ACT_SHAPE:
		return next_shape(calls, view, screen);
	case ACT_HOLD:
		calls->rows.hold = !calls->rows.hold;
		open_anew(calls, view, screen);
		screen_message(screen, STYLE_GOOD,
			calls->rows.hold ? "The order of rows is held"
					 : "Rows move where their weights ask for it");
		return VIEW_HANDLED;
	case ACT_INCLUDE:
	case ACT_EXCLUDE:
		if (!row || row->more)
			return VIEW_HANDLED;
		return screen_narrow(screen, action == ACT_EXCLUDE, FILTER_STACK,
			screen->model->queries->symbol(screen->model, row->symref)->symbol);
	case ACT_ANNOTATE:
		if (row && !row->more)
			return views_open(
				screen, &view_annotate, row->symref, "The code cannot be shown");
		return VIEW_HANDLED;
	case ACT_FLAME:
		screen_result(screen,
			screen_open(screen, &view_flame,
				row && !row->more ? row->symref : VIEWS_NO_SYMBOL),
			"The flame graph cannot be shown");
		return VIEW_HANDLED;
	case ACT_SEARCH:
		memcpy(calls->old_search, calls->search, sizeof(calls->search));
		screen_prompt(screen, action, "Search: ", "");
		return VIEW_HANDLED;
	case ACT_SEARCH_NEXT:
		return search(calls, view, screen, 1, false);
	case ACT_SEARCH_PREVIOUS:
		return search(calls, view, screen, -1, false);
	default:
		return 0;
	}
}

static unsigned int calls_click(struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct calls_view *calls = view->state;

	(void)x;
	if (!list_click(&calls->list, y + screen->body.y))
		return 0;
	remember_selection(calls);
	return twice ? calls_action(view, screen, ACT_OPEN) : VIEW_HANDLED;
}

static void calls_tags(const struct view *view, char *out, size_t size)
{
	const struct calls_view *calls = view->state;

	snprintf(out, size, "%s", calls->rows.hold ? "order held" : "");
}

/* --- drawing --- */

struct drawing {
	const struct calls_view *calls;
	struct model *model;
	struct canvas *canvas;
	int width;
	bool bars, images, changes;
};

/* Returns the change of the weight by which rows are sorted: self for callers, else total. */
static double change_of(const struct calls_view *calls, const struct calls_row *row)
{
	if (calls->shape == CALLS_CALLERS)
		return format_share(row->sums.self, calls->whole) -
			format_share(row->base.self, calls->base_whole);
	return format_share(row->sums.total, calls->whole) -
		format_share(row->base.total, calls->base_whole);
}

/* Totals of several roots have no sum, because the same stacks may contain them. */
static bool has_total(const struct calls_view *calls, const struct calls_row *row)
{
	return calls->shape != CALLS_CALLERS || row->depth || !row->more;
}

static int draw_share(struct canvas *canvas, int x, int y, double share)
{
	char text[FORMAT_MAX];

	canvas_printf(canvas, x, y, 6, views_number_style(share), "%6s", format_whole(text, share));
	return x + SHARE_WIDTH;
}

/* Returns the mark for an open row, a closed row, or a row without children. */
static const char *mark_of(const struct calls_row *row, bool ascii)
{
	if (row->centre)
		return ascii ? "*" : "●";
	if (row->chained && (row->open || !row->can_open))
		return ascii ? "'" : (row->above ? "┌" : "└");
	if (!row->can_open)
		return ascii ? "-" : "·";
	if (row->open)
		return ascii ? (row->above ? "^" : "v") : (row->above ? "▴" : "▾");
	return ascii ? ">" : "▸";
}

static void draw_row(void *ctx, size_t at, int y)
{
	const struct drawing *drawing = ctx;
	const struct calls_view *calls = drawing->calls;
	const struct calls_row *row = &calls->rows.rows[at];
	struct canvas *canvas = drawing->canvas;
	const struct symref *symbol;
	double total = format_share(row->sums.total, calls->whole);
	double self = format_share(row->sums.self, calls->whole);
	int x = drawing->bars ? BAR_WIDTH + 2 : 1, indent = row->indent * INDENT, room, most;
	char text[SHORTEN_MAX];

	if (has_total(calls, row)) {
		if (drawing->bars)
			canvas_bar(canvas, 1, y, BAR_WIDTH, total, views_share_style(total));
		draw_share(canvas, x, y, total);
	}
	x = draw_share(canvas, x + SHARE_WIDTH, y, self);
	if (drawing->changes) {
		views_change(canvas, x, y, CHANGE_WIDTH, change_of(calls, row));
		x += CHANGE_WIDTH + 2;
	}
	room = drawing->width - x - 1 - (drawing->images ? IMAGE_WIDTH + 2 : 0);
	most = room > SYMBOL_LEAST ? room - SYMBOL_LEAST : 0;
	if (indent > most) {
		/* Too deep for its indentation: show the depth as a number. */
		snprintf(text, sizeof(text), "%d", row->indent);
		canvas_text(canvas, x, y, most, STYLE_DIM, text);
		indent = most;
	}
	x += indent;
	room -= indent;
	if (row->more) {
		canvas_printf(canvas, x + 2, y, room - 2, STYLE_DIM, "%u more", row->more);
		return;
	}
	symbol = drawing->model->queries->symbol(drawing->model, row->symref);
	canvas_text(canvas, x, y, 1, row->centre ? STYLE_ACCENT : STYLE_KEY,
		mark_of(row, canvas->ascii != 0));
	x += 2;
	room -= 2;
	views_symbol(canvas, x, y, room, row->centre ? STYLE_TITLE : views_symbol_style(symbol),
		symbol->symbol, calls->search);
	if (drawing->images)
		canvas_text(canvas, drawing->width - IMAGE_WIDTH - 1, y, IMAGE_WIDTH, STYLE_DIM,
			shorten_file(text, symbol->image, IMAGE_WIDTH));
}

static void draw_heads(const struct drawing *drawing, int y)
{
	static const char *const heads[] = {
		[CALLS_BUTTERFLY] = "CALLERS ABOVE, CALLED BELOW",
		[CALLS_TREE] = "CALLS",
		[CALLS_CALLERS] = "SYMBOL, BELOW IT ITS CALLERS",
	};
	struct canvas *canvas = drawing->canvas;
	bool by_self = drawing->calls->shape == CALLS_CALLERS;
	int x = drawing->bars ? BAR_WIDTH + 2 : 1;

	canvas_text(canvas, x, y, 6, by_self ? STYLE_HEADER : STYLE_HEADER_SORTED,
		by_self ? " TOTAL" : "TOTAL▼");
	canvas_text(canvas, x + 9, y, 5, by_self ? STYLE_HEADER_SORTED : STYLE_HEADER,
		by_self ? "SELF▼" : " SELF");
	if (drawing->changes) {
		canvas_text(canvas, x + 16, y, CHANGE_WIDTH, STYLE_HEADER, "CHANGE");
		x += CHANGE_WIDTH + 2;
	}
	canvas_text(canvas, x + 16, y, drawing->width - x - 17, STYLE_HEADER,
		heads[drawing->calls->shape]);
	if (drawing->images)
		canvas_text(canvas, drawing->width - IMAGE_WIDTH - 1, y, IMAGE_WIDTH, STYLE_HEADER,
			"IMAGE");
}

static void make_title(
	const struct calls_view *calls, struct model *model, int width, char *out, size_t size)
{
	const struct symref *symbol;
	char name[SHORTEN_MAX];

	if (calls->shape == CALLS_TREE) {
		snprintf(out, size, "call tree");
	} else if (calls->shape == CALLS_CALLERS) {
		snprintf(out, size, "hottest symbols and their callers");
	} else {
		symbol = model->queries->symbol(model, centre_of(calls));
		snprintf(
			out, size, "calls of %s", shorten_symbol(name, symbol->symbol, width - 15));
	}
}

static void draw_nothing(const struct calls_view *calls, const struct model *model,
	struct canvas *canvas, struct area area)
{
	const char *text = "No samples in this time";

	if (calls->error)
		text = "Out of memory";
	else if (calls->shape == CALLS_BUTTERFLY && model->sums.weight)
		text = "No samples of it in this time";
	canvas_text(canvas, 2, area.y, area.width - 3, STYLE_DIM, text);
}

static void calls_draw(struct view *view, struct screen *screen, struct area area)
{
	struct calls_view *calls = view->state;
	struct canvas *canvas = &screen->canvas;
	struct drawing drawing = {
		.calls = calls,
		.model = screen->model,
		.canvas = canvas,
		.width = area.width,
		.bars = area.width >= NARROW,
		.images = area.width >= WIDE,
		.changes = screen->model->has_baseline,
	};
	char title[SHORTEN_MAX + 32];

	make_title(calls, screen->model, area.width, title, sizeof(title));
	area = views_title(canvas, area, title);
	if (area.height >= 4) {
		draw_heads(&drawing, area.y);
		area.y++;
		area.height--;
	}
	if (!calls->list.n)
		draw_nothing(calls, screen->model, canvas, area);
	list_draw(&calls->list, canvas, area, draw_row, &drawing);
}

const struct view_ops view_calls = {
	.keys = KEYS_CALLS,
	.open = calls_open,
	.action = calls_action,
	.prompt = calls_prompt,
	.click = calls_click,
	.refresh = calls_refresh,
	.draw = calls_draw,
	.tags = calls_tags,
	.close = calls_close,
	.stays = true,
};
