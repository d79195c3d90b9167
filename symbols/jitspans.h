/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jitspans.h - pieces of code in the order in which they were made: where they overlap, the later
 * one is what lies there now.
 *
 * Runs in the worker.  Fed by perfmap.c and jitdump.c; what becomes of it is a symbol table
 * without overlaps.
 */
#ifndef SYMBOLS_JITSPANS_H
#define SYMBOLS_JITSPANS_H

#include "symbols/symtab.h"

#include <stddef.h>
#include <stdint.h>

#define JITSPANS_MAX (1u << 20) /* reading and sorting them takes half a second of CPU time */

struct jitspan {
	uint64_t start, end;
	uint64_t name; /* offset in names */
	uint32_t len;
};

struct jitspans {
	struct jitspan *at;
	size_t n, room;
	char *names; /* one after the other, without ends */
	size_t names_len, names_room;
	uint64_t cut_bytes; /* bytes read from a too large file; 0: all were read */
};

void jitspans_fini(struct jitspans *spans); /* a zeroed one is legal */

/* Add a piece; one of no size is one byte long, one of more than 4 GiB is cut.  Its name is
 * copied.  Returns 0, -EFBIG or -ENOMEM. */
int jitspans_add(
	struct jitspans *spans, uint64_t start, uint64_t size, const char *name, size_t len);

/* The same once more elsewhere: piece number i, now at start. */
int jitspans_move(struct jitspans *spans, size_t i, uint64_t start);

/* Everything as symbols without overlaps.  0 or -ENOMEM; what the builder finds wrong shows at its
 * end. */
int jitspans_build(const struct jitspans *spans, struct symtab_builder *builder);

#endif
