/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * function_name.h - finds the parts of a demangled name: return type, the function's own name,
 * parameters.
 *
 * Reads C++, Rust, Go, D and Java by their brackets alone.  Unbalanced parts (a name that was cut,
 * an operator in an expression) count as text.  Pure functions; any thread.
 */
#ifndef SYMBOLS_BASE_FUNCTION_NAME_H
#define SYMBOLS_BASE_FUNCTION_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum token {
	TOKEN_TEXT,
	TOKEN_PARAMS, /* (...) of a function */
	TOKEN_ARGS, /* <...> of a template or a generic */
	TOKEN_GROUP, /* other brackets: (anonymous namespace), {lambda()#1}, <T as U>, [clone .x] */
};

/* Returns the length of text at a place whose brackets are part of it: an operator's name, an
 * arrow; 0 if there is none. */
size_t function_solid_len(const char *name, size_t at);

/* Returns the closing bracket for an opening one; 0 for other characters. */
char function_closer_of(char opener);

/* Returns the token at a place in a name, and its end.  A group in brackets is one token. */
enum token function_token(const char *name, size_t at, size_t *end);

/* Returns true for Rust's "f::<T>".  In "slice::<impl [T]>::len" it is a name. */
bool function_is_turbofish(const char *name, size_t at);

/* Returns the length of " const", " &&" and similar, which follow parameters. */
size_t function_qualifiers_len(const char *text);

/* Finds a function's own name in the first len bytes: "ns::f<int>" in "void ns::f<int>(int)
 * const". */
struct function_name {
	size_t begin, end;
};
struct function_name function_name(const char *name, size_t len);

/* Returns the offset of the last component of a qualified name: "f<a::b>" of "ns::f<a::b>",
 * "Do" of "net/http.(*Client).Do"; own.begin if the name is not qualified. */
size_t function_last_begin(const char *name, struct function_name own);

/* Returns the length of a name without suffixes that differ from build to build.  These are the
 * marks of clones and parts by compilers (".constprop.0", " [clone .cold]", ".llvm.123") and the
 * hash of Rust.  A name with dotted parts, as in Go and Java, has no such suffix and is whole. */
size_t function_base_len(const char *name, size_t len);

#endif
