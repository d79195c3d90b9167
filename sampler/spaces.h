/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spaces.h - address spaces: the executable mappings of a process, and those of data where asked for; for tasks.c.
 *
 * Mappings are a sorted array without overlaps; a newer mapping splits or trims the ones below it.  A forked
 * process shares its parent's array until one of them changes.  Sampling thread.
 */
#ifndef SAMPLER_SPACES_H
#define SAMPLER_SPACES_H

#include "sampler/changes.h"
#include "sampler/images.h"
#include "sampler/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct space;

/* What all spaces have in common. */
struct spaces {
	struct images *images; /* borrowed */
	uint64_t generation; /* the last one given */
	size_t bytes; /* of all spaces */
	bool data; /* mappings that are not executable are kept as well */
	uint32_t dump_image; /* that a jitdump was mapped for last; 0: none since this was read */
	/* What recordings tell of pieces (space_take_move()). */
	struct code_move *moves;
	size_t n_moves;
	uint64_t time_ns; /* of the record that is applied */
};
void spaces_fini(struct spaces *spaces);

int space_new(struct space **out, struct spaces *spaces, int32_t pid);
void space_free(struct space *space);

/* The space of a process forked from that of `parent`: the same mappings, but for memory without a file, which
 * is an image of its own. */
int space_fork(struct space **out, const struct space *parent, int32_t pid);

/* exec: nothing is mapped. */
void space_clear(struct space *space);

enum space_order {
	SPACE_NEWER, /* replaces what it overlaps */
	SPACE_OLDER, /* fills gaps only */
};

/* Apply one mapping; one that is not executable only takes away, unless those of data are kept.  Returns 0 or -ENOMEM. */
int space_map(struct space *space, const struct record_mmap *mmap, enum space_order order);

/* --- code that was moved into memory without a file ---
 *
 * Executable memory at a place where a file's code was is an image of its own (struct image_text),
 * until somebody has found out what it is. */

/* Where a piece lies among the mappings of a file; the kernel's list tells this. */
struct space_text {
	struct record_mmap before, after; /* len 0: there is none */
	bool is_exact; /* nothing else lies between the two */
};
/* Returns whether a mapping may hold code that was moved, by its name. */
bool space_may_be_moved(const struct record_mmap *mmap);
/* space_map() of such a piece.  0 or -ENOMEM. */
int space_map_piece(struct space *space, const struct record_mmap *mmap, enum space_order order,
	const struct space_text *text);

/* A record with MAP_ANONYMOUS and a file's name, which the kernel does not write: a piece that was
 * seen to have that file's code, from the beginning; or other code, without a name. */
#define SPACE_SEEN MAP_ANONYMOUS

/* What records of that kind have told since; false: nothing more. */
bool space_take_move(struct spaces *spaces, struct code_move *out);

/* Every mapping, as a record would tell of it; valid during the call. */
typedef void space_fn(const struct record_mmap *mmap, void *ctx);
/* A piece is that of a move now; fn gets the records of what was seen.  0 or -ENOMEM. */
int space_move(struct space *space, const struct code_move *move, space_fn *fn, void *ctx);
void space_list(const struct space *space, space_fn *fn, void *ctx);

uint32_t space_count(const struct space *space);

/* The process that it got its memory from by a fork, if it has executed nothing since; or 0. */
int32_t space_parent(const struct space *space);
/* Take over what `other` has mapped where nothing is.  Returns 0 or -ENOMEM. */
int space_fill(struct space *space, const struct space *other);

#endif
