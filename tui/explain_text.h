/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_text.h - a sentence while it grows; private to explain.
 */
#ifndef TUI_EXPLAIN_TEXT_H
#define TUI_EXPLAIN_TEXT_H

#include "sampler/proc.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Of a setting in struct proc_limits that could not be read. */
#define EXPLAIN_UNKNOWN (-1)

/* Descriptors that are enough for an ordinary profile. */
#define EXPLAIN_NOFILE_ENOUGH 1024

struct text {
	char bytes[1024]; /* not yet cleaned */
	size_t len;
};

__attribute__((format(printf, 2, 3))) static inline void text_add(
	struct text *text, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(text->bytes + text->len, sizeof(text->bytes) - text->len, format, list);
	va_end(list);
	if (n > 0)
		text->len += (size_t)n;
	if (text->len >= sizeof(text->bytes))
		text->len = sizeof(text->bytes) - 1;
}

/* "process 12: it is a zombie ..." */
void explain_target_error(
	struct text *text, int32_t pid, int error, const struct proc_limits *limits);

#endif
