/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * moved.h - decides whether executable memory without a file is a file's code that was moved.
 *
 * Programs move their own code into huge pages, so its addresses lose their file.  The file's
 * segments show which part of the file belongs at such a place.  If the process lives and its
 * memory is readable, the loader thread compares pages, with a time limit for each read.  Otherwise
 * the place decides, if only the file's code fits there.
 *
 * For the thread that calls symbols.h; nothing blocks.
 */
#ifndef SYMBOLS_CLIENT_MOVED_H
#define SYMBOLS_CLIENT_MOVED_H

#include "symbols/client/symbols.h"

/* Asks once about a piece, under the caller's key.  file: source of the possible code.  Returns 0
 * or -ENOMEM. */
int symbols_moved_ask(struct symbols *symbols, uint32_t key, const struct symbols_source *file,
	const struct symbols_piece *piece);

/* Returns the answer so far.  For SAME and PLACE, address + *bias is the file offset. */
enum symbols_moved symbols_moved(const struct symbols *symbols, uint32_t key, uint64_t *bias);

#endif
