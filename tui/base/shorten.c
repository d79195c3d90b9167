/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shorten.c - see shorten.h.
 *
 * Reads a demangled name as tokens: text, bracketed groups, parameter lists and template arguments.
 * Each step rewrites the name in place and never makes it longer.  Unbalanced brackets count as
 * text (a cut name, an operator in an expression).
 */
#include "tui/base/shorten.h"

#include "sampler/base/affix.h"
#include "symbols/base/function_name.h"
#include "tui/base/width.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ELLIPSIS "…"
#define MARK_BYTES 8
#define HASH_LEN 19 /* "::h" and 16 hexadecimal digits */

/* --- the steps --- */

/* Cuts a Rust hash, as in std::rt::lang_start::h0123456789abcdef, and text after it like
 * ".llvm.123". */
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

static void drop_return(char *name)
{
	size_t begin = function_name(name, strlen(name)).begin;

	/* The return type of an enclosing function stays. */
	if (begin && name[begin - 1] == ' ')
		memmove(name, name + begin, strlen(name + begin) + 1);
}

/* Turns [clone .cold] into .cold, and removes [abi:cxx11].  Returns the number of bytes stored at
 * out; -1: another group. */
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
		enum token token = function_token(text, at, &end);
		char first = text[at];

		if (token == TOKEN_PARAMS) {
			at = end + function_qualifiers_len(text + end);
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
		/* Keep braces and <T as U>, but look inside them for parameter lists. */
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
		enum token token = function_token(text, at, &end);

		if (token == TOKEN_ARGS && end - at >= mark_len) {
			/* "operator<< <int>", "f::<T>" */
			if (!mark_len && used && name[used - 1] == ' ')
				used--;
			else if (!mark_len && function_is_turbofish(text, at))
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

/* Shortens "(anonymous namespace)", which names nothing, to "(anon)". */
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

/* Turns <alloc::vec::Vec as core::ops::Drop>::drop into <Vec as Drop>::drop. */
static void fold_paths(char *name)
{
	size_t at = 0, end, used = 0, inside = 0, word = 0;
	char text[SHORTEN_MAX];

	memcpy(text, name, strlen(name) + 1);
	while (text[at]) {
		enum token token = function_token(text, at, &end);

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

/* Returns the columns of name[from..end).  The part must end at a character boundary. */
static int width_of_part(char *name, size_t from, size_t end)
{
	const char behind = name[end];

	name[end] = '\0';
	const int width = width_of(name + from);
	name[end] = behind;
	return width;
}

/* Removes leading namespaces until the rest fits.  The mark may be a few bytes longer than the
 * removed text.  Returns the offset of the function's own name, or 0 with *fits set. */
static size_t drop_namespaces(char *name, int width, bool *fits)
{
	static const char mark[] = ELLIPSIS "::";
	int room = width - width_of(mark), rest = width_of(name);
	size_t at = 0, end, from = 0, last = 0;

	*fits = false;
	for (; name[at]; at = end) {
		if (function_token(name, at, &end) != TOKEN_TEXT)
			continue;
		/* "operator std::vector": the type is part of the operator's name. */
		if (end > at + 1 && name[at] == 'o' && name[end] == ' ')
			break;
		if (!starts_with(name + at, "::"))
			continue;
		end = at + 2;
		rest -= width_of_part(name, from, end);
		from = end;
		if (name[end])
			last = end;
		if (name[end] && rest <= room) {
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
	name[function_base_len(name, strlen(name))] = '\0';
}

/* Keeps the beginning and the last `tail` columns, with an ellipsis between them. */
static void cut_middle(char out[SHORTEN_MAX], const char *text, int width, int tail)
{
	int all = width_of(text);
	size_t head_len, end;

	if (all <= width) {
		snprintf(out, SHORTEN_MAX, "%s", text);
		return;
	}
	if (width < 1) {
		out[0] = '\0';
		return;
	}
	head_len = width_prefix(text, width - 1 - tail);
	end = width_prefix(text, all - tail);
	/* A wide character that begins before the tail does not belong to it. */
	if (width_of(text + end) > tail)
		end += width_prefix(text + end, 2);
	snprintf(out, SHORTEN_MAX, "%.*s" ELLIPSIS "%s", (int)head_len, text, text + end);
}

const char *shorten_symbol(char out[SHORTEN_MAX], const char *name, int width)
{
	static void (*const steps[])(char *) = {drop_hash, drop_return, drop_params, fold_anonymous,
		mark_args, drop_args, fold_paths};
	char work[SHORTEN_MAX + MARK_BYTES];
	size_t own = 0;
	bool fits = width_of(name) <= width;

	if (fits || strlen(name) >= SHORTEN_MAX) {
		cut_middle(out, name, width, (width - 1) / 2);
		return out;
	}
	memcpy(work, name, strlen(name) + 1);
	for (size_t i = 0; !fits && i < sizeof(steps) / sizeof(*steps); i++) {
		steps[i](work);
		fits = width_of(work) <= width;
	}
	if (!fits)
		own = drop_namespaces(work, width, &fits);
	if (!fits && width_of(work + own) > width)
		drop_suffix(work + own);
	cut_middle(out, work + own, width, (width - 1) / 2);
	return out;
}

const char *shorten_file(char out[SHORTEN_MAX], const char *name, int width)
{
	const char *suffix = strstr(name, ".so");
	int tail = (width - 1) / 2;
	char work[SHORTEN_MAX];

	if (width_of(name) <= width || !suffix || (suffix[3] && suffix[3] != '.')) {
		cut_middle(out, name, width, tail);
		return out;
	}
	snprintf(work, sizeof(work), "%.*s", (int)(suffix - name) + 3, name);
	/* Keeps more of the beginning, because libraries differ there. */
	cut_middle(out, work, width, width > 4 ? 3 + (width - 4) / 4 : tail);
	return out;
}

const char *shorten_command(char out[SHORTEN_MAX], const char *command, int width)
{
	size_t first = strcspn(command, " ");
	const char *slash = memrchr(command, '/', first);

	if (width_of(command) > width && command[0] == '/' && slash && slash[1] != ' ' && slash[1])
		command = slash + 1;
	cut_middle(out, command, width, (width - 1) / 3);
	return out;
}
