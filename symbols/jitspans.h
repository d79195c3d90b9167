/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jitspans.h - pieces of code in the order in which they were made: where they overlap, the later
 * one is what lies there now.
 *
 * Where it is known when they were made, what lay at an address before is kept as well.  All that
 * ever lay there is numbered from 0 on, and number n has the addresses of a table of its own:
 * n << JITSPANS_SHIFT is added to each.  Of those made at one time only the last one counts, and
 * what is told once more, the same place and name, is no other code; of a map, the same name.
 *
 * Runs in the worker.  Fed by perfmap.c and jitdump.c; what becomes of it is a symbol table
 * without overlaps.
 */
#ifndef SYMBOLS_JITSPANS_H
#define SYMBOLS_JITSPANS_H

#include "symbols/symtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JITSPANS_MAX (1u << 20) /* reading and sorting them takes half a second of CPU time */

#define JITSPANS_SHIFT \
	48u /* user addresses are below; those that are not keep the last piece alone */
#define JITSPANS_PLAIN ((UINT64_C(1) << JITSPANS_SHIFT) - 1)
#define JITSPANS_NUMBERS 32768u

struct jitspan {
	uint64_t start, end;
	uint64_t since_ns; /* 0: not known */
	uint64_t name; /* offset in names */
	uint32_t len;
	bool moved; /* from elsewhere */
};

struct jitspans {
	struct jitspan *at;
	size_t n, room;
	char *names; /* one after the other, without ends */
	size_t names_len, names_room;
	size_t n_mapped; /* of them, the first, told by a map, and not by a dump */
	uint64_t cut_bytes; /* bytes read from a too large file; 0: all were read */
};

void jitspans_fini(struct jitspans *spans); /* a zeroed one is legal */

/* Add a piece; one of no size is one byte long, one of more than 4 GiB is cut, one where numbers
 * are is left out.  Its name is copied.  since_ns: when it was made, not before any other that the
 * same file tells of; 0: not known.  Returns 0, -EFBIG or -ENOMEM. */
int jitspans_add(struct jitspans *spans, uint64_t start, uint64_t size, uint64_t since_ns,
	const char *name, size_t len);

/* The same once more elsewhere: piece number i, at start since then. */
int jitspans_move(struct jitspans *spans, size_t i, uint64_t start, uint64_t since_ns);

/* Everything as symbols without overlaps, with the times of those that are not the first at their
 * addresses (symtab_builder_change()).  Where dumps tell what lay at an address and when, maps do
 * not count; where times are known, pieces without one do not.  Of too much history the later part
 * is left out, and the last piece stands for all.  0 or -ENOMEM; what the builder finds wrong shows
 * at its end. */
int jitspans_build(const struct jitspans *spans, struct symtab_builder *builder);

#endif
