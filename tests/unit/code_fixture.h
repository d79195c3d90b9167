/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_fixture.h - compiles small programs in a directory, and asks for their code.
 *
 * The questions go through loader and worker.  The spawner executes the test program again, so its
 * main() begins with symbols_main().  Included once in a program, after cmocka.h.
 */
#ifndef TESTS_CODE_FIXTURE_H
#define TESTS_CODE_FIXTURE_H

#include "symbols/client/code.h"
#include "tests/unit/scratch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define TIMEOUT_MS 60000
#define PROGRAM                                        \
	"#include <stdlib.h>\n" /* line 1 */           \
	"static inline int inner(int x)\n"             \
	"{\n"                                          \
	"	return rand() + x;\n" /* 4 */          \
	"}\n"                                          \
	"__attribute__((noinline)) int outer(int x)\n" \
	"{\n"                                          \
	"	int a = inner(x);\n" /* 8 */           \
	"	return a * 3;\n"                             \
	"}\n"                                          \
	"int main(int argc, char **argv)\n"            \
	"{\n"                                          \
	"	(void)argv;\n"                               \
	"	return outer(argc);\n"                       \
	"}\n"

static char dir[64];
static struct symbols *symbols;

static inline const char *in_dir(const char *name)
{
	static char paths[4][128];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static inline int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/strobe-test-code-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	symbols_free(symbols);
	symbols = NULL;
	return scratch_remove_tree(dir);
}

/* Runs a command in the directory. */
__attribute__((format(printf, 1, 2))) static inline void run(const char *format, ...)
{
	char command[1024], whole[1200];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	snprintf(whole, sizeof(whole), "cd %s && %s", dir, command);
	assert_int_equal(system(whole), 0);
}

static inline void write_file(const char *name, const char *text)
{
	FILE *file = fopen(in_dir(name), "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static inline void compile(const char *flags)
{
	write_file("program.c", PROGRAM);
	run("cc -O2 -g %s -Wl,--build-id -o program program.c", flags);
}

static inline void start(const char *debug_dir, bool recording)
{
	const char *const dirs[] = {debug_dir ? debug_dir : in_dir("nowhere"), NULL};
	const struct symbols_config config = {
		.cache_dir = "", .debug_dirs = dirs, .recording = recording};

	assert_int_equal(symbols_new(&symbols, &config), 0);
}

static inline void request(uint32_t key, const char *path)
{
	struct symbols_source source = {.path = path};
	struct stat st;

	if (stat(path, &st) == 0) {
		source.dev_major = major(st.st_dev);
		source.dev_minor = minor(st.st_dev);
		source.inode = st.st_ino;
	}
	assert_int_equal(symbols_request(symbols, key, &source), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
}

/* Returns a function of the image, by the name of its symbol. */
static inline struct symbol find_function(uint32_t key, const char *path, const char *name)
{
	struct symbol symbol;
	struct stat st;

	assert_int_equal(symbols_state(symbols, key), SYMBOLS_READY);
	assert_int_equal(stat(path, &st), 0);
	for (uint64_t offset = 0; offset < (uint64_t)st.st_size; offset++)
		if (symbols_find(symbols, key, offset, &symbol) && strcmp(symbol.name, name) == 0)
			return symbol;
	fail_msg("no function %s", name);
	return symbol;
}

static inline struct symbols_code *ask_code(const struct symbols_code_question *question)
{
	struct symbols_code *code;
	int error;

	assert_int_equal(symbols_code_ask(symbols, question, &code), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
	assert_int_not_equal(symbols_code_state(code, &error), SYMBOLS_PENDING);
	return code;
}

static inline struct symbols_code *ask_function(
	uint32_t key, const struct symbol *symbol, bool lines)
{
	const struct symbols_code_question question = {.key = key,
		.start = symbol->start,
		.end = symbol->start + symbol->size,
		.syntax = DISASM_INTEL,
		.lines = lines};

	return ask_code(&question);
}

static inline bool has_function(const struct codetab *table, const struct codetab_entry *entry,
	const char *name, uint32_t line, bool inlined)
{
	for (uint32_t i = 0; i < entry->n_frames; i++) {
		const struct codetab_frame *frame = &table->frames[entry->frames + i];
		if (strcmp(table->pool + frame->function, name) == 0 &&
			(line == 0 || frame->line == line) && !frame->inlined == !inlined)
			return true;
	}
	return false;
}

/* Checks that instructions cover the function.  At least one calls, and one has the inlined
 * function's line. */
static inline void check_outer(struct symbols_code *code, const struct symbol *outer, bool lines)
{
	uint64_t at = outer->start;
	bool calls = false, inlined = false;
	int error;

	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_READY);
	assert_int_equal(error, 0);
	assert_int_equal(symbols_code_has_lines(code), lines);
	const struct codetab *table = symbols_code_table(code);
	for (uint32_t i = 0; i < table->n_entries; i++) {
		const struct codetab_entry *entry = &table->entries[i];
		assert_int_equal(entry->start, at);
		assert_true(entry->len > 0);
		at += entry->len;
		calls |= entry->kind == CODETAB_CALL;
		inlined |= has_function(table, entry, "inner", 4, true) &&
			has_function(table, entry, "outer", 8, false);
		assert_true(lines || entry->n_frames == 0);
	}
	assert_int_equal(at, outer->start + outer->size);
	assert_true(calls);
	assert_int_equal(inlined, lines);
}

/* Asks for all offsets of a function, and waits.  Returns their number. */
static inline size_t ask_lines(uint32_t key, uint64_t start, size_t n)
{
	uint64_t *offsets = calloc(n, sizeof(*offsets));

	assert_non_null(offsets);
	for (size_t i = 0; i < n; i++)
		offsets[i] = start + n - 1 - i; /* in unsorted order */
	assert_int_equal(symbols_lines_ask(symbols, key, offsets, n), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
	free(offsets);
	return n;
}

/* Returns whether the outer function has frames of the inlined one. */
static inline bool has_inlined(uint32_t key, const struct symbol *outer)
{
	struct symbols_frame frames[8];
	enum symbols_state state;

	for (uint64_t offset = outer->start; offset < outer->start + outer->size; offset++) {
		const size_t n = symbols_lines(symbols, key, offset, frames, 8, &state);
		assert_int_equal(state, n ? SYMBOLS_READY : SYMBOLS_NONE);
		if (n == 2 && strcmp(frames[0].function, "inner") == 0 && frames[0].inlined &&
			frames[0].line == 4 && strcmp(frames[1].function, "outer") == 0 &&
			!frames[1].inlined && frames[1].line == 8) {
			const char *name = strrchr(frames[0].file, '/');
			assert_string_equal(name ? name : frames[0].file, "/program.c");
			return true;
		}
	}
	return false;
}

#endif
