/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * line_text.c - see line_text.h.
 */
#include "tui/query/line_text.h"

#include "tui/base/clean.h"

#include <inttypes.h>
#include <stdio.h>

struct names_line line_of(struct names *names, uint32_t frame)
{
	struct names_line lines[NAMES_INLINED_MAX + 1], line = {.file = ""};

	if (frame == FRAME_NONE)
		return line;
	line.symref = names_symref(names, frame);
	(void)names_lines(names, frame, lines);
	if (lines[0].line && *lines[0].file) {
		line.line = lines[0].line;
		line.file = lines[0].file;
	}
	return line;
}

void line_text(struct names *names, const struct names_line *line, char out[LINE_TEXT_MAX])
{
	const struct symref *symbol;
	char clean[400];

	if (line->line) {
		snprintf(out, LINE_TEXT_MAX, "%s:%" PRIu32,
			clean_string(clean, sizeof(clean), line->file), line->line);
		return;
	}
	symbol = names_get(names, line->symref);
	snprintf(out, LINE_TEXT_MAX, "%.300s (%.200s)", symbol->symbol, symbol->image);
}
