/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * called.h - what users may call a function: the forms of its name.
 *
 * Pure functions; any thread.
 */
#ifndef TUI_CALLED_H
#define TUI_CALLED_H

#include "symbols/function_name.h"
#include "tui/names.h"

#include <stdbool.h>
#include <stddef.h>

/* A shown name's own part (function_name()), also without NAMES_UNCERTAIN and NAMES_INLINED. */
struct function_name called_own(const char *name);

/* A shown name as two parts that clones of one function have in common (function_base_len()). */
struct called_base {
	size_t len; /* of the name's beginning */
	const char *mark; /* behind it: NAMES_UNCERTAIN, NAMES_INLINED or "" */
};
struct called_base called_base(const char *name);
bool called_alike(const char *name, const char *other);

/* Whether a pattern (* and ? as in a shell) matches len bytes of a text whole. */
bool called_matches(const char *pattern, const char *text, size_t len);

/* Which forms of a name count, each with those before it. */
enum called_form {
	CALLED_WHOLE, /* as shown, or without what it returns or its parameters */
	CALLED_BARE, /* without the arguments of templates */
	CALLED_LAST, /* the last component of a qualified name: "f" of "ns::f(int)" */
};

/* Whether a pattern matches a form of a function's name. */
bool called_in_text(const char *pattern, const char *name, enum called_form form);

/* The same, or whether it is the name in the file. */
bool called(const char *pattern, const struct symref *name, enum called_form form);

#endif
