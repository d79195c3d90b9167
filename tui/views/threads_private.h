/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * threads_private.h - what the view of threads (threads_view.c) and its drawing (threads_draw.c) share.
 */
#ifndef TUI_VIEWS_THREADS_PRIVATE_H
#define TUI_VIEWS_THREADS_PRIVATE_H

#include "tui/screen.h"
#include "tui/views/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREADS_WIDE_FROM 120 /* columns of the screen: with longer strips, and pids of threads */
#define THREADS_NARROW 60 /* below, with neither state nor symbol */
#define THREADS_COLUMNS 20
#define THREADS_COLUMNS_WIDE 40
#define THREADS_COLUMNS_NARROW 10
#define THREADS_SEEN_MAX 256

enum threads_sort { SORT_WEIGHT, SORT_ID, SORT_NAME, SORT_SYMBOL, SORTS };

struct threads {
	struct list list; /* of shown */
	const struct lanes *lanes; /* the model's, until its next answer */
	uint32_t *shown; /* of lanes->lane, in their order */
	uint32_t shown_room;
	struct lane selected; /* pid, tid, cpu and name: what the cursor sticks to */
	bool moved; /* off the first row */
	enum query_group group;
	enum threads_sort sort;
	bool reverse;
	char filter[PROMPT_MAX], old_filter[PROMPT_MAX];
	uint64_t most; /* what a full column means */
	uint64_t whole; /* weight of all */
	struct {
		int32_t tid;
		char state;
	} seen[THREADS_SEEN_MAX];
	size_t n_seen;
	uint64_t seen_ns;
	size_t columns;
	int error;
};

/* Where things are; 0: left out. */
struct threads_layout {
	int change, strip, state, pid, tid, name, symbol;
	int name_width, symbol_width;
};

static inline bool threads_has_state(const struct threads *threads)
{
	return threads->group == GROUP_THREAD || threads->group == GROUP_PROCESS;
}

static inline int32_t threads_tid_of(const struct threads *threads, const struct lane *lane)
{
	return threads->group == GROUP_PROCESS ? lane->pid : lane->tid;
}

struct threads_layout threads_lay_out(
	const struct threads *threads, const struct model *model, int width);
/* Reads the states of the rows in sight, each at most once a second. */
void threads_read_states(struct threads *threads, struct model *model);
void threads_draw(struct view *view, struct screen *screen, struct area area);

#endif
