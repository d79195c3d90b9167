/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chain_notes.h - notes on incomplete call chains: the places at which they break, and the remedy.
 *
 * UI thread.
 */
#ifndef TUI_SESSION_CHAIN_NOTES_H
#define TUI_SESSION_CHAIN_NOTES_H

#include "sampler/store/unwind.h"
#include "symbols/client/symbols.h"
#include "tui/explain/explain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_event_status;
struct engine_status;
struct session;

#define CHAIN_NOTES_IMAGES 3u /* most images to report */

/* An image in which chains break. */
struct chain_break {
	uint64_t chains;
	double percent; /* share of all chains */
	enum image_kind kind;
	const char *path; /* raw bytes */
	int32_t pid; /* a process that maps the image */
	enum symbols_state state; /* state of its unwind table */
	int error; /* positive errno with SYMBOLS_UNREADABLE */
	bool deleted; /* the file was deleted while it was mapped */
	bool keeps_bp; /* its code has frame pointers */
	bool is_32_bits; /* 32-bit code, which has no tables */
	bool is_go; /* compiled by Go */
	bool copied; /* stacks were copied, for unwinding by tables */
	bool ruleless; /* most chains broke in code that its table does not cover */
	bool lacks_register; /* most broke because a register is missing in the samples */
	const char *function; /* cleaned name of a function in that code; NULL if none */
	bool more_functions;
	bool recorded; /* the profile is a recording */
};

/* Writes one cleaned sentence.  Returns false, with out empty, if nothing is known. */
bool chain_notes_explain(const struct chain_break *where, char *out, size_t size);

/* Chains that end before the root although all data for them is available. */
struct chain_ends {
	enum unwind_end end; /* UNWIND_CUT, UNWIND_AWAY or UNWIND_DEEP */
	uint64_t chains;
	double percent; /* share of all chains */
	uint32_t copied; /* present size of a stack copy in bytes; 0: none */
	uint32_t first; /* its size before it adapted; 0: it did not */
	bool recorded;
};

void chain_notes_explain_end(const struct chain_ends *ends, char *out, size_t size);

/* Writes a cleaned sentence on the chains of an event without stack copies, while other events have
 * them. */
void chain_notes_explain_hits(const struct engine_event_status *event, char *out, size_t size);

/* The notes given so far; zero-initialized. */
struct chain_notes {
	bool waits; /* wait for names of functions */
	uint32_t images[CHAIN_NOTES_IMAGES];
	unsigned int n;
	unsigned int told; /* one bit for each other cause that was reported */
};

/* Returns true if enough is known for notes while sampling. */
bool chain_notes_due(const struct session *session, const struct engine_status *status);

/* Takes a cleaned sentence.  Returns 0, or another value to stop the notes. */
typedef int chain_notes_fn(void *ctx, enum explain_level level, const char *sentence);

/* Passes new notes to add, the most frequent cause first.  A cause of few chains is skipped, unless
 * it is the largest cause of an event's incomplete chains.  Returns 0, or the value of add. */
int chain_notes_add(struct chain_notes *notes, const struct session *session,
	const struct engine_status *status, chain_notes_fn *add, void *ctx);

#endif
