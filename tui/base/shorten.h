/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shorten.h - shortens long names for narrow columns, and keeps their most useful parts.
 *
 * Names are cleaned UTF-8 (clean.h), widths are columns (width.h).  Pure functions; any thread.
 */
#ifndef TUI_BASE_SHORTEN_H
#define TUI_BASE_SHORTEN_H

#define SHORTEN_MAX 4096 /* bytes of any result, with its NUL */

/* Shortens a symbol's name to width columns, unless it fits.  Removes parts until it fits.  First
 * the hash of a Rust name, the return type and the parameter lists.  Then template arguments (first
 * replaced by <…>), paths in <T as U>, and leading namespaces (replaced by …::).  Last a suffix
 * like .constprop.0, and the middle of the function's own name.  Returns out. */
const char *shorten_symbol(char out[SHORTEN_MAX], const char *name, int width);

/* Shortens a file's name: first removes its version after ".so", then its middle.  Returns out. */
const char *shorten_file(char out[SHORTEN_MAX], const char *name, int width);

/* Shortens a command line: first removes the directory of the program, then a part in the middle.
 * Returns out. */
const char *shorten_command(char out[SHORTEN_MAX], const char *command, int width);

#endif
