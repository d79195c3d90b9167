/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * called.h - the names that users may give a function: the forms of its displayed name.
 *
 * Pure functions; any thread.
 */
#ifndef TUI_NAMES_CALLED_H
#define TUI_NAMES_CALLED_H

#include "symbols/base/function_name.h"
#include "tui/names/names.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the position of a displayed name's own part (function_name()), without NAMES_UNCERTAIN
 * and NAMES_INLINED. */
struct function_name called_own(const char *name);

/* The two parts of a displayed name that all clones of a function share (function_base_len()). */
struct called_base {
	size_t len; /* bytes at the start of the name */
	const char *mark; /* after that: NAMES_UNCERTAIN, NAMES_INLINED or "" */
};
struct called_base called_base(const char *name);
bool called_alike(const char *name, const char *other);

/* Returns the short name of an image in any run of its program: "perf-*.map" for code that was
 * generated at run time (perf-PID.map, jit-PID.dump, jitted-PID-N.so), else the name itself. */
const char *called_run(const char *image);

/* Returns true if a pattern matches all len bytes of a text; * and ? have the meaning of the
 * shell. */
bool called_matches(const char *pattern, const char *text, size_t len);

/* The forms of a name that count.  Each includes the forms before it. */
enum called_form {
	CALLED_WHOLE, /* the name as displayed, or without its return type or parameters */
	CALLED_BARE, /* without template arguments */
	CALLED_LAST, /* the last component of a qualified name: "f" of "ns::f(int)" */
	CALLED_CLONE, /* all these without the suffixes of clones: "f" of "f.constprop.0" */
};

/* Returns true if a pattern matches a form of a function's name. */
bool called_in_text(const char *pattern, const char *name, enum called_form form);

/* Like called_in_text(), but also matches the name in the file. */
bool called(const char *pattern, const struct symref *name, enum called_form form);

#endif
