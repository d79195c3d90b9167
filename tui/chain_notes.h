/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chain_notes.h - sentences on call chains that are not whole: where they break, and the remedy.
 *
 * UI thread.
 */
#ifndef TUI_CHAIN_NOTES_H
#define TUI_CHAIN_NOTES_H

#include "sampler/engine.h"
#include "symbols/symbols.h"
#include "tui/explain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

#define CHAIN_NOTES_IMAGES 3u /* are named at most */

/* An image that chains broke in. */
struct chain_break {
	uint64_t chains;
	double percent; /* of all chains */
	enum image_kind kind;
	const char *path; /* raw bytes */
	int32_t pid; /* a process that has it */
	enum symbols_state state; /* of its unwind table */
	int error; /* of SYMBOLS_UNREADABLE: positive errno */
	bool deleted; /* the file, while it was mapped */
	bool keeps_bp; /* it has frame pointers */
	bool is_32_bits; /* its code, for which there are no tables */
	bool is_go; /* Go's compiler made it */
	bool copied; /* stacks were copied, to be unwound by tables */
	bool ruleless; /* most chains broke in code that its table tells nothing of */
	bool lacks_register; /* most broke for want of one that samples do not have */
	const char *function; /* one of that code, cleaned, or NULL */
	bool more_functions;
	bool recorded; /* by a recording */
};

/* Writes one cleaned sentence.  Returns false, with out empty, if nothing is known. */
bool chain_notes_explain(const struct chain_break *where, char *out, size_t size);

/* Chains that end before the root, though all data for them is there. */
struct chain_ends {
	enum unwind_end end; /* UNWIND_CUT, UNWIND_AWAY or UNWIND_DEEP */
	uint64_t chains;
	double percent; /* of all chains */
	uint32_t copied; /* bytes of each stack now; 0: none */
	uint32_t first; /* before that size adapted; 0: it did not */
	bool recorded;
};

void chain_notes_explain_end(const struct chain_ends *ends, char *out, size_t size);

/* A cleaned sentence on chains of an event that copies no stacks, though others do. */
void chain_notes_explain_hits(const struct engine_event_status *event, char *out, size_t size);

/* The notes that were given already; all zeros before the first. */
struct chain_notes {
	bool waits; /* for names of functions */
	uint32_t images[CHAIN_NOTES_IMAGES];
	unsigned int n;
	unsigned int told; /* a bit for each other cause */
};

/* While samples come: whether enough is known. */
bool chain_notes_due(const struct session *session, const struct engine_status *status);

/* Sees a cleaned sentence.  Returns 0, or another value that ends the notes. */
typedef int chain_notes_fn(void *ctx, enum explain_level level, const char *sentence);

/* Pass what has not been told yet to add, the most frequent cause first.  What only few chains have
 * is not told, unless it is the largest cause of what an event shows.  Returns 0, or what add
 * returned. */
int chain_notes_add(struct chain_notes *notes, const struct session *session,
	const struct engine_status *status, chain_notes_fn *add, void *ctx);

#endif
