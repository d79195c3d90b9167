/* SPDX-License-Identifier: GPL-3.0-or-later */
/* moved_pieces.h - answers about code that may have been moved, for moved.c and data.c. */
#ifndef SYMBOLS_CLIENT_MOVED_PIECES_H
#define SYMBOLS_CLIENT_MOVED_PIECES_H

#include "symbols/loader/loader.h"

struct moved_piece {
	uint32_t key;
	enum symbols_moved state;
	uint64_t bias;
};

struct moved_pieces {
	struct moved_piece *at;
	size_t n, pending;
};

struct data_tables;
struct moved_pieces *data_tables_moved(struct data_tables *data);
void moved_pieces_take(struct moved_pieces *pieces, const struct loader_image *answer);

#endif
