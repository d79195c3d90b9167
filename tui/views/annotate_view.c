/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_view.c - a function's source and instructions with their samples, updated while
 * sampling.
 *
 * The view has its own stack of functions, for calls that were followed.  The cursor stays on its
 * instruction or line when rows change with new data, another mode or another syntax.
 */
#include "tui/views/annotate_view.h"

#include "tui/base/explain_errno.h"
#include "tui/base/format.h"
#include "tui/model/model.h"
#include "tui/model/queries.h"
#include "tui/views/views.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READING_TOLD_NS 300000000u

static const struct model_code_ops *ops_of(const struct screen *screen)
{
	return screen->model->queries->code;
}

size_t annotate_event_index(const struct model *model)
{
	uint8_t ids[ENGINE_EVENTS_TOLD];
	size_t n = model_tabs(model, ids);

	for (size_t i = 0; i < n; i++) {
		if (ids[i] == model->event)
			return i;
	}
	return 0;
}

uint64_t annotate_reading_ns(const struct annotate_view *state)
{
	uint64_t waiting_ns;

	if (state->progress == ANNOTATE_WAITS || !state->head.is_reading)
		return 0;
	waiting_ns = state->model->queries->code->waiting_ns(state->model);
	return waiting_ns >= READING_TOLD_NS ? waiting_ns : 0;
}

uint64_t annotate_partial_ns(const struct annotate_view *state)
{
	uint64_t waiting_ns;

	if (!state->head.is_partial)
		return 0;
	waiting_ns = state->model->queries->code->waiting_ns(state->model);
	return waiting_ns >= READING_TOLD_NS ? waiting_ns : 0;
}

/* --- rows and the cursor --- */

static void measure(struct annotate_view *state, size_t n)
{
	uint64_t address = 0;
	uint32_t line = 0;

	for (size_t i = 0; i < n; i++) {
		const struct annotate_row *row = &state->rows[i];
		uint64_t shown = row->address ? row->address : row->offset;

		if (row->kind == ANNOTATE_ROW_CODE && shown > address)
			address = shown;
		if (row->kind == ANNOTATE_ROW_LINE && row->line > line)
			line = row->line;
	}
	state->address_width = snprintf(NULL, 0, "%" PRIx64, address);
	state->line_width = snprintf(NULL, 0, "%" PRIu32, line);
}

/* Takes changed rows and restores the cursor's place. */
static void take_rows(
	struct annotate_view *state, struct screen *screen, const struct annotate_spot *spot)
{
	struct annotate_function *shown = annotate_shown(state);
	size_t n, at;

	state->rows = ops_of(screen)->rows(shown->annotation, &n);
	list_set_count(&shown->list, n);
	if (arrows_make(&state->arrows, state->rows, n))
		state->failed = true;
	measure(state, n);
	at = spot ? annotate_row_of_spot(state->rows, n, spot) : SIZE_MAX;
	if (at != SIZE_MAX)
		list_set_cursor(&shown->list, at);
}

static struct annotate_spot current_spot(struct annotate_view *state)
{
	const struct list *list = &annotate_shown(state)->list;

	return annotate_spot_of(state->rows, state->rows ? list->n : 0, list->cursor);
}

static void center(struct list *list)
{
	size_t half = list->height / 2;

	list->top = list->cursor > half ? list->cursor - half : 0;
	list_set_cursor(list, list->cursor);
}

static void go_to(struct annotate_view *state, size_t row)
{
	struct list *list = &annotate_shown(state)->list;
	bool near = row >= list->top && row < list->top + list->height;

	annotate_shown(state)->placed = true;
	list_set_cursor(list, row);
	if (!near)
		center(list);
}

/* --- news --- */

static void take_sums(struct annotate_view *state, struct screen *screen)
{
	struct annotate_function *shown = annotate_shown(state);
	size_t event = annotate_event_index(screen->model), hottest;

	ops_of(screen)->head(shown->annotation, &state->head);
	hottest = ops_of(screen)->next_hottest(shown->annotation, SIZE_MAX, 1, event);
	state->hottest = hottest < shown->list.n ? state->rows[hottest].weight[event] : 0;
	if (!shown->placed && hottest < shown->list.n) {
		go_to(state, hottest);
	}
}

/* Replaces the function by its version in the other syntax, if that is ready. */
static bool take_next(struct annotate_view *state, struct screen *screen)
{
	struct annotate_function *shown = annotate_shown(state);
	struct annotate_spot spot;
	const char *reason;
	bool changed;

	if (!shown->next)
		return false;
	if (ops_of(screen)->update(screen->model, shown->next, &changed) ||
		ops_of(screen)->progress(shown->next, &reason) == ANNOTATE_WAITS)
		return false;
	spot = current_spot(state);
	ops_of(screen)->set_mode(shown->next, screen->model->code_mode);
	struct annotation *old = shown->annotation;
	shown->annotation = shown->next;
	shown->next = NULL;
	take_rows(state, screen, &spot);
	ops_of(screen)->close(screen->model, old);
	return true;
}

static void annotate_refresh(struct view *view, struct screen *screen)
{
	struct annotate_view *state = view->state;
	struct annotate_function *shown = annotate_shown(state);
	char file[PATH_MAX];
	struct annotate_spot spot = state->rows ? current_spot(state) : shown->left;
	bool changed = false;

	/* The file's name belongs to the old rows, so copy it. */
	snprintf(file, sizeof(file), "%s", spot.file);
	spot.file = file;
	state->failed = ops_of(screen)->update(screen->model, shown->annotation, &changed) != 0;
	if (changed || !state->rows)
		take_rows(state, screen, &spot);
	take_next(state, screen);
	state->progress = ops_of(screen)->progress(shown->annotation, &state->reason);
	take_sums(state, screen);
}

/* --- the stack of functions --- */

static int ask_syntax(struct annotate_view *state, struct screen *screen)
{
	struct annotate_function *shown = annotate_shown(state);
	struct model *model = screen->model;

	if (shown->syntax == model->code_syntax)
		return 0;
	shown->syntax = model->code_syntax;
	ops_of(screen)->close(model, shown->next);
	shown->next = NULL;
	return ops_of(screen)->open(model, shown->symref, model->code_syntax, &shown->next);
}

/* Mode and syntax may have changed since the function was left. */
static void show_again(struct view *view, struct screen *screen)
{
	struct annotate_view *state = view->state;

	state->rows = NULL;
	ops_of(screen)->set_mode(annotate_shown(state)->annotation, screen->model->code_mode);
	(void)ask_syntax(state, screen);
	annotate_refresh(view, screen);
}

static void forget(const struct annotate_view *state, struct annotate_function *function)
{
	state->model->queries->code->close(state->model, function->next);
	state->model->queries->code->close(state->model, function->annotation);
	free(function->left_file);
}

static int push(struct view *view, struct screen *screen, uint32_t symref)
{
	struct annotate_view *state = view->state;
	const int height = screen->body.height ? screen->body.height : screen->canvas.height;
	struct annotation *annotation;
	int ret = ops_of(screen)->open(
		screen->model, symref, screen->model->code_syntax, &annotation);

	if (ret)
		return ret;
	if (state->n) {
		struct annotate_function *left = annotate_shown(state);

		left->left = current_spot(state);
		free(left->left_file);
		left->left_file = strdup(left->left.file);
		left->left.file = left->left_file ? left->left_file : "";
	}
	if (state->n == ANNOTATE_DEPTH) {
		forget(state, &state->stack[0]);
		memmove(&state->stack[0], &state->stack[1],
			(ANNOTATE_DEPTH - 1) * sizeof(state->stack[0]));
		state->n--;
	}
	state->stack[state->n++] = (struct annotate_function){.symref = symref,
		.annotation = annotation,
		.syntax = screen->model->code_syntax,
		.left = {.file = ""}};
	/* Approximates the height at drawing: title and heads are above the list. */
	annotate_shown(state)->list.height = (size_t)(height > 3 ? height - 2 : 1);
	return 0;
}

static unsigned int pop(struct view *view, struct screen *screen)
{
	struct annotate_view *state = view->state;

	if (state->progress == ANNOTATE_WAITS) {
		ops_of(screen)->abandon(screen->model);
		screen_message(screen, STYLE_WARN, "The search for the code was given up");
	} else if (annotate_reading_ns(state)) {
		ops_of(screen)->abandon(screen->model);
		annotate_refresh(view, screen);
		screen_message(screen, STYLE_WARN, "Loading the source was given up");
		return VIEW_HANDLED;
	}
	if (state->n == 1)
		return VIEW_CLOSE | VIEW_HANDLED;
	forget(state, annotate_shown(state));
	state->n--;
	show_again(view, screen);
	return VIEW_HANDLED;
}

static void tell_refusal(struct screen *screen, int ret)
{
	if (ret == -ENODATA)
		screen_message(screen, STYLE_WARN,
			"This is no function that is known: there is no code to show");
	else
		screen_result(screen, ret, "Annotate");
}

static int annotate_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct annotate_view *state = calloc(1, sizeof(*state));
	int ret;

	if (!state)
		return -ENOMEM;
	state->reason = "";
	state->model = screen->model;
	view->state = state;
	ret = push(view, screen, arg);
	if (ret) {
		free(state);
		return ret;
	}
	ops_of(screen)->set_mode(annotate_shown(state)->annotation, screen->model->code_mode);
	return 0;
}

static void annotate_close(struct view *view)
{
	struct annotate_view *state = view->state;

	while (state->n)
		forget(state, &state->stack[--state->n]);
	arrows_fini(&state->arrows);
	free(state);
}

/* --- actions --- */

static const struct annotate_row *current_row(struct annotate_view *state)
{
	const struct list *list = &annotate_shown(state)->list;

	return state->rows && list->cursor < list->n ? &state->rows[list->cursor] : NULL;
}

static unsigned int follow(struct view *view, struct screen *screen)
{
	struct annotate_view *state = view->state;
	struct annotate_function *shown = annotate_shown(state);
	const struct annotate_row *row = current_row(state);
	uint32_t symref;
	int ret;

	if (!row)
		return VIEW_HANDLED;
	if (row->target_row) {
		if (shown->n_trail == ANNOTATE_TRAIL)
			memmove(shown->trail, shown->trail + 1,
				--shown->n_trail * sizeof(shown->trail[0]));
		shown->trail[shown->n_trail++] = row->offset;
		go_to(state, row->target_row - 1);
		return VIEW_HANDLED;
	}
	symref = ops_of(screen)->target(shown->annotation, shown->list.cursor);
	if (!symref) {
		screen_message(screen, STYLE_WARN, "%s",
			row->code_kind == CODETAB_CALL || row->code_kind == CODETAB_JUMP
				? "Where this leads to is only known when it runs"
				: "This is neither a call nor a jump");
		return VIEW_HANDLED;
	}
	ret = push(view, screen, symref);
	if (ret)
		tell_refusal(screen, ret);
	else
		show_again(view, screen);
	return VIEW_HANDLED;
}

static unsigned int go_back(struct view *view, struct screen *screen)
{
	struct annotate_view *state = view->state;
	struct annotate_function *shown = annotate_shown(state);

	while (shown->n_trail) {
		size_t row = annotate_row_of_offset(
			state->rows, shown->list.n, shown->trail[--shown->n_trail]);

		if (row == SIZE_MAX)
			continue;
		go_to(state, row);
		return VIEW_HANDLED;
	}
	return pop(view, screen);
}

/* Source rows do not contain their instructions, so look them up in mixed rows. */
static struct annotate_spot code_of_line(
	struct annotate_view *state, struct screen *screen, const struct annotate_spot *line)
{
	struct annotation *annotation = annotate_shown(state)->annotation;
	const struct annotate_row *rows;
	struct annotate_spot spot;
	size_t n;

	ops_of(screen)->set_mode(annotation, ANNOTATE_MIXED);
	rows = ops_of(screen)->rows(annotation, &n);
	spot = annotate_spot_of(rows, n, annotate_row_of_spot(rows, n, line));
	spot.on_line = spot.has_line = false;
	return spot;
}

static unsigned int set_mode(struct view *view, struct screen *screen)
{
	static const char *const told[] = {
		"Source and instructions", "Source alone", "Instructions alone"};
	struct annotate_view *state = view->state;
	struct model *model = screen->model;
	struct annotate_spot spot = current_spot(state);
	char file[PATH_MAX];

	snprintf(file, sizeof(file), "%s", spot.file);
	spot.file = file;
	model->code_mode = (model->code_mode + 1) % ANNOTATE_MODES;
	if (model->code_mode == ANNOTATE_ASSEMBLY && spot.has_line && !spot.has_offset)
		spot = code_of_line(state, screen, &spot);
	ops_of(screen)->set_mode(annotate_shown(state)->annotation, model->code_mode);
	take_rows(state, screen, &spot);
	take_sums(state, screen);
	center(&annotate_shown(state)->list);
	if (state->progress == ANNOTATE_READY && !state->head.has_lines &&
		model->code_mode != ANNOTATE_ASSEMBLY)
		screen_message(screen, STYLE_WARN,
			"No source lines are known of this function: its instructions are shown");
	else
		screen_message(screen, STYLE_GOOD, "%s", told[model->code_mode]);
	return VIEW_HANDLED;
}

static unsigned int set_syntax(struct view *view, struct screen *screen)
{
	struct model *model = screen->model;
	int ret;

	model->code_syntax = model->code_syntax == DISASM_ATT ? DISASM_INTEL : DISASM_ATT;
	ret = ask_syntax(view->state, screen);
	if (ret)
		tell_refusal(screen, ret);
	else
		annotate_refresh(view, screen);
	return VIEW_HANDLED;
}

static unsigned int go_hottest(struct view *view, struct screen *screen, int direction)
{
	struct annotate_view *state = view->state;
	struct annotate_function *shown = annotate_shown(state);
	size_t event = annotate_event_index(screen->model);
	const struct annotate_row *row = current_row(state);
	bool counted = row && shown->placed && row->weight[event];
	size_t to = ops_of(screen)->next_hottest(
		shown->annotation, counted ? shown->list.cursor : SIZE_MAX, direction, event);

	if (to == SIZE_MAX)
		screen_message(screen, STYLE_WARN, "%s",
			!state->hottest		? "Nothing was sampled here in this time"
				: direction > 0 ? "No row has less: this is the last one"
						: "This is the hottest row");
	else
		go_to(state, to);
	return VIEW_HANDLED;
}

static bool row_matches(const struct annotate_row *row, const char *text)
{
	return views_match(row->text, text) >= 0 || views_match(row->target_text, text) >= 0;
}

static bool find_next(struct annotate_view *state, size_t from, int step, bool from_here)
{
	size_t n = annotate_shown(state)->list.n, at = from;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 || !from_here)
			at = step > 0 ? (at + 1) % n : (at + n - 1) % n;
		if (row_matches(&state->rows[at], state->search)) {
			go_to(state, at);
			return true;
		}
	}
	return false;
}

static unsigned int search_again(struct annotate_view *state, struct screen *screen, int step)
{
	if (!state->search[0])
		screen_message(screen, STYLE_WARN, "Nothing was searched yet: / does");
	else if (!find_next(state, annotate_shown(state)->list.cursor, step, false))
		screen_message(screen, STYLE_WARN, "No row has \"%s\"", state->search);
	return VIEW_HANDLED;
}

static void go_to_text(struct annotate_view *state, struct screen *screen, const char *text)
{
	const struct list *list = &annotate_shown(state)->list;
	size_t at = SIZE_MAX, line;
	char *end;

	if (!text[0])
		return;
	uint64_t number = strtoull(text, &end, 0);
	if (*end || text[0] == '-') {
		screen_message(screen, STYLE_WARN,
			"\"%s\" is neither a line nor an address (0x...)", text);
		return;
	}
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		for (size_t i = 0; i < list->n && at == SIZE_MAX; i++) {
			const struct annotate_row *row = &state->rows[i];
			uint64_t start = row->address ? row->address : row->offset;

			if (row->kind == ANNOTATE_ROW_CODE && number >= start &&
				number - start < (row->len ? row->len : 1))
				at = i;
		}
	} else if (number <= UINT32_MAX) {
		line = list->n ? annotate_line_above(state->rows, list->cursor) : SIZE_MAX;
		at = annotate_row_of_line(state->rows, list->n,
			line == SIZE_MAX ? "" : annotate_file_at(state->rows, line),
			(uint32_t)number);
		if (at == SIZE_MAX)
			at = annotate_row_of_line(state->rows, list->n, "", (uint32_t)number);
	}
	if (at == SIZE_MAX)
		screen_message(screen, STYLE_WARN, "%s is not in this function", text);
	else
		go_to(state, at);
}

static unsigned int annotate_prompt(struct view *view, struct screen *screen, enum action purpose,
	const char *text, enum prompt_result result)
{
	struct annotate_view *state = view->state;
	bool cancelled = result == PROMPT_CANCELLED;

	if (purpose == ACT_GOTO) {
		if (result == PROMPT_DONE)
			go_to_text(state, screen, text);
		return VIEW_HANDLED;
	}
	/* While the text is typed, each search starts from the same row. */
	memcpy(state->search, cancelled ? state->old_search : text, PROMPT_MAX);
	if (state->search_from < annotate_shown(state)->list.n)
		go_to(state, state->search_from);
	if (!cancelled && text[0] && !find_next(state, state->search_from, 1, true) &&
		result == PROMPT_DONE)
		screen_message(screen, STYLE_WARN, "No row has \"%s\"", text);
	return VIEW_HANDLED;
}

/* Opens the file and line at or above the cursor in an editor. */
static unsigned int edit(struct annotate_view *state, struct screen *screen)
{
	size_t cursor = annotate_shown(state)->list.cursor, line;
	const struct annotate_row *row = current_row(state);
	const char *file;
	char path[PATH_MAX];
	int ret;

	if (!row)
		return VIEW_HANDLED;
	line = row->kind == ANNOTATE_ROW_FUNCTION && row->line && row->file[0]
		? cursor
		: annotate_line_above(state->rows, cursor);
	file = line == SIZE_MAX ? "" : annotate_file_at(state->rows, line);
	if (!file[0]) {
		screen_message(screen, STYLE_WARN, "No source line is known here");
		return VIEW_HANDLED;
	}
	ret = ops_of(screen)->source_path(
		screen->model, annotate_shown(state)->symref, file, path, sizeof(path));
	if (ret == -EAGAIN)
		screen_message(screen, STYLE_WARN, "%s is still being looked for", file);
	else if (ret == -EPERM)
		screen_message(screen, STYLE_WARN,
			"%s belongs to another user's program: no editor is given its name", file);
	else if (ret && ret != -ENOENT)
		screen_message(
			screen, STYLE_WARN, "%s cannot be read: %s", file, explain_errno(-ret));
	else if (ret)
		screen_message(screen, STYLE_WARN,
			"%s is not here (--source-prefix tells where sources are)", file);
	else
		screen_edit(screen, path, state->rows[line].line);
	return VIEW_HANDLED;
}

static unsigned int annotate_action(struct view *view, struct screen *screen, enum action action)
{
	struct annotate_view *state = view->state;
	struct annotate_function *shown = annotate_shown(state);

	if (list_action(&shown->list, action)) {
		shown->placed = true;
		return VIEW_HANDLED;
	}
	switch (action) {
	case ACT_FOLLOW:
		return follow(view, screen);
	case ACT_RETURN:
		return go_back(view, screen);
	case ACT_BACK:
		return pop(view, screen);
	case ACT_QUIT:
		if (state->progress == ANNOTATE_WAITS || annotate_reading_ns(state))
			ops_of(screen)->abandon(screen->model);
		return VIEW_CLOSE | VIEW_HANDLED;
	case ACT_HOTTER:
		return go_hottest(view, screen, 1);
	case ACT_COOLER:
		return go_hottest(view, screen, -1);
	case ACT_MODE:
		return set_mode(view, screen);
	case ACT_SYNTAX:
		return set_syntax(view, screen);
	case ACT_ARROWS:
		state->no_arrows = !state->no_arrows;
		return VIEW_HANDLED;
	case ACT_SIDE_BY_SIDE:
		state->side_by_side = !state->side_by_side;
		return VIEW_HANDLED;
	case ACT_SEARCH:
		memcpy(state->old_search, state->search, sizeof(state->search));
		state->search_from = shown->list.cursor;
		screen_prompt(screen, ACT_SEARCH, "search: ", "");
		return VIEW_HANDLED;
	case ACT_SEARCH_NEXT:
		return search_again(state, screen, 1);
	case ACT_SEARCH_PREVIOUS:
		return search_again(state, screen, -1);
	case ACT_GOTO:
		screen_prompt(screen, ACT_GOTO, "line or 0xaddress: ", "");
		return VIEW_HANDLED;
	case ACT_EDIT:
		return edit(state, screen);
	default:
		return 0;
	}
}

static unsigned int annotate_click(
	struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct annotate_view *state = view->state;
	struct annotate_function *shown = annotate_shown(state);

	(void)x;
	if (!list_click(&shown->list, y + screen->body.y))
		return 0;
	shown->placed = true;
	return twice ? follow(view, screen) : VIEW_HANDLED;
}

const struct view_ops view_annotate = {
	.keys = KEYS_ANNOTATE,
	.open = annotate_open,
	.action = annotate_action,
	.prompt = annotate_prompt,
	.click = annotate_click,
	.refresh = annotate_refresh,
	.draw = annotate_draw,
	.stays = true,
	.close = annotate_close,
};
