/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shorten.h - names that are too long for their column, said as an engineer would say them.
 *
 * Names are cleaned UTF-8 (clean.h), widths are columns (canvas.h).  Pure functions; any thread.
 */
#ifndef TUI_SHORTEN_H
#define TUI_SHORTEN_H

#define SHORTEN_MAX 4096 /* bytes of any result, with its end */

/* A symbol's name within width columns; whole where it fits.  Else there go, each only while the rest is still too long:
 * the hash of a Rust name, the return type of a template, the parameter lists, the template arguments (first
 * as <…>), the paths in <T as U>, leading namespaces (as …::), a suffix like .constprop.0, and at last the
 * middle of the function's own name.  Returns out. */
const char *shorten_symbol(char out[SHORTEN_MAX], const char *name, int width);

/* A file's name: first its version after ".so" goes, then its middle. */
const char *shorten_file(char out[SHORTEN_MAX], const char *name, int width);

/* A command line: first the folder of the program goes, then a part in the middle. */
const char *shorten_command(char out[SHORTEN_MAX], const char *command, int width);

#endif
