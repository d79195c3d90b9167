/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.h - what was typed before, for a prompt's arrow keys.  Plain data; UI thread.
 */
#ifndef TUI_HISTORY_H
#define TUI_HISTORY_H

#include <stddef.h>

#define HISTORY_MAX 64

struct history {
	char *texts[HISTORY_MAX]; /* the oldest first */
	size_t n;
};

/* A copy; what stands there already becomes the newest.  Out of memory it is forgotten. */
void history_add(struct history *history, const char *text);

/* back 1 is the newest; NULL: there is none so old. */
const char *history_get(const struct history *history, size_t back);

void history_fini(struct history *history);

#endif
