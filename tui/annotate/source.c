/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.c - the files and functions that a table names, and the text of those files.
 *
 * UI thread.
 */
#include "tui/annotate/private.h"

#include "tui/base/clean.h"
#include "tui/base/grow.h"

#include <errno.h>

#define TAB 8
#define LINE_BYTES 2048 /* longer lines are cut */

static const char *pool_text(const struct annotation *annotation, uint32_t at)
{
	return annotation->table->pool + at;
}

int annotate_file_of(
	struct annotation *annotation, const struct codetab_frame *frame, uint32_t *file)
{
	const char *raw = pool_text(annotation, frame->file);
	char clean[4096];
	struct annotate_file *made;
	int ret = intern_id(&annotation->file_keys, &frame->file, sizeof(frame->file), file);

	if (ret)
		return ret;
	if (grow_zeroed((void **)&annotation->files, *file, &annotation->files_room,
		    sizeof(*annotation->files)))
		return -ENOMEM;
	made = &annotation->files[*file];
	if (made->clean)
		return 0;
	made->raw = raw;
	made->state = *raw ? ANNOTATE_UNREAD : ANNOTATE_MISSING;
	made->clean = intern_text(&annotation->texts, clean_string(clean, sizeof(clean), raw));
	return made->clean ? 0 : -ENOMEM;
}

int annotate_function_of(
	struct annotation *annotation, const struct codetab_frame *frame, uint32_t *function)
{
	struct annotate_function *made;
	int ret = intern_id(
		&annotation->function_keys, &frame->function, sizeof(frame->function), function);

	if (ret)
		return ret;
	if (grow_zeroed((void **)&annotation->functions, *function, &annotation->functions_room,
		    sizeof(*annotation->functions)))
		return -ENOMEM;
	made = &annotation->functions[*function];
	if (made->raw)
		return 0;
	made->raw = pool_text(annotation, frame->function);
	made->decl_line = frame->decl_line;
	return annotate_file_of(annotation, frame, &made->file);
}

int annotate_learn(struct annotation *annotation)
{
	const struct codetab *table = annotation->table;
	uint32_t ignored;
	int ret = 0;

	for (uint32_t i = 0; i < table->n_frames && !ret; i++) {
		ret = annotate_file_of(annotation, &table->frames[i], &ignored);
		if (!ret)
			ret = annotate_function_of(annotation, &table->frames[i], &ignored);
	}
	return ret;
}

/* Finds the start of each line.  Returns 0 or -ENOMEM. */
static int find_lines(struct annotate_file *file)
{
	const struct symbols_source_text *source = symbols_text_get(file->text);
	const char *text = source->bytes;
	size_t len = source->len;
	uint32_t n = 1, at = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	file->starts = calloc((size_t)n + 1, sizeof(*file->starts));
	if (!file->starts)
		return -ENOMEM;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\n')
			file->starts[++at] = (uint32_t)i + 1;
	/* Text after the last newline is a line, too. */
	file->n_lines = len && text[len - 1] != '\n' ? n : n - 1;
	file->starts[n] = (uint32_t)len + (file->n_lines == n);
	return 0;
}

static void ask_file(struct annotation *annotation, struct annotate_file *file,
	const struct symbols_source_origin *origin)
{
	const struct annotate_question *question = &annotation->question;
	const struct symbols_text_question text = {
		.origin = *origin, .file = file->raw, .prefixes = question->source_prefixes};

	file->state = ANNOTATE_MISSING;
	file->error = -symbols_text_ask(question->symbols, &text, &file->text);
	if (file->error)
		return;
	file->state = ANNOTATE_ASKED;
	annotation->n_reading++;
}

/* Takes the text of a requested file.  Returns false if it has not arrived. */
static bool take_file(struct annotation *annotation, struct annotate_file *file)
{
	enum symbols_state state = symbols_text_state(file->text, &file->error);

	if (state == SYMBOLS_PENDING)
		return false;
	annotation->n_reading--;
	file->given_up = state == SYMBOLS_UNASKED;
	if (state == SYMBOLS_READY && !find_lines(file)) {
		file->state = ANNOTATE_READ;
		annotation->has_source = true;
		return true;
	}
	file->state = ANNOTATE_MISSING;
	if (state == SYMBOLS_READY)
		file->error = ENOMEM; /* find_lines() failed */
	symbols_text_release(annotation->question.symbols, file->text);
	file->text = NULL;
	return true;
}

bool annotate_read(struct annotation *annotation)
{
	const struct annotate_question *question = &annotation->question;
	const struct symbols_source_origin origin =
		names_source_origin(question->names, annotation->image, question->recording);
	bool any = false;

	while (annotation->next_file < annotation->file_keys.n) {
		struct annotate_file *file = &annotation->files[annotation->next_file++];

		if (file->state == ANNOTATE_UNREAD)
			ask_file(annotation, file, &origin);
	}
	for (uint32_t i = 0; i < annotation->next_file && annotation->n_reading; i++) {
		if (annotation->files[i].state == ANNOTATE_ASKED)
			any |= take_file(annotation, &annotation->files[i]);
	}
	return any;
}

/* Cleans the text and expands tabs to blanks. */
static void expand(char *out, size_t size, const char *text, size_t len)
{
	size_t used = 0, column = 0;

	for (size_t at = 0; at < len && used + 1 < size;) {
		const char *tab = memchr(text + at, '\t', len - at);
		size_t run = tab ? (size_t)(tab - text) - at : len - at;
		size_t made = clean_text(out + used, size - used, text + at, run);

		for (size_t i = 0; i < made; i++)
			column += ((unsigned char)out[used + i] & 0xc0) != 0x80;
		used += made;
		at += run;
		if (!tab)
			break;
		at++;
		do {
			if (used + 1 < size)
				out[used++] = ' ';
			column++;
		} while (column % TAB && used + 1 < size);
	}
	out[used < size ? used : size - 1] = '\0';
}

const char *annotate_line_text(
	struct annotation *annotation, uint32_t file, uint32_t line, int *error)
{
	const struct annotate_file *from = &annotation->files[file];
	char expanded[LINE_BYTES];
	const char *text, *bytes;
	size_t start, len;

	if (from->state != ANNOTATE_READ || !line || line > from->n_lines)
		return NULL;
	start = from->starts[line - 1];
	len = from->starts[line] - start - 1;
	bytes = symbols_text_get(from->text)->bytes;
	if (len && bytes[start + len - 1] == '\r')
		len--;
	expand(expanded, sizeof(expanded), bytes + start, len);
	text = intern_text(&annotation->texts, expanded);
	if (!text)
		*error = -ENOMEM;
	return text;
}

struct annotate_sources annotate_sources_take(struct annotation *annotation)
{
	const struct annotate_sources sources = {
		.file_keys = annotation->file_keys,
		.function_keys = annotation->function_keys,
		.files = annotation->files,
		.files_room = annotation->files_room,
		.functions = annotation->functions,
	};

	memset(&annotation->file_keys, 0, sizeof(annotation->file_keys));
	memset(&annotation->function_keys, 0, sizeof(annotation->function_keys));
	annotation->files = NULL;
	annotation->functions = NULL;
	annotation->files_room = annotation->functions_room = 0;
	annotation->next_file = annotation->n_reading = 0;
	annotation->has_source = false;
	return sources;
}

void annotate_sources_fini(struct annotation *annotation, struct annotate_sources *sources)
{
	for (uint32_t i = 0; i < sources->file_keys.n && i < sources->files_room; i++) {
		symbols_text_release(annotation->question.symbols, sources->files[i].text);
		free(sources->files[i].starts);
	}
	free(sources->files);
	free(sources->functions);
	intern_fini(&sources->file_keys);
	intern_fini(&sources->function_keys);
}

void annotate_files_fini(struct annotation *annotation)
{
	struct annotate_sources sources = annotate_sources_take(annotation);

	annotate_sources_fini(annotation, &sources);
}
