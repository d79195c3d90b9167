/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lines_fixture.h - source lines of the samples' program (samples_fixture.h), and texts of rows by
 * line.
 */
#ifndef TESTS_LINES_FIXTURE_H
#define TESTS_LINES_FIXTURE_H

#include "tests/unit/samples_fixture.h"

/* Some offsets of the program have lines, and some of these are in an inlined function. */
#define LINES (FIXTURE_FUNCTIONS * 2)

static const struct symbols_frame line_frames[][2] = {
	{{"f", "/src/a.c", 7, 0, false}},
	{{"f", "/src/b.c", 7, 0, false}},
	{{"inner", "/src/a.h", 3, 0, true}, {"f", "/src/a.c", 8, 0, false}},
	{{"f", "", 0, 0, false}},
};

static inline size_t line_kind(uint64_t offset)
{
	return offset / 8 % 5;
}

static inline void know_lines(struct fixture *fixture, struct fake_lines lines[LINES])
{
	size_t n = 0;

	for (uint64_t offset = 0; offset < (uint64_t)LINES * 8; offset += 8)
		if (line_kind(offset) < 4)
			lines[n++] = (struct fake_lines){fixture->program, offset,
				line_frames[line_kind(offset)], line_kind(offset) == 2 ? 2 : 1};
	fixture->symbols.lines = lines;
	fixture->symbols.n_lines = n;
	fixture->symbols.lines_known = true;
}

static inline const char *tell_line(
	const struct fixture *fixture, uint32_t frame, const struct symref *name)
{
	static const char *const told[] = {"/src/a.c:7", "/src/b.c:7", "/src/a.h:3"};
	static char text[256];

	if (frame != FRAME_NONE && fixture->symbols.lines_known) {
		const struct frame *at = stacks_frame_get(fixture->stacks, frame);

		if (at->image == fixture->program && line_kind(at->offset) < 3)
			return told[line_kind(at->offset)];
	}
	snprintf(text, sizeof(text), "%s (%s)", name->symbol, name->image);
	return text;
}

#endif
