/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * field_names.h - whether there is a field of some name, and which there are.  UI thread.
 */
#ifndef TUI_FIELD_NAMES_H
#define TUI_FIELD_NAMES_H

#include "tui/field_text.h"

/* Whether any of the schemas (NULL: an event without fields) has such a field; else a clause for message, cleaned: "no event
 * has such a field: there are prev_comm, prev_pid". */
bool field_names_check(const char *name, const struct fields *const *schemas, size_t n,
	char *message, size_t size);

#endif
