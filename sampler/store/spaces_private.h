/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spaces_private.h - the inside of an address space, only for spaces.c and spaces_text.c.
 *
 * Sampling thread.
 */
#ifndef SAMPLER_STORE_SPACES_PRIVATE_H
#define SAMPLER_STORE_SPACES_PRIVATE_H

#include "sampler/store/spaces.h"

struct mapping {
	uint64_t start, end;
	uint64_t bias; /* added to an address, gives the offset */
	uint32_t image;
	bool data;
	bool moved; /* a piece of the file's code; the file itself is not mapped here */
};

/* Shared by forked spaces; a change requires a copy. */
struct mappings {
	uint32_t refs;
	uint32_t n, size;
	struct mapping at[];
};

struct space {
	struct spaces *spaces;
	struct mappings *maps; /* NULL if none */
	uint64_t generation;
	uint64_t serial; /* distinguishes its anonymous memory from others */
	int32_t pid;
	int32_t parent; /* process that it got its memory from; 0 after an exec */
	int32_t elder; /* first process that had this memory; 0: the parent */
	uint32_t program; /* image of the first mapped file's code, with a reference; or unknown */
	uint32_t pieces; /* number of pieces made since the last exec */
};

/* A key with a path on the stack.  Longer paths are cut, as the kernel does at PATH_MAX. */
struct image_key {
	struct image image;
	char path[4096];
};

/* Whether the kernel gives this name to memory without a file worth opening. */
bool space_is_anonymous(const char *name);
bool space_is_deleted(const char *name);
void space_image_key_anon(struct image_key *key, const struct space *space);
void space_image_key(
	struct image_key *key, const struct space *space, const struct record_mmap *mmap);
uint64_t space_bias(enum image_kind kind, const struct record_mmap *mmap);
int space_copy_jitdump(struct images *images, uint32_t from, uint32_t to); /* 0 or -ENOMEM */

/* Makes room for `more` mappings in an array of the space's own.  Returns 0 or -ENOMEM. */
int space_own_maps(struct space *space, uint32_t more);
/* Returns the index of the first mapping that ends above address. */
uint32_t space_first_above(const struct mappings *maps, uint64_t address);
/* Returns the mapping that contains an address; NULL if none. */
const struct mapping *space_find(const struct space *space, uint64_t address);
uint32_t space_overlaps(const struct space *space, uint64_t start, uint64_t end);

/* Puts a mapping into the array.  The caller keeps its own reference to the image of `new`.
 * Returns 0 or -ENOMEM. */
int space_put_mapping(struct space *space, const struct mapping *new, enum space_order order);
/* space_map() without the check for moved code. */
int space_map_plainly(struct space *space, const struct record_mmap *mmap, enum space_order order);

void space_tell_mapping(const struct mapping *mapping, const struct image *image, uint32_t flags,
	space_fn *fn, void *ctx);

#endif
