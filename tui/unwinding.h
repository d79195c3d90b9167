/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwinding.h - what the sampler's unwinder asks, answered by unwind tables of symbols/.
 *
 * Made by the session's thread; asked by the sampling thread, or by the one that loads a recording.
 */
#ifndef TUI_UNWINDING_H
#define TUI_UNWINDING_H

#include "sampler/images.h"
#include "sampler/unwind.h"
#include "symbols/symbols.h"

#include <stdbool.h>

struct unwinding;

/* waits: an answer that is not known yet is waited for, as a recording can; else UNWIND_PENDING is
 * the answer.  0 or
 * -ENOMEM. */
int unwinding_new(struct unwinding **out, bool waits);
void unwinding_free(struct unwinding *unwinding); /* when nobody asks any more; NULL is a no-op */

/* For whoever asks. */
struct unwind_source unwinding_source(struct unwinding *unwinding);

/* Before the first question.  Both are borrowed. */
void unwinding_begin(struct unwinding *unwinding, struct symbols *symbols, struct images *images);

/* Any thread: nothing is waited for any more.  NULL is a no-op. */
void unwinding_stop(struct unwinding *unwinding);

#endif
