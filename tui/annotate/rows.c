/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows.c - the rows of an annotation with instructions, or with sampled addresses if there
 * is no code.
 *
 * Mixed mode places lines like objdump -S: before an instruction of another line, together with the
 * lines that lead up to it.  Inlined functions begin with a head, after the line that calls them.
 * UI thread.
 */
#include "tui/annotate/private.h"

#include "symbols/wire/codetab.h"
#include "tui/base/clean.h"
#include "tui/base/grow.h"

#include <inttypes.h>
#include <stdio.h>

#define NAME_BYTES 4096
#define LEAD_FIRST 12 /* most lines shown between a function's declaration and its first code */
#define LEAD 6 /* most lines shown before any other line with code */

/* State of the rows built so far. */
struct place {
	struct annotation *annotation;
	const struct codetab_frame *frames; /* frames of the previous entry; NULL if none */
	unsigned int n_frames;
	uint32_t file, line; /* position of the last line row */
	unsigned int depth;
	uint32_t row; /* the last line row, or ANNOTATE_NO_ROW */
};

struct annotate_row *annotate_add_row(struct annotation *annotation, enum annotate_kind kind)
{
	struct annotate_row *row;

	if (grow_room((void **)&annotation->rows, annotation->n_rows, &annotation->rows_room,
		    sizeof(*annotation->rows)))
		return NULL;
	row = &annotation->rows[annotation->n_rows++];
	*row = (struct annotate_row){.kind = kind,
		.text = "",
		.file = "",
		.target_text = "",
		.target_offset = CODETAB_NO_TARGET,
		.weight = annotate_zeros,
		.samples = annotate_zeros};
	return row;
}

/* Returns a cleaned copy of outside text.  Clean text is returned as it is, since it lives as long
 * as the rows. */
static const char *clean_copy(struct annotation *annotation, const char *raw)
{
	char clean[NAME_BYTES];
	const char *at = raw;

	while (*at >= 0x20 && *at < 0x7f)
		at++;
	return *at ? intern_text(&annotation->texts, clean_string(clean, sizeof(clean), raw)) : raw;
}

const char *annotate_name(struct annotation *annotation, const char *raw)
{
	const char *pretty = symbols_pretty(annotation->question.symbols, raw);
	uint32_t ignored;

	if (pretty == raw && *raw == '_' &&
		intern_id(&annotation->ugly_keys, &raw, sizeof(raw), &ignored))
		return NULL;
	return clean_copy(annotation, pretty);
}

int annotate_add_line(
	struct annotation *annotation, uint32_t file, uint32_t line, unsigned int depth)
{
	struct annotate_row *row = annotate_add_row(annotation, ANNOTATE_ROW_LINE);
	const char *text;
	int error = 0;

	if (!row)
		return -ENOMEM;
	row->line = line;
	row->depth = (uint8_t)depth;
	row->file = annotation->files[file].clean;
	text = annotate_line_text(annotation, file, line, &error);
	row->has_text = text != NULL;
	if (text)
		row->text = text;
	return error;
}

int annotate_add_function(
	struct annotation *annotation, const struct codetab_frame *frame, unsigned int depth)
{
	struct annotate_row *row = annotate_add_row(annotation, ANNOTATE_ROW_FUNCTION);
	const char *text;
	uint32_t file;

	if (!row || annotate_file_of(annotation, frame, &file))
		return -ENOMEM;
	text = depth ? annotate_name(annotation, annotation->table->pool + frame->function)
		     : clean_copy(annotation,
			       names_get(annotation->question.names, annotation->question.symref)
				       ->symbol);
	/* The names may replace the string of names_get(), so keep a copy. */
	if (text && !depth)
		text = intern_text(&annotation->texts, text);
	if (!text)
		return -ENOMEM;
	row->text = *text ? text : "[unknown]";
	row->depth = (uint8_t)depth;
	/* While inlined functions are unknown, the line's file may be another function's. */
	if (!annotation->is_partial)
		row->file = annotation->files[file].clean;
	row->line = frame->decl_line;
	return 0;
}

/* --- source lines among instructions --- */

static int put_line(struct place *place, uint32_t file, uint32_t line, unsigned int depth)
{
	place->file = file;
	place->line = line;
	place->depth = depth;
	place->row = place->annotation->n_rows;
	return annotate_add_line(place->annotation, file, line, depth);
}

static bool has_text(const struct annotation *annotation, uint32_t file, uint32_t line)
{
	const struct annotate_file *from = &annotation->files[file];

	return from->state == ANNOTATE_READ && line && line <= from->n_lines;
}

/* Adds a line after the lines that lead up to it and were not shown yet. */
static int put_lines(struct place *place, const struct codetab_frame *frame, unsigned int depth)
{
	struct annotation *annotation = place->annotation;
	struct annotate_function *function;
	uint32_t file, number, line = frame->line, from = line;
	int ret = annotate_file_of(annotation, frame, &file);

	if (!ret)
		ret = annotate_function_of(annotation, frame, &number);
	if (ret || !line)
		return ret;
	function = &annotation->functions[number];
	if (function->file == file) {
		uint32_t shown = function->shown, first = function->decl_line;

		if (shown && line > shown && line - shown <= LEAD)
			from = shown + 1;
		else if (!shown && first && line > first && line - first <= LEAD_FIRST)
			from = first;
		if (line > shown)
			function->shown = line;
	}
	for (; from < line && !ret; from++)
		if (has_text(annotation, file, from))
			ret = annotate_add_line(annotation, file, from, depth);
	return ret ? ret : put_line(place, file, line, depth);
}

/* Frames by level: 0 is the function itself. */
static const struct codetab_frame *level(
	const struct codetab_frame *frames, unsigned int n, unsigned int at)
{
	return &frames[n - 1 - at];
}

/* Counts the levels that two instructions share: same functions, called from the same places. */
static unsigned int common_levels(
	const struct place *place, const struct codetab_frame *frames, unsigned int n)
{
	unsigned int at = 0;

	for (; at < n && at < place->n_frames; at++) {
		const struct codetab_frame *a = level(place->frames, place->n_frames, at);
		const struct codetab_frame *b = level(frames, n, at);
		const struct codetab_frame *from_a, *from_b;

		if (a->function != b->function)
			break;
		if (!at)
			continue;
		from_a = level(place->frames, place->n_frames, at - 1);
		from_b = level(frames, n, at - 1);
		if (from_a->line != from_b->line || from_a->column != from_b->column ||
			from_a->file != from_b->file)
			break;
	}
	return at;
}

static bool is_above(const struct place *place, uint32_t file, uint32_t line, unsigned int depth)
{
	return place->row != ANNOTATE_NO_ROW && place->file == file && place->line == line &&
		place->depth == depth;
}

/* Adds the line that calls an inlined function, unless it is the row above. */
static int put_call(struct place *place, const struct codetab_frame *caller, unsigned int depth)
{
	uint32_t file;
	int ret = annotate_file_of(place->annotation, caller, &file);

	return ret || is_above(place, file, caller->line, depth) ? ret
								 : put_lines(place, caller, depth);
}

/* Adds heads for the functions entered, each after the line that calls it; or for the function
 * returned to. */
static int put_heads(struct place *place, const struct codetab_frame *frames, unsigned int n)
{
	unsigned int common = common_levels(place, frames, n);
	int ret = 0;

	if (common == n && n == place->n_frames)
		return 0;
	for (unsigned int at = common < n ? common : n - 1; at < n && !ret; at++) {
		if (at && common < n)
			ret = put_call(place, level(frames, n, at - 1), at - 1);
		if (!ret)
			ret = annotate_add_function(place->annotation, level(frames, n, at), at);
		place->row = ANNOTATE_NO_ROW;
	}
	return ret;
}

/* Adds the heads and lines before an instruction. */
static int put_source(struct place *place, const struct codetab_entry *entry)
{
	const struct codetab_frame *frames = place->annotation->table->frames + entry->frames;
	unsigned int n = entry->n_frames;
	uint32_t file;
	int ret;

	if (!n || (frames == place->frames && n == place->n_frames))
		return 0;
	ret = put_heads(place, frames, n);
	place->frames = frames;
	place->n_frames = n;
	if (!ret)
		ret = annotate_file_of(place->annotation, &frames[0], &file);
	if (ret || is_above(place, file, frames[0].line, n - 1))
		return ret;
	return put_lines(place, &frames[0], n - 1);
}

/* --- instructions --- */

/* "loop+0x12" */
static const char *symbol_and(struct annotation *annotation, const char *symbol, uint64_t distance)
{
	char text[NAME_BYTES + 32];

	if (!distance)
		return clean_copy(annotation, symbol);
	snprintf(text, sizeof(text), "%.*s+0x%" PRIx64, NAME_BYTES, symbol, distance);
	return intern_text(&annotation->texts, text);
}

static const char *name_target(struct annotation *annotation, uint64_t target)
{
	const struct annotate_question *question = &annotation->question;
	const struct symref *own = names_get(question->names, question->symref);
	struct symbol symbol;
	const char *name;
	char text[64];

	if (own->resolved && annotate_covers(annotation, target)) {
		/* interned, since names may replace it later */
		name = intern_text(&annotation->texts, own->symbol);
		return name ? symbol_and(annotation, name, target - annotation->start) : NULL;
	}
	if (symbols_find(question->symbols, annotation->image, target, &symbol) && *symbol.name) {
		name = annotate_name(annotation, symbol.name);
		return name ? symbol_and(annotation, name, target - symbol.start) : NULL;
	}
	snprintf(text, sizeof(text), "0x%" PRIx64, target + annotation->table->bias);
	return intern_text(&annotation->texts, text);
}

static int put_code(struct annotation *annotation, const struct codetab_entry *entry)
{
	struct annotate_row *row = annotate_add_row(annotation, ANNOTATE_ROW_CODE);

	if (!row)
		return -ENOMEM;
	row->offset = entry->start;
	row->address = entry->start + annotation->table->bias;
	row->len = entry->len;
	row->code_kind = entry->kind;
	row->depth = (uint8_t)(entry->n_frames ? entry->n_frames - 1 : 0);
	row->target_offset = entry->target;
	row->text = clean_copy(annotation, annotation->table->pool + entry->text);
	if (entry->n_frames) {
		const struct codetab_frame *frame = annotation->table->frames + entry->frames;
		uint32_t file;

		if (annotate_file_of(annotation, frame, &file))
			return -ENOMEM;
		row->file = annotation->files[file].clean;
		row->line = frame->line;
	}
	if (entry->target != CODETAB_NO_TARGET)
		row->target_text = name_target(annotation, entry->target);
	return row->text && row->target_text ? 0 : -ENOMEM;
}

/* Sets the target rows of jumps, once all rows exist. */
static void link_jumps(struct annotation *annotation)
{
	const struct codetab *table = annotation->table;

	for (uint32_t i = 0; i < annotation->n_rows; i++) {
		struct annotate_row *row = &annotation->rows[i];
		int64_t entry;
		uint32_t to;

		if (row->kind != ANNOTATE_ROW_CODE ||
			!annotate_covers(annotation, row->target_offset))
			continue;
		entry = codetab_find(table, row->target_offset);
		if (entry < 0 || table->entries[entry].start != row->target_offset)
			continue;
		to = annotation->by_entry[entry].at;
		if (to == ANNOTATE_NO_ROW)
			continue;
		row->target_row = to + 1;
		annotation->rows[to].is_target = true;
	}
}

static int build_code(struct annotation *annotation)
{
	const struct codetab *table = annotation->table;
	bool mixed = annotation->mode == ANNOTATE_MIXED;
	struct place place = {.annotation = annotation, .row = ANNOTATE_NO_ROW};
	int ret = 0;

	for (uint32_t i = 0; i < annotation->function_keys.n; i++)
		annotation->functions[i].shown = 0;
	for (uint32_t i = 0; i < table->n_entries && !ret; i++) {
		const struct codetab_entry *entry = &table->entries[i];

		if (!annotate_covers(annotation, entry->start))
			continue;
		if (mixed)
			ret = put_source(&place, entry);
		annotation->by_entry[i] = (struct annotate_places){annotation->n_rows, place.row};
		if (!ret)
			ret = put_code(annotation, entry);
	}
	if (!ret)
		link_jumps(annotation);
	return ret;
}

/* --- addresses --- */

static int compare_rows(const void *a, const void *b)
{
	const struct annotate_row *left = a, *right = b;

	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static int build_addresses(struct annotation *annotation)
{
	for (uint32_t i = 0; i < annotation->offsets.n; i++) {
		struct annotate_row *row = annotate_add_row(annotation, ANNOTATE_ROW_CODE);

		if (!row)
			return -ENOMEM;
		row->offset = annotate_offset(annotation, i);
		row->address = annotation->is_address ? row->offset : 0;
	}
	if (annotation->n_rows)
		qsort(annotation->rows, annotation->n_rows, sizeof(*annotation->rows),
			compare_rows);
	return 0;
}

int annotate_build(struct annotation *annotation)
{
	uint32_t n = annotation->table ? annotation->table->n_entries : 0;
	int ret;

	annotation->n_rows = 0;
	free(annotation->by_entry);
	annotation->by_entry = NULL;
	annotate_rows_changed(annotation);
	intern_fini(&annotation->ugly_keys);
	if (annotation->progress == ANNOTATE_WAITS)
		return 0;
	if (!annotation->table) {
		ret = build_addresses(annotation);
	} else {
		annotation->by_entry = malloc((n ? n : 1) * sizeof(*annotation->by_entry));
		if (!annotation->by_entry)
			return -ENOMEM;
		memset(annotation->by_entry, 0xff, n * sizeof(*annotation->by_entry));
		ret = annotation->mode == ANNOTATE_SOURCE && annotation->has_lines
			? annotate_build_lines(annotation)
			: build_code(annotation);
	}
	return ret ? ret : annotate_spread(annotation);
}
