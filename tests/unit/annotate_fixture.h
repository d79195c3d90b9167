/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_fixture.h - a function f1 with code, lines and samples, for tests of annotate.
 *
 * Included once in a program.
 */
#ifndef TESTS_ANNOTATE_FIXTURE_H
#define TESTS_ANNOTATE_FIXTURE_H

#include "tests/unit/samples_fixture.h"

#include "tests/unit/fake_code.h"
#include "tui/annotate/annotate.h"

#define START 16u

static struct fixture *fixture;
static struct annotation *annotation;
static struct codetab_builder *builder;

static inline uint32_t string(const char *text)
{
	return codetab_builder_string(builder, text, strlen(text));
}

static inline struct codetab_frame frame(
	const char *function, const char *file, uint32_t line, uint32_t decl_line)
{
	return (struct codetab_frame){.function = string(function),
		.file = string(file),
		.line = line,
		.decl_line = decl_line};
}

static inline void add(uint64_t start, uint8_t len, enum codetab_kind kind, const char *text,
	uint64_t target, const struct codetab_frame *frames, uint16_t n)
{
	const struct codetab_entry entry = {.start = start,
		.target = target,
		.text = string(text),
		.frames = n ? codetab_builder_frames(builder, frames, n) : 0,
		.n_frames = n,
		.len = len,
		.kind = (uint8_t)kind};

	codetab_builder_add(builder, &entry);
}

/* Makes the added entries the answer to the question about code. */
static inline void answer_as(struct symbols_code *code, bool has_lines)
{
	int fd;

	assert_int_equal(codetab_builder_finish(builder, &fd), 0);
	assert_int_equal(codetab_open(&code->table, fd), 0);
	close(fd);
	codetab_builder_free(builder);
	builder = NULL;
	code->state = SYMBOLS_READY;
	code->has_lines = has_lines;
}

static inline void answer(bool has_lines)
{
	answer_as(&fake_code, has_lines);
}

static inline int setup(void **state)
{
	assert_int_equal(fixture_setup(state), 0);
	fixture = *state;
	fake_code = fake_whole = (struct symbols_code){.state = SYMBOLS_PENDING};
	fake_sources = NULL;
	fake_source_reads = 0;
	fake_sources_hang = false;
	fake_source_error = 0;
	assert_int_equal(codetab_builder_new(&builder), 0);
	annotation = NULL;
	return 0;
}

static inline int teardown(void **state)
{
	annotate_free(annotation);
	assert_int_equal(fake_code.users, 0);
	assert_int_equal(fake_whole.users, 0);
	assert_int_equal(fake_source_users, 0);
	codetab_close(&fake_code.table);
	codetab_close(&fake_whole.table);
	codetab_builder_free(builder);
	return fixture_teardown(state);
}

static inline void begin(void)
{
	const struct annotate_question question = {.stacks = fixture->stacks,
		.images = fixture->images,
		.names = fixture->names,
		.symbols = &fixture->symbols,
		.symref = names_symref_at(fixture->names, fixture->program, START),
		.quick = fake_code.partial};

	assert_int_equal(annotate_new(&annotation, &question), 0);
}

static inline void settle(void)
{
	do
		annotate_collect(annotation);
	while (annotate_is_reading(annotation));
}

static inline void sample(uint32_t slice, uint64_t offset, uint8_t event, uint64_t weight)
{
	uint32_t node = fixture_call(fixture, STACK_ROOT, fixture->program, offset);

	fixture_cell(fixture, slice, node, fixture->labels[1], 0, event, weight, 1);
}

static inline void update(uint64_t from, uint64_t to)
{
	static const uint8_t events[] = {0, 5};

	assert_int_equal(
		annotate_update(annotation, &fixture->snapshot, from, to, NULL, events, 2), 0);
}

static inline char *dump(void)
{
	static char out[8192];
	size_t n, len = 0;
	const struct annotate_row *rows = annotate_rows(annotation, &n);

	out[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const struct annotate_row *row = &rows[i];
		char *at = out + len;
		size_t room = sizeof(out) - len;

		switch (row->kind) {
		case ANNOTATE_ROW_FUNCTION:
			len += (size_t)snprintf(at, room, "F%u %s %s:%u", row->depth, row->text,
				row->file, row->line);
			break;
		case ANNOTATE_ROW_FILE:
			len += (size_t)snprintf(at, room, "@ %s", row->file);
			break;
		case ANNOTATE_ROW_LINE:
			len += (size_t)snprintf(
				at, room, "L%u %u:%s", row->depth, row->line, row->text);
			break;
		case ANNOTATE_ROW_CODE:
			len += (size_t)snprintf(at, room, "C%s %llu %s%s",
				row->is_target ? "*" : "", (unsigned long long)row->offset,
				row->text, row->target_text);
			break;
		}
		at = out + len;
		room = sizeof(out) - len;
		if (row->target_row)
			len += (size_t)snprintf(at, room, " ->%u", row->target_row - 1);
		at = out + len;
		room = sizeof(out) - len;
		if (row->samples[0] || row->samples[1])
			len += (size_t)snprintf(at, room, " =%llu,%llu",
				(unsigned long long)row->weight[0],
				(unsigned long long)row->weight[1]);
		assert_true(len + 2 < sizeof(out));
		strcpy(out + len++, "\n");
	}
	return out;
}

static const struct fake_source sources[] = {
	{"/src/a.c", "zero\nint f1(void)\n{\n\tint x;\n\tx = g();\n\tloop();\n\treturn x;\n}\n"},
	{"/src/g.h", "one\ninline g()\n{\n  a;\n  b;\n}"},
	{NULL, NULL},
};

/* f1 with g() inlined on line 5, and a jump back. */
static inline void make_f1(void)
{
	const struct codetab_frame own = frame("f1", "/src/a.c", 5, 2);
	const struct codetab_frame inside[] = {frame("g", "/src/g.h", 4, 2), own};
	const struct codetab_frame deeper[] = {frame("g", "/src/g.h", 5, 2), own};
	const struct codetab_frame later = frame("f1", "/src/a.c", 7, 2);

	add(16, 4, CODETAB_PLAIN, "mov    %eax,%ebx", CODETAB_NO_TARGET, inside, 2);
	add(20, 2, CODETAB_CALL, "call   ", 32, deeper, 2);
	add(22, 2, CODETAB_BRANCH, "jne    ", 20, &own, 1);
	add(24, 4, CODETAB_JUMP, "jmp    ", 5000, &later, 1);
	add(28, 4, CODETAB_RETURN, "ret", CODETAB_NO_TARGET, &later, 1);
}

static inline void samples_in_f1(void)
{
	sample(0, 16, 0, 10);
	sample(0, 21, 0, 1); /* inside an instruction */
	sample(1, 20, 0, 2);
	sample(2, 24, 5, 7);
	sample(2, 40, 0, 100); /* in another function */
}

/* Virtual addresses are shown, even if no symbol covers them. */

#endif
