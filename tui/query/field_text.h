/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * field_text.h - fields of samples (fields.h), by their names and as text.
 *
 * UI thread.
 */
#ifndef TUI_QUERY_FIELD_TEXT_H
#define TUI_QUERY_FIELD_TEXT_H

#include "sampler/fields/fields.h"
#include "sampler/fields/values.h"
#include "sampler/store/store.h"
#include "tui/names/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIELD_TEXT_MAX VALUE_TEXT_MAX
#define FIELD_MISSING "-" /* shown for samples without the field */
#define FIELD_PREFIX "field:" /* for names that are also filter fields */

/* The fields of each event's samples; borrowed from the owner of the samples. */
struct field_schemas {
	const struct values *values; /* NULL: no sample has fields */
	const struct fields *of[STORE_EVENTS_MAX]; /* by event; NULL: no fields */
};

/* A field of an event: one of its schema, or one derived from its data address. */
struct field_ref {
	int at; /* index in the schema (fields.h) */
	enum { FIELD_AS_IT_IS, FIELD_PAGE, FIELD_SYMBOL } as;
};

/* Finds a field by its name.  Events with data addresses also have "data_page" and "data_symbol".
 * Returns false if there is no such field. */
bool field_find(const struct fields *fields, const char *name, struct field_ref *out);
/* Returns name i of those that field_find() knows; NULL after the last one. */
const char *field_name(const struct fields *fields, size_t i);

struct field_text {
	char bytes[FIELD_TEXT_MAX]; /* cleaned */
	int64_t number;
	bool is_number; /* number is valid: the value is a decimal integer */
};

/* Writes a value as text.  An address is written by its symbol, if that is known yet.  names may be
 * NULL. */
void field_text(struct names *names, const struct fields *fields, struct field_ref ref,
	const struct value *value, struct field_text *out);

#endif
