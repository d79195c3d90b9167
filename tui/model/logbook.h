/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * logbook.h - a bounded list of notable events and of lines printed by a launched command.
 *
 * Callers clean texts before adding them.  UI thread.
 */
#ifndef TUI_MODEL_LOGBOOK_H
#define TUI_MODEL_LOGBOOK_H

#include "tui/explain/explain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOGBOOK_MAX 2000

struct log_line {
	uint64_t serial; /* 1, 2, 3 ... */
	uint64_t time_ns;
	enum explain_level level;
	bool output; /* printed by the command */
	char *text;
};

struct logbook {
	struct log_line lines[LOGBOOK_MAX]; /* ring; serial s is at (s - 1) % LOGBOOK_MAX */
	uint64_t last; /* serial of the newest line; 0: none */
};

/* Adds a line with a copy of text.  The oldest line is dropped if there are too many.  Returns 0 or
 * -ENOMEM. */
int logbook_add(struct logbook *book, uint64_t time_ns, enum explain_level level, bool output,
	const char *text);
size_t logbook_count(const struct logbook *book);
/* Returns the i-th line, oldest first; NULL after the last. */
const struct log_line *logbook_get(const struct logbook *book, size_t i);
void logbook_fini(struct logbook *book);

#endif
