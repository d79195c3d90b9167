/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * marks.h - the newest moments to mark on the activity strip.  Plain data; UI thread.
 */
#ifndef TUI_MODEL_MARKS_H
#define TUI_MODEL_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_note;

#define MARKS_KEPT 128
#define MARKS_APART_NS 1000000000ull /* smallest distance between marks of one kind */

/* In order of importance: if marks coincide, the last kind is shown. */
enum mark_kind { MARK_THREADS, MARK_DETACHED, MARK_ATTACHED, MARK_EXEC, MARK_THROTTLED, MARK_LOST };

struct mark {
	uint64_t time_ns;
	enum mark_kind kind;
};

/* Zero-initialized: empty. */
struct marks {
	struct mark of[MARKS_KEPT]; /* ring */
	size_t n; /* number of marks ever added */
	uint32_t threads; /* at the last call of marks_threads() */
};

void marks_add(struct marks *marks, uint64_t time_ns, enum mark_kind kind);

/* Adds a mark for a note, if notes of its kind are marked. */
void marks_note(struct marks *marks, const struct engine_note *note);

/* Adds a mark if the number of threads has grown since the last call. */
void marks_threads(struct marks *marks, uint64_t now_ns, uint32_t threads);

#endif
