/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.h - the texts entered earlier, for a prompt's arrow keys.  Plain data; UI thread.
 */
#ifndef TUI_BASE_HISTORY_H
#define TUI_BASE_HISTORY_H

#include <stddef.h>

#define HISTORY_MAX 64

struct history {
	char *texts[HISTORY_MAX]; /* oldest first */
	size_t n;
};

/* Adds a copy of a text as the newest one.  An equal older text is removed.  If memory runs out,
 * the text is not added. */
void history_add(struct history *history, const char *text);

/* Returns an earlier text, 1 being the newest; NULL if there are not so many. */
const char *history_get(const struct history *history, size_t back);

void history_fini(struct history *history);

#endif
