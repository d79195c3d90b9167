/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind.h - unwind tables by image: a client of the worker for any thread.
 *
 * The loader thread stores each answer under its own lock, without symbols_collect().  Keys are
 * those of symbols_request(), but requests are separate.
 */
#ifndef SYMBOLS_CLIENT_UNWIND_H
#define SYMBOLS_CLIENT_UNWIND_H

#include "symbols/client/symbols.h"
#include "symbols/wire/unwtab.h"

/* Requests the table of an image, ahead of all requests for symbols.  Copies source.  Ignores a
 * known key.  Returns 0 or -ENOMEM.  Any thread. */
int symbols_unwind_ask(struct symbols *symbols, uint32_t key, const struct symbols_source *source);

/* Returns the state of an image.  SYMBOLS_READY sets *table, valid until symbols_free().  With
 * SYMBOLS_NONE the file has no unwind data, or its machine is not supported; *table has no rows or
 * is NULL.  Other states set NULL.  Any thread. */
enum symbols_state symbols_unwind_state(
	struct symbols *symbols, uint32_t key, const struct unwtab **table);

/* Returns why the image is SYMBOLS_UNREADABLE, a positive errno; otherwise 0.  Any thread. */
int symbols_unwind_error(struct symbols *symbols, uint32_t key);

/* Waits until the key is not SYMBOLS_PENDING or the time is over.  Returns 0 or -ETIME.  Any
 * thread. */
int symbols_unwind_wait(struct symbols *symbols, uint32_t key, unsigned int timeout_ms);

size_t symbols_unwind_bytes(struct symbols *symbols); /* bytes mapped; any thread */

#endif
