/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intern.h - maps byte strings to small numbers: 0, 1, 2 ... in the order of first use.
 *
 * One thread.
 */
#ifndef TUI_BASE_INTERN_H
#define TUI_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern_entry {
	char *bytes; /* copy, with a terminating NUL */
	uint32_t len;
	uint32_t hash;
};

/* Zero-initialized: empty. */
struct intern {
	struct intern_entry *entries;
	uint32_t n, room;
	uint32_t *slots; /* id + 1 */
	uint32_t n_slots;
	uint64_t seed; /* seed of the hash; chosen with the first slots */
	char *block; /* memory for copies; its first bytes link to the previous block */
	size_t block_used, block_size;
};

void intern_fini(struct intern *intern);

/* Returns in *id the number of a byte string, added if new.  Returns 0 or -ENOMEM. */
int intern_id(struct intern *intern, const void *bytes, size_t len, uint32_t *id);

/* Returns the copy of a text, valid until intern_fini(); NULL if memory runs out. */
const char *intern_text(struct intern *intern, const char *text);

#endif
