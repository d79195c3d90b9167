/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expr.h - filters as users type them: "comm~nginx.* & !image:libc* & cpu:0-3".
 *
 *	EXPRESSION = TERM { "&" TERM }
 *	TERM       = ["!"] FIELD ":" VALUE { "|" VALUE } a pattern with * and ?, a number or a range
 *	           | ["!"] FIELD "=" VALUE { "|" VALUE } all of the text, as shown
 *	           | ["!"] FIELD "~" REGEX               an extended regular expression,
 *	                                                 matched anywhere in the text
 *	           | ["!"] WORD                          the symbol of any frame contains WORD
 *	FIELD      = comm | pid | tid | cpu | image | symbol | stack | address | line
 *	           | ["field:"] NAME                     a field of the samples, such as prev_comm;
 *	                                                 one with a name above needs the prefix
 *
 * Blanks around terms and values are ignored.  A value in double quotes may contain any character,
 * with \ before " and \.  A sample passes if all terms hold.  UI thread.
 */
#ifndef TUI_QUERY_EXPR_H
#define TUI_QUERY_EXPR_H

#include "tui/query/filter.h"

#include <stddef.h>

#define EXPR_TERMS_MAX 16

struct expr_error {
	size_t at; /* offset in the text, in bytes */
	char what[400]; /* a sentence; quoted parts are not cleaned */
};

struct expr {
	size_t at[EXPR_TERMS_MAX]; /* offset of each term in the text */
	/* Alternatives of a term are adjacent: term i has [first[i], first[i+1]). */
	struct filter_term *terms;
	size_t n;
	size_t first[EXPR_TERMS_MAX + 1];
	size_t n_terms;
};

/* Parses an expression.  Returns 0 and *out, which the caller releases with expr_fini(); -EINVAL
 * and *error; or -ENOMEM. */
int expr_parse(struct expr *out, const char *text, struct expr_error *error);
void expr_fini(struct expr *expr); /* all zeros is a no-op */

/* Checks that each field of samples in the expression is a field of some event (schemas as in
 * field_names.h).  Returns 0, or -EINVAL and *error, whose sentence lists the existing fields. */
int expr_check_fields(const struct expr *expr, const struct fields *const *schemas, size_t n,
	struct expr_error *error);

/* Makes the filter of an expression, which must outlive it.  Returns 0 or -ENOMEM. */
int expr_filter(const struct expr *expr, const struct stacks *stacks, const struct tasks *tasks,
	struct names *names, struct filter **out);

/* Writes a term that selects exactly this text, quoted if necessary.  Returns out; the term is
 * truncated if size is too small. */
char *expr_term(char *out, size_t size, bool negated, enum filter_field field, const char *text);

/* Variant of expr_term() for a field of samples. */
char *expr_field_term(char *out, size_t size, bool negated, const char *name, const char *text);

#endif
