/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spaces_private.h - an address space from inside, for spaces.c and spaces_text.c alone.
 *
 * Sampling thread.
 */
#ifndef SAMPLER_SPACES_PRIVATE_H
#define SAMPLER_SPACES_PRIVATE_H

#include "sampler/spaces.h"

struct mapping {
	uint64_t start, end;
	uint64_t bias; /* added to an address, gives the offset */
	uint32_t image;
	bool data;
	bool moved; /* a piece of the file's code: the file itself is not mapped here */
};

/* Shared by forked spaces; whoever changes it takes a copy. */
struct mappings {
	uint32_t refs;
	uint32_t n, size;
	struct mapping at[];
};

struct space {
	struct spaces *spaces;
	struct mappings *maps; /* NULL: none */
	uint64_t generation;
	uint64_t serial; /* tells its anonymous memory from that of others */
	int32_t pid;
	int32_t parent; /* whose memory it got, 0 after an exec */
	int32_t elder; /* whose memory that one's was at first; 0: the parent's own */
	uint32_t program; /* the file whose code was mapped first, with a reference; or unknown */
	uint32_t pieces; /* made since the last exec */
};

/* A path on the stack that outlives the key; longer ones are cut, as the kernel does at PATH_MAX. */
struct image_key {
	struct image image;
	char path[4096];
};

/* Names that the kernel gives to memory without a file worth opening. */
bool space_is_anonymous(const char *name);
bool space_is_deleted(const char *name);
void space_image_key_anon(struct image_key *key, const struct space *space);
void space_image_key(
	struct image_key *key, const struct space *space, const struct record_mmap *mmap);
uint64_t space_bias(enum image_kind kind, const struct record_mmap *mmap);
int space_copy_jitdump(struct images *images, uint32_t from, uint32_t to); /* 0 or -ENOMEM */

/* Room for `more` mappings in an array of the space's own.  0 or -ENOMEM. */
int space_own_maps(struct space *space, uint32_t more);
/* The first mapping that ends above address. */
uint32_t space_first_above(const struct mappings *maps, uint64_t address);
/* The mapping that an address lies in, or NULL. */
const struct mapping *space_find(const struct space *space, uint64_t address);
uint32_t space_overlaps(const struct space *space, uint64_t start, uint64_t end);

/* The image of the new mapping has a reference that is the caller's.  0 or -ENOMEM. */
int space_put_mapping(struct space *space, const struct mapping *new, enum space_order order);
/* space_map() without a look at what may have been moved. */
int space_map_plainly(struct space *space, const struct record_mmap *mmap, enum space_order order);

void space_tell_mapping(const struct mapping *mapping, const struct image *image, uint32_t flags,
	space_fn *fn, void *ctx);

#endif
