/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * marks.h - moments of the history that the strip of activity marks: the newest of them.  Plain data; UI thread.
 */
#ifndef TUI_MARKS_H
#define TUI_MARKS_H

#include "sampler/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARKS_KEPT 128
#define MARKS_APART_NS 1000000000ull /* of one kind, at least */

/* The later ones hide the others where they meet. */
enum mark_kind { MARK_THREADS, MARK_DETACHED, MARK_ATTACHED, MARK_EXEC, MARK_THROTTLED, MARK_LOST };

struct mark {
	uint64_t time_ns;
	enum mark_kind kind;
};

/* All zeros is one without any. */
struct marks {
	struct mark of[MARKS_KEPT]; /* a ring */
	size_t n; /* ever added */
	uint32_t threads; /* at the last look */
};

void marks_add(struct marks *marks, uint64_t time_ns, enum mark_kind kind);

/* What a note tells of, if it is to be marked. */
void marks_note(struct marks *marks, const struct engine_note *note);

/* New threads are known by their number: there are more than at the last look. */
void marks_threads(struct marks *marks, uint64_t now_ns, uint32_t threads);

#endif
