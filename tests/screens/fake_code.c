/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_code.c - one function with nested jumps, a loop, calls, and an inlined function.
 */
#include "tests/screens/fake_code.h"
#include "tui/model/queries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 96
#define SECOND 1000000000ull
#define FILE_A "/usr/src/postgresql-15/src/backend/access/heap/heapam.c"
#define FILE_B "/usr/src/postgresql-15/src/include/storage/bufpage.h"

struct fake_code fake_code;

struct annotation {
	uint32_t symref;
	enum disasm_syntax syntax;
	enum annotate_mode mode;
	enum annotate_progress progress;
	struct annotate_row rows[ROWS_MAX];
	uint64_t sums[ROWS_MAX][3], samples[ROWS_MAX][3];
	size_t n;
	bool built, hotter, grown;
};

struct source {
	enum annotate_kind kind;
	uint8_t depth, len, code_kind;
	uint32_t line; /* for code: per mille of cpu-clock */
	const char *text, *intel;
	uint32_t at, target; /* offsets */
	const char *name;
};

#define FUNCTION(depth, line, name)                                              \
	{                                                                        \
		ANNOTATE_ROW_FUNCTION, depth, 0, 0, line, name, NULL, 0, 0, NULL \
	}
#define LINE(depth, line, text)                                              \
	{                                                                    \
		ANNOTATE_ROW_LINE, depth, 0, 0, line, text, NULL, 0, 0, NULL \
	}
#define CODE(at, len, depth, share, text, intel)                                              \
	{                                                                                     \
		ANNOTATE_ROW_CODE, depth, len, CODETAB_PLAIN, share, text, intel, at, 0, NULL \
	}
#define GOES(at, len, depth, share, kind, text, target, name)                                      \
	{                                                                                          \
		ANNOTATE_ROW_CODE, depth, len, CODETAB_##kind, share, text, NULL, at, target, name \
	}

static const struct source code[] = {
	FUNCTION(0, 1698, "heap_hot_search_buffer"),
	LINE(0, 1698, "heap_hot_search_buffer(ItemPointer tid, Relation relation, Buffer buffer)"),
	LINE(0, 1699, "{"),
	CODE(0x1b2c00, 1, 0, 4, "push   %rbp", "push   rbp"),
	CODE(0x1b2c01, 3, 0, 0, "mov    %rsp,%rbp", "mov    rbp,rsp"),
	CODE(0x1b2c04, 4, 0, 1, "sub    $0x48,%rsp", "sub    rsp,0x48"),
	LINE(0, 1712, "    /* at the first tuple of the chain */"),
	LINE(0, 1713, "    for (;;) {"),
	CODE(0x1b2c08, 2, 0, 0, "xor    %ebx,%ebx", "xor    ebx,ebx"),
	GOES(0x1b2c0a, 2, 0, 2, JUMP, "jmp    ", 0x1b2c30, ""),
	LINE(0, 1716,
		"        if (offnum < FirstOffsetNumber || offnum > PageGetMaxOffsetNumber(page))"),
	FUNCTION(1, 377, "PageGetMaxOffsetNumber"),
	LINE(1, 377, "    if (pageheader->pd_lower <= SizeOfPageHeaderData)"),
	CODE(0x1b2c0c, 5, 1, 61, "movzwl 0xc(%r12),%eax", "movzx  eax,WORD PTR [r12+0xc]"),
	CODE(0x1b2c11, 4, 1, 12, "cmp    $0x18,%ax", "cmp    ax,0x18"),
	GOES(0x1b2c15, 2, 1, 3, BRANCH, "jbe    ", 0x1b2c28, ""),
	FUNCTION(2, 90, "SizeOfPageHeaderData"),
	LINE(2, 91, "    return offsetof(PageHeaderData, pd_linp);"),
	CODE(0x1b2c17, 3, 2, 9, "sub    $0x18,%eax", "sub    eax,0x18"),
	CODE(0x1b2c1a, 3, 2, 0, "shr    $0x2,%eax", "shr    eax,0x2"),
	FUNCTION(0, 0, "heap_hot_search_buffer"),
	LINE(0, 1720, "        lp = PageGetItemId(page, offnum);"),
	CODE(0x1b2c1d, 4, 0, 441, "mov    0x14(%r12,%rax,4),%edx",
		"mov    edx,DWORD PTR [r12+rax*4+0x14]"),
	CODE(0x1b2c21, 3, 0, 187, "test   $0x18000,%edx", "test   edx,0x18000"),
	GOES(0x1b2c24, 2, 0, 30, BRANCH, "je     ", 0x1b2c4e, ""),
	LINE(0, 1726, "        if (ItemIdIsRedirected(lp) && at_chain_start)"),
	CODE(0x1b2c28, 3, 0, 5, "lea    0x1040(%rip),%rdi        # 3d3c70 <heap_am_handler>",
		"lea    rdi,[rip+0x1040]        # 3d3c70"),
	GOES(0x1b2c2b, 5, 0, 21, CALL, "call   ", 0x1a0f30, "HeapTupleSatisfiesVisibility"),
	CODE(0x1b2c30, 2, 0, 8, "test   %al,%al", "test   al,al"),
	GOES(0x1b2c32, 2, 0, 17, BRANCH, "jne    ", 0x1b2c0c, ""),
	LINE(0, 1741, "            PredicateLockTID(relation, &heapTuple->t_self, snapshot);"),
	GOES(0x1b2c34, 5, 0, 2, CALL, "call   ", 0x9ff00, "PredicateLockTID@plt"),
	CODE(0x1b2c39, 3, 0, 0, "cmp    $0x1,%ebx", "cmp    ebx,0x1"),
	GOES(0x1b2c3c, 2, 0, 11, BRANCH, "jne    ", 0x1b2c1d, ""),
	GOES(0x1b2c3e, 6, 0, 0, CALL, "call   *0x2f4c(%rip)        # 3d5b90", 0, ""),
	GOES(0x1b2c44, 2, 0, 0, JUMP, "jmp    ", 0x1b2c50, ""),
	{ANNOTATE_ROW_CODE, 0, 2, CODETAB_BAD, 0, ".byte  0x06,0x0e", NULL, 0x1b2c46, 0, NULL},
	LINE(0, 1760, "    return found;"),
	CODE(0x1b2c4e, 2, 0, 0, "xor    %eax,%eax", "xor    eax,eax"),
	CODE(0x1b2c50, 4, 0, 1, "add    $0x48,%rsp", "add    rsp,0x48"),
	CODE(0x1b2c54, 1, 0, 0, "pop    %rbp", "pop    rbp"),
	GOES(0x1b2c55, 1, 0, 3, RETURN, "ret", 0, ""),
};
#define N_CODE (sizeof(code) / sizeof(*code))

static int fake_open(
	struct model *model, uint32_t symref, enum disasm_syntax syntax, struct annotation **out)
{
	(void)model;
	*out = NULL;
	if (symref == 9 || symref == 10)
		return -ENODATA;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->symref = symref;
	(*out)->syntax = syntax;
	fake_code.n_open++;
	return 0;
}

static void fake_close(struct model *model, struct annotation *annotation)
{
	(void)model;
	fake_code.n_open -= annotation != NULL;
	free(annotation);
}

static bool is_shown(const struct annotation *annotation, const struct source *from)
{
	bool source = !fake_code.no_lines && !fake_code.failed;

	if (fake_code.failed)
		return from->kind == ANNOTATE_ROW_CODE && from->line;
	if (source && annotation->mode == ANNOTATE_SOURCE)
		return from->kind != ANNOTATE_ROW_CODE &&
			(from->kind != ANNOTATE_ROW_FUNCTION || !from->line);
	if (annotation->mode == ANNOTATE_ASSEMBLY || !source)
		return from->kind == ANNOTATE_ROW_CODE;
	return true;
}

static void put_sums(struct annotation *annotation, size_t at, unsigned int share)
{
	annotation->sums[at][0] += share * (SECOND / 1000);
	annotation->samples[at][0] += share * 7;
	annotation->sums[at][1] += share % 10 * SECOND / 100;
	annotation->samples[at][1] += share % 10;
}

static unsigned int share_of(const struct source *from)
{
	if (fake_code.hotter && from->at == 0x1b2c11)
		return 600;
	return from->kind == ANNOTATE_ROW_CODE ? from->line : 0;
}

static void put_row(struct annotation *annotation, const struct source *from)
{
	struct annotate_row *row = &annotation->rows[annotation->n];
	bool intel = annotation->syntax == DISASM_INTEL && from->intel;

	*row = (struct annotate_row){
		.kind = from->kind,
		.depth = from->depth,
		.len = from->len,
		.code_kind = from->code_kind,
		.line = from->kind == ANNOTATE_ROW_CODE ? 0 : from->line,
		.text = intel ? from->intel : from->text,
		.file = from->kind == ANNOTATE_ROW_CODE ? ""
			: from->depth			? FILE_B
							: FILE_A,
		.offset = from->at,
		.address = fake_code.failed ? 0 : from->at,
		.target_text = from->name ? from->name : "",
		.target_offset = from->target ? from->target : CODETAB_NO_TARGET,
		.weight = annotation->sums[annotation->n],
		.samples = annotation->samples[annotation->n],
	};
	if (fake_code.failed) {
		row->text = row->target_text = "";
		row->target_offset = CODETAB_NO_TARGET;
		row->depth = 0;
	}
	if (from->kind == ANNOTATE_ROW_LINE && fake_code.no_source)
		row->text = "";
	annotation->n++;
}

/* The small function, which the other one calls. */
static void build_other(struct annotation *annotation)
{
	static const struct source other[] = {
		FUNCTION(0, 1166, "HeapTupleSatisfiesVisibility"),
		LINE(0, 1168, "{"),
		CODE(0x1a0f30, 4, 0, 0, "endbr64", "endbr64"),
		CODE(0x1a0f34, 2, 0, 5, "mov    (%rsi),%eax", "mov    eax,DWORD PTR [rsi]"),
		GOES(0x1a0f36, 1, 0, 0, RETURN, "ret", 0, ""),
	};

	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++) {
		put_sums(annotation, annotation->n, share_of(&other[i]));
		put_row(annotation, &other[i]);
	}
}

static void build(struct annotation *annotation)
{
	size_t line = SIZE_MAX;

	memset(annotation->sums, 0, sizeof(annotation->sums));
	memset(annotation->samples, 0, sizeof(annotation->samples));
	annotation->n = 0;
	if (annotation->progress == ANNOTATE_WAITS)
		return;
	if (annotation->symref != 1) {
		build_other(annotation);
		return;
	}
	if (fake_code.grown)
		put_row(annotation, &(const struct source)LINE(0, 1690, "/* came later */"));
	if (fake_code.twin_line)
		put_row(annotation, &(const struct source)LINE(1, 1726, "/* of another file */"));
	for (size_t i = 0; i < N_CODE; i++) {
		if (is_shown(annotation, &code[i])) {
			if (code[i].kind != ANNOTATE_ROW_CODE)
				line = code[i].kind == ANNOTATE_ROW_LINE ? annotation->n : SIZE_MAX;
			put_sums(annotation, annotation->n, share_of(&code[i]));
			put_row(annotation, &code[i]);
		} else if (annotation->mode != ANNOTATE_SOURCE) {
			continue;
		}
		if (code[i].kind == ANNOTATE_ROW_CODE && line != SIZE_MAX)
			put_sums(annotation, line, share_of(&code[i]));
	}
	for (size_t i = 0; i < annotation->n; i++)
		for (size_t j = 0; j < annotation->n; j++)
			if (annotation->rows[j].kind == ANNOTATE_ROW_CODE &&
				annotation->rows[i].target_offset == annotation->rows[j].offset) {
				annotation->rows[i].target_row = (uint32_t)j + 1;
				annotation->rows[j].is_target = true;
			}
}

static int fake_update(struct model *model, struct annotation *annotation, bool *changed)
{
	enum annotate_progress progress = fake_code.waits ? ANNOTATE_WAITS
		: fake_code.failed			  ? ANNOTATE_FAILED
							  : ANNOTATE_READY;

	(void)model;
	*changed = !annotation->built || progress != annotation->progress ||
		fake_code.grown != annotation->grown;
	annotation->progress = progress;
	annotation->built = true;
	annotation->grown = fake_code.grown;
	build(annotation);
	return 0;
}

static const struct annotate_row *fake_rows(const struct annotation *annotation, size_t *n)
{
	*n = annotation->n;
	return annotation->rows;
}

static void fake_head(const struct annotation *annotation, struct annotate_head *out)
{
	*out = (struct annotate_head){
		.symbol = annotation->symref == 1 ? "heap_hot_search_buffer"
						  : "HeapTupleSatisfiesVisibility",
		.image = "postgres",
		.path = "/usr/lib/postgresql/15/bin/postgres",
		.start = 0x1b2c00,
		.end = 0x1b2c56,
		.whole = {SECOND * 1000 / 378, SECOND},
		.has_source = !fake_code.no_source && !fake_code.no_lines && !fake_code.failed,
		.has_lines = !fake_code.no_lines && !fake_code.failed,
		.is_reading = fake_code.reading,
		.is_partial = fake_code.partial,
	};
	for (size_t i = 0; i < annotation->n; i++)
		for (int event = 0; event < 2; event++)
			if (annotation->rows[i].kind == ANNOTATE_ROW_CODE ||
				annotation->mode == ANNOTATE_SOURCE) {
				out->weight[event] += annotation->sums[i][event];
				out->samples[event] += annotation->samples[i][event];
			}
}

static enum annotate_progress fake_progress(
	const struct annotation *annotation, const char **reason)
{
	*reason = annotation->progress == ANNOTATE_FAILED
		? "The file of postgres is gone, and no copy of it is known: there is no code"
		: fake_code.no_lines ? "There is no debug information (postgresql-15-dbgsym has it)"
		: fake_code.no_source ? "no source text: " FILE_A
					" is not here (--source-prefix tells where it is)"
				      : "";
	return annotation->progress;
}

static void fake_set_mode(struct annotation *annotation, enum annotate_mode mode)
{
	annotation->mode = mode;
	build(annotation);
}

static bool is_hotter(const struct annotation *annotation, size_t a, size_t b, size_t event)
{
	uint64_t left = annotation->sums[a][event], right = annotation->sums[b][event];

	return left != right ? left > right : a < b;
}

static size_t fake_next_hottest(
	const struct annotation *annotation, size_t from, int direction, size_t event)
{
	enum annotate_kind kind =
		annotation->mode == ANNOTATE_SOURCE ? ANNOTATE_ROW_LINE : ANNOTATE_ROW_CODE;
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < annotation->n; i++) {
		if (annotation->rows[i].kind != kind || !annotation->sums[i][event] || i == from)
			continue;
		if (from != SIZE_MAX && is_hotter(annotation, i, from, event) != (direction < 0))
			continue;
		if (best == SIZE_MAX ||
			is_hotter(annotation, i, best, event) ==
				(direction > 0 || from == SIZE_MAX))
			best = i;
	}
	return best;
}

static uint32_t fake_target(const struct annotation *annotation, size_t row)
{
	return annotation->rows[row].target_offset == 0x1a0f30	 ? 2
		: annotation->rows[row].target_offset == 0x9ff00 ? 9
								 : 0;
}

static uint64_t fake_waiting_ns(struct model *model)
{
	return model->now_ns - 200 * SECOND;
}

static void fake_abandon(struct model *model)
{
	(void)model;
	fake_code.abandoned = true;
	fake_code.reading = false;
}

static int fake_source_path(
	struct model *model, uint32_t symref, const char *file, char *out, size_t size)
{
	(void)model;
	(void)symref;
	if (fake_code.no_source)
		return -ENOENT;
	snprintf(out, size, "/elsewhere%s", file);
	return 0;
}

const struct model_code_ops fake_code_ops = {
	.open = fake_open,
	.close = fake_close,
	.update = fake_update,
	.rows = fake_rows,
	.head = fake_head,
	.progress = fake_progress,
	.set_mode = fake_set_mode,
	.next_hottest = fake_next_hottest,
	.target = fake_target,
	.waiting_ns = fake_waiting_ns,
	.abandon = fake_abandon,
	.source_path = fake_source_path,
};
