/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * filter.h - which cells of a store count: by command, process, thread, CPU, image, symbol,
 * address, source line and field of the samples.
 *
 * Terms of one field are joined: a cell passes when it matches one of the field's positive terms
 * (or the field has none), and none of its negated ones.  Image, symbol, address and line are those
 * of the leaf, where the sample fell.  Texts are compared whole, with * and ? as in a shell, or by
 * a regular expression anywhere; an image by its short name or its path, a symbol in any of its
 * forms (called()).  Of FILTER_STACK it is the symbol of any frame.  An address is
 * "libc.so.6+0x1b2c", a line "/src/a.c:7" or "a.c:7", or a function where none is known
 * (line_text.h).  A field of samples is what is shown of it, FIELD_MISSING where they have none;
 * one that is a number may be in a range.  UI thread.
 */
#ifndef TUI_FILTER_H
#define TUI_FILTER_H

#include "sampler/stacks.h"
#include "sampler/store.h"
#include "sampler/tasks.h"
#include "tui/field_text.h"
#include "tui/names.h"

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
	FILTER_FIELDS, /* so many have a name of their own */
	FILTER_SAMPLE_FIELD /* field_name tells which */
};

struct filter_term {
	enum filter_field field;
	bool negated;
	char *text; /* of all but PID, TID, CPU */
	bool exact; /* the text has no wildcards, and is all of what is shown */
	regex_t *regex; /* in place of the text; or NULL */
	int64_t first, last; /* of PID, TID, CPU: a range, both ends included */
	bool has_range; /* of SAMPLE_FIELD: numbers within first and last match as well */
	char *field_name; /* of SAMPLE_FIELD; all terms of one filter have the same one */
};

struct filter;

/* Borrows all; terms must live as long.  *out is NULL when there are no terms, which every cell passes.  0 or -ENOMEM. */
int filter_new(struct filter **out, const struct filter_term *terms, size_t n,
	const struct stacks *stacks, const struct tasks *tasks, struct names *names);
/* What passes must pass `more`, too, which it takes over; of NULL filters the result is the other one. */
struct filter *filter_and(struct filter *filter, struct filter *more);
/* With all that was added by filter_and(). */
void filter_free(struct filter *filter);

/* Whose samples have which fields; borrowed, and may change.  For all filters that were added, too. */
void filter_set_schemas(struct filter *filter, const struct field_schemas *schemas);

/* "comm", "stack" ... */
const char *filter_field_name(enum filter_field field);

/* No other filter ever has the same; of NULL it is 0. */
uint64_t filter_serial(const struct filter *filter);

/* "comm make, !cpu 0-3"; cleaned. */
void filter_describe(const struct filter_term *terms, size_t n, char *out, size_t size);

/* Whether cell i of a slice passes; a NULL filter passes all.  What is found for labels and leaf
 * frames is remembered; names that come later are followed (names_epoch()). */
bool filter_pass(struct filter *filter, const struct slice *slice, uint32_t i);

/* The same in parts: a cell passes where its label, its CPU, its stack and its fields do.  Whether each is asked for at all. */
bool filter_pass_label(struct filter *filter, uint32_t label);
bool filter_pass_cpu(const struct filter *filter, uint16_t cpu);
bool filter_pass_stack(struct filter *filter, uint32_t node);
bool filter_pass_fields(struct filter *filter, const struct slice *slice, uint32_t i);
/* The same of stacks that need not be held, by what the forest has of them: filter_judge_forest() tells whether it is enough, and
 * filter_pass_symref() and filter_pass_number(), which are to follow it, what the symbol of the leaf and what all frames say. */
bool filter_judge_forest(struct filter *filter);
bool filter_pass_symref(struct filter *filter, uint32_t symref);
bool filter_pass_number(const struct filter *filter, uint32_t number);
bool filter_asks_fields(const struct filter *filter);
bool filter_asks_label(const struct filter *filter);
bool filter_asks_cpu(const struct filter *filter);
bool filter_asks_stack(const struct filter *filter);

#endif
