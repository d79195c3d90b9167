/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * function_name.h - what a demangled name consists of: what the function returns, its own name, its
 * parameters.
 *
 * C++, Rust, Go, D and Java, by their brackets alone.  What is not balanced (a name that was cut,
 * an operator in an expression) is taken as text.  Pure functions; any thread.
 */
#ifndef SYMBOLS_FUNCTION_NAME_H
#define SYMBOLS_FUNCTION_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum token {
	TOKEN_TEXT,
	TOKEN_PARAMS, /* (...) of a function */
	TOKEN_ARGS, /* <...> of a template or a generic */
	TOKEN_GROUP, /* other brackets: (anonymous namespace), {lambda()#1}, <T as U>, [clone .x] */
};

/* Bytes of text at a place that brackets are a part of: an operator's name, an arrow; 0 if none
 * is there. */
size_t function_solid_len(const char *name, size_t at);

/* What closes a bracket; 0 if it is none that opens. */
char function_closer_of(char opener);

/* The token at a place of a name, and where it ends.  A bracketed group is one token. */
enum token function_token(const char *name, size_t at, size_t *end);

/* Rust's "f::<T>"; but in "slice::<impl [T]>::len" it is a name. */
bool function_is_turbofish(const char *name, size_t at);

/* Bytes of " const", " &&" and the like, which follow parameters. */
size_t function_qualifiers_len(const char *text);

/* Where a function's own name begins and ends: "ns::f<int>" in "void ns::f<int>(int) const".
 * Looks at len bytes. */
struct function_name {
	size_t begin, end;
};
struct function_name function_name(const char *name, size_t len);

/* Returns the offset of the last component of a qualified name: "f<a::b>" of "ns::f<a::b>",
 * "Do" of "net/http.(*Client).Do"; own.begin if the name is not qualified. */
size_t function_last_begin(const char *name, struct function_name own);

/* Returns the length of a name without the suffixes that compilers append to clones and parts
 * (".constprop.0", " [clone .cold]", ".llvm.123") and without the hash of Rust, which differ from
 * build to build.  A name with dotted parts, as in Go and Java, has none of these and is whole. */
size_t function_base_len(const char *name, size_t len);

#endif
