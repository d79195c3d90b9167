/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind.h - unwind tables by image: the client of the worker, for any thread.
 *
 * Answers do not wait for symbols_collect(): the loader thread puts each into place, under a lock
 * of its own.  Keys are those of symbols_request(), but each is asked for on its own.
 */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include "symbols/symbols.h"
#include "symbols/unwtab.h"

/* Ask for the table of one image, before all symbols that wait.  source is copied.  A key that is
 * known stays as it is.  0 or -ENOMEM.  Any thread. */
int symbols_unwind_ask(struct symbols *symbols, uint32_t key, const struct symbols_source *source);

/* SYMBOLS_READY sets *table, which is valid until symbols_free().  SYMBOLS_NONE: the file has no
 * unwind data, or is of a machine that is not supported; *table has no rows, or is NULL.  Any other
 * state sets NULL.  Any thread. */
enum symbols_state symbols_unwind_state(
	struct symbols *symbols, uint32_t key, const struct unwtab **table);

/* Why the image is SYMBOLS_UNREADABLE: a positive errno; else 0.  Any thread. */
int symbols_unwind_error(struct symbols *symbols, uint32_t key);

/* Wait until the key is not SYMBOLS_PENDING or the time is over.  0 or -ETIME.  Any thread. */
int symbols_unwind_wait(struct symbols *symbols, uint32_t key, unsigned int timeout_ms);

size_t symbols_unwind_bytes(struct symbols *symbols); /* mapped; any thread */

#endif
