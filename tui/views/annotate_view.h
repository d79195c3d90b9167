/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_view.h - state shared by annotate_view.c and annotate_draw.c.
 */
#ifndef TUI_VIEWS_ANNOTATE_VIEW_H
#define TUI_VIEWS_ANNOTATE_VIEW_H

#include "tui/annotate/annotate.h"
#include "tui/screen/screen.h"
#include "tui/views/arrows.h"
#include "tui/views/list.h"

#define ANNOTATE_DEPTH 24 /* maximum number of functions to go back through */
#define ANNOTATE_TRAIL 32 /* maximum number of jumps kept for each */

/* A place in a function, independent of its rows: an instruction or a source line. */
struct annotate_spot {
	bool has_offset, has_line;
	uint64_t offset; /* offset of the instruction, or of the first one after the line */
	uint32_t line;
	bool on_line; /* the row showed a line */
	const char *file; /* file of the line; "": any */
};

/* A function on the view's own stack. */
struct annotate_function {
	uint32_t symref;
	struct annotation *annotation;
	struct annotation *next; /* the function in the other syntax, until it is ready */
	struct list list;
	enum disasm_syntax syntax; /* syntax of `next`, or else of `annotation` */
	struct annotate_spot left; /* place of the cursor when a call was followed */
	char *left_file; /* owner of left.file */
	bool placed; /* the cursor was placed, by the user or on the hottest row */
	uint64_t trail[ANNOTATE_TRAIL]; /* offsets of followed jumps */
	size_t n_trail;
};

struct annotate_view {
	struct model *model; /* borrowed */
	struct annotate_function stack[ANNOTATE_DEPTH];
	size_t n; /* the last one is shown */
	/* These describe the shown function. */
	const struct annotate_row *rows;
	struct arrows arrows;
	int address_width, line_width; /* numbers of digits */
	struct annotate_head head;
	enum annotate_progress progress;
	const char *reason;
	uint64_t hottest; /* weight of a full bar */
	bool failed; /* out of memory */

	bool no_arrows, side_by_side;
	char search[PROMPT_MAX], old_search[PROMPT_MAX];
	size_t search_from;
};

static inline struct annotate_function *annotate_shown(struct annotate_view *state)
{
	return &state->stack[state->n - 1];
}

/* --- annotate_spot.c --- */

/* Return the line at or above a row (SIZE_MAX if none), and the file of a row. */
size_t annotate_line_above(const struct annotate_row *rows, size_t at);
const char *annotate_file_at(const struct annotate_row *rows, size_t at);

struct annotate_spot annotate_spot_of(const struct annotate_row *rows, size_t n, size_t at);

/* Return the row of an offset, a line or a spot; SIZE_MAX if none.  For a line without a row,
 * return the next line's. */
size_t annotate_row_of_offset(const struct annotate_row *rows, size_t n, uint64_t offset);
size_t annotate_row_of_line(
	const struct annotate_row *rows, size_t n, const char *file, uint32_t line);
size_t annotate_row_of_spot(
	const struct annotate_row *rows, size_t n, const struct annotate_spot *spot);

/* --- annotate_view.c --- */

/* Returns the current event's index in a row's sums; 0 if it has none. */
size_t annotate_event_index(const struct model *model);

/* Returns how long source files have been loading; 0 if it is too short to be shown. */
uint64_t annotate_reading_ns(const struct annotate_view *state);
/* Returns how long inlined functions have been looked up, while lines are shown without them; 0 if
 * it is too short to be shown. */
uint64_t annotate_partial_ns(const struct annotate_view *state);

void annotate_draw(struct view *view, struct screen *screen, struct area area);

#endif
