/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_fields.h - fields of samples as a part of a scan's sides: each distinct combination of texts
 * gets a small number.
 *
 * Each tuple of values is translated only once.  UI thread.
 */
#ifndef TUI_QUERY_SCAN_FIELDS_H
#define TUI_QUERY_SCAN_FIELDS_H

#include "tui/base/intern.h"
#include "tui/query/field_text.h"

#include <stdbool.h>
#include <stdint.h>

#define SCAN_FIELDS_MAX 8 /* at one time */

/* One text of any field. */
struct scan_value {
	const char *text; /* cleaned; FIELD_MISSING if the samples lack the field */
	int64_t number;
	bool is_number, is_missing;
};

/* All zeros is an empty one. */
struct scan_fields {
	struct scan_value *values;
	uint32_t *combinations; /* n_names indices of values each, in the order of the names */
	uint32_t n_values, n_combinations;
	uint32_t n_names;

	/* private */
	uint32_t values_room, combinations_room, known_room;
	struct intern texts, tuples, keys;
	uint32_t *known; /* by tuple: combination + 1 */
	bool is_found[STORE_EVENTS_MAX];
	/* at -1: the event lacks the field */
	struct field_ref refs[STORE_EVENTS_MAX][SCAN_FIELDS_MAX];
};

/* Returns the combination of a sample in *id.  values: the tuple of the sample (values.h).  0 or
 * -ENOMEM. */
int scan_fields_id(struct scan_fields *fields, const struct field_schemas *schemas,
	const char *const *names, struct names *symbols, uint8_t event, uint32_t values,
	uint32_t *id);
void scan_fields_fini(struct scan_fields *fields);

/* Returns field i of a combination. */
static inline const struct scan_value *scan_fields_value(
	const struct scan_fields *fields, uint32_t combination, size_t i)
{
	return &fields->values[fields->combinations[(size_t)combination * fields->n_names + i]];
}

#endif
