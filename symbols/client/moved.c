/* SPDX-License-Identifier: GPL-3.0-or-later */
/* moved.c - see moved.h: questions and answers.  Runs in the thread of symbols.h. */
#include "symbols/client/moved.h"

#include "symbols/base/grow.h"
#include "symbols/client/again.h"
#include "symbols/client/moved_pieces.h"
#include "symbols/client/private.h"

#include <errno.h>
#include <stdlib.h>

static struct moved_piece *find_piece(const struct moved_pieces *pieces, uint32_t key)
{
	for (size_t i = 0; i < pieces->n; i++)
		if (pieces->at[i].key == key)
			return &pieces->at[i];
	return NULL;
}

int symbols_moved_ask(struct symbols *symbols, uint32_t key, const struct symbols_source *file,
	const struct symbols_piece *piece)
{
	struct moved_pieces *pieces = data_tables_moved(symbols_data_tables(symbols));

	if (find_piece(pieces, key))
		return 0;
	if (array_resize(&pieces->at, pieces->n + 1, sizeof(*pieces->at)) < 0)
		return -ENOMEM;
	struct loader_image *job = calloc(1, sizeof(*job));
	if (!job || source_copy(&job->source, file) < 0) {
		loader_image_free(job);
		return -ENOMEM;
	}
	job->key = key;
	job->want = LOADER_MOVED;
	job->piece = *piece;
	pieces->at[pieces->n++] = (struct moved_piece){.key = key, .state = SYMBOLS_MOVED_PENDING};
	pieces->pending++;
	loader_post_image(symbols_loader(symbols), job);
	return 0;
}

enum symbols_moved symbols_moved(const struct symbols *symbols, uint32_t key, uint64_t *bias)
{
	const struct moved_piece *piece =
		find_piece(data_tables_moved(symbols_data_tables(symbols)), key);

	*bias = piece ? piece->bias : 0;
	return piece ? piece->state : SYMBOLS_MOVED_UNASKED;
}

void moved_pieces_take(struct moved_pieces *pieces, const struct loader_image *answer)
{
	struct moved_piece *piece = find_piece(pieces, answer->key);

	if (!piece)
		return;
	piece->state = answer->moved;
	piece->bias = answer->bias;
	pieces->pending--;
}
