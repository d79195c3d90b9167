/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clean.h - the one gate for strings from outside: symbols, command names, paths.
 *
 * Pure functions; any thread.
 */
#ifndef TUI_BASE_CLEAN_H
#define TUI_BASE_CLEAN_H

#include <stddef.h>

/* Copies text, up to its NUL and at most len bytes, to out as valid UTF-8 without control or
 * invisible characters.  out has size bytes, is always terminated unless size is 0, and may not
 * overlap text.
 *
 * C0, DEL, C1, line separators, bidirectional controls, characters without width or ink, tags and
 * invalid bytes become '?'.  The text ends before a character that does not fit entirely.  Returns
 * the length written. */
size_t clean_text(char *out, size_t size, const char *text, size_t len);

/* Cleans a terminated string into the caller's buffer.  Returns out. */
const char *clean_string(char *out, size_t size, const char *text);

/* Cleans a path for a sentence.  A long path loses its beginning, so that the rest of the sentence
 * fits.  Returns out. */
#define CLEAN_PATH_BYTES 100
const char *clean_path(char out[CLEAN_PATH_BYTES], const char *path);

#endif
