/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * field_names.h - checks the name of a sample field and lists the existing ones.  UI thread.
 */
#ifndef TUI_QUERY_FIELD_NAMES_H
#define TUI_QUERY_FIELD_NAMES_H

#include "tui/query/field_text.h"

/* Whether one of the schemas (NULL: an event without fields) has the field.  If not, writes a
 * cleaned clause to message: "no event has such a field: there are prev_comm, prev_pid". */
bool field_names_check(const char *name, const struct fields *const *schemas, size_t n,
	char *message, size_t size);

#endif
