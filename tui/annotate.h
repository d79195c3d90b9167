/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate.h - one function with its instructions and source lines, and what was sampled on each.
 *
 * Joins the sums of a snapshot by address with what symbols/code.h finds.  The rows are those that a screen or a text
 * report shows, in order.  Code and source come later, in the background; sums are renewed by annotate_update() at any
 * time without moving rows.  UI thread.
 */
#ifndef TUI_ANNOTATE_H
#define TUI_ANNOTATE_H

#include "sampler/store.h"
#include "symbols/code.h"
#include "symbols/texts.h"
#include "tui/filter.h"
#include "tui/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANNOTATE_EVENTS_MAX STORE_EVENTS_MAX

enum annotate_mode {
	ANNOTATE_MIXED, /* source lines, each before the instructions made from it */
	/* source lines alone, in the order of the file, with the sums of their instructions */
	ANNOTATE_SOURCE,
	ANNOTATE_ASSEMBLY, /* instructions alone */
	ANNOTATE_MODES
};

enum annotate_kind {
	ANNOTATE_ROW_FUNCTION, /* a head: the function's name (of an inlined one, with `depth`) */
	ANNOTATE_ROW_FILE, /* a head: another file begins */
	ANNOTATE_ROW_LINE, /* a source line; without text where the file is not there */
	ANNOTATE_ROW_CODE, /* an instruction, or an address that was sampled where there is no code */
};

struct annotate_row {
	enum annotate_kind kind;
	uint8_t depth; /* how often inlined; 0: the function's own */
	uint8_t len; /* of code: bytes; 0: an address alone */
	uint8_t code_kind; /* enum codetab_kind */
	bool is_target; /* a jump within the function leads to this row */
	bool has_text; /* of a line: its file is here */
	uint32_t line; /* 0: none; of the head of an inlined function that of the call, in file */
	/* Cleaned, tabs expanded; of code without its target; borrowed from the annotation. */
	const char *text;
	const char *file; /* cleaned; "": not known.  Of code, as line: of the innermost function */
	/* Of code: in the image, and as a virtual address of the file (0: not known). */
	uint64_t offset, address;
	const char *target_text; /* cleaned "malloc@plt", "loop+0x12"; "": none */
	uint64_t target_offset; /* CODETAB_NO_TARGET: not known */
	uint32_t target_row; /* of a jump within the function: its row + 1; 0: elsewhere */
	/* In the order of the events of annotate_update(), which many zeros are shared by.  Of code what was sampled on it;
	 * of a source line, among instructions, what was on those that follow up to the next line or head, alone what
	 * was on all that were made from it; of heads nothing. */
	const uint64_t *weight, *samples;
};

struct annotation;

struct annotate_question {
	const struct stacks *stacks;
	struct images *images;
	struct names *names;
	struct symbols *symbols;
	uint32_t symref; /* the function, from names */
	enum disasm_syntax syntax;
	const char *const *source_prefixes; /* borrowed; see symbols_source_read(); NULL: none */
	bool recording; /* pids are those of another time: nobody's memory is read */
	/* Lines are wanted as soon as they are known, inlined functions among them when they are. */
	bool quick;
};

/* Begin: asks for code and lines.  0 with *out for annotate_free(); -ENODATA: the symref is no function with an extent
 * (an unknown address); -ENOMEM; -errno where no thread can be started. */
int annotate_new(struct annotation **out, const struct annotate_question *question);
void annotate_free(struct annotation *annotation); /* NULL is a no-op */

/* What has come meanwhile; call after symbols_collect().  True when rows changed. */
bool annotate_collect(struct annotation *annotation);
/* Source files are still to come, or to be given up (symbols_code_abandon()). */
bool annotate_is_reading(const struct annotation *annotation);

enum annotate_progress {
	ANNOTATE_WAITS, /* nothing yet */
	ANNOTATE_READY,
	ANNOTATE_FAILED, /* no code could be had: rows are the sampled addresses alone; annotate_reason() */
};
enum annotate_progress annotate_progress(const struct annotation *annotation);
/* A clear sentence, or "": also why there is no source. */
const char *annotate_reason(const struct annotation *annotation);

/* Renew the sums of range x filter.  events: which (ids) and their order.  Slices that were looked at before cost next to
 * nothing.  Addresses that are new where there is no code become rows at the next annotate_collect().  0 or -ENOMEM. */
int annotate_update(struct annotation *annotation, const struct snapshot *snapshot,
	uint64_t from_ns, uint64_t to_ns, struct filter *filter, const uint8_t *events,
	size_t n_events);

void annotate_set_mode(struct annotation *annotation, enum annotate_mode mode);
enum annotate_mode annotate_get_mode(const struct annotation *annotation);

/* The rows of the mode.  Valid until the next call of annotate_collect(), annotate_set_mode() or annotate_free();
 * annotate_update() changes sums alone. */
const struct annotate_row *annotate_rows(const struct annotation *annotation, size_t *n);

struct annotate_head {
	const char *symbol, *image, *path; /* cleaned */
	uint64_t start, end; /* offsets */
	uint64_t address; /* that of start, in the file */
	uint64_t weight[ANNOTATE_EVENTS_MAX], samples[ANNOTATE_EVENTS_MAX]; /* of the function */
	uint64_t whole[ANNOTATE_EVENTS_MAX]; /* weight of everything in range and filter */
	bool has_source, has_lines;
	bool is_reading; /* see annotate_is_reading() */
	bool is_partial; /* inlined functions are still looked for */
};
void annotate_head(const struct annotation *annotation, struct annotate_head *out);

/* The row after (before) `from` with the next smaller (larger) weight of an event column, so that repeated calls visit the
 * hottest rows in order, equal ones from the top; from SIZE_MAX: the hottest.  Of instructions, in SOURCE mode of lines.
 * SIZE_MAX: none. */
size_t annotate_next_hottest(
	const struct annotation *annotation, size_t from, int direction, size_t event);

/* The symref of a call's or jump's target in its image, to follow it; 0: none. */
uint32_t annotate_target(const struct annotation *annotation, size_t row);

#endif
