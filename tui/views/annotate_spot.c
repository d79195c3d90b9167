/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_spot.c - finds the same place of a function again when its rows change.  Pure functions
 * of rows.
 */
#include "tui/views/annotate_view.h"

#include <string.h>

/* Returns the nearest line with a number at or above a row; SIZE_MAX if none. */
size_t annotate_line_above(const struct annotate_row *rows, size_t at)
{
	for (size_t i = at + 1; i-- > 0;) {
		if (rows[i].kind == ANNOTATE_ROW_LINE && rows[i].line)
			return i;
	}
	return SIZE_MAX;
}

/* A row of a line may leave its file to a head above it. */
const char *annotate_file_at(const struct annotate_row *rows, size_t at)
{
	for (size_t i = at + 1; i-- > 0;) {
		if (rows[i].file[0])
			return rows[i].file;
	}
	return "";
}

struct annotate_spot annotate_spot_of(const struct annotate_row *rows, size_t n, size_t at)
{
	struct annotate_spot spot = {.file = ""};
	size_t line;

	if (at >= n)
		return spot;
	spot.on_line = rows[at].kind != ANNOTATE_ROW_CODE;
	for (size_t i = at; i < n && !spot.has_offset; i++) {
		spot.has_offset = rows[i].kind == ANNOTATE_ROW_CODE;
		spot.offset = rows[i].offset;
	}
	line = annotate_line_above(rows, at);
	if (line != SIZE_MAX) {
		spot.has_line = true;
		spot.line = rows[line].line;
		spot.file = annotate_file_at(rows, line);
	}
	return spot;
}

size_t annotate_row_of_offset(const struct annotate_row *rows, size_t n, uint64_t offset)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].kind == ANNOTATE_ROW_CODE && rows[i].offset <= offset &&
			offset - rows[i].offset < (rows[i].len ? rows[i].len : 1))
			return i;
	}
	return SIZE_MAX;
}

/* Returns the row of a line of a file, or else of the next line that has a row.  file "": any file.
 * SIZE_MAX if none. */
size_t annotate_row_of_line(
	const struct annotate_row *rows, size_t n, const char *file, uint32_t line)
{
	size_t best = SIZE_MAX;
	const char *current = "";

	for (size_t i = 0; i < n; i++) {
		if (rows[i].file[0])
			current = rows[i].file;
		if (rows[i].kind != ANNOTATE_ROW_LINE || rows[i].line < line ||
			(file[0] && strcmp(current, file) != 0))
			continue;
		if (best == SIZE_MAX || rows[i].line < rows[best].line)
			best = i;
	}
	return best;
}

size_t annotate_row_of_spot(
	const struct annotate_row *rows, size_t n, const struct annotate_spot *spot)
{
	size_t at = SIZE_MAX;

	/* With both, the kind of row that the cursor was on is tried first. */
	if (spot->has_offset && !spot->on_line)
		at = annotate_row_of_offset(rows, n, spot->offset);
	if (at == SIZE_MAX && spot->has_line)
		at = annotate_row_of_line(rows, n, spot->file, spot->line);
	if (at == SIZE_MAX && spot->has_offset)
		at = annotate_row_of_offset(rows, n, spot->offset);
	return at;
}
