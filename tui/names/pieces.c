/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pieces.c - finds out whether memory without a file holds code of a file, and reports it to
 * the sampling thread.
 *
 * The sampler makes an image of each such piece (struct image_text); client/moved.h compares it
 * with the file.  Frames in it then become frames of the file, or of other code.
 */
#include "tui/base/grow.h"
#include "tui/names/private.h"

#include "tui/names/rules.h"

#include <stdlib.h>

static struct names_piece *find_piece(const struct names *names, uint32_t image)
{
	for (uint32_t i = 0; i < names->n_pieces; i++)
		if (names->pieces[i].image == image)
			return &names->pieces[i];
	return NULL;
}

bool names_asks_pieces(const struct names *names)
{
	return names->n_pieces;
}

void names_meet_piece(struct names *names, uint32_t image)
{
	struct image_text text;

	if (!names->code || !names->symbols || !images_text(names->images, image, &text))
		return;
	if (grow_exact(&names->pieces, names->n_pieces + 1u, sizeof(*names->pieces))) {
		symbols_lack_memory(names->symbols);
		return;
	}
	names->pieces[names->n_pieces++] = (struct names_piece){
		.image = image,
		.question = {.start = text.start,
			.end = text.end,
			.near = {{text.before.address, text.before.offset, text.before.known},
				{text.after.address, text.after.offset, text.after.known}},
			.is_exact = text.is_exact},
	};
	names->infos[image].is_piece = true;
}

void names_sample_piece(struct names *names, uint32_t image, uint64_t address)
{
	struct names_piece *piece = find_piece(names, image);

	if (!piece || piece->asked) {
		names->infos[image].is_piece = false;
		return;
	}
	if (piece->question.n_samples < SYMBOLS_PIECE_SAMPLES)
		piece->question.samples[piece->question.n_samples++] = address;
}

static void ask(struct names *names, struct names_piece *piece)
{
	struct symbols_source own, file;
	struct image_text text;

	piece->asked = true;
	if (!images_text(names->images, piece->image, &text) ||
		!names_source(names->images, piece->image, &own) ||
		!names_source(names->images, text.file, &file))
		return;
	piece->question.pid = own.pid;
	if (symbols_moved_ask(names->symbols, piece->image, &file, &piece->question))
		symbols_lack_memory(names->symbols);
}

static void tell(struct names *names, uint32_t image, bool is_moved, uint64_t bias)
{
	struct image_text text;
	struct code_move move = {
		.image = image, .end = UINT64_MAX, .until_ns = UINT64_MAX, .bias = bias};

	if (!images_text(names->images, image, &text))
		return;
	move.to = is_moved ? text.file : text.other;
	if (!is_moved)
		move.bias = text.other_bias;
	if (changes_move(names->code, &move))
		symbols_lack_memory(names->symbols);
	/* The names of the frames' new image will be needed soon. */
	(void)names_image(names, move.to);
}

bool names_tell_pieces(struct names *names)
{
	uint32_t kept = 0;
	bool told = false;

	for (uint32_t i = 0; i < names->n_pieces && !names->held; i++) {
		struct names_piece *piece = &names->pieces[i];
		enum symbols_moved state;
		uint64_t bias;

		/* A recording may already have reported it. */
		if (changes_moved(names->code, piece->image))
			continue;
		if (!piece->asked && piece->question.n_samples)
			ask(names, piece);
		state = symbols_moved(names->symbols, piece->image, &bias);
		if (!piece->asked || state == SYMBOLS_MOVED_PENDING) {
			names->pieces[kept++] = *piece;
			continue;
		}
		const bool is_moved = state == SYMBOLS_MOVED_SAME || state == SYMBOLS_MOVED_PLACE;
		const uint32_t image = piece->image;
		told = true;
		tell(names, image, is_moved, bias);
	}
	if (!names->held)
		names->n_pieces = kept;
	return told;
}
