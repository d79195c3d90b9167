/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keptnames.h - stable numbers and strings for names of an image with changing tables.
 *
 * Keeps only names that a caller asked for, so its size depends on the names in use, not on the
 * tables.  Runs in the thread of symbols.h.
 */
#ifndef SYMBOLS_CLIENT_KEPTNAMES_H
#define SYMBOLS_CLIENT_KEPTNAMES_H

#include <stddef.h>
#include <stdint.h>

struct keptname {
	uint64_t start; /* distinguishes equal names; 0: equal names are one */
	uint64_t hash;
	char *text;
};

struct keptnames {
	struct keptname *at; /* by index */
	uint32_t n;
	size_t room;
	uint32_t *slots; /* index plus one; open addressing, at most half full */
	uint32_t n_slots; /* a power of two */
};

void keptnames_fini(struct keptnames *names); /* a zeroed one is legal */

/* Gets the number and the copy of a name, new or known.  The copy stays until keptnames_fini().
 * Returns 0 or -ENOMEM. */
int keptnames_intern(struct keptnames *names, uint64_t start, const char *name, uint32_t *index,
	const char **text);

#endif
