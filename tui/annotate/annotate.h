/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate.h - one function with its instructions and source lines, and the samples on each.
 *
 * Joins a snapshot's sums by address with the code from client/code.h.  The rows are those that
 * the screen or a text report shows, in order.  Code and source arrive later, in the background.
 * annotate_update() may renew the sums at any time; it does not move rows.  UI thread.
 */
#ifndef TUI_ANNOTATE_ANNOTATE_H
#define TUI_ANNOTATE_ANNOTATE_H

#include "sampler/store/store.h"
#include "symbols/client/code.h"
#include "symbols/client/texts.h"
#include "tui/names/names.h"
#include "tui/query/filter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANNOTATE_EVENTS_MAX STORE_EVENTS_MAX

enum annotate_mode {
	ANNOTATE_MIXED, /* source lines, each before the instructions compiled from it */
	/* source lines alone, in file order, with the sums of their instructions */
	ANNOTATE_SOURCE,
	ANNOTATE_ASSEMBLY, /* instructions alone */
	ANNOTATE_MODES
};

enum annotate_kind {
	ANNOTATE_ROW_FUNCTION, /* a head: the function's name; inlined if depth is not 0 */
	ANNOTATE_ROW_FILE, /* a head: start of another file */
	ANNOTATE_ROW_LINE, /* a source line; without text if the file is missing */
	ANNOTATE_ROW_CODE, /* an instruction, or a sampled address without code */
};

struct annotate_row {
	enum annotate_kind kind;
	uint8_t depth; /* inlining level; 0: the function itself */
	uint8_t len; /* code: bytes; 0: an address alone */
	uint8_t code_kind; /* enum codetab_kind */
	bool is_target; /* a jump within the function leads here */
	bool has_text; /* the text of the line is available */
	uint32_t line; /* 0: none; on a function's head: the line it begins at */
	/* cleaned, tabs expanded; code: without the target; borrowed from the annotation */
	const char *text;
	/* cleaned; "": not known; on code, like line: position in the innermost function */
	const char *file;
	/* code: offset in the image, and virtual address of the file (0: not known) */
	uint64_t offset, address;
	const char *target_text; /* cleaned "malloc@plt", "loop+0x12"; "": none */
	uint64_t target_offset; /* CODETAB_NO_TARGET: not known */
	uint32_t target_row; /* index + 1 of the target row if this function has it; else 0 */
	/* In the order of annotate_update()'s events; rows without samples share one array of
	 * zeros.  An instruction has its own samples, a head none.  A source line among
	 * instructions has the samples of the instructions up to the next line or head.  In source
	 * mode a line has the samples of all instructions compiled from it. */
	const uint64_t *weight, *samples;
};

struct annotation;

struct annotate_question {
	const struct stacks *stacks;
	struct images *images;
	struct names *names;
	struct symbols *symbols;
	uint32_t symref; /* the function, as a symref of names */
	enum disasm_syntax syntax;
	const char *const *source_prefixes; /* borrowed; see symbols_source_read(); NULL if none */
	/* no process memory is read, since other processes may have these pids */
	bool recording;
	/* Return lines as soon as they are known; inlined functions follow later. */
	bool quick;
};

/* Starts reading code and lines.  Returns 0 and sets *out (release with annotate_free()); -ENODATA:
 * the symref is no function with an extent (an unknown address); -ENOMEM; or -errno if no thread
 * can be started. */
int annotate_new(struct annotation **out, const struct annotate_question *question);
void annotate_free(struct annotation *annotation); /* NULL is a no-op */

/* Takes the results that arrived; call it after symbols_collect().  Returns true if rows
 * changed. */
bool annotate_collect(struct annotation *annotation);
/* Returns true while source files are still being read; symbols_code_abandon() gives them up. */
bool annotate_is_reading(const struct annotation *annotation);

enum annotate_progress {
	ANNOTATE_WAITS, /* no code yet */
	ANNOTATE_READY,
	/* no code available, see annotate_reason(); rows are the sampled addresses alone */
	ANNOTATE_FAILED,
};
enum annotate_progress annotate_progress(const struct annotation *annotation);
/* Returns a sentence why code or source is missing; "" if neither is. */
const char *annotate_reason(const struct annotation *annotation);

/* Renews the sums for a range and filter.  events: event ids in column order.  Slices that were
 * read before cost almost nothing.  New addresses without code become rows at the next
 * annotate_collect().  Returns 0 or -ENOMEM. */
int annotate_update(struct annotation *annotation, const struct snapshot *snapshot,
	uint64_t from_ns, uint64_t to_ns, struct filter *filter, const uint8_t *events,
	size_t n_events);

void annotate_set_mode(struct annotation *annotation, enum annotate_mode mode);
enum annotate_mode annotate_get_mode(const struct annotation *annotation);

/* Returns the rows of the mode, valid until the next annotate_collect(), annotate_set_mode() or
 * annotate_free().  annotate_update() changes only their sums. */
const struct annotate_row *annotate_rows(const struct annotation *annotation, size_t *n);

struct annotate_head {
	const char *symbol, *image, *path; /* cleaned */
	uint64_t start, end; /* offsets in the image */
	uint64_t address; /* virtual address of start, in the file */
	/* the function's sums, by event column */
	uint64_t weight[ANNOTATE_EVENTS_MAX], samples[ANNOTATE_EVENTS_MAX];
	uint64_t whole[ANNOTATE_EVENTS_MAX]; /* weight of all samples in range and filter */
	bool has_source, has_lines;
	bool is_reading; /* see annotate_is_reading() */
	bool is_partial; /* inlined functions are still being read */
};
void annotate_head(const struct annotation *annotation, struct annotate_head *out);

/* Returns the row after `from` in order of falling weight of an event column; before `from` if
 * direction is negative.  Rows of equal weight follow from top to bottom.  from SIZE_MAX: the
 * hottest row.  Counts instructions, in source mode lines.  Returns SIZE_MAX if there is none. */
size_t annotate_next_hottest(
	const struct annotation *annotation, size_t from, int direction, size_t event);

/* Returns the symref of a call's or jump's target in its image, to follow it; 0 if none. */
uint32_t annotate_target(const struct annotation *annotation, size_t row);

#endif
