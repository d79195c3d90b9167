/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keptnames.h - names of an image whose table is replaced by newer ones: numbers and strings that
 * stay.
 *
 * Only names that somebody asked for are kept, so what is here is bounded by what was shown, not
 * by the tables. The thread of symbols.h.
 */
#ifndef SYMBOLS_KEPTNAMES_H
#define SYMBOLS_KEPTNAMES_H

#include <stddef.h>
#include <stdint.h>

struct keptname {
	uint64_t start; /* what tells equal names apart; 0: nothing does */
	uint64_t hash;
	char *text;
};

struct keptnames {
	struct keptname *at; /* by index */
	uint32_t n, room;
	uint32_t *slots; /* index and one; open addressing, at most half full */
	uint32_t n_slots; /* a power of two */
};

void keptnames_fini(struct keptnames *names); /* a zeroed one is legal */

/* The number and the copy of a name, new or known; the copy stays until keptnames_fini().  0 or
 * -ENOMEM. */
int keptnames_intern(struct keptnames *names, uint64_t start, const char *name, uint32_t *index,
	const char **text);

#endif
