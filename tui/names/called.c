/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * called.c - see called.h.
 */
#include "tui/names/called.h"

#include "symbols/base/function_cut.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *name, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(name + len - n, end, n);
}

/* Returns NAMES_UNCERTAIN or NAMES_INLINED at the end of a name, or "". */
static const char *find_mark(const char *name)
{
	static const char *const marks[] = {NAMES_UNCERTAIN, NAMES_INLINED};
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (ends_with(name, len, marks[i]))
			return name + len - strlen(marks[i]);
	return name + len;
}

struct function_name called_own(const char *name)
{
	return function_name(name, (size_t)(find_mark(name) - name));
}

struct called_base called_base(const char *name)
{
	const char *mark = find_mark(name);

	return (struct called_base){function_base_len(name, (size_t)(mark - name)), mark};
}

bool called_alike(const char *name, const char *other)
{
	struct called_base x = called_base(name), y = called_base(other);

	return x.len == y.len && !memcmp(name, other, x.len) && !strcmp(x.mark, y.mark);
}

/* Returns true if a name has a form, whose # stands for digits. */
static bool has_form(const char *name, const char *form)
{
	for (; *form; form++) {
		const size_t digits = strspn(name, "0123456789");

		if (*form == '#' ? !digits : *form != *name)
			return false;
		name += *form == '#' ? digits : 1;
	}
	return !*name;
}

const char *called_run(const char *image)
{
	static const char *const forms[] = {"perf-#.map", "jit-#.dump", "jitted-#-#.so"};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (has_form(image, forms[i]))
			return "perf-*.map";
	return image;
}

/* Only * and ? are special: "[kernel]" is a name. */
bool called_matches(const char *pattern, const char *text, size_t len)
{
	const char *star = NULL, *end = text + len, *resume = text;

	while (text < end) {
		if (*pattern == '*') {
			star = pattern++;
			resume = text;
		} else if (*pattern == '?' || (*pattern && *pattern == *text)) {
			bool any = *pattern++ == '?';

			text++;
			/* ? matches one character, which may have several bytes. */
			while (any && text < end && ((unsigned char)*text & 0xc0) == 0x80)
				text++;
		} else if (star) {
			pattern = star + 1;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* Copies a name without template arguments: without all, or only without those at its end. */
static size_t drop_args(char *out, const char *name, size_t len, bool all)
{
	size_t used = 0, end;

	for (size_t at = 0; at < len; at = end) {
		enum token token = function_token(name, at, &end);

		if (token == TOKEN_ARGS && (all || end == len)) {
			/* "operator<< <int>", "f::<T>" */
			if (used && name[at - 1] == ' ')
				used--;
			else if (function_is_turbofish(name, at))
				used -= 2;
			continue;
		}
		memcpy(out + used, name + at, end - at);
		used += end - at;
	}
	return used;
}

static bool matches_without_args(const char *pattern, const char *name, size_t len)
{
	char *bare = malloc(len + 1);
	bool matches = false;

	for (int all = 0; all < 2 && !matches && bare; all++) {
		size_t used = drop_args(bare, name, len, all);

		matches = used && used < len && called_matches(pattern, bare, used);
	}
	free(bare);
	return matches;
}

static bool is_text(const char *text, const char *other, size_t len)
{
	return strlen(text) == len && !memcmp(text, other, len);
}

/* Matches the last component of a qualified name: "f(int)", "f" and so on of "ns::f(int)",
 * "main.f".  Wildcards match whole names only: "f*" does not match "std::find". */
static bool is_last(const char *text, const char *name, struct function_name own)
{
	const size_t begin = function_last_begin(name, own), len = own.end - begin;
	char *bare;
	bool is = false;

	if (begin == own.begin)
		return false;
	if (is_text(text, name + begin, strlen(name + begin)) || is_text(text, name + begin, len))
		return true;
	bare = memchr(name + begin, '<', len) ? malloc(len + 1) : NULL;
	for (int all = 0; all < 2 && !is && bare; all++)
		is = is_text(text, bare, drop_args(bare, name + begin, len, all));
	free(bare);
	return is;
}

static bool is_clone(const char *pattern, const char *name)
{
	const struct called_base base = called_base(name);
	char *text;
	bool is;

	if (name + base.len == base.mark)
		return false;
	text = strndup(name, base.len);
	is = text && called_in_text(pattern, text, CALLED_LAST);
	free(text);
	return is;
}

bool called_in_text(const char *pattern, const char *name, enum called_form form)
{
	const struct function_name own = called_own(name);
	const char *begin = name + own.begin;
	const size_t len = strlen(name), own_len = own.end - own.begin;

	return called_matches(pattern, name, len) || called_matches(pattern, name, own.end) ||
		called_matches(pattern, begin, own_len) ||
		(own.begin && called_matches(pattern, begin, len - own.begin)) ||
		(form >= CALLED_BARE && memchr(begin, '<', own_len) &&
			matches_without_args(pattern, begin, own_len)) ||
		(form >= CALLED_LAST && is_last(pattern, name, own)) ||
		(form >= CALLED_CLONE && is_clone(pattern, name));
}

bool called(const char *pattern, const struct symref *name, enum called_form form)
{
	char cut[FUNCTION_NAME_BYTES];

	/* Long names are displayed cut. */
	if (strlen(pattern) >= sizeof(cut)) {
		function_cut(cut, sizeof(cut), pattern);
		if (!strcmp(cut, name->symbol))
			return true;
	}
	return called_in_text(pattern, name->symbol, form) ||
		(name->raw && !strcmp(pattern, name->raw));
}
