/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intern.h - byte strings as small numbers: 0, 1, 2 ... in the order in which they were first met.
 *
 * One thread.
 */
#ifndef TUI_INTERN_H
#define TUI_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern_entry {
	char *bytes; /* a copy, with a NUL after it */
	uint32_t len;
	uint32_t hash;
};

/* All zeros is an empty one. */
struct intern {
	struct intern_entry *entries;
	uint32_t n, room;
	uint32_t *slots; /* id + 1 */
	uint32_t n_slots;
	uint64_t seed; /* of the hash; chosen with the first slots */
	char *block; /* what copies are cut from; its first bytes link to the one before */
	size_t block_used, block_size;
};

void intern_fini(struct intern *intern);

/* 0 and *id, or -ENOMEM. */
int intern_id(struct intern *intern, const void *bytes, size_t len, uint32_t *id);

/* The copy of a text; NULL when out of memory.  It stays where it is. */
const char *intern_text(struct intern *intern, const char *text);

#endif
