/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * logbook.c - a ring of log lines.
 */
#include "tui/model/logbook.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int logbook_add(struct logbook *book, uint64_t time_ns, enum explain_level level, bool output,
	const char *text)
{
	struct log_line *line = &book->lines[book->last % LOGBOOK_MAX];
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(line->text);
	*line = (struct log_line){
		.serial = ++book->last,
		.time_ns = time_ns,
		.level = level,
		.output = output,
		.text = copy,
	};
	return 0;
}

size_t logbook_count(const struct logbook *book)
{
	return book->last < LOGBOOK_MAX ? (size_t)book->last : LOGBOOK_MAX;
}

const struct log_line *logbook_get(const struct logbook *book, size_t i)
{
	size_t n = logbook_count(book);

	if (i >= n)
		return NULL;
	return &book->lines[(book->last - n + i) % LOGBOOK_MAX];
}

void logbook_fini(struct logbook *book)
{
	for (size_t i = 0; i < LOGBOOK_MAX; i++)
		free(book->lines[i].text);
	memset(book, 0, sizeof(*book));
}
