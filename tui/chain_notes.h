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
	bool recorded; /* by a recording */
};

/* Writes one cleaned sentence.  Returns false, with out empty, if no remedy is known. */
bool chain_notes_explain(const struct chain_break *where, char *out, size_t size);

/* A sentence on chains that ended so, UNWIND_CUT, UNWIND_AWAY or UNWIND_DEEP.  copied: bytes that were
 * asked for of each stack.  False, with out empty, if these are few. */
bool chain_notes_explain_end(enum unwind_end end, const struct unwind_ends *ends, uint32_t copied,
	char *out, size_t size);

/* A sentence on chains of an event that copies no stacks, though others do.  False, with out empty, if few break. */
bool chain_notes_explain_hits(const struct engine_event_status *event, char *out, size_t size);

/* The notes that were given already; all zeros before the first. */
struct chain_notes {
	uint32_t images[CHAIN_NOTES_IMAGES];
	unsigned int n;
	unsigned int ends; /* a bit for each enum unwind_end */
	bool hits, late, dropped, unread;
};

/* Sees a cleaned sentence.  Returns 0, or another value that ends the notes. */
typedef int chain_notes_fn(void *ctx, enum explain_level level, const char *sentence);

/* Pass what has not been told yet to add.  Returns 0, or what add returned. */
int chain_notes_add(struct chain_notes *notes, const struct session *session,
	const struct engine_status *status, chain_notes_fn *add, void *ctx);

#endif
