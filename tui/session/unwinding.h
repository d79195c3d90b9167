/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwinding.h - answers the sampler's unwinder with unwind tables of symbols/.
 *
 * The session's thread makes it; the sampling thread or the loading thread of a recording asks.
 */
#ifndef TUI_SESSION_UNWINDING_H
#define TUI_SESSION_UNWINDING_H

#include "sampler/store/images.h"
#include "sampler/store/unwind.h"
#include "symbols/client/symbols.h"

#include <stdbool.h>

struct unwinding;

/* Creates an unwinding.  waits: questions wait for an answer, which suits recordings; else the
 * answer may be UNWIND_PENDING.  Returns 0 or -ENOMEM. */
int unwinding_new(struct unwinding **out, bool waits);
/* Frees it, after the asking thread has ended; NULL is a no-op. */
void unwinding_free(struct unwinding *unwinding);

/* Returns the interface for the asking thread. */
struct unwind_source unwinding_source(struct unwinding *unwinding);

/* Call before the first question.  Borrows both. */
void unwinding_begin(struct unwinding *unwinding, struct symbols *symbols, struct images *images);

/* Ends all waits; any thread.  NULL is a no-op. */
void unwinding_stop(struct unwinding *unwinding);

#endif
