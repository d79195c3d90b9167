/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * function_name.c - see function_name.h.
 */
#include "symbols/base/function_name.h"

#include <string.h>

/* function_cut() keeps no deeper brackets; it limits the work for each bracket */
#define DEPTH_MAX 256

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

char function_closer_of(char opener)
{
	switch (opener) {
	case '(':
		return ')';
	case '<':
		return '>';
	case '[':
		return ']';
	case '{':
		return '}';
	default:
		return '\0';
	}
}

/* Returns the length of an operator's name at `at`, with its brackets; 0 if there is none. */
static size_t operator_len(const char *name, size_t at)
{
	static const char *const symbols[] = {"()", "[]", "<=>", "<<=", ">>=", "<<", ">>",
		"<=", ">=", "->*", "->", "<", ">", "==", "!=", "&&", "||", "++", "--",
		"+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+", "-", "*", "/", "%", "^", "&",
		"|", "~", "!", "=", ","};
	const size_t len = strlen("operator");

	if (!starts_with(name + at, "operator") || (at && is_word(name[at - 1])) ||
		is_word(name[at + len]))
		return 0;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		if (starts_with(name + at + len, symbols[i]))
			return len + strlen(symbols[i]);
	}
	return len;
}

size_t function_solid_len(const char *name, size_t at)
{
	if (name[at] == 'o')
		return operator_len(name, at);
	return name[at] == '-' && name[at + 1] == '>' ? 2 : 0;
}

/* Returns the offset after the bracket that closes the one at `at`; 0 if none does. */
static size_t group_end(const char *name, size_t at)
{
	char closers[DEPTH_MAX];
	size_t depth = 0;

	while (name[at]) {
		size_t solid = function_solid_len(name, at);
		char c = name[at];

		at += solid ? solid : 1;
		if (solid)
			continue;
		if (function_closer_of(c)) {
			if (depth == DEPTH_MAX)
				return 0;
			closers[depth++] = function_closer_of(c);
		} else if (c == ')' || c == '>' || c == ']' || c == '}') {
			/* In parentheses ">" is an operator, not a bracket. */
			if (c == '>' && closers[depth - 1] != '>')
				continue;
			while (depth && closers[depth - 1] == '>' && c != '>')
				depth--;
			if (!depth || closers[depth - 1] != c)
				return 0;
			if (!--depth)
				return at;
		}
	}
	return 0;
}

/* Returns true if the text before `at` is the name of an operator. */
static bool ends_operator(const char *name, size_t at)
{
	const size_t len = strlen("operator");

	for (size_t i = at; i >= len && i + 3 >= at; i--) {
		if (starts_with(name + i - len, "operator"))
			return operator_len(name, i - len) >= at - (i - len);
	}
	return false;
}

static bool follows_operator(const char *name, size_t at)
{
	return at >= 2 && name[at - 1] == ' ' && name[at - 2] &&
		strchr("<>=()[]+-*/%&|^!~,", name[at - 2]);
}

bool function_is_turbofish(const char *name, size_t at)
{
	return at >= 3 && starts_with(name + at - 2, "::<") && !starts_with(name + at, "<impl ");
}

enum token function_token(const char *name, size_t at, size_t *end)
{
	const size_t decltype_len = strlen("decltype");
	size_t solid = function_solid_len(name, at), close;
	char before = at ? name[at - 1] : '\0';

	*end = at + (solid ? solid : 1);
	if (solid || !function_closer_of(name[at]))
		return TOKEN_TEXT;
	close = group_end(name, at);
	if (!close)
		return TOKEN_TEXT;
	*end = close;
	if (name[at] == '(' && at &&
		(is_word(before) || strchr(">)]}", before) || ends_operator(name, at)) &&
		!(at >= decltype_len && starts_with(name + at - decltype_len, "decltype")))
		return TOKEN_PARAMS;
	if (name[at] == '<' && at &&
		(is_word(before) || strchr(")]}", before) || follows_operator(name, at) ||
			ends_operator(name, at) || function_is_turbofish(name, at)))
		return TOKEN_ARGS;
	return TOKEN_GROUP;
}

size_t function_qualifiers_len(const char *text)
{
	static const char *const qualifiers[] = {" const", " volatile", " noexcept", " &&", " &"};
	size_t len = 0;

	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++) {
		size_t step = strlen(qualifiers[i]);

		if (starts_with(text + len, qualifiers[i]) && !is_word(text[len + step]))
			len += step;
	}
	return len;
}

/* --- a function's own name --- */

static bool ends_with(const char *name, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(name + len - n, end, n);
}

/* A function that returns a pointer to another is written around its name and parameters: "void
 * (*get<int>(int))(char)".  Returns where the name begins in such a group; 0 if it is none. */
static size_t find_inner(const char *name, size_t at, size_t end)
{
	size_t begin = at + 1 + strspn(name + at + 1, "*&");

	if (name[at] != '(' || !at || name[at - 1] != ' ' || begin == at + 1 || begin + 1 >= end)
		return 0;
	return begin;
}

/* Returns true if a name that was cut in its parameters has them here. */
static bool begins_params(const char *name, size_t at)
{
	return name[at] == '(' && at && is_word(name[at - 1]);
}

/* The last parameters are the function's, unless they belong to an enclosing function:
 * "f(int)::local".  Only templates show their return type; "virtual thunk to" is none. */
static struct function_name find_own(const char *name, size_t begin, size_t limit)
{
	struct function_name own = {begin, limit};
	size_t end, inner, blank = begin;
	bool is_operator = false, has_params = false, is_template = false;

	for (size_t at = begin; at < limit; at = end) {
		enum token token = function_token(name, at, &end);

		/* A conversion: "A::operator char const*()". */
		if (token == TOKEN_GROUP && is_operator && name[at] == '(' &&
			strchr("*&", name[at - 1]))
			token = TOKEN_PARAMS;
		if (token == TOKEN_PARAMS) {
			has_params = true;
			is_template |= at && name[at - 1] == '>';
			if (starts_with(name + end + function_qualifiers_len(name + end), "::"))
				continue;
			own.end = at;
		} else if (token == TOKEN_GROUP && !has_params && !is_operator) {
			inner = find_inner(name, at, end);
			if (inner)
				return find_own(name, inner, end - 1);
		} else if (token == TOKEN_TEXT && begins_params(name, at)) {
			own.end = at;
			break;
		} else if (token == TOKEN_TEXT && name[at] == 'o' && end > at + 1) {
			/* Blanks after it are part of the operator's name. */
			is_operator = true;
		} else if (token == TOKEN_TEXT && name[at] == ' ' && !has_params && !is_operator &&
			!starts_with(name + at, " <")) {
			blank = end;
		}
	}
	if (is_template && !ends_with(name, blank, " to ") && !ends_with(name, blank, " for "))
		own.begin = blank;
	return own;
}

struct function_name function_name(const char *name, size_t len)
{
	return find_own(name, 0, len);
}

size_t function_last_begin(const char *name, struct function_name own)
{
	size_t base = own.begin + function_base_len(name + own.begin, own.end - own.begin);
	size_t last = own.begin, end;

	for (size_t at = own.begin; at < base; at = end) {
		if (function_token(name, at, &end) != TOKEN_TEXT)
			continue;
		/* "operator std::vector": the type is part of the operator's name. */
		if (end > at + 1 && name[at] == 'o')
			break;
		if (starts_with(name + at, "::"))
			end = at + 2;
		else if (name[at] != '.')
			continue;
		if (end < base && !starts_with(name + end, "<"))
			last = end;
	}
	return last;
}

/* --- clones --- */

/* Returns the offset of a compiler's mark of a clone that ends at len; len if there is none.  Most
 * marks need a number, since people give such names, too: "pkg.clone". */
static size_t mark_begin(const char *name, size_t len)
{
	static const char *const marks[] = {".cold", ".localalias", ".warm", ".argprom", ".argelim",
		".retelim", ".constprop", ".isra", ".part", ".lto_priv", ".clone", ".llvm",
		".__uniq", ".__part", ".memprof", ".specialized"};
	const size_t n = sizeof(marks) / sizeof(*marks), n_without_number = 6;
	size_t end = len;

	while (end && strchr("0123456789abcdefABCDEF", name[end - 1]))
		end--;
	end = end && end < len && name[end - 1] == '.' ? end - 1 : len;
	for (size_t i = 0; i < (end < len ? n : n_without_number); i++)
		if (ends_with(name, end, marks[i]))
			return end - strlen(marks[i]);
	return len;
}

/* Like mark_begin(), for " [clone .cold]", the demangled form of such a mark. */
static size_t demangled_mark_begin(const char *name, size_t len)
{
	static const char clone[] = " [clone ";
	const size_t clone_len = strlen(clone);
	size_t at = len;

	if (!len || name[len - 1] != ']')
		return len;
	while (at && name[at - 1] != '[')
		at--;
	if (at < clone_len - strlen("clone ") || strncmp(name + at - 2, clone, clone_len) != 0 ||
		mark_begin(name, len - 1) != at - 2 + clone_len)
		return len;
	return at - 2;
}

/* Returns the offset of Rust's "::h0123456789abcdef"; len if there is none. */
static size_t hash_begin(const char *name, size_t len)
{
	const size_t digits = 16, hash = digits + strlen("::h");

	if (len < hash || memcmp(name + len - hash, "::h", 3) != 0)
		return len;
	for (size_t i = len - digits; i < len; i++)
		if (!strchr("0123456789abcdef", name[i]))
			return len;
	return len - hash;
}

/* Go, Java and D write "." between the parts of a name.  C, C++ and Rust have it only before
 * numbers and "_": "f.0", "f._omp_fn.0". */
static bool has_dotted_parts(const char *name, size_t len)
{
	size_t end;

	for (size_t at = 0; at < len; at = end) {
		if (function_token(name, at, &end) != TOKEN_TEXT)
			continue;
		if (name[at] == '/' ||
			(at && end < len && name[at] == '.' && !strchr("0123456789_", name[end])))
			return true;
	}
	return false;
}

size_t function_base_len(const char *name, size_t len)
{
	const size_t whole = len;
	size_t base = len;

	do {
		len = base;
		base = mark_begin(name, len);
		if (base == len)
			base = demangled_mark_begin(name, len);
		if (base == len)
			base = hash_begin(name, len);
	} while (base && base < len);
	return len < whole && has_dotted_parts(name, len) ? whole : len;
}
