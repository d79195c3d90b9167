/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * charset.h - the characters of the terminal: the locale of the environment, or one that stands in
 * for it.
 */
#ifndef TUI_CHARSET_H
#define TUI_CHARSET_H

#include <stdbool.h>

/* Set LC_CTYPE from the environment.  ssh(1) brings names of locales that are not installed
 * here: if such a name is one of UTF-8, C.UTF-8 is set.  Once, before any thread. */
void charset_take(void);

/* Returns whether the locale that the environment names is one of UTF-8: pl_PL.UTF-8, or the
 * UTF-8 of macOS. */
bool charset_names_utf8(void);

#endif
