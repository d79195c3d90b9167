/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jitspans.h - pieces of code in the order of their creation: if they overlap, the later one is
 * current.
 *
 * If their times are known, earlier code at an address is kept as well.  Pieces at an address are
 * numbered from 0 on.  Piece n is at addresses of its own: n << JITSPANS_SHIFT is added.  Among
 * pieces with one time only the last one counts.  A piece reported again (equal place and name; in
 * a map, equal name) is not new code.
 *
 * Runs in the worker.  perfmap.c and jitdump.c add pieces; the result is a symbol table without
 * overlaps.
 */
#ifndef SYMBOLS_JIT_JITSPANS_H
#define SYMBOLS_JIT_JITSPANS_H

#include "symbols/wire/symtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JITSPANS_MAX (1u << 20) /* reading and sorting them takes half a second of CPU time */

/* User addresses are below 1 << 48.  Other addresses have only their last piece. */
#define JITSPANS_SHIFT 48u
#define JITSPANS_PLAIN ((UINT64_C(1) << JITSPANS_SHIFT) - 1)
#define JITSPANS_NUMBERS 32768u

struct jitspan {
	uint64_t start, end;
	uint64_t since_ns; /* 0: unknown */
	uint64_t name; /* offset in names */
	uint32_t len;
	bool moved; /* it was made elsewhere */
};

struct jitspans {
	struct jitspan *at;
	size_t n, room;
	char *names; /* concatenated, without NULs */
	size_t names_len, names_room;
	size_t n_mapped; /* the first ones, which are from a map, not a dump */
	uint64_t cut_bytes; /* bytes read from a file that is too large; 0: all were read */
};

void jitspans_fini(struct jitspans *spans); /* a zeroed one is legal */

/* Adds a piece and copies its name.  A size of 0 becomes 1; one above 4 GiB is cut.  A piece at an
 * address with a number in its upper bits is left out.  since_ns: time of its creation, not before
 * any earlier piece of the file; 0: unknown.  Returns 0, -EFBIG or -ENOMEM. */
int jitspans_add(struct jitspans *spans, uint64_t start, uint64_t size, uint64_t since_ns,
	const char *name, size_t len);

/* Adds piece i again at another place, `start`, since then.  Returns as jitspans_add(). */
int jitspans_move(struct jitspans *spans, size_t i, uint64_t start, uint64_t since_ns);

/* Adds all pieces as symbols without overlaps.  Those that are not the first at their address also
 * get their times (symtab_builder_change()).  Maps do not count at addresses with a dump's pieces.
 * Pieces without a time do not count at addresses with times.  If the history takes too much work,
 * only the last piece counts at the remaining addresses.  Returns 0 or -ENOMEM; the builder reports
 * its errors at the end. */
int jitspans_build(const struct jitspans *spans, struct symtab_builder *builder);

#endif
