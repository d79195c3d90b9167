/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * field_names.c - see field_names.h.
 */
#include "tui/query/field_names.h"

#include "tui/base/clean.h"

#include <stdio.h>
#include <string.h>

/* Whether one of the first n schemas has the field. */
static bool is_told(const char *name, const struct fields *const *schemas, size_t n)
{
	struct field_ref ref;

	for (size_t i = 0; i < n; i++)
		if (field_find(schemas[i], name, &ref))
			return true;
	return false;
}

bool field_names_check(
	const char *name, const struct fields *const *schemas, size_t n, char *message, size_t size)
{
	char raw[1024] = "no event has such a field";
	size_t len = strlen(raw), told = 0;
	const char *other;

	if (is_told(name, schemas, n))
		return true;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; (other = field_name(schemas[i], j)) && len < sizeof(raw); j++)
			if (!is_told(other, schemas, i))
				len += (size_t)snprintf(raw + len, sizeof(raw) - len, "%s%s",
					told++ ? ", " : ": there are ", other);
	if (!told)
		snprintf(raw, sizeof(raw), "samples of these events have no fields");
	clean_string(message, size, raw);
	return false;
}
