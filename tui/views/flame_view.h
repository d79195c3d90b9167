/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flame_view.h - what the flame graph's state (flame_view.c) and its drawing (flame_draw.c) share.
 */
#ifndef TUI_VIEWS_FLAME_VIEW_H
#define TUI_VIEWS_FLAME_VIEW_H

#include "tui/screen.h"
#include "tui/views/flame_layout.h"

#define FLAME_ZOOMS_MAX 32

struct flame_view {
	struct calltree tree;
	uint8_t event; /* that it is of */
	uint64_t least; /* that it was asked for with */
	struct flame_layout layout;
	int error;

	struct flame_path selected;
	struct flame_path zoom;
	uint32_t zooms
		[FLAME_ZOOMS_MAX]; /* lengths of the path, each within the next: the last one now */
	int n_zooms;
	uint32_t node; /* of the selected frame, or what is left of its path */
	uint32_t zoomed; /* node; 0: all */
	uint32_t wanted; /* symref: of the frame to be selected at first; VIEWS_NO_SYMBOL: none */
	bool gone; /* the zoomed frame has no samples now: its nearest caller is shown */

	bool upwards; /* the root at the bottom */
	bool by_image; /* colours tell images, though there is a baseline */
	char search[PROMPT_MAX], old_search[PROMPT_MAX];
	uint8_t *matches; /* by symref */
	uint32_t matches_room;
	bool coarse; /* there are so many frames that the least ones are not searched */
	uint64_t matched; /* weight of stacks with a frame that matches */

	/* Shown one by one; NULL: all are shown. */
	struct query_row *threads;
	size_t n_threads, thread;
	char thread_crumb[MODEL_CRUMB_MAX]; /* the filter of the one shown */

	/* As last drawn. */
	int width;
	int y, height; /* of the rows of boxes, in the view's area */
	int top; /* the first row of boxes shown */
	bool settle; /* the zoom is another: show more of what is in it than of what it is in */
};

/* Whether a symbol is what was searched. */
bool flame_matches(struct flame_view *flame, struct model *model, uint32_t symref);

/* Whether colours tell the change against the baseline, and what a node's is: of its share of all. */
bool flame_tells_change(const struct flame_view *flame, const struct model *model);
double flame_change(const struct flame_view *flame, uint32_t node, bool self);

/* The boxes, for a width.  0 or -ENOMEM, also in flame->error. */
int flame_lay_out(struct flame_view *flame, struct model *model, int width);

uint32_t flame_selected_box(const struct flame_view *flame);

/* --- flame_threads.c --- */

unsigned int flame_next_thread(struct flame_view *flame, struct screen *screen);
void flame_threads_fini(struct flame_view *flame);

/* --- flame_draw.c --- */

void flame_draw(struct view *view, struct screen *screen, struct area area);

#endif
