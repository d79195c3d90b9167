/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flame_view.h - state shared by flame_view.c and flame_draw.c.
 */
#ifndef TUI_VIEWS_FLAME_VIEW_H
#define TUI_VIEWS_FLAME_VIEW_H

#include "tui/screen/screen.h"
#include "tui/views/flame_layout.h"

#define FLAME_ZOOMS_MAX 32

struct flame_view {
	struct calltree tree;
	uint8_t event; /* event of the tree */
	uint64_t least; /* least weight that the tree was requested with */
	struct flame_layout layout;
	int error;

	struct flame_path selected;
	struct flame_path zoom;
	/* lengths of prefixes of `zoom`, each longer than the one before; the last one is
	 * current */
	uint32_t zooms[FLAME_ZOOMS_MAX];
	int n_zooms;
	uint32_t node; /* node of the selected frame, or of the existing part of its path */
	uint32_t zoomed; /* node of the zoomed frame; 0: all */
	uint32_t wanted; /* symref of the frame to select at first; VIEWS_NO_SYMBOL: none */
	/* the zoomed frame has no samples now, so its nearest existing caller is shown */
	bool gone;

	bool upwards; /* draw the root at the bottom */
	bool by_image; /* colors show images even if there is a baseline */
	char search[PROMPT_MAX], old_search[PROMPT_MAX];
	uint8_t *matches; /* by symref: 0: not known, 1: no match, 2: match */
	uint32_t matches_room;
	bool coarse; /* too many frames: the search leaves out the smallest */
	uint64_t matched; /* weight of stacks with a matching frame */

	/* The threads that are shown one by one; NULL: all are shown. */
	struct query_row *threads;
	size_t n_threads, thread;
	char thread_crumb[MODEL_CRUMB_MAX]; /* the filter of the shown thread */

	/* These describe the last drawing. */
	int width;
	int y, height; /* area of the rows of boxes, within the view */
	int top; /* first row of boxes that is shown */
	/* the zoom changed: scroll so that most rows show the zoomed frame's callees */
	bool settle;
};

/* Returns whether a symbol matches the search. */
bool flame_matches(struct flame_view *flame, struct model *model, uint32_t symref);

/* Returns whether colors show changes against the baseline; and the change of a node's share of
 * all. */
bool flame_tells_change(const struct flame_view *flame, const struct model *model);
double flame_change(const struct flame_view *flame, uint32_t node, bool self);

/* Lays out the boxes for a width.  Returns 0 or -ENOMEM, also in flame->error. */
int flame_lay_out(struct flame_view *flame, struct model *model, int width);

uint32_t flame_selected_box(const struct flame_view *flame);

/* --- flame_threads.c --- */

unsigned int flame_next_thread(struct flame_view *flame, struct screen *screen);
void flame_threads_fini(struct flame_view *flame);

/* --- flame_draw.c --- */

void flame_draw(struct view *view, struct screen *screen, struct area area);

#endif
