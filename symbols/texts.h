/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * texts.h - the texts of source files, read in the background.
 *
 * A file may lie on a network disk that does not answer, and opening it then takes for ever: so neither the caller nor
 * what finds instructions ever waits for one, and one that hangs does not keep the others waiting.  All functions are for
 * the thread that calls symbols.h, and never block.  Answers come in with symbols_collect(), as SYMBOLS_CHANGED_CODE.
 */
#ifndef SYMBOLS_TEXTS_H
#define SYMBOLS_TEXTS_H

#include "symbols/code.h"

struct symbols_text_question {
	struct symbols_source_origin origin; /* of the image */
	const char *file; /* as debug information names it */
	const char *const *
		prefixes; /* see symbols_source_read(); NULL: none.  Those of one run never change */
};

struct symbols_text; /* the answer */

/* Ask; what was asked before gives the same answer again.  A text that was read is kept for some time, and does not
 * change with its file: it is the one that the lines were told of.  0 with *out for symbols_text_release(); -ENOMEM;
 * -EAGAIN: too many files hang; -errno where no thread can be started. */
int symbols_text_ask(struct symbols *symbols, const struct symbols_text_question *question,
	struct symbols_text **out);
void symbols_text_release(struct symbols *symbols, struct symbols_text *text); /* NULL is a no-op */

/* UNASKED (given up, by symbols_code_abandon()), PENDING, READY, UNREADABLE with *error, a positive errno. */
enum symbols_state symbols_text_state(const struct symbols_text *text, int *error);
/* With READY, until released: the text, and the path that it was read from, for another program to open. */
const struct symbols_source_text *symbols_text_get(const struct symbols_text *text);
const char *symbols_text_path(const struct symbols_text *text);

/* How many are pending, and since when the one that has been read for longest is (CLOCK_MONOTONIC, 0: none). */
size_t symbols_text_waiting(const struct symbols *symbols, uint64_t *since_ns);

/* --- for code.c alone --- */

struct texts;

int texts_new(struct texts **out, int answers_fd); /* which stays the caller's.  0 or -ENOMEM */
void texts_free(struct texts *texts); /* threads that hang are left alone; NULL is a no-op */
bool texts_collect(struct texts *texts); /* true: some have come */
void texts_abandon(struct texts *texts);

#endif
