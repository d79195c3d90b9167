/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * filter.h - which cells of a store count: by command, process, thread, CPU, image and symbol.
 *
 * Terms of one field are joined: a cell passes when it matches one of the field's positive terms (or the field has none),
 * and none of its negated ones.  Image and symbol are those of the leaf, where the sample fell.  Texts are compared
 * whole, with * and ? as in a shell, or by a regular expression anywhere; an image by its short name or its path, a symbol
 * with or without its parameters.  Of FILTER_STACK it is the symbol of any frame.  UI thread.
 */
#ifndef TUI_FILTER_H
#define TUI_FILTER_H

#include "sampler/stacks.h"
#include "sampler/store.h"
#include "sampler/tasks.h"
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
	FILTER_FIELDS
};

struct filter_term {
	enum filter_field field;
	bool negated;
	char *text; /* of COMM, IMAGE, SYMBOL, STACK */
	regex_t *regex; /* in place of the text; or NULL */
	int64_t first, last; /* of PID, TID, CPU: a range, both ends included */
};

struct filter;

/* Borrows all; terms must live as long.  *out is NULL when there are no terms, which every cell passes.  0 or -ENOMEM. */
int filter_new(struct filter **out, const struct filter_term *terms, size_t n,
	const struct stacks *stacks, const struct tasks *tasks, struct names *names);
/* What passes must pass `more`, too, which it takes over; of NULL filters the result is the other one. */
struct filter *filter_and(struct filter *filter, struct filter *more);
/* With all that was added by filter_and(). */
void filter_free(struct filter *filter);

/* "comm", "stack" ... */
const char *filter_field_name(enum filter_field field);

/* No other filter ever has the same; of NULL it is 0. */
uint64_t filter_serial(const struct filter *filter);

/* "comm make, !cpu 0-3"; cleaned. */
void filter_describe(const struct filter_term *terms, size_t n, char *out, size_t size);

/* Whether a pattern (* and ? as in a shell) is a symbol's name, with or without its parameters. */
bool filter_is_symbol(const char *pattern, const char *symbol);

/* Whether cell i of a slice passes; a NULL filter passes all.  What is found for labels and leaf
 * frames is remembered; names that come later are followed (names_epoch()). */
bool filter_pass(struct filter *filter, const struct slice *slice, uint32_t i);

#endif
