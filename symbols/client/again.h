/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * again.h - images with changing symbols: JIT code and the running kernel.
 *
 * Decides when the loader must read an image's symbols again: while its addresses are asked for.
 * JIT code is also read again without a request, since other code may have taken its place.  Keeps
 * the names that were returned, so that a newer table can replace the older one.  Runs in the
 * thread of symbols.h.
 */
#ifndef SYMBOLS_CLIENT_AGAIN_H
#define SYMBOLS_CLIENT_AGAIN_H

#include "symbols/client/keptnames.h"
#include "symbols/client/symbols.h"
#include "symbols/loader/loader.h"

#include <stdbool.h>
#include <stdint.h>

struct again {
	struct symbols_source source; /* owns its strings */
	struct keptnames names;
	struct loader_jit jit; /* source of the current table */
	bool wanted; /* an address was asked for since the last look */
	bool unresolved; /* an address asked for has no name */
	bool looking; /* a look is under way in the loader */
	bool tried; /* the first look has ended */
	bool over; /* no further look is useful */
	bool idle; /* no address had been asked for before the last look */
	uint64_t asked_ns, due_ns, pause_ns;
	uint64_t idle_ns, idle_pause_ns; /* next look without a request, and the pause before it */
};

/* Creates the state of one image, with a copy of `source`.  Returns 0, or -ENOMEM and *out = NULL.
 * The caller releases it with again_free(). */
int again_new(struct again **out, const struct symbols_source *source);
void again_free(struct again *again); /* NULL is a no-op */

/* Records the jitdump of `source` if none was known before.  Returns 0 or -ENOMEM. */
int again_learn(struct again *again, const struct symbols_source *source);

/* Gives a symbol just found a name and an index that stay valid when the table is replaced.  In JIT
 * code all pieces of one name are one symbol, at any address.  Returns false if memory runs out. */
bool again_keep(struct again *again, struct symbol *symbol);
void again_missed(struct again *again);

/* Returns true if it is time to look.  final_ns: start of a wait for the final names, or 0.  JIT
 * code gets one look after that time. */
bool again_is_due(const struct again *again, uint64_t now_ns, uint64_t final_ns);

/* Begins a look: returns a job for the loader, or NULL if memory runs out. */
struct loader_image *again_begin(struct again *again, uint32_t key, uint64_t now_ns);

/* minimum time between two looks, ns; tests set it to 0 */
extern uint64_t again_pause_ns;

/* Ends a look and takes over answer->jit.  `table` is the current one.  Returns true if the
 * answer's table must replace it. */
bool again_end(struct again *again, struct loader_image *answer, const struct symtab *table,
	uint64_t now_ns);

#endif
