/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * function_cut.h - shortens names of functions that are too long: arguments go, the function's own
 * name stays.
 *
 * Pure functions; any thread.
 */
#ifndef SYMBOLS_BASE_FUNCTION_CUT_H
#define SYMBOLS_BASE_FUNCTION_CUT_H

#include <stddef.h>

#define FUNCTION_NAME_BYTES 4000 /* maximum of a displayed name, with its NUL */

/* Copies a name to `out` of size bytes.  In a longer name, parts in brackets become "…", the
 * innermost first.  The first "…" contains a hash of the whole name: names that differ in dropped
 * parts stay different.  Brackets stay balanced.  If that is not enough, the middle is cut; in at
 * most 48 bytes, the end. */
void function_cut(char *out, size_t size, const char *name);

#endif
