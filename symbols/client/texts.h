/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * texts.h - the texts of source files, read in the background.
 *
 * Opening a file on a network disk that does not answer may never return.  So neither the caller
 * nor the second loader waits for files, and a hanging file does not delay the others.
 *
 * All functions are for the thread that calls symbols.h, and never block.  symbols_collect() takes
 * in the answers and returns SYMBOLS_CHANGED_CODE.
 */
#ifndef SYMBOLS_CLIENT_TEXTS_H
#define SYMBOLS_CLIENT_TEXTS_H

#include "symbols/client/code.h"

struct symbols_text_question {
	struct symbols_source_origin origin; /* the image's */
	const char *file; /* name in debug information */
	/* see symbols_source_read(); NULL if none; compared by address, must not change */
	const char *const *prefixes;
};

struct symbols_text; /* the answer */

/* Asks for a text; equal questions share an answer.  A text is kept for some time.  It does not
 * change with its file, so that the line numbers stay right.  Returns 0 and *out for
 * symbols_text_release(); -ENOMEM; -EAGAIN if too many files hang; -errno if no thread can be
 * started. */
int symbols_text_ask(struct symbols *symbols, const struct symbols_text_question *question,
	struct symbols_text **out);
void symbols_text_release(struct symbols *symbols, struct symbols_text *text); /* NULL is a no-op */

/* Returns UNASKED (dropped by symbols_code_abandon()), PENDING, READY, or UNREADABLE with *error, a
 * positive errno. */
enum symbols_state symbols_text_state(const struct symbols_text *text, int *error);
/* Return the text, and the path that another program may open ("" if none).  Only with READY;
 * borrowed until release. */
const struct symbols_source_text *symbols_text_get(const struct symbols_text *text);
const char *symbols_text_path(const struct symbols_text *text);

/* Returns how many texts are pending.  *since_ns: start of the longest read at work, ns of
 * CLOCK_MONOTONIC; 0 if none. */
size_t symbols_text_waiting(const struct symbols *symbols, uint64_t *since_ns);

/* --- for code.c alone --- */

struct texts;

/* answers_fd is borrowed; returns 0 or -ENOMEM */
int texts_new(struct texts **out, int answers_fd);
void texts_free(struct texts *texts); /* leaves hanging threads alone; NULL is a no-op */
bool texts_collect(struct texts *texts); /* returns whether answers have come */
void texts_abandon(struct texts *texts);

#endif
