/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate.c - see annotate.h: requests a function's code, takes it when it arrives, and has the
 * rows built.
 *
 * UI thread.
 */
#include "tui/annotate/private.h"

#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_address_kind(enum image_kind kind)
{
	return kind == IMAGE_KERNEL || kind == IMAGE_ANON;
}

static int ask(struct annotation *annotation, bool quick, struct symbols_code **out)
{
	const struct annotate_question *question = &annotation->question;
	struct symbols_code_question code = {
		.key = annotation->image,
		.start = annotation->start,
		.end = annotation->end,
		.syntax = question->syntax,
		.lines = true,
		.quick = quick,
	};
	struct image_origin origin = {0};

	/* Code that is in no file is read from the memory of a process. */
	if (annotation->is_memory && !question->recording) {
		images_origin(question->images, annotation->image, &origin);
		code.pid = origin.pid;
	}
	if (code.end - code.start > SYMBOLS_CODE_BYTES_MAX)
		code.end = code.start + SYMBOLS_CODE_BYTES_MAX;
	return symbols_code_ask(question->symbols, &code, out);
}

int annotate_new(struct annotation **out, const struct annotate_question *question)
{
	const struct symref *name = names_get(question->names, question->symref);
	struct annotation *annotation;
	const struct image *image;
	struct symbol symbol;
	int ret;

	*out = NULL;
	image = images_get(question->images, name->image_id);
	if (!question->symref || !name->bounded || !image ||
		!symbols_find(question->symbols, name->image_id, name->start, &symbol) ||
		!symbol.size)
		return -ENODATA;
	annotation = calloc(1, sizeof(*annotation));
	if (!annotation)
		return -ENOMEM;
	annotation->question = *question;
	annotation->image = name->image_id;
	annotation->start = symbol.start;
	annotation->end = symbol.start + symbol.size;
	if (annotation->end < annotation->start)
		annotation->end = UINT64_MAX;
	annotation->is_address = is_address_kind(image->kind);
	annotation->is_memory = image->kind == IMAGE_ANON;
	annotation->epoch = names_epoch(question->names);
	ret = ask(annotation, question->quick, &annotation->code);
	if (ret) {
		annotate_free(annotation);
		return ret;
	}
	*out = annotation;
	return 0;
}

void annotate_free(struct annotation *annotation)
{
	if (!annotation)
		return;
	annotate_sums_fini(annotation);
	annotate_files_fini(annotation);
	symbols_code_release(annotation->question.symbols, annotation->code);
	symbols_code_release(annotation->question.symbols, annotation->complete);
	intern_fini(&annotation->ugly_keys);
	intern_fini(&annotation->texts);
	free(annotation->by_entry);
	free(annotation->rows);
	free(annotation);
}

/* --- code that has arrived --- */

static void fail(struct annotation *annotation, const char *reason)
{
	annotation->progress = ANNOTATE_FAILED;
	annotation->table = NULL;
	annotation->has_lines = false;
	snprintf(annotation->reason, sizeof(annotation->reason), "%s", reason);
}

/* Explains an error of symbols_code_state(). */
static void explain_code(const struct annotation *annotation, int error, char *out, size_t size)
{
	const struct symref *name =
		names_get(annotation->question.names, annotation->question.symref);
	const char *why;

	switch (error) {
	case ENOENT:
		why = name->kernel ? "this machine has no /proc/kcore" : "the file is not here";
		break;
	case EACCES:
	case EPERM:
		why = name->kernel ? "only root reads the kernel's, in /proc/kcore"
				   : "this user may not read it";
		break;
	case ESRCH:
		why = "it was in the memory of a process that has ended";
		break;
	case ESTALE:
		why = "the file is another one by now";
		break;
	case EREMOTE:
		why = "the recording is of another machine and has no build-id of it "
		      "(--trust-local-files takes the file that is here)";
		break;
	case EOWNERDEAD:
		why = "the process that read its file was killed by it";
		break;
	case ECHILD:
		why = "the process that reads files cannot be started";
		break;
	case ENOTSUP:
		why = "its instructions are of a machine that is not known here";
		break;
	default:
		why = explain_errno(error);
		break;
	}
	snprintf(out, size, "its machine code cannot be read: %s", why);
}

/* A file with debug information may have none for this function. */
static bool has_a_line(const struct annotation *annotation)
{
	const struct codetab *table = annotation->table;

	for (uint32_t i = 0; i < table->n_entries; i++)
		if (table->entries[i].n_frames && table->frames[table->entries[i].frames].line)
			return true;
	return false;
}

static void take_code(struct annotation *annotation)
{
	char reason[256];
	int error = 0;

	switch (symbols_code_state(annotation->code, &error)) {
	case SYMBOLS_PENDING:
		return;
	case SYMBOLS_READY:
		annotation->table = symbols_code_table(annotation->code);
		break;
	case SYMBOLS_NONE:
		fail(annotation, "its machine code is not in the file, or the file is not here");
		return;
	case SYMBOLS_UNASKED:
		fail(annotation, "given up");
		return;
	default:
		explain_code(annotation, error, reason, sizeof(reason));
		fail(annotation, reason);
		return;
	}
	if (!annotation->table) {
		fail(annotation, "its machine code cannot be read");
		return;
	}
	annotation->progress = ANNOTATE_READY;
	annotation->has_lines = has_a_line(annotation);
	if (annotate_learn(annotation))
		fail(annotation, "out of memory");
	annotation->is_partial = symbols_code_is_partial(annotation->code);
	if (annotation->is_partial && ask(annotation, false, &annotation->complete))
		annotation->complete = NULL;
}

/* Replaces code without inlined functions by the complete code once it is read. */
static bool take_complete(struct annotation *annotation)
{
	struct symbols_code *old = annotation->code;
	struct annotate_sources sources;
	int error;

	if (!annotation->complete)
		return false;
	switch (symbols_code_state(annotation->complete, &error)) {
	case SYMBOLS_PENDING:
		return false;
	case SYMBOLS_READY:
		break;
	default:
		symbols_code_release(annotation->question.symbols, annotation->complete);
		annotation->complete = NULL;
		return true;
	}
	annotation->code = annotation->complete;
	annotation->complete = NULL;
	intern_fini(&annotation->ugly_keys); /* they point into the old table */
	sources = annotate_sources_take(annotation);
	take_code(annotation);
	/* `sources` still holds the texts that were read, so the new table gets them at once. */
	if (annotation->progress == ANNOTATE_READY)
		annotate_read(annotation);
	annotate_sources_fini(annotation, &sources);
	symbols_code_release(annotation->question.symbols, old);
	return true;
}

/* Returns true if a name that was mangled when the rows were built is demangled now. */
static bool names_came(const struct annotation *annotation)
{
	for (uint32_t i = 0; i < annotation->ugly_keys.n; i++) {
		const char *raw;

		memcpy(&raw, annotation->ugly_keys.entries[i].bytes, sizeof(raw));
		if (symbols_pretty(annotation->question.symbols, raw) != raw)
			return true;
	}
	return false;
}

/* Explains why a source file may not be read.  Root reads it with the rights of the user who made
 * the debug information (struct symbols_rights). */
static void explain_refused(struct annotation *annotation, const char *file)
{
	const struct annotate_question *question = &annotation->question;
	const struct symbols_rights rights =
		names_source_origin(question->names, annotation->image, question->recording).rights;
	const char *image = names_get(question->names, question->symref)->image;
	const bool by_other = rights.kind == SYMBOLS_RIGHTS_USER && geteuid() == 0 && rights.user;
	char *out = annotation->reason;
	size_t size = sizeof(annotation->reason);

	if (by_other && !rights.here)
		snprintf(out, size,
			"no source text: %.200s may not be read by everybody, as it must for "
			"%.60s, "
			"which runs in another root (--source-prefix DIR lets strobe look below "
			"DIR)",
			file, image);
	else if (by_other)
		snprintf(out, size,
			"no source text: %.200s may not be read by user %u, to whom %.60s or its "
			"debug information belongs (--source-prefix /=/ reads it with your rights)",
			file, rights.user, image);
	else
		snprintf(out, size, "no source text: %.300s may not be read by this user", file);
}

/* Explains why there are no source lines, or no text. */
static void explain_source(struct annotation *annotation)
{
	char *out = annotation->reason;
	size_t size = sizeof(annotation->reason);

	if (annotation->progress != ANNOTATE_READY)
		return;
	out[0] = '\0';
	if (annotation->end - annotation->start > SYMBOLS_CODE_BYTES_MAX) {
		snprintf(
			out, size, "only its first %u MiB are shown", SYMBOLS_CODE_BYTES_MAX >> 20);
		return;
	}
	if (!annotation->has_lines) {
		const char *image =
			names_get(annotation->question.names, annotation->question.symref)->image;

		const int error = symbols_code_lines_error(annotation->code);
		if (error == ENOMEM || error == EMFILE || error == ENFILE || error == EIO)
			snprintf(out, size,
				"no source lines: cannot read the debug information of %s: %s",
				image, explain_errno(-error));
		else if (symbols_code_has_lines(annotation->code))
			snprintf(out, size,
				"no source lines: the debug information of %s has none of it",
				image);
		else if (annotation->is_memory)
			snprintf(out, size,
				"no source lines: it was made at run time, and its maker tells "
				"none");
		else
			snprintf(out, size,
				"no source lines: there is no debug information for %s, of its own "
				"or apart",
				image);
		return;
	}
	if (annotation->is_partial && !annotation->complete) {
		snprintf(
			out, size, "inlined functions are not told apart: reading on was given up");
		return;
	}
	if (annotate_is_reading(annotation))
		return;
	for (uint32_t i = 0; i < annotation->file_keys.n && !annotation->has_source; i++) {
		if (annotation->files[i].state != ANNOTATE_MISSING || !*annotation->files[i].raw)
			continue;
		if (annotation->files[i].given_up)
			snprintf(out, size, "no source text: reading %.300s was given up",
				annotation->files[i].clean);
		else if (annotation->files[i].error == EACCES)
			explain_refused(annotation, annotation->files[i].clean);
		else if (annotation->files[i].error && annotation->files[i].error != ENOENT)
			snprintf(out, size, "no source text: cannot read %.300s: %s",
				annotation->files[i].clean,
				explain_errno(-annotation->files[i].error));
		else
			snprintf(out, size,
				"no source text: %.300s is not here (--source-prefix tells where "
				"it lies)",
				annotation->files[i].clean);
		return;
	}
}

bool annotate_collect(struct annotation *annotation)
{
	bool changed = false;

	if (annotation->progress == ANNOTATE_WAITS) {
		take_code(annotation);
		changed = annotation->progress != ANNOTATE_WAITS;
	}
	changed |= take_complete(annotation);
	if (annotation->progress == ANNOTATE_READY)
		changed |= annotate_read(annotation);
	changed |= names_came(annotation);
	if (annotation->progress == ANNOTATE_FAILED)
		changed |= annotation->offsets.n != annotation->n_rows;
	if (!changed)
		return false;
	explain_source(annotation);
	if (annotate_build(annotation)) {
		fail(annotation, "out of memory");
		annotation->n_rows = 0;
		annotate_rows_changed(annotation);
	}
	return true;
}

bool annotate_is_reading(const struct annotation *annotation)
{
	return annotation->progress == ANNOTATE_READY &&
		(annotation->n_reading || annotation->next_file < annotation->file_keys.n);
}

enum annotate_progress annotate_progress(const struct annotation *annotation)
{
	return annotation->progress;
}

const char *annotate_reason(const struct annotation *annotation)
{
	return annotation->reason;
}

/* --- mode, rows and head --- */

void annotate_set_mode(struct annotation *annotation, enum annotate_mode mode)
{
	if (mode == annotation->mode)
		return;
	annotation->mode = mode;
	if (annotate_build(annotation)) {
		fail(annotation, "out of memory");
		annotation->n_rows = 0;
		annotate_rows_changed(annotation);
	}
}

enum annotate_mode annotate_get_mode(const struct annotation *annotation)
{
	return annotation->mode;
}

const struct annotate_row *annotate_rows(const struct annotation *annotation, size_t *n)
{
	*n = annotation->n_rows;
	return annotation->rows;
}

void annotate_head(const struct annotation *annotation, struct annotate_head *out)
{
	const struct symref *name =
		names_get(annotation->question.names, annotation->question.symref);

	*out = (struct annotate_head){
		.symbol = name->symbol,
		.image = name->image,
		.path = name->path,
		.start = annotation->start,
		.end = annotation->end,
		.address = names_address(
			annotation->question.names, annotation->image, annotation->start),
		.has_source = annotation->has_source,
		.has_lines = annotation->has_lines,
		.is_reading = annotate_is_reading(annotation),
		.is_partial = annotation->complete != NULL,
	};
	memcpy(out->weight, annotation->weight, sizeof(out->weight));
	memcpy(out->samples, annotation->samples, sizeof(out->samples));
	memcpy(out->whole, annotation->whole, sizeof(out->whole));
}

/* Returns true if row a comes before row b in order of falling weight. */
static bool is_hotter(const struct annotation *annotation, size_t a, size_t b, size_t event)
{
	uint64_t left = annotation->rows[a].weight[event],
		 right = annotation->rows[b].weight[event];

	return left != right ? left > right : a < b;
}

size_t annotate_next_hottest(
	const struct annotation *annotation, size_t from, int direction, size_t event)
{
	enum annotate_kind kind = annotation->mode == ANNOTATE_SOURCE && annotation->has_lines
		? ANNOTATE_ROW_LINE
		: ANNOTATE_ROW_CODE;
	size_t best = SIZE_MAX;

	if (event >= annotation->n_events)
		return SIZE_MAX;
	for (size_t i = 0; i < annotation->n_rows; i++) {
		const struct annotate_row *row = &annotation->rows[i];
		bool upwards = direction < 0 && from < annotation->n_rows;

		if (row->kind != kind || !row->weight[event])
			continue;
		if (from < annotation->n_rows &&
			(i == from || is_hotter(annotation, i, from, event) != upwards))
			continue;
		if (best == SIZE_MAX || is_hotter(annotation, i, best, event) != upwards)
			best = i;
	}
	return best;
}

uint32_t annotate_target(const struct annotation *annotation, size_t row)
{
	const struct annotate_row *at;
	uint32_t symref;

	if (row >= annotation->n_rows)
		return 0;
	at = &annotation->rows[row];
	if (at->target_offset == CODETAB_NO_TARGET)
		return 0;
	symref = names_symref_at(annotation->question.names, annotation->image, at->target_offset);
	return names_get(annotation->question.names, symref)->bounded ? symref : 0;
}
