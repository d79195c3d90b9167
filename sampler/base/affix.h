/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * affix.h - beginnings and ends of strings.  Pure functions; any thread.
 */
#ifndef SAMPLER_BASE_AFFIX_H
#define SAMPLER_BASE_AFFIX_H

#include <stdbool.h>
#include <string.h>

static inline bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static inline bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

#endif
