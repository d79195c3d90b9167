/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spaces.h - address spaces: the executable mappings of a process, and data mappings on request;
 * for tasks.c.
 *
 * Mappings are a sorted array without overlaps; a newer mapping splits or trims older ones.  A
 * forked process shares its parent's array until one process changes it.  Sampling thread.
 */
#ifndef SAMPLER_STORE_SPACES_H
#define SAMPLER_STORE_SPACES_H

#include "sampler/kernel/record.h"
#include "sampler/store/changes.h"
#include "sampler/store/images.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct space;

/* Data shared by all spaces. */
struct spaces {
	struct images *images; /* borrowed */
	uint64_t generation; /* last generation given out */
	size_t bytes; /* memory of all spaces */
	bool data; /* also keep mappings that are not executable */
	/* image of the last mapped jitdump; 0: none since the last call that took it */
	uint32_t dump_image;
	/* Moves of pieces from recordings, for space_take_move(). */
	struct code_move *moves;
	size_t n_moves;
	uint64_t time_ns; /* time of the record being applied */
};
void spaces_fini(struct spaces *spaces);

int space_new(struct space **out, struct spaces *spaces, int32_t pid);
void space_free(struct space *space);

/* Makes the space of a process forked from `parent`.  It has the same mappings, except that its
 * memory without a file has an image of its own.  Returns 0 or -ENOMEM. */
int space_fork(struct space **out, const struct space *parent, int32_t pid);

/* Removes all mappings, after an exec. */
void space_clear(struct space *space);

enum space_order {
	SPACE_NEWER, /* replaces the mappings that it overlaps */
	SPACE_OLDER, /* fills gaps only */
};

/* Applies one mapping.  One that is not executable only removes others, unless data mappings are
 * kept.  Returns 0 or -ENOMEM. */
int space_map(struct space *space, const struct record_mmap *mmap, enum space_order order);

/* Returns whether a mapping takes the place of another one.  Memory without a file does not change
 * by being mapped again, as runtimes do. */
bool space_replaces(const struct space *space, const struct record_mmap *mmap);

/* --- code that was moved into memory without a file ---
 *
 * Executable memory in place of a file's code is a piece.  It has an image of its own (struct
 * image_text) until its contents are identified. */

/* Position of a piece between the mappings of a file, from the kernel's list of mappings. */
struct space_text {
	struct record_mmap before, after; /* len 0: none */
	bool is_exact; /* no other mapping is between the two */
};
/* Returns whether a mapping may contain moved code, by its name. */
bool space_may_be_moved(const struct record_mmap *mmap);
/* space_map() for such a piece.  Returns 0 or -ENOMEM. */
int space_map_piece(struct space *space, const struct record_mmap *mmap, enum space_order order,
	const struct space_text *text);

/* Marks a record that the kernel does not write: MAP_ANONYMOUS with a file's name.  Its piece was
 * seen to contain that file's code, from the beginning.  Without a name it contains other code. */
#define SPACE_SEEN MAP_ANONYMOUS

/* Takes the next move from records of that kind.  Returns false if there is none. */
bool space_take_move(struct spaces *spaces, struct code_move *out);

/* Receives a mapping in the form of a record, valid during the call. */
typedef void space_fn(const struct record_mmap *mmap, void *ctx);
/* Gives the mappings of a piece the image of a move.  fn (may be NULL) receives records that
 * describe them.  Returns 0 or -ENOMEM. */
int space_move(struct space *space, const struct code_move *move, space_fn *fn, void *ctx);
void space_list(const struct space *space, space_fn *fn, void *ctx);

uint32_t space_count(const struct space *space);

/* Returns the image of the program that it executes, which is the first mapped file's code;
 * IMAGE_ID_UNKNOWN if not known. */
uint32_t space_program(const struct space *space);

/* Returns the process that it got its memory from by a fork, if it has not executed a program
 * since; otherwise 0. */
int32_t space_parent(const struct space *space);
/* Adds the mappings of `other` in the gaps of space.  Returns 0 or -ENOMEM. */
int space_fill(struct space *space, const struct space *other);

#endif
