/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spaces.h - address spaces: the executable mappings of a process, and those of data where asked for; for tasks.c.
 *
 * Mappings are a sorted array without overlaps; a newer mapping splits or trims the ones below it.  A forked
 * process shares its parent's array until one of them changes.  Sampling thread.
 */
#ifndef SAMPLER_SPACES_H
#define SAMPLER_SPACES_H

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
};

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

/* Every mapping, as a record would tell of it; valid during the call. */
typedef void space_fn(const struct record_mmap *mmap, void *ctx);
void space_list(const struct space *space, space_fn *fn, void *ctx);

uint32_t space_count(const struct space *space);

/* The process that it got its memory from by a fork, if it has executed nothing since; or 0. */
int32_t space_parent(const struct space *space);
/* Take over what `other` has mapped where nothing is.  Returns 0 or -ENOMEM. */
int space_fill(struct space *space, const struct space *other);

#endif
