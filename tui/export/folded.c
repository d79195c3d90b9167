/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folded.c - folded stacks, "command;outermost;...;leaf WEIGHT" per line, for flame graph tools.
 *
 * The lines follow `perf script | stackcollapse-perf.pl`.  The weight is the period if perf prints
 * one.  Blanks in commands are underscores.  Code of an unknown function is its file in brackets.
 * C++ parameters are dropped.
 *
 * But different functions of an image stay different: they keep their parameters if others have the
 * same name, and their addresses if others have the same parameters, or if they have no name.  UI
 * thread.
 */
#include "sampler/base/affix.h"
#include "tui/base/grow.h"
#include "tui/export/fold.h"

#include "symbols/base/function_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define INLINED_MARK "_[i]" /* the mark that flamegraph.pl recognizes */
#define MARK_BYTES (8 + PROFILE_MARK_BYTES)

/* Writes perf's text for a function without a name: its file in brackets. */
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

/* Copies a name without the characters that the format reserves: separators and quotes. */
static size_t tidy(char *out, size_t size, const char *name, size_t len, bool java)
{
	size_t n = 0;

	if (java && len && *name == 'L' && memchr(name, '/', len)) {
		name++;
		len--;
	}
	for (size_t i = 0; i < len && n + 1 < size; i++)
		if (name[i] != '"' && name[i] != '\'')
			out[n++] = name[i] == ';' ? ':' : name[i];
	out[n] = '\0';
	return n;
}

/* Returns the length of the first part of a Java name "a->b", a caller and the function inlined
 * into it.  Arrows within brackets and operators do not separate parts. */
static size_t part_len(const char *name)
{
	size_t end;

	for (size_t at = 0; name[at]; at = end) {
		(void)function_token(name, at, &end);
		if (end == at + 2 && !strncmp(name + at, "->", 2))
			return at;
	}
	return strlen(name);
}

/* Writes the whole name with parameters, so that functions which differ only in these stay
 * different. */
static void frame_text(char *out, const struct profile *profile, uint32_t id, const char *command)
{
	const struct symref *symref = names_get(profile->names, id);
	bool java = starts_with(command, "java");
	const char *name = symref->symbol;
	char module[FOLD_TEXT_MAX], mark[PROFILE_MARK_BYTES];
	size_t n = 0, len;

	out[0] = '\0';
	if (!symref->resolved && !symref->bounded) {
		module_text(module, profile, symref);
		tidy(out, FOLD_TEXT_MAX, module, strlen(module), java);
		return;
	}
	if (symref->inlined) {
		n = tidy(out, FOLD_TEXT_MAX - MARK_BYTES, name,
			strlen(name) - strlen(NAMES_INLINED), java);
		strcpy(out + n, INLINED_MARK);
		return;
	}
	for (size_t parts = 0; *name && n + 2 * MARK_BYTES < FOLD_TEXT_MAX; parts++) {
		len = part_len(name);
		if (parts)
			out[n++] = ';';
		n += tidy(out + n, FOLD_TEXT_MAX - n - MARK_BYTES, name, len, java);
		if (parts)
			n += (size_t)sprintf(out + n, INLINED_MARK);
		name += len + (name[len] ? 2 : 0);
	}
	strcpy(out + n, profile_mark(profile, id, mark));
}

/* Copies a frame's text without return types and parameters, like names in perf. */
static size_t shorten_text(char *out, const char *text)
{
	size_t used = 0;

	while (*text) {
		size_t len = strcspn(text, ";"), mark = strlen(INLINED_MARK);
		struct function_name own;

		if (len < mark || strncmp(text + len - mark, INLINED_MARK, mark) != 0)
			mark = 0;
		own = function_name(text, len - mark);
		memcpy(out + used, text + own.begin, own.end - own.begin);
		used += own.end - own.begin;
		memcpy(out + used, text + len - mark, mark + (text[len] == ';'));
		used += mark + (text[len] == ';');
		text += len + (text[len] == ';');
	}
	return used;
}

/* The displayed text of each label. */
struct shown {
	struct intern texts;
	uint32_t *of; /* by label: index in texts + 1; 0: the label itself */
};

static int shorten_label(struct shown *shown, const struct fold *fold,
	const struct profile *profile, const struct fold_node *node)
{
	const char *label = fold_text(fold, node->label);
	char text[FOLD_TEXT_MAX];
	size_t len = strlen(label);
	uint32_t id;
	int ret;

	if (names_get(profile->names, node->symref)->resolved)
		len = shorten_text(text, label);
	else
		memcpy(text, label, len);
	ret = intern_id(&shown->texts, text, (uint32_t)len, &id);
	if (!ret)
		shown->of[node->label] = id + 1;
	return ret;
}

/* Chooses the short text of a function, unless several functions share it. */
static int shorten_labels(
	struct shown *shown, const struct fold *fold, const struct profile *profile)
{
	uint32_t *users = calloc((size_t)fold->texts.n + 1, sizeof(*users));
	int ret = 0;

	shown->of = calloc((size_t)fold->texts.n + 1, sizeof(*shown->of));
	if (!users || !shown->of)
		ret = -ENOMEM;
	for (uint32_t i = 1; i < fold->n_nodes && !ret; i++) {
		const struct fold_node *node = &fold->nodes[i];

		if (node->depth == 1 || shown->of[node->label])
			continue;
		ret = shorten_label(shown, fold, profile, node);
		if (!ret)
			users[shown->of[node->label] - 1]++;
	}
	for (uint32_t i = 0; i < fold->texts.n && !ret; i++)
		if (shown->of[i] && users[shown->of[i] - 1] > 1)
			shown->of[i] = 0;
	free(users);
	return ret;
}

/* There are many long lines, so they are collected here and written in blocks of this size. */
#define GIVE_BYTES ((size_t)128 << 10)
#define NUMBER_MAX 24u /* " WEIGHT\n" */

struct bytes {
	char *at;
	size_t len, room;
};

struct writing {
	FILE *out;
	struct bytes line; /* line of the current node; a prefix of it is the line of the parent */
	struct bytes ready; /* complete lines */
};

/* Appends a node's text to its parent's line. */
static int put_text(struct bytes *line, const struct intern_entry *text, bool command)
{
	int ret = grow_items(&line->at, &line->room, line->len + text->len + 1, 1);
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
	int ret = grow_items(&ready->at, &ready->room, ready->len + line->len + NUMBER_MAX, 1);

	if (ret)
		return ret;
	memcpy(ready->at + ready->len, line->at, line->len);
	ready->len += line->len;
	ready->len += put_number(ready->at + ready->len, weight);
	return ready->len < GIVE_BYTES ? 0 : give_out(writing);
}

/* Writes the lines of all nodes, depth first. */
static int write_lines(FILE *out, const struct profile *profile, const struct fold *fold,
	const struct shown *shown)
{
	size_t *lens = calloc((size_t)fold->depth + 1, sizeof(*lens));
	bool by_count = profile->events[0].by_count;
	struct writing writing = {.out = out};
	uint32_t at = fold->nodes[0].first;
	bool command;
	int ret = lens ? 0 : -ENOMEM;

	while (at && !ret) {
		const struct fold_node *node = &fold->nodes[at];

		writing.line.len = lens[node->depth - 1];
		command = node->depth == 1;
		ret = put_text(&writing.line,
			command || !shown->of[node->label]
				? &fold->texts.entries[node->label]
				: &shown->texts.entries[shown->of[node->label] - 1],
			command);
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
	struct shown shown = {0};
	struct fold fold;
	int ret = fold_make(&fold, profile, frame_text);

	if (ret)
		return ret;
	ret = shorten_labels(&shown, &fold, profile);
	if (!ret)
		ret = write_lines(out, profile, &fold, &shown);
	intern_fini(&shown.texts);
	free(shown.of);
	fold_fini(&fold);
	return ret;
}
