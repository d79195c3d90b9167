/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expr.h - filters as one types them: "comm~nginx.* & !image:libc* & cpu:0-3".
 *
 *	EXPRESSION = TERM { "&" TERM }
 *	TERM       = ["!"] FIELD ":" VALUE { "|" VALUE }     a pattern with * and ?, or a number, or a range
 *	           | ["!"] FIELD "=" VALUE { "|" VALUE }     all of the text, as it is shown
 *	           | ["!"] FIELD "~" REGEX                   an extended regular expression, anywhere in the text
 *	           | ["!"] WORD                              the symbol of any frame has this in it
 *	FIELD      = comm | pid | tid | cpu | image | symbol | stack | address | line
 *	           | ["field:"] NAME                         a field of the samples, such as prev_comm; the prefix is needed
 *	                                                     where its name is one of the above
 *
 * Blanks around terms and values mean nothing; a value in double quotes may have any character, with \\ before " and \\.
 * What is sampled passes where all terms hold.  UI thread.
 */
#ifndef TUI_EXPR_H
#define TUI_EXPR_H

#include "tui/filter.h"

#include <stddef.h>

#define EXPR_TERMS_MAX 16

struct expr_error {
	size_t at; /* byte of the text */
	char what[400]; /* a sentence; what is quoted is raw */
};

struct expr {
	size_t at[EXPR_TERMS_MAX]; /* where in the text each term begins */
	/* Alternatives of a term stand together; term i has those from first[i] to first[i + 1]. */
	struct filter_term *terms;
	size_t n;
	size_t first[EXPR_TERMS_MAX + 1];
	size_t n_terms;
};

/* 0 and *out for expr_fini(); -EINVAL and *error; -ENOMEM. */
int expr_parse(struct expr *out, const char *text, struct expr_error *error);
void expr_fini(struct expr *expr); /* all zeros is a no-op */

/* Whether all fields of samples that it names are those of some event (schemas as in field_names.h); else -EINVAL and *error,
 * whose sentence names those that there are. */
int expr_check_fields(const struct expr *expr, const struct fields *const *schemas, size_t n,
	struct expr_error *error);

/* The filter of it; the expression must live as long.  0 or -ENOMEM. */
int expr_filter(const struct expr *expr, const struct stacks *stacks, const struct tasks *tasks,
	struct names *names, struct filter **out);

/* A term of a field and a text that is meant as it is, quoted where it must be: for what a user points at.  Returns out; cut
 * where size is too small. */
char *expr_term(char *out, size_t size, bool negated, enum filter_field field, const char *text);

/* The same of a field of samples. */
char *expr_field_term(char *out, size_t size, bool negated, const char *name, const char *text);

#endif
