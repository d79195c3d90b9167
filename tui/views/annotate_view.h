/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_view.h - what the view's state (annotate_view.c) and its drawing (annotate_draw.c) share.
 */
#ifndef TUI_VIEWS_ANNOTATE_VIEW_H
#define TUI_VIEWS_ANNOTATE_VIEW_H

#include "tui/annotate.h"
#include "tui/screen.h"
#include "tui/views/arrows.h"
#include "tui/views/list.h"

#define ANNOTATE_DEPTH 24 /* functions that one can go back through */
#define ANNOTATE_TRAIL 32 /* jumps of each */

/* Which row is meant, whatever the rows are: an instruction, or a line of a file. */
struct annotate_spot {
	bool has_offset, has_line;
	uint64_t offset; /* of the instruction, or of the first one after the line */
	uint32_t line;
	bool on_line; /* the row was a line's */
	const char *file; /* of the line; "": any */
};

/* One function that was looked at. */
struct annotate_function {
	uint32_t symref;
	struct annotation *annotation;
	struct annotation *next; /* in the other syntax, until it is ready */
	struct list list;
	enum disasm_syntax syntax; /* of the next one, or else of the one that is shown */
	struct annotate_spot left; /* where the cursor was when a call was followed */
	char *left_file; /* of it */
	bool placed; /* the cursor was: by the user, or onto the hottest row */
	uint64_t trail[ANNOTATE_TRAIL]; /* offsets of the jumps that were followed */
	size_t n_trail;
};

struct annotate_view {
	struct model *model; /* borrowed */
	struct annotate_function stack[ANNOTATE_DEPTH];
	size_t n; /* the last one is shown */
	/* Of the function shown. */
	const struct annotate_row *rows;
	struct arrows arrows;
	int address_width, line_width; /* digits */
	struct annotate_head head;
	enum annotate_progress progress;
	const char *reason;
	uint64_t hottest; /* weight that a full bar stands for */
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

/* The line that a row is or is under; SIZE_MAX: none.  The file of a row. */
size_t annotate_line_above(const struct annotate_row *rows, size_t at);
const char *annotate_file_at(const struct annotate_row *rows, size_t at);

struct annotate_spot annotate_spot_of(const struct annotate_row *rows, size_t n, size_t at);

/* The row of what is meant, or SIZE_MAX.  A line that has no row stands for the next one that has. */
size_t annotate_row_of_offset(const struct annotate_row *rows, size_t n, uint64_t offset);
size_t annotate_row_of_line(
	const struct annotate_row *rows, size_t n, const char *file, uint32_t line);
size_t annotate_row_of_spot(
	const struct annotate_row *rows, size_t n, const struct annotate_spot *spot);

/* --- annotate_view.c --- */

/* The event's column in a row's sums; 0 where there is none. */
size_t annotate_event_index(const struct model *model);

/* For how long source files have been read; 0: not for long enough to be worth a word. */
uint64_t annotate_reading_ns(const struct annotate_view *state);
/* The same of inlined functions, where lines are shown without them. */
uint64_t annotate_partial_ns(const struct annotate_view *state);

void annotate_draw(struct view *view, struct screen *screen, struct area area);

#endif
