/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shorten.c - long names in narrow columns.
 *
 * A demangled name is read as a row of tokens: text, bracketed groups, and among these the parameter
 * lists and template arguments.  Each step rewrites the name in place, and never makes it longer.  What is not
 * balanced (a name that was cut, an operator in an expression) is taken as text.
 */
#include "tui/shorten.h"

#include "tui/canvas.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 128
#define ELLIPSIS "…"
#define MARK_BYTES 8
#define HASH_LEN 19 /* "::h" and 16 hexadecimal digits */

enum token {
	TOKEN_TEXT,
	TOKEN_PARAMS, /* (...) of a function */
	TOKEN_ARGS, /* <...> of a template or a generic */
	TOKEN_GROUP, /* other brackets: (anonymous namespace), {lambda()#1}, <T as U>, [clone .x] */
};

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static char closer_of(char opener)
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

/* Bytes of an operator's name at `at`, of which brackets are a part; 0 where there is none. */
static size_t operator_len(const char *name, size_t at)
{
	static const char *const symbols[] = {
		"()", "[]", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "->*", "->", "<", ">"};
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

/* Text that is not to be looked into: an operator's name, an arrow. */
static size_t solid_len(const char *name, size_t at)
{
	if (name[at] == 'o')
		return operator_len(name, at);
	return name[at] == '-' && name[at + 1] == '>' ? 2 : 0;
}

/* Where the bracket that opens at `at` is closed, behind the closing one; 0 where it is not. */
static size_t group_end(const char *name, size_t at)
{
	char closers[DEPTH_MAX];
	size_t depth = 0;

	while (name[at]) {
		size_t solid = solid_len(name, at);
		char c = name[at];

		at += solid ? solid : 1;
		if (solid)
			continue;
		if (closer_of(c)) {
			if (depth == DEPTH_MAX)
				return 0;
			closers[depth++] = closer_of(c);
		} else if (c == ')' || c == '>' || c == ']' || c == '}') {
			/* In parentheses they compare: they are no brackets. */
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

/* Whether what is before `at` is the name of an operator. */
static bool ends_operator(const char *name, size_t at)
{
	const size_t len = strlen("operator");

	for (size_t i = at; i >= len && i + 3 >= at; i--) {
		if (starts_with(name + i - len, "operator"))
			return operator_len(name, i - len) >= at - (i - len) || i + 1 == at;
	}
	return false;
}

static bool follows_operator(const char *name, size_t at)
{
	return at >= 2 && name[at - 1] == ' ' && name[at - 2] &&
		strchr("<>=()[]+-*/%&|^!~,", name[at - 2]);
}

/* Rust's "f::<T>"; but in "slice::<impl [T]>::len" it is a name. */
static bool is_turbofish(const char *name, size_t at)
{
	return at >= 3 && starts_with(name + at - 2, "::<") && !starts_with(name + at, "<impl ");
}

static enum token next_token(const char *name, size_t at, size_t *end)
{
	const size_t decltype_len = strlen("decltype");
	size_t solid = solid_len(name, at), close;
	char before = at ? name[at - 1] : '\0';

	*end = at + (solid ? solid : 1);
	if (solid || !closer_of(name[at]))
		return TOKEN_TEXT;
	close = group_end(name, at);
	if (!close)
		return TOKEN_TEXT;
	*end = close;
	if (name[at] == '(' && at && (!strchr(": <(&*", before) || ends_operator(name, at)) &&
		!(at >= decltype_len && starts_with(name + at - decltype_len, "decltype")))
		return TOKEN_PARAMS;
	if (name[at] == '<' && at &&
		(is_word(before) || strchr(")]}", before) || follows_operator(name, at) ||
			is_turbofish(name, at)))
		return TOKEN_ARGS;
	return TOKEN_GROUP;
}

/* --- the steps --- */

/* std::rt::lang_start::h0123456789abcdef, also with ".llvm.123" after it. */
static void drop_hash(char *name)
{
	for (char *at = strstr(name, "::h"); at; at = strstr(at + 1, "::h")) {
		size_t digits = strspn(at + 3, "0123456789abcdef");

		if (at > name && digits == HASH_LEN - 3 &&
			(at[HASH_LEN] == '\0' || at[HASH_LEN] == '.')) {
			*at = '\0';
			return;
		}
	}
}

/* Only templates have one: "void foo<int>(int)".  "virtual thunk to" is none. */
static void drop_return(char *name)
{
	size_t at = 0, end, begin = 0;
	enum token token;

	for (; name[at]; at = end) {
		token = next_token(name, at, &end);
		if (token == TOKEN_PARAMS)
			break;
		if (token == TOKEN_TEXT && starts_with(name + at, "operator") && end > at + 1) {
			/* What comes next, blanks too, is a part of the operator's name. */
			at = end;
			while (name[at] && next_token(name, at, &end) != TOKEN_PARAMS)
				at = end;
			break;
		}
		if (name[at] == ' ' && !starts_with(name + at, " <"))
			begin = end;
	}
	if (!name[at] || !at || name[at - 1] != '>' || !begin)
		return;
	if ((begin >= 4 && starts_with(name + begin - 4, " to ")) ||
		(begin >= 5 && starts_with(name + begin - 5, " for ")))
		return;
	memmove(name, name + begin, strlen(name + begin) + 1);
}

static size_t qualifiers_len(const char *text)
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

/* [clone .cold] as the .cold that it is in the file, [abi:cxx11] not at all.  Bytes stored at out; -1: another group. */
static long fold_square(char *out, const char *group, size_t len)
{
	const size_t clone = strlen("[clone ");

	if (starts_with(group, "[abi:"))
		return 0;
	if (!starts_with(group, "[clone ."))
		return -1;
	memcpy(out, group + clone, len - clone - 1);
	return (long)(len - clone - 1);
}

static void drop_params(char *name)
{
	size_t at = 0, end, used = 0;
	char text[SHORTEN_MAX];

	memcpy(text, name, strlen(name) + 1);
	while (text[at]) {
		enum token token = next_token(text, at, &end);
		char first = text[at];

		if (token == TOKEN_PARAMS) {
			at = end + qualifiers_len(text + end);
			continue;
		}
		if (token == TOKEN_GROUP && first == '[') {
			size_t blank = used && name[used - 1] == ' ' ? 1 : 0;
			long len = fold_square(name + used - blank, text + at, end - at);

			if (len >= 0) {
				used += (size_t)len - blank;
				at = end;
				continue;
			}
		}
		/* Lambdas have parameters inside, and so have the types of <T as U>. */
		if (token == TOKEN_GROUP && (first == '{' || first == '<'))
			end = at + 1;
		memcpy(name + used, text + at, end - at);
		used += end - at;
		at = end;
	}
	name[used] = '\0';
}

static void replace_args(char *name, const char *mark)
{
	size_t at = 0, end, used = 0, mark_len = strlen(mark);
	char text[SHORTEN_MAX];

	memcpy(text, name, strlen(name) + 1);
	while (text[at]) {
		enum token token = next_token(text, at, &end);

		if (token == TOKEN_ARGS && end - at >= mark_len) {
			/* "operator<< <int>", "f::<T>" */
			if (!mark_len && used && name[used - 1] == ' ')
				used--;
			else if (!mark_len && is_turbofish(text, at))
				used -= 2;
			memcpy(name + used, mark, mark_len);
			used += mark_len;
			at = end;
			continue;
		}
		if (token == TOKEN_GROUP && (text[at] == '{' || text[at] == '<'))
			end = at + 1;
		memcpy(name + used, text + at, end - at);
		used += end - at;
		at = end;
	}
	name[used] = '\0';
}

static void mark_args(char *name)
{
	replace_args(name, "<" ELLIPSIS ">");
}

static void drop_args(char *name)
{
	replace_args(name, "");
}

/* (anonymous namespace)::f is ...::f; it names nothing. */
static void fold_anonymous(char *name)
{
	static const char anonymous[] = "(anonymous namespace)", brief[] = "(anon)";
	char *at = name;

	while ((at = strstr(at, anonymous))) {
		memcpy(at, brief, strlen(brief));
		at += strlen(brief);
		memmove(at, at + strlen(anonymous) - strlen(brief),
			strlen(at + strlen(anonymous) - strlen(brief)) + 1);
	}
}

/* <alloc::vec::Vec as core::ops::Drop>::drop is <Vec as Drop>::drop. */
static void fold_paths(char *name)
{
	size_t at = 0, end, used = 0, inside = 0, word = 0;
	char text[SHORTEN_MAX];

	memcpy(text, name, strlen(name) + 1);
	while (text[at]) {
		enum token token = next_token(text, at, &end);

		if (token == TOKEN_GROUP && text[at] == '<' && !inside) {
			inside = end;
			end = at + 1;
			word = used + 1;
		} else if (inside && end >= inside) {
			inside = 0;
		} else if (inside && starts_with(text + at, "::")) {
			used = word;
			at += 2;
			continue;
		}
		memcpy(name + used, text + at, end - at);
		used += end - at;
		if (inside && name[used - 1] && strchr(" &*", name[used - 1]))
			word = used;
		at = end;
	}
	name[used] = '\0';
}

/* Leave out leading namespaces until the rest fits; the mark for them may take a few bytes more than they did.  Returns where the function's own name begins; or sets *fits. */
static size_t drop_namespaces(char *name, int width, bool *fits)
{
	static const char mark[] = ELLIPSIS "::";
	int room = width - canvas_width_of(mark);
	size_t at = 0, end, last = 0;

	*fits = false;
	for (; name[at]; at = end) {
		if (next_token(name, at, &end) != TOKEN_TEXT)
			continue;
		/* "operator std::vector": the type is a part of the operator's name. */
		if (end > at + 1 && name[at] == 'o' && name[end] == ' ')
			break;
		if (!starts_with(name + at, "::"))
			continue;
		end = at + 2;
		if (name[end])
			last = end;
		if (name[end] && canvas_width_of(name + end) <= room) {
			memmove(name + strlen(mark), name + end, strlen(name + end) + 1);
			memcpy(name, mark, strlen(mark));
			*fits = true;
			return 0;
		}
	}
	return last;
}

static void drop_suffix(char *name)
{
	static const char *const suffixes[] = {
		".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".llvm."};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		char *at = strstr(name, suffixes[i]);

		if (at && at > name)
			*at = '\0';
	}
}

/* The beginning, an ellipsis, and tail columns of the end. */
static void cut_middle(char out[SHORTEN_MAX], const char *text, int width, int tail)
{
	int all = canvas_width_of(text);
	size_t head_len, end;

	if (all <= width) {
		snprintf(out, SHORTEN_MAX, "%s", text);
		return;
	}
	if (width < 1) {
		out[0] = '\0';
		return;
	}
	head_len = canvas_prefix(text, width - 1 - tail);
	end = canvas_prefix(text, all - tail);
	/* A wide character that begins before the tail does not belong to it. */
	if (canvas_width_of(text + end) > tail)
		end += canvas_prefix(text + end, 2);
	snprintf(out, SHORTEN_MAX, "%.*s" ELLIPSIS "%s", (int)head_len, text, text + end);
}

const char *shorten_symbol(char out[SHORTEN_MAX], const char *name, int width)
{
	static void (*const steps[])(char *) = {drop_hash, drop_return, drop_params, fold_anonymous,
		mark_args, drop_args, fold_paths};
	char work[SHORTEN_MAX + MARK_BYTES];
	size_t own = 0;
	bool fits = canvas_width_of(name) <= width;

	if (fits || strlen(name) >= SHORTEN_MAX) {
		cut_middle(out, name, width, (width - 1) / 2);
		return out;
	}
	memcpy(work, name, strlen(name) + 1);
	for (size_t i = 0; !fits && i < sizeof(steps) / sizeof(*steps); i++) {
		steps[i](work);
		fits = canvas_width_of(work) <= width;
	}
	if (!fits)
		own = drop_namespaces(work, width, &fits);
	if (!fits && canvas_width_of(work + own) > width)
		drop_suffix(work + own);
	cut_middle(out, work + own, width, (width - 1) / 2);
	return out;
}

const char *shorten_file(char out[SHORTEN_MAX], const char *name, int width)
{
	const char *suffix = strstr(name, ".so");
	int tail = (width - 1) / 2;
	char work[SHORTEN_MAX];

	if (canvas_width_of(name) <= width || !suffix || (suffix[3] && suffix[3] != '.')) {
		cut_middle(out, name, width, tail);
		return out;
	}
	snprintf(work, sizeof(work), "%.*s", (int)(suffix - name) + 3, name);
	/* Libraries differ in what they begin with. */
	cut_middle(out, work, width, width > 4 ? 3 + (width - 4) / 4 : tail);
	return out;
}

const char *shorten_command(char out[SHORTEN_MAX], const char *command, int width)
{
	size_t first = strcspn(command, " ");
	const char *slash = memrchr(command, '/', first);

	if (canvas_width_of(command) > width && command[0] == '/' && slash && slash[1] != ' ' &&
		slash[1])
		command = slash + 1;
	cut_middle(out, command, width, (width - 1) / 3);
	return out;
}
