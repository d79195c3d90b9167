/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * moved.h - is executable memory without a file the code of a file, which its process has moved?
 *
 * Programs put their own code into huge pages, so its addresses have no file any more.  The file's
 * segments say which part of it belongs at such a place.  Of a living process that may be read,
 * pages of the memory are compared with it, by the loader thread with a limit of time for each
 * read.  Else the place decides, if nothing but the file's code fits there.  For the thread that
 * calls symbols.h; nothing blocks.
 */
#ifndef SYMBOLS_MOVED_H
#define SYMBOLS_MOVED_H

#include "symbols/symbols.h"

#define SYMBOLS_PIECE_SAMPLES 32

struct symbols_piece {
	int32_t pid; /* whose memory it is; 0: of a recording */
	uint64_t start, end;
	struct {
		uint64_t address, offset;
		bool known;
	} near[2]; /* mappings of the file, before and behind it; at least one is known */
	bool is_exact; /* it fills the hole between them */
	uint64_t samples[SYMBOLS_PIECE_SAMPLES]; /* addresses that were executed */
	size_t n_samples;
};

enum symbols_moved {
	SYMBOLS_MOVED_UNASKED,
	SYMBOLS_MOVED_PENDING,
	SYMBOLS_MOVED_OTHER, /* it is other code, or that is not known */
	SYMBOLS_MOVED_SAME, /* its pages were compared */
	SYMBOLS_MOVED_PLACE, /* by its place alone, which a note tells */
};

/* Ask about a piece under the caller's key, once; file: whose code it may be.  0 or -ENOMEM. */
int symbols_moved_ask(struct symbols *symbols, uint32_t key, const struct symbols_source *file,
	const struct symbols_piece *piece);

/* SAME and PLACE: *bias is added to an address and gives the file offset. */
enum symbols_moved symbols_moved(const struct symbols *symbols, uint32_t key, uint64_t *bias);

#endif
