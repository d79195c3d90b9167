/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * filter.h - selects cells of a store by command, process, thread, CPU, image, symbol, address,
 * source line and sample field.
 *
 * A cell passes if each field in the terms accepts it.  A field accepts it if a positive term
 * matches (or there is none) and no negated term does.  Image, symbol, address and line are those
 * of the leaf, the place of the sample; FILTER_STACK is the symbol of any frame.
 *
 * A text must match as a whole, with the shell's * and ?.  A regular expression may match
 * anywhere.  An image matches by its short name or its path, a symbol in any of its forms
 * (called()).  An address is "libc.so.6+0x1b2c".  A line is "/src/a.c:7" or "a.c:7", or a function
 * if no line is known (line_text.h).  A sample field is compared as shown, or as a number with a
 * range; without the field it is FIELD_MISSING.  UI thread.
 */
#ifndef TUI_QUERY_FILTER_H
#define TUI_QUERY_FILTER_H

#include "sampler/store/stacks.h"
#include "sampler/store/store.h"
#include "sampler/store/tasks.h"
#include "tui/names/names.h"
#include "tui/query/field_text.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum filter_field {
	FILTER_COMM,
	FILTER_PID,
	FILTER_TID,
	FILTER_CPU,
	FILTER_IMAGE,
	FILTER_SYMBOL,
	FILTER_STACK,
	FILTER_ADDRESS,
	FILTER_LINE,
	FILTER_FIELDS, /* number of fields with a name of their own */
	FILTER_SAMPLE_FIELD /* the field called field_name */
};

struct filter_term {
	enum filter_field field;
	bool negated;
	char *text; /* NULL for PID, TID, CPU */
	bool exact; /* the text has no wildcards and must equal the shown text */
	regex_t *regex; /* replaces the text; or NULL */
	int64_t first, last; /* range for PID, TID, CPU, both ends included */
	bool has_range; /* for SAMPLE_FIELD: numbers from first to last match as well */
	char *field_name; /* for SAMPLE_FIELD; all terms of one filter have the same field */
};

struct filter;

/* Makes a filter.  Borrows all arguments; terms must outlive the filter.  Without terms *out is
 * NULL, a filter that every cell passes.  Returns 0 or -ENOMEM. */
int filter_new(struct filter **out, const struct filter_term *terms, size_t n,
	const struct stacks *stacks, const struct tasks *tasks, struct names *names);
/* Returns the AND of two filters and takes ownership of `more`.  If one is NULL, returns the
 * other. */
struct filter *filter_and(struct filter *filter, struct filter *more);
/* Frees the filter and all filters added to it by filter_and(). */
void filter_free(struct filter *filter);

/* Sets the fields of each event's samples, for this filter and all filters added to it.  schemas is
 * borrowed; its contents may change. */
void filter_set_schemas(struct filter *filter, const struct field_schemas *schemas);

/* Returns a name such as "comm" or "stack". */
const char *filter_field_name(enum filter_field field);

/* Returns the unique serial number of a filter; 0 for NULL. */
uint64_t filter_serial(const struct filter *filter);

/* Writes terms as text, such as "comm make, !cpu 0-3"; cleaned. */
void filter_describe(const struct filter_term *terms, size_t n, char *out, size_t size);

/* Whether cell i of a slice passes.  A NULL filter passes all cells.  Verdicts are cached;
 * those that depend on names are dropped when names change (names_epoch()). */
bool filter_pass(struct filter *filter, const struct slice *slice, uint32_t i);

/* The parts of filter_pass(): a cell passes if its label, CPU, stack and fields all pass.  The
 * filter_asks_*() functions return whether a filter checks that part at all. */
bool filter_pass_label(struct filter *filter, uint32_t label);
bool filter_pass_cpu(const struct filter *filter, uint16_t cpu);
bool filter_pass_stack(struct filter *filter, uint32_t node);
bool filter_pass_fields(struct filter *filter, const struct slice *slice, uint32_t i);
/* Variants of filter_pass_stack() for stacks in the forest, which need not be held.  First call
 * filter_judge_forest(); if it returns false, the forest does not have enough data.
 * filter_pass_symref() judges the symbol of the leaf, filter_pass_number() all frames. */
bool filter_judge_forest(struct filter *filter);
bool filter_pass_symref(struct filter *filter, uint32_t symref);
bool filter_pass_number(const struct filter *filter, uint32_t number);
bool filter_asks_fields(const struct filter *filter);
bool filter_asks_label(const struct filter *filter);
bool filter_asks_cpu(const struct filter *filter);
bool filter_asks_stack(const struct filter *filter);

#endif
