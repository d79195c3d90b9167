/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * field_text.h - fields of samples (fields.h) as the user names and sees them.
 *
 * UI thread.
 */
#ifndef TUI_FIELD_TEXT_H
#define TUI_FIELD_TEXT_H

#include "sampler/fields.h"
#include "sampler/store.h"
#include "sampler/values.h"
#include "tui/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIELD_TEXT_MAX VALUE_TEXT_MAX
#define FIELD_MISSING "-" /* of samples that have no such field */
#define FIELD_PREFIX "field:" /* of names that something else has too */

/* Whose samples have which fields; borrowed from whoever has the samples. */
struct field_schemas {
	const struct values *values; /* NULL: no sample has any */
	const struct fields *of[STORE_EVENTS_MAX]; /* by event; NULL: none */
};

/* A field of an event: of its own, or one that is made of its data address. */
struct field_ref {
	int at; /* in fields.h */
	enum { FIELD_AS_IT_IS, FIELD_PAGE, FIELD_SYMBOL } as;
};

/* What an event calls a field, or "data_page" and "data_symbol" of one with addresses.  False: it has no such. */
bool field_find(const struct fields *fields, const char *name, struct field_ref *out);
/* Name i of those that field_find() knows; NULL behind the last one. */
const char *field_name(const struct fields *fields, size_t i);

struct field_text {
	char bytes[FIELD_TEXT_MAX]; /* cleaned */
	int64_t number;
	bool is_number; /* decimal, whatever its text */
};

/* A value; addresses by what is there, as far as names know it yet.  names may be NULL. */
void field_text(struct names *names, const struct fields *fields, struct field_ref ref,
	const struct value *value, struct field_text *out);

#endif
