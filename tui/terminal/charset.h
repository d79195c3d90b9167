/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * charset.h - the terminal's character set: the environment's locale, or a replacement for it.
 */
#ifndef TUI_TERMINAL_CHARSET_H
#define TUI_TERMINAL_CHARSET_H

#include <stdbool.h>

/* Sets LC_CTYPE from the environment.  ssh(1) passes names of locales that are not installed here;
 * if such a name is UTF-8, C.UTF-8 is set.  Call it once, before any thread starts. */
void charset_take(void);

/* Returns true if the environment names a UTF-8 locale, such as pl_PL.UTF-8, or UTF-8 on macOS. */
bool charset_names_utf8(void);

#endif
