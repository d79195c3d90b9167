/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * function_cut.h - names of functions that are too long: arguments go, the function's own name
 * stays.
 *
 * Pure functions; any thread.
 */
#ifndef SYMBOLS_FUNCTION_CUT_H
#define SYMBOLS_FUNCTION_CUT_H

#include <stddef.h>

#define FUNCTION_NAME_BYTES 4000 /* of a name that is shown, with its NUL */

/* Copies a name to out, of size bytes.  If it is longer, what is in brackets becomes "…", the
 * innermost first, and a hash of the whole name is in the first of them: names that differ in
 * what is gone stay different.  Brackets are still balanced.  If that is not enough, the middle
 * goes; below 48 bytes, the end. */
void function_cut(char *out, size_t size, const char *name);

#endif
