/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folded.c - folded stacks, "command;outermost;...;leaf WEIGHT" a line, as flame graph tools read them.
 *
 * The lines are those of `perf script | stackcollapse-perf.pl`: the weight is the period where perf tells one, blanks in
 * commands are underscores, a function without a name is its file's in brackets, and C++ parameters go.
 */
#include "tui/export/fold.h"

#include "tui/clean.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define INLINED_MARK "_[i]" /* as flamegraph.pl knows it */

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* What perf calls the file of a function that has no name. */
static void module_text(char *out, const struct profile *profile, const struct symref *symref)
{
	struct image_origin origin = {0};
	const char *image = symref->image;

	if (!strcmp(image, "[kernel]"))
		image = "[kernel.kallsyms]";
	else if (!strcmp(image, "[unknown]"))
		image = "unknown";
	if (!strcmp(image, "[anon]")) {
		images_origin(profile->images, symref->image_id, &origin);
		snprintf(out, FOLD_TEXT_MAX, "[perf-%" PRId32 ".map]", origin.pid);
		return;
	}
	snprintf(out, FOLD_TEXT_MAX, "[%s]", image);
}

/* Where the parameters begin: at the first parenthesis that is no "(anonymous namespace)"; or the end. */
static size_t before_parameters(const char *name)
{
	size_t at = 0;

	while (name[at] && (name[at] != '(' || starts_with(name + at, "(anonymous namespace)")))
		at++;
	return at;
}

/* Functions made from a template are demangled with the type that they return; without parameters, as perf wants
 * them, they are not.  The name behind it: after the last blank outside of brackets. */
static const char *without_return_type(const char *name)
{
	size_t end = before_parameters(name), start = 0;
	int depth = 0;

	if (!name[end])
		return name;
	for (size_t at = 0; at < end; at++) {
		if (starts_with(name + at, "operator"))
			break;
		if (name[at] == '<' || name[at] == '(')
			depth++;
		else if (name[at] == '>' || name[at] == ')')
			depth--;
		else if (name[at] == ' ' && !depth)
			start = at + 1;
	}
	return name + start;
}

/* "net/http.(*Client).Do" keeps its parentheses. */
static bool is_go_method(const char *name)
{
	const char *open = strstr(name, ".(");

	return open && strstr(open, ").");
}

/* One function: no separators of the format, no parameters, no quotes. */
static size_t tidy(char *out, size_t size, const char *name, size_t len, bool java)
{
	char copy[FOLD_TEXT_MAX];
	size_t n = 0;

	if (len >= sizeof(copy))
		len = sizeof(copy) - 1;
	memcpy(copy, name, len);
	copy[len] = '\0';
	if (!is_go_method(copy))
		copy[before_parameters(copy)] = '\0';
	name = copy;
	if (java && *name == 'L' && strchr(name, '/'))
		name++;
	for (; *name && n + 1 < size; name++)
		if (*name != '"' && *name != '\'')
			out[n++] = *name == ';' ? ':' : *name;
	out[n] = '\0';
	return n;
}

static void frame_text(
	char *out, const struct profile *profile, const struct symref *symref, const char *command)
{
	bool java = starts_with(command, "java");
	char plain[FOLD_TEXT_MAX];
	size_t n = 0, parts = 0;
	const char *name;

	out[0] = '\0';
	if (!symref->resolved) {
		char module[FOLD_TEXT_MAX];

		module_text(module, profile, symref);
		tidy(out, FOLD_TEXT_MAX, module, strlen(module), java);
		return;
	}
	if (symref->inlined) {
		snprintf(plain, sizeof(plain), "%.*s",
			(int)(strlen(symref->symbol) - strlen(NAMES_INLINED)), symref->symbol);
		name = without_return_type(plain);
		n = tidy(out, FOLD_TEXT_MAX - 8, name, strlen(name), java);
		strcpy(out + n, INLINED_MARK);
		return;
	}
	name = without_return_type(symref->symbol);
	/* What begins so is no function to stackcollapse-perf.pl. */
	if (*name == '(')
		return;
	/* "a->b" is a caller and what was inlined into it; nothing at the end is no part. */
	for (const char *end; *name; name = end) {
		end = strstr(name, "->");
		if (!end)
			end = name + strlen(name);
		if (parts && n + 8 < FOLD_TEXT_MAX)
			out[n++] = ';';
		n += tidy(out + n, FOLD_TEXT_MAX - n - 8, name, (size_t)(end - name), java);
		if (parts++)
			n += (size_t)sprintf(out + n, INLINED_MARK);
		if (*end)
			end += 2;
		if (n + 16 >= FOLD_TEXT_MAX)
			break;
	}
}

/* Lines are many and long: they are put together here, and given out so many bytes at a time. */
#define GIVE_BYTES ((size_t)128 << 10)
#define NUMBER_MAX 24u /* " WEIGHT\n" */

struct bytes {
	char *at;
	size_t len, room;
};

struct writing {
	FILE *out;
	struct bytes line; /* of the node and what called it, growing and shrinking with the way */
	struct bytes ready; /* whole lines */
};

static int make_room(struct bytes *bytes, size_t more)
{
	size_t need = bytes->len + more;
	char *grown;

	if (need <= bytes->room)
		return 0;
	grown = realloc(bytes->at, need * 2);
	if (!grown)
		return -ENOMEM;
	bytes->at = grown;
	bytes->room = need * 2;
	return 0;
}

/* The line of a node, from its parent's. */
static int put_text(struct bytes *line, const struct intern_entry *text, bool command)
{
	int ret = make_room(line, (size_t)text->len + 1);
	char *to;

	if (ret)
		return ret;
	if (!command)
		line->at[line->len++] = ';';
	to = line->at + line->len;
	memcpy(to, text->bytes, text->len);
	line->len += text->len;
	for (size_t i = 0; command && i < text->len; i++) {
		if (to[i] == ' ')
			to[i] = '_';
		else if (to[i] == ';')
			to[i] = ':';
	}
	return 0;
}

static size_t put_number(char *to, uint64_t number)
{
	char digits[NUMBER_MAX];
	size_t n = 0, len = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	to[len++] = ' ';
	while (n)
		to[len++] = digits[--n];
	to[len++] = '\n';
	return len;
}

static int give_out(struct writing *writing)
{
	fwrite(writing->ready.at, 1, writing->ready.len, writing->out);
	writing->ready.len = 0;
	return ferror(writing->out) ? -EIO : 0;
}

static int put_line(struct writing *writing, uint64_t weight)
{
	const struct bytes *line = &writing->line;
	struct bytes *ready = &writing->ready;
	int ret = make_room(ready, line->len + NUMBER_MAX);

	if (ret)
		return ret;
	memcpy(ready->at + ready->len, line->at, line->len);
	ready->len += line->len;
	ready->len += put_number(ready->at + ready->len, weight);
	return ready->len < GIVE_BYTES ? 0 : give_out(writing);
}

/* Depth first. */
static int write_lines(FILE *out, const struct profile *profile, const struct fold *fold)
{
	size_t *lens = calloc((size_t)fold->depth + 1, sizeof(*lens));
	bool by_count = profile->events[0].by_count;
	struct writing writing = {.out = out};
	uint32_t at = fold->nodes[0].first;
	int ret = lens ? 0 : -ENOMEM;

	while (at && !ret) {
		const struct fold_node *node = &fold->nodes[at];

		writing.line.len = lens[node->depth - 1];
		ret = put_text(&writing.line, &fold->texts.entries[node->label], node->depth == 1);
		if (ret)
			break;
		lens[node->depth] = writing.line.len;
		if (node->self_count)
			ret = put_line(&writing, by_count ? node->self_count : node->self);
		if (node->first) {
			at = node->first;
			continue;
		}
		while (at && !fold->nodes[at].next)
			at = fold->nodes[at].parent;
		at = fold->nodes[at].next;
	}
	if (!ret && writing.ready.len)
		ret = give_out(&writing);
	free(writing.line.at);
	free(writing.ready.at);
	free(lens);
	return ret;
}

int export_folded(FILE *out, const struct profile *profile)
{
	struct fold fold;
	int ret = fold_make(&fold, profile, frame_text);

	if (ret)
		return ret;
	ret = write_lines(out, profile, &fold);
	fold_fini(&fold);
	return ret;
}
