/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.c - see history.h.
 */
#include "tui/base/history.h"

#include <stdlib.h>
#include <string.h>

static void forget(struct history *history, size_t i)
{
	free(history->texts[i]);
	history->n--;
	memmove(history->texts + i, history->texts + i + 1,
		(history->n - i) * sizeof(*history->texts));
}

void history_add(struct history *history, const char *text)
{
	char *copy = *text ? strdup(text) : NULL;

	if (!copy)
		return;
	for (size_t i = 0; i < history->n; i++)
		if (!strcmp(history->texts[i], text))
			forget(history, i);
	if (history->n == HISTORY_MAX)
		forget(history, 0);
	history->texts[history->n++] = copy;
}

const char *history_get(const struct history *history, size_t back)
{
	return back && back <= history->n ? history->texts[history->n - back] : NULL;
}

void history_fini(struct history *history)
{
	while (history->n)
		forget(history, history->n - 1);
}
