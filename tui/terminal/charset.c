/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * charset.c - see charset.h.
 */
#include "tui/terminal/charset.h"

#include <locale.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool charset_names_utf8(void)
{
	/* The first variable that is set and not empty counts (locale(7)). */
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *name = getenv(variables[i]);

		if (name && *name)
			return strcasestr(name, "utf-8") || strcasestr(name, "utf8");
	}
	return false;
}

void charset_take(void)
{
	/* LC_NUMERIC stays unset: reports always use a decimal point. */
	if (!setlocale(LC_CTYPE, "") && charset_names_utf8())
		setlocale(LC_CTYPE, "C.UTF-8");
}
