/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_code.h - code.h beside fake_symbols.h: one table of code and some source files, given by the test.
 *
 * Included once in a program, after fake_symbols.h.
 */
#ifndef TESTS_FAKE_CODE_H
#define TESTS_FAKE_CODE_H

#include "symbols/code.h"

#include <stdlib.h>

struct fake_source {
	const char *file, *text;
};

struct symbols_code {
	enum symbols_state state;
	int error;
	struct codetab table;
	bool has_lines;
	unsigned int users;
	struct symbols_code_question question; /* the last one */
};

static struct symbols_code fake_code;
static const struct fake_source *fake_sources; /* ends with a NULL file */
static unsigned int fake_source_reads;

int symbols_code_ask(struct symbols *symbols, const struct symbols_code_question *question,
	struct symbols_code **out)
{
	(void)symbols;
	fake_code.question = *question;
	fake_code.users++;
	*out = &fake_code;
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

bool symbols_code_has_lines(const struct symbols_code *code)
{
	return code->has_lines;
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

int symbols_source_read(const struct symbols_source *image, const char *file,
	const char *const *prefixes, struct symbols_source_text *out)
{
	(void)image, (void)prefixes;
	fake_source_reads++;
	for (const struct fake_source *at = fake_sources; at && at->file; at++) {
		if (strcmp(at->file, file) != 0)
			continue;
		*out = (struct symbols_source_text){strdup(at->text), strlen(at->text), 0};
		return out->bytes ? 0 : -ENOMEM;
	}
	return -ENOENT;
}

#endif
