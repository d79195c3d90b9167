/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spaces_text.c - code that programs moved from files into memory without a file; see spaces.h.
 *
 * Sampling thread.
 */
#include "sampler/base/affix.h"
#include "sampler/base/grow.h"
#include "sampler/store/spaces_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PIECES_MAX 64u /* per space; a JIT may never stop */

bool space_is_deleted(const char *name)
{
	const size_t len = strlen(name), end = sizeof(IMAGE_DELETED) - 1;

	return len > end && !strcmp(name + len - end, IMAGE_DELETED);
}

/* Memory in huge pages may have the name of a memory file, or of a deleted file in hugetlbfs. */
bool space_may_be_moved(const struct record_mmap *mmap)
{
	const char *name = mmap->filename ? mmap->filename : "";

	return mmap->executable && mmap->start &&
		(space_is_anonymous(name) || starts_with(name, "/memfd:") ||
			space_is_deleted(name) || starts_with(name, "/dev/hugepages/") ||
			mmap->flags & MAP_HUGETLB);
}

/* Whether `mapping` belongs to a file other than the one that mmap names. */
static bool is_of_file(
	const struct space *space, const struct mapping *mapping, const struct record_mmap *mmap)
{
	const struct image *image = images_get(space->spaces->images, mapping->image);
	const char *name = mmap->filename ? mmap->filename : "";
	const size_t len = strlen(image->path);
	const bool is_same = !strncmp(name, image->path, len) &&
		(!name[len] || !strcmp(name + len, IMAGE_DELETED));

	return image->kind == IMAGE_FILE && !is_same;
}

static struct image_near near_of(uint64_t address, const struct mapping *mapping)
{
	return (struct image_near){address, address + mapping->bias, true};
}

/* Whether [start, end) of text is a hole between two mappings of one file. */
static bool is_hole(
	const struct space *space, const struct record_mmap *mmap, struct image_text *text)
{
	const struct mapping *left = space_find(space, text->start - 1),
			     *right = space_find(space, text->end);

	if (!left || !right || left->image != right->image || !is_of_file(space, left, mmap))
		return false;
	text->file = left->image;
	text->before = near_of(left->start, left);
	text->after = near_of(right->start, right);
	text->is_exact = true;
	return true;
}

enum piece { PIECE_NONE, PIECE_KNOWN, PIECE_NEW };

static enum piece find_text(
	const struct space *space, const struct record_mmap *mmap, struct image_text *text)
{
	const struct mapping *under = space_find(space, mmap->start);
	struct image_text known;

	*text = (struct image_text){.start = mmap->start, .end = mmap->start + mmap->len};
	if (!space_overlaps(space, text->start, text->end))
		return is_hole(space, mmap, text) ? PIECE_NEW : PIECE_NONE;
	if (!under || under->end < text->end)
		return PIECE_NONE;
	if (images_text(space->spaces->images, under->image, &known))
		return PIECE_KNOWN;
	if (under->data || !is_of_file(space, under, mmap))
		return PIECE_NONE;
	text->file = under->image;
	text->before = near_of(text->start, under);
	/* A library may have been unmapped without a record. */
	text->is_exact = under->image == space->program;
	return PIECE_NEW;
}

static int intern_piece(struct space *space, const struct record_mmap *mmap,
	struct image_text *text, uint32_t *image)
{
	struct images *images = space->spaces->images;
	struct image_origin origin;
	struct image_key key;
	int err;

	space_image_key(&key, space, mmap);
	err = images_intern(images, &key.image, &text->other);
	if (err)
		return err;
	text->other_bias = space_bias(key.image.kind, mmap);
	/* Names of code generated at run time are found by its process. */
	images_origin(images, text->other, &origin);
	if (!origin.pid)
		images_set_origin(images, text->other,
			&(struct image_origin){.pid = space->pid,
				.map_start = text->start,
				.map_end = text->end,
				.parent = space->parent,
				.elder = space->elder});
	images_pin(images, text->other);
	images_pin(images, text->file);
	space_image_key_anon(&key, space);
	key.image.inode = ++space->spaces->generation;
	err = images_intern(images, &key.image, image);
	if (err)
		return err;
	images_ref(images, *image);
	err = images_set_text(images, *image, text);
	if (!err)
		err = space_copy_jitdump(images, text->other, *image);
	if (err)
		images_unref(images, *image);
	return err;
}

static int put_piece(struct space *space, const struct record_mmap *mmap, enum space_order order,
	struct image_text *text)
{
	struct mapping new = {.start = text->start, .end = text->end};
	int err;

	if (space->pieces >= PIECES_MAX)
		return space_map_plainly(space, mmap, order);
	space->pieces++;
	err = intern_piece(space, mmap, text, &new.image);
	if (err)
		return err;
	err = space_put_mapping(space, &new, order);
	images_unref(space->spaces->images, new.image);
	return err;
}

static struct image_near near_of_line(const struct record_mmap *mmap)
{
	return (struct image_near){mmap->start, mmap->pgoff, mmap->len > 0};
}

int space_map_piece(struct space *space, const struct record_mmap *mmap, enum space_order order,
	const struct space_text *text)
{
	const struct record_mmap *file = text->before.len ? &text->before : &text->after;
	const struct mapping *under = space_find(space, mmap->start);
	struct images *images = space->spaces->images;
	struct image_text found = {
		.start = mmap->start,
		.end = mmap->start + mmap->len,
		.before = near_of_line(&text->before),
		.after = near_of_line(&text->after),
		.is_exact = text->is_exact,
	};
	struct image_origin origin;
	struct image_key key;
	int err;

	if (found.end <= found.start || (order == SPACE_OLDER && under))
		return space_map_plainly(space, mmap, order);
	if (under && images_text(images, under->image, &(struct image_text){0}))
		return 0;
	space_image_key(&key, space, file);
	err = images_intern(images, &key.image, &found.file);
	if (err || key.image.kind != IMAGE_FILE)
		return err ? err : space_map_plainly(space, mmap, order);
	images_origin(images, found.file, &origin);
	if (!origin.pid)
		images_set_origin(images, found.file,
			&(struct image_origin){.pid = space->pid,
				.map_start = file->start,
				.map_end = file->start + file->len,
				.parent = space->parent,
				.elder = space->elder});
	return put_piece(space, mmap, order, &found);
}

/* Checks the memory before a new mapping.  A recorded snapshot lists a file's code, the memory, and
 * more of the file's code after it. */
static int look_before(struct space *space, uint64_t end)
{
	const struct mapping *mapping = space_find(space, end - 1);
	struct image_text text;

	if (!mapping || mapping->end != end || mapping->data ||
		images_get(space->spaces->images, mapping->image)->kind != IMAGE_ANON ||
		images_text(space->spaces->images, mapping->image, &text))
		return 0;
	const struct record_mmap piece = {.start = mapping->start,
		.len = end - mapping->start,
		.executable = true,
		.filename = ""};
	text = (struct image_text){.start = piece.start, .end = end};
	return is_hole(space, &piece, &text) ? put_piece(space, &piece, SPACE_NEWER, &text) : 0;
}

static int tell_move(struct spaces *spaces, const struct code_move *move)
{
	if (grow_exact(&spaces->moves, spaces->n_moves + 1, sizeof(*spaces->moves)))
		return -ENOMEM;
	spaces->moves[spaces->n_moves++] = *move;
	images_pin(spaces->images, move->image);
	images_pin(spaces->images, move->to);
	return 0;
}

bool space_take_move(struct spaces *spaces, struct code_move *out)
{
	if (!spaces->n_moves)
		return false;
	*out = spaces->moves[0];
	memmove(spaces->moves, spaces->moves + 1, --spaces->n_moves * sizeof(*out));
	return true;
}

static bool has_path(const struct images *images, uint32_t id, const char *path)
{
	return !strcmp(images_get(images, id)->path, path);
}

static bool may_be_piece(const struct image *image)
{
	return image->kind == IMAGE_ANON ||
		(image->kind == IMAGE_FILE &&
			(image->deleted || starts_with(image->path, "/memfd:") ||
				starts_with(image->path, "/dev/hugepages/")));
}

/* Takes a SPACE_SEEN record.  The kernel's record of the piece came before. */
static int see_piece(struct space *space, const struct record_mmap *mmap)
{
	struct images *images = space->spaces->images;
	const uint64_t end = mmap->start + mmap->len;
	struct image_text text;
	bool is_piece = false;
	struct image_key key;
	uint32_t file;
	int err;

	space_image_key(&key, space, mmap);
	err = images_intern(images, &key.image, &file);
	if (err)
		return err;
	for (uint32_t i = space_first_above(space->maps, mmap->start);
		space->maps && !err && i < space->maps->n && space->maps->at[i].start < end; i++) {
		const struct mapping *mapping = &space->maps->at[i];
		struct code_move move = {.image = mapping->image,
			.to = file,
			.start = mmap->start + mapping->bias,
			.end = end + mapping->bias,
			.bias = space_bias(key.image.kind, mmap) - mapping->bias,
			.until_ns = space->spaces->time_ns};

		if (images_text(images, mapping->image, &text)) {
			if (!has_path(images, text.file, key.image.path)) {
				move.to = text.other;
				move.bias = text.other_bias;
			}
			move.until_ns = UINT64_MAX;
			is_piece = true;
		} else if (key.image.kind != IMAGE_FILE || mapping->image == file ||
			!may_be_piece(images_get(images, mapping->image))) {
			continue;
		}
		err = tell_move(space->spaces, &move);
	}
	return err || (key.image.kind != IMAGE_FILE && is_piece)
		? err
		: space_map_plainly(space, mmap, SPACE_NEWER);
}

int space_map(struct space *space, const struct record_mmap *mmap, enum space_order order)
{
	struct image_text text;
	int err;

	if (mmap->executable && mmap->flags & SPACE_SEEN && mmap->len)
		return see_piece(space, mmap);
	if (order == SPACE_NEWER && mmap->start + mmap->len > mmap->start &&
		space_may_be_moved(mmap))
		switch (find_text(space, mmap, &text)) {
		case PIECE_NEW:
			return put_piece(space, mmap, order, &text);
		case PIECE_KNOWN:
			return 0;
		case PIECE_NONE:
			break;
		}
	err = space_map_plainly(space, mmap, order);
	return err || !mmap->executable || order == SPACE_OLDER || !mmap->start
		? err
		: look_before(space, mmap->start);
}

int space_move(struct space *space, const struct code_move *move, space_fn *fn, void *ctx)
{
	struct images *images = space->spaces->images;
	struct image_text text;
	bool changed = false;
	int err;

	if (!images_text(images, move->image, &text))
		return 0;
	for (uint32_t i = 0; space->maps && i < space->maps->n; i++) {
		if (space->maps->at[i].image != move->image)
			continue;
		err = space_own_maps(space, 0);
		if (err)
			return err;
		struct mapping *mapping = &space->maps->at[i];
		images_ref(images, move->to);
		images_unref(images, mapping->image);
		mapping->image = move->to;
		mapping->bias = move->bias;
		mapping->moved = move->to == text.file;
		changed = true;
		if (fn)
			space_tell_mapping(
				mapping, images_get(images, move->to), SPACE_SEEN, fn, ctx);
	}
	if (changed)
		space->generation = ++space->spaces->generation;
	return 0;
}
