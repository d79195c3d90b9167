/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clean.h - the one gate for strings from outside: symbols, command names, paths.
 *
 * Pure functions; any thread.
 */
#ifndef TUI_CLEAN_H
#define TUI_CLEAN_H

#include <stddef.h>

/* Copy text, at most len bytes of it, to out (size bytes, always terminated) as valid UTF-8 without control characters: C0, DEL,
 * C1, bidirectional controls, and invalid bytes become '?' (one each).  Returns the length written. */
size_t clean_text(char *out, size_t size, const char *text, size_t len);

/* The same for a terminated string, into a buffer that the caller owns; returns out. */
const char *clean_string(char *out, size_t size, const char *text);

#endif
