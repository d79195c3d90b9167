/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * logbook.h - the bounded list of notable events and of lines that a launched command printed.
 *
 * Texts are cleaned before they come here.  UI thread.
 */
#ifndef TUI_LOGBOOK_H
#define TUI_LOGBOOK_H

#include "tui/explain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOGBOOK_MAX 2000

struct log_line {
	uint64_t serial; /* 1, 2, 3 ... */
	uint64_t time_ns;
	enum explain_level level;
	bool output; /* a line that the command printed */
	char *text;
};

struct logbook {
	struct log_line lines[LOGBOOK_MAX]; /* a ring, by serial */
	uint64_t last; /* serial of the newest line; 0: none */
};

/* A copy of text is kept; the oldest line goes when there are too many.  0 or -ENOMEM. */
int logbook_add(struct logbook *book, uint64_t time_ns, enum explain_level level, bool output,
	const char *text);
size_t logbook_count(const struct logbook *book);
/* The i-th line, oldest first; NULL beyond the last. */
const struct log_line *logbook_get(const struct logbook *book, size_t i);
void logbook_fini(struct logbook *book);

#endif
