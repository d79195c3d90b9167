/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * threads_private.h - state shared by threads_view.c and threads_draw.c.
 */
#ifndef TUI_VIEWS_THREADS_PRIVATE_H
#define TUI_VIEWS_THREADS_PRIVATE_H

#include "tui/screen/screen.h"
#include "tui/tables/lanes.h"
#include "tui/views/list_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lane;

/* columns of the screen; longer strips and pids of threads from here on */
#define THREADS_WIDE_FROM 120
#define THREADS_NARROW 60 /* columns; no state and no symbol below it */
#define THREADS_COLUMNS 20
#define THREADS_COLUMNS_WIDE 40
#define THREADS_COLUMNS_NARROW 10
#define THREADS_SEEN_MAX 256

enum threads_sort { SORT_WEIGHT, SORT_ID, SORT_NAME, SORT_SYMBOL, SORTS };

struct threads {
	struct list_view table; /* list of `shown`, sorted by enum threads_sort */
	const struct lanes *lanes; /* owned by the model, valid until its next answer */
	uint32_t *shown; /* indices in lanes->lane, sorted */
	size_t shown_room;
	enum query_group group;
	uint64_t most; /* weight of a full column */
	uint64_t whole; /* weight of all rows */
	struct {
		int32_t tid;
		char state;
	} seen[THREADS_SEEN_MAX];
	size_t n_seen;
	uint64_t seen_ns;
	size_t columns;
	int error;
};

/* x of the columns; 0: not shown. */
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
/* Reads the states of the visible rows, each at most once a second. */
void threads_read_states(struct threads *threads, struct model *model);
void threads_draw(struct view *view, struct screen *screen, struct area area);

#endif
