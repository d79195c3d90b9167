/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * marks.c - see marks.h.
 */
#include "tui/model/marks.h"
#include "sampler/control/note.h"

void marks_add(struct marks *marks, uint64_t time_ns, enum mark_kind kind)
{
	size_t kept = marks->n < MARKS_KEPT ? marks->n : MARKS_KEPT;

	for (size_t i = 1; i <= kept; i++) {
		const struct mark *mark = &marks->of[(marks->n - i) % MARKS_KEPT];

		if (mark->kind != kind)
			continue;
		if (time_ns >= mark->time_ns && time_ns - mark->time_ns < MARKS_APART_NS)
			return;
		break;
	}
	marks->of[marks->n++ % MARKS_KEPT] = (struct mark){time_ns, kind};
}

void marks_note(struct marks *marks, const struct engine_note *note)
{
	switch (note->kind) {
	case NOTE_ATTACHED:
		marks_add(marks, note->time_ns, MARK_ATTACHED);
		break;
	case NOTE_DETACHED:
	case NOTE_TARGET_EXITED:
		marks_add(marks, note->time_ns, MARK_DETACHED);
		break;
	case NOTE_TARGET_EXEC:
		marks_add(marks, note->time_ns, MARK_EXEC);
		break;
	case NOTE_THROTTLED:
		marks_add(marks, note->time_ns, MARK_THROTTLED);
		break;
	case NOTE_LOST:
		marks_add(marks, note->time_ns, MARK_LOST);
		break;
	default:
		break;
	}
}

void marks_threads(struct marks *marks, uint64_t now_ns, uint32_t threads)
{
	/* The first count includes threads that existed before. */
	if (marks->threads && threads > marks->threads)
		marks_add(marks, now_ns, MARK_THREADS);
	marks->threads = threads;
}
