/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lines.c - the rows of an annotation in source mode.
 *
 * The function's own lines come first, from first to last, then those inlined into it, by file. A
 * *span* is the range of lines that one function has in one file.  Spans of a file are sorted, and
 * a line of several spans is shown once.  UI thread.
 */
#include "tui/annotate/private.h"

#include "tui/base/grow.h"

#define LEAD_FIRST 50 /* a declaration further before the first code is not believed */
#define GAP 100 /* longer runs of lines without code are cut in the middle */
#define LEAD 3 /* lines kept at each end of such a run */

struct span {
	uint32_t file, first, last; /* first and last: lines */
	const struct codetab_frame *frame; /* a frame of the span's function */
	bool own; /* belongs to the annotated function; sorted first */
	bool is_main; /* in the file that the function begins in */
};

/* A line with code, and its row. */
struct coded {
	uint32_t file, line;
	uint32_t row;
};

struct lines {
	struct annotation *annotation;
	struct intern span_keys, line_keys;
	struct span *spans;
	uint32_t n_spans, spans_room;
	struct coded *coded;
	uint32_t n_coded, coded_room;
	uint32_t *order; /* indices into coded, sorted by file and line */
	uint32_t *ranks; /* display order of the files */
};

static int add_span(struct lines *lines, const struct codetab_frame *frame, bool own)
{
	uint32_t key[2] = {frame->function}, number, file, function;
	struct span *span;

	if (!frame->line)
		return 0;
	if (annotate_file_of(lines->annotation, frame, &file) ||
		annotate_function_of(lines->annotation, frame, &function))
		return -ENOMEM;
	key[1] = file;
	if (intern_id(&lines->span_keys, key, sizeof(key), &number) ||
		grow_room((void **)&lines->spans, number, &lines->spans_room, sizeof(*span)))
		return -ENOMEM;
	span = &lines->spans[number];
	if (number == lines->n_spans) {
		*span = (struct span){file, frame->line, frame->line, frame, own,
			lines->annotation->functions[function].file == file};
		lines->n_spans++;
		if (span->is_main && frame->decl_line && frame->decl_line < frame->line &&
			frame->line - frame->decl_line <= LEAD_FIRST)
			span->first = frame->decl_line;
	}
	if (frame->line < span->first)
		span->first = frame->line;
	if (frame->line > span->last)
		span->last = frame->line;
	span->own |= own;
	return 0;
}

static int add_coded(struct lines *lines, const struct codetab_frame *frame, uint32_t *number)
{
	uint32_t key[2] = {0, frame->line};
	int ret = annotate_file_of(lines->annotation, frame, &key[0]);

	if (!ret)
		ret = intern_id(&lines->line_keys, key, sizeof(key), number);
	if (ret || *number < lines->n_coded)
		return ret;
	if (grow_room((void **)&lines->coded, *number, &lines->coded_room, sizeof(*lines->coded)))
		return -ENOMEM;
	lines->coded[lines->n_coded++] = (struct coded){key[0], frame->line, ANNOTATE_NO_ROW};
	return 0;
}

/* Code that the compiler moved out of an inlined function seems to belong to the outer function,
 * but its lines are before that function's declaration.  They are cut off its span. */
static void believe_beginnings(struct lines *lines)
{
	for (uint32_t i = 0; i < lines->n_spans; i++) {
		struct span *span = &lines->spans[i];
		uint32_t first = span->frame->decl_line;

		if (span->is_main && first > span->first && first <= span->last)
			span->first = first;
	}
}

/* Collects spans and lines with code.  by_entry[].at holds indices into coded until rows exist. */
static int gather(struct lines *lines)
{
	struct annotation *annotation = lines->annotation;
	const struct codetab *table = annotation->table;
	const struct codetab_frame *before = NULL;
	uint32_t number = ANNOTATE_NO_ROW;
	int ret = 0;

	for (uint32_t i = 0; i < table->n_entries && !ret; i++) {
		const struct codetab_entry *entry = &table->entries[i];
		const struct codetab_frame *frames = table->frames + entry->frames;

		if (!entry->n_frames || !annotate_covers(annotation, entry->start))
			continue;
		if (frames != before) {
			for (unsigned int j = entry->n_frames; j-- && !ret;)
				ret = add_span(lines, &frames[j], j + 1u == entry->n_frames);
			number = ANNOTATE_NO_ROW;
			if (!ret && frames[0].line)
				ret = add_coded(lines, &frames[0], &number);
			before = frames;
		}
		annotation->by_entry[i].at = number;
	}
	return ret;
}

static int compare_spans(const void *a, const void *b, void *ctx)
{
	const struct lines *lines = ctx;
	const struct span *left = a, *right = b;
	uint32_t left_rank = lines->ranks[left->file], right_rank = lines->ranks[right->file];

	if (left_rank != right_rank)
		return left_rank < right_rank ? -1 : 1;
	if (left->own != right->own)
		return left->own ? -1 : 1;
	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	if (left->last != right->last)
		return left->last > right->last ? -1 : 1;
	return left->frame < right->frame ? -1 : left->frame > right->frame;
}

static int compare_coded(const void *a, const void *b, void *ctx)
{
	const struct lines *lines = ctx;
	const struct coded *left = &lines->coded[*(const uint32_t *)a];
	const struct coded *right = &lines->coded[*(const uint32_t *)b];

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return left->line < right->line ? -1 : left->line > right->line;
}

/* Sorts for display: the function's own file first, the others in the order in which the code uses
 * them. */
static int put_in_order(struct lines *lines)
{
	uint32_t files = lines->annotation->file_keys.n, rank = 1;

	lines->ranks = calloc((size_t)files + 1, sizeof(*lines->ranks));
	lines->order = malloc((lines->n_coded + 1) * sizeof(*lines->order));
	if (!lines->ranks || !lines->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < lines->n_spans; i++)
		if (lines->spans[i].own && !lines->ranks[lines->spans[i].file])
			lines->ranks[lines->spans[i].file] = rank++;
	for (uint32_t i = 0; i < lines->n_spans; i++)
		if (!lines->ranks[lines->spans[i].file])
			lines->ranks[lines->spans[i].file] = rank++;
	for (uint32_t i = 0; i < lines->n_coded; i++)
		lines->order[i] = i;
	if (lines->n_spans)
		qsort_r(lines->spans, lines->n_spans, sizeof(*lines->spans), compare_spans, lines);
	qsort_r(lines->order, lines->n_coded, sizeof(*lines->order), compare_coded, lines);
	return 0;
}

/* Returns the index into order of the first line with code at or after (file, line). */
static uint32_t first_coded(const struct lines *lines, uint32_t file, uint32_t line)
{
	uint32_t low = 0, high = lines->n_coded;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		const struct coded *at = &lines->coded[lines->order[middle]];

		if (at->file < file || (at->file == file && at->line < line))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Adds the lines without code in [from, to). */
static int put_between(struct lines *lines, const struct span *span, uint32_t from, uint32_t to)
{
	const struct annotate_file *file = &lines->annotation->files[span->file];
	unsigned int depth = span->own ? 0 : 1;
	int ret = 0;

	if (file->state != ANNOTATE_READ)
		return 0;
	if (to - from > GAP) {
		ret = put_between(lines, span, from, from + LEAD);
		return ret ? ret : put_between(lines, span, to - LEAD, to);
	}
	for (; from < to && from <= file->n_lines && !ret; from++)
		ret = annotate_add_line(lines->annotation, span->file, from, depth);
	return ret;
}

/* Adds the lines from..last of a span. */
static int put_span(struct lines *lines, const struct span *span, uint32_t from, uint32_t last)
{
	struct annotation *annotation = lines->annotation;
	int ret = 0;

	for (uint32_t i = first_coded(lines, span->file, from); i < lines->n_coded && !ret; i++) {
		struct coded *at = &lines->coded[lines->order[i]];

		if (at->file != span->file || at->line > last)
			break;
		ret = put_between(lines, span, from, at->line);
		from = at->line + 1;
		if (ret || at->row != ANNOTATE_NO_ROW)
			continue;
		at->row = annotation->n_rows;
		ret = annotate_add_line(annotation, span->file, at->line, span->own ? 0 : 1);
	}
	/* The line of an inlined call has no code of its own. */
	if (!ret && from <= last)
		ret = put_between(lines, span, from, last + 1);
	return ret;
}

static int put_file(struct annotation *annotation, uint32_t file)
{
	struct annotate_row *row = annotate_add_row(annotation, ANNOTATE_ROW_FILE);

	if (!row)
		return -ENOMEM;
	row->file = row->text = annotation->files[file].clean;
	return 0;
}

/* Removes from an inlined span the lines that belong to the function's own span. */
static void cut_own(const struct span *own, uint32_t *first, uint32_t *last)
{
	if (*first < own->first) {
		if (*last >= own->first)
			*last = own->first - 1;
	} else if (*first <= own->last) {
		*first = own->last == UINT32_MAX ? own->last : own->last + 1;
	}
}

static int put_spans(struct lines *lines)
{
	const struct span *before = NULL, *own = NULL;
	uint32_t next = 0;
	int ret = 0;

	for (uint32_t i = 0; i < lines->n_spans && !ret; i++) {
		const struct span *span = &lines->spans[i];
		uint32_t first = span->first, last = span->last;

		if (i && lines->spans[i - 1].file != span->file) {
			ret = put_file(lines->annotation, span->file);
			before = own = NULL;
		}
		if (own && !span->own)
			cut_own(own, &first, &last);
		if (!before || before->own != span->own)
			next = 0;
		if (first < next)
			first = next;
		if (first > last || ret)
			continue;
		if (!before || before->own != span->own || before->first != span->first)
			ret = annotate_add_function(
				lines->annotation, span->frame, span->own ? 0 : 1);
		if (!ret)
			ret = put_span(lines, span, first, last);
		if (last >= next)
			next = last + 1;
		before = span;
		if (span->own)
			own = span;
	}
	return ret;
}

/* Adds lines with code that no span has shown, so that no sum is missing: functions of one symbol
 * can hide each other's lines. */
static int put_rest(struct lines *lines)
{
	uint32_t file = UINT32_MAX;
	int ret = 0;

	for (uint32_t i = 0; i < lines->n_coded && !ret; i++) {
		struct coded *at = &lines->coded[lines->order[i]];

		if (at->row != ANNOTATE_NO_ROW)
			continue;
		if (at->file != file)
			ret = put_file(lines->annotation, at->file);
		file = at->file;
		at->row = lines->annotation->n_rows;
		if (!ret)
			ret = annotate_add_line(lines->annotation, at->file, at->line, 1);
	}
	return ret;
}

/* Adds one row for all instructions without a line. */
static int put_lineless(struct lines *lines)
{
	struct annotation *annotation = lines->annotation;
	const struct codetab *table = annotation->table;
	uint32_t at = annotation->n_rows;
	struct annotate_row *row;

	for (uint32_t i = 0; i < table->n_entries; i++) {
		if (annotation->by_entry[i].at != ANNOTATE_NO_ROW ||
			!annotate_covers(annotation, table->entries[i].start))
			continue;
		if (at == annotation->n_rows) {
			row = annotate_add_row(annotation, ANNOTATE_ROW_LINE);
			if (!row)
				return -ENOMEM;
			row->text = "(no source line)";
			row->has_text = true;
		}
		annotation->by_entry[i].at = at;
	}
	return 0;
}

int annotate_build_lines(struct annotation *annotation)
{
	struct lines lines = {.annotation = annotation};
	uint32_t n = annotation->table->n_entries;
	int ret = gather(&lines);

	believe_beginnings(&lines);
	if (!ret)
		ret = put_in_order(&lines);
	if (!ret)
		ret = put_spans(&lines);
	if (!ret)
		ret = put_rest(&lines);
	for (uint32_t i = 0; i < n && !ret; i++) {
		struct annotate_places *places = &annotation->by_entry[i];

		if (places->at != ANNOTATE_NO_ROW)
			places->at = lines.coded[places->at].row;
	}
	if (!ret)
		ret = put_lineless(&lines);
	intern_fini(&lines.span_keys);
	intern_fini(&lines.line_keys);
	free(lines.spans);
	free(lines.coded);
	free(lines.order);
	free(lines.ranks);
	return ret;
}
