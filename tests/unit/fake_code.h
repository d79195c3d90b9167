/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_code.h - code.h on top of fake_symbols.h: the test sets one table of code and some source
 * files.
 *
 * Included once in a program, after fake_symbols.h.
 */
#ifndef TESTS_FAKE_CODE_H
#define TESTS_FAKE_CODE_H

#include "symbols/client/code.h"
#include "symbols/client/texts.h"

#include <errno.h>
#include <stdlib.h>

struct fake_source {
	const char *file, *text;
};

struct symbols_code {
	enum symbols_state state;
	int error;
	struct codetab table;
	bool has_lines, partial;
	unsigned int users;
	struct symbols_code_question question; /* last question */
};

static struct symbols_code fake_code;
static struct symbols_code fake_whole; /* the complete code, if fake_code is partial */
static const struct fake_source *fake_sources; /* ends with a NULL file */
static unsigned int fake_source_reads;

int symbols_code_ask(struct symbols *symbols, const struct symbols_code_question *question,
	struct symbols_code **out)
{
	struct symbols_code *code =
		fake_code.partial && !question->quick ? &fake_whole : &fake_code;

	(void)symbols;
	code->question = *question;
	code->users++;
	*out = code;
	return 0;
}

void symbols_code_release(struct symbols *symbols, struct symbols_code *code)
{
	(void)symbols;
	if (code)
		code->users--;
}

enum symbols_state symbols_code_state(const struct symbols_code *code, int *error)
{
	*error = code->error;
	return code->state;
}

const struct codetab *symbols_code_table(const struct symbols_code *code)
{
	return &code->table;
}

int symbols_code_lines_error(const struct symbols_code *code)
{
	(void)code;
	return 0;
}

bool symbols_code_has_lines(const struct symbols_code *code)
{
	return code->has_lines;
}

bool symbols_code_is_partial(const struct symbols_code *code)
{
	return code->partial;
}

size_t symbols_code_waiting(const struct symbols *symbols, uint64_t *since_ns)
{
	(void)symbols;
	*since_ns = 0;
	return 0;
}

void symbols_code_abandon(struct symbols *symbols)
{
	(void)symbols;
}

struct symbols_text {
	enum symbols_state state;
	struct symbols_source_text text;
};

static bool fake_sources_hang; /* new requests stay PENDING */
static int fake_source_error; /* for texts that are not there; positive errno */
static unsigned int fake_source_users;

int symbols_text_ask(struct symbols *symbols, const struct symbols_text_question *question,
	struct symbols_text **out)
{
	struct symbols_text *text = calloc(1, sizeof(*text));

	(void)symbols;
	*out = text;
	if (!text)
		return -ENOMEM;
	fake_source_reads++;
	fake_source_users++;
	text->state = fake_sources_hang ? SYMBOLS_PENDING : SYMBOLS_UNREADABLE;
	for (const struct fake_source *at = fake_sources; at && at->file; at++) {
		if (strcmp(at->file, question->file) != 0 || fake_sources_hang)
			continue;
		text->text = (struct symbols_source_text){strdup(at->text), strlen(at->text), 0};
		text->state = SYMBOLS_READY;
	}
	return 0;
}

void symbols_text_release(struct symbols *symbols, struct symbols_text *text)
{
	(void)symbols;
	if (!text)
		return;
	fake_source_users--;
	free(text->text.bytes);
	free(text);
}

enum symbols_state symbols_text_state(const struct symbols_text *text, int *error)
{
	*error = text->state == SYMBOLS_UNREADABLE ? fake_source_error : 0;
	/* A pending request has been given up. */
	return text->state == SYMBOLS_PENDING && !fake_sources_hang ? SYMBOLS_UNASKED : text->state;
}

const struct symbols_source_text *symbols_text_get(const struct symbols_text *text)
{
	return &text->text;
}

#endif
