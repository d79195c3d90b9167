/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * again.h - images whose symbols change while they are looked at: code made at run time, the
 * running kernel.
 *
 * Says when it is time to look again (while somebody asks for addresses of the image; at code made
 * at run time also else, since it may be other code), and keeps the names that were given out, so
 * that a newer table may replace the older one.  The thread of symbols.h.
 */
#ifndef SYMBOLS_AGAIN_H
#define SYMBOLS_AGAIN_H

#include "symbols/keptnames.h"
#include "symbols/loader.h"

#include <stdbool.h>
#include <stdint.h>

struct again {
	struct symbols_source source; /* with strings of its own */
	struct keptnames names;
	struct loader_jit jit; /* what the table was made of */
	bool wanted; /* something was asked for since the last look */
	bool unresolved; /* something of it has no name */
	bool looking; /* the loader does */
	bool over; /* there is no use in looking again */
	bool idle; /* the last look was one that nobody asked for */
	uint64_t asked_ns, due_ns, pause_ns;
	uint64_t idle_ns, idle_pause_ns; /* when to look though nobody asks */
};

/* 0, or -ENOMEM and *out = NULL. */
int again_new(struct again **out, const struct symbols_source *source);
void again_free(struct again *again); /* NULL is a no-op */

/* More is known of where it comes from.  0 or -ENOMEM. */
int again_learn(struct again *again, const struct symbols_source *source);

/* A copy of a source with strings of its own, for again_drop_source().  0 or -ENOMEM. */
int again_copy_source(struct symbols_source *out, const struct symbols_source *source);
void again_drop_source(struct symbols_source *source);

/* Give a symbol just found a name and an index that stay.  In code made at run time all that has
 * one name is one symbol, wherever it was compiled to.  False when out of memory. */
bool again_keep(struct again *again, struct symbol *symbol);
void again_missed(struct again *again);

/* Is it time to look?  final_ns: since when the names are about to be used for good, or 0.  Code made
 * at run time is looked at once after that. */
bool again_is_due(const struct again *again, uint64_t now_ns, uint64_t final_ns);

/* The loader's job, which is begun by this; NULL when out of memory. */
struct loader_image *again_begin(struct again *again, uint32_t key, uint64_t now_ns);

/* At least how long between two looks, ns; tests make it 0. */
extern uint64_t again_pause_ns;

/* It is done.  True where its table is to replace the one that there is. */
bool again_end(struct again *again, struct loader_image *answer, const struct symtab *table,
	uint64_t now_ns);

#endif
