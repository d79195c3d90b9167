/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * function_cut.c - see function_cut.h.
 *
 * One pass counts the bytes at each depth of brackets, another one copies those that are not too
 * deep.
 */
#include "symbols/base/function_cut.h"

#include "symbols/base/function_name.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 256u /* deeper brackets count as this deep */
#define SMALL_BYTES 32u
#define ELLIPSIS "…"
#define MARK_BYTES (2 * sizeof(ELLIPSIS) + 16) /* maximum that put_mark() writes */

/* The open brackets at a place in a name. */
struct place {
	const char *name;
	size_t at, end; /* the current token */
	size_t depth; /* depth of the token; brackets themselves count as outside */
	size_t inner; /* depth after the token */
	char closers[DEPTH_MAX];
	size_t deeper; /* open brackets beyond closers */
};

static void open_group(struct place *place, char closer)
{
	if (place->inner == DEPTH_MAX)
		place->deeper++;
	else
		place->closers[place->inner++] = closer;
}

static void close_group(struct place *place, char c)
{
	if (place->deeper) {
		place->deeper--;
		return;
	}
	/* In parentheses ">" is an operator, not a bracket. */
	if (!place->inner || (c == '>' && place->closers[place->inner - 1] != '>'))
		return;
	while (place->inner && place->closers[place->inner - 1] == '>' && c != '>')
		place->inner--;
	if (place->inner && place->closers[place->inner - 1] == c)
		place->inner--;
}

/* Returns the length of a short part in brackets that distinguishes functions; 0 if none is
 * there. */
static size_t find_kept(const char *text)
{
	static const char *const kept[] = {"[clone ", "[abi:", "(anonymous namespace)"};
	const char *close;

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		if (strncmp(text, kept[i], strlen(kept[i])) != 0)
			continue;
		close = strpbrk(text, "])");
		return close ? (size_t)(close + 1 - text) : 0;
	}
	return 0;
}

/* Goes to the next token; returns false after the last one. */
static bool step(struct place *place)
{
	size_t solid;
	char c;

	place->at = place->end;
	c = place->name[place->at];
	if (!c)
		return false;
	solid = function_solid_len(place->name, place->at);
	if (!solid)
		solid = find_kept(place->name + place->at);
	place->end = place->at + (solid ? solid : 1);
	place->depth = place->inner;
	if (solid)
		return true;
	if (function_closer_of(c)) {
		open_group(place, function_closer_of(c));
	} else if (strchr(")>]}", c)) {
		close_group(place, c);
		if (place->inner < place->depth)
			place->depth = place->inner;
	}
	return true;
}

/* The parts of a name that fit. */
struct plan {
	/* number of depths kept; 0: depth 0 does not fit, or brackets are not closed */
	size_t depths;
	bool keeps_small; /* keeps groups of at most SMALL_BYTES below these */
};

static struct plan make_plan(const char *name, size_t size)
{
	/* Sizes by depth; a dropped group becomes an ellipsis. */
	size_t bytes[DEPTH_MAX + 2] = {0}, groups[DEPTH_MAX + 2] = {0}, small[DEPTH_MAX + 2] = {0};
	size_t begins[DEPTH_MAX + 2], used = MARK_BYTES, depth = 0;
	struct place place = {.name = name};
	struct plan plan = {0};

	while (step(&place)) {
		for (; depth > place.depth; depth--) {
			size_t len = place.at - begins[depth];

			small[depth] += len <= SMALL_BYTES ? len : strlen(ELLIPSIS);
		}
		bytes[place.depth] += place.end - place.at;
		if (place.depth == depth)
			continue;
		depth = place.depth;
		begins[depth] = place.at;
		groups[depth] += strlen(ELLIPSIS);
	}
	for (; !place.inner && plan.depths <= DEPTH_MAX; plan.depths++) {
		used += bytes[plan.depths];
		if (used + groups[plan.depths + 1] > size)
			break;
		plan.keeps_small = used + small[plan.depths + 1] <= size;
	}
	return plan;
}

/* Hashes the function's name; clones have the same hash. */
static uint64_t hash_of(const char *name)
{
	size_t len = function_base_len(name, strlen(name));
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3ull;
	return hash;
}

static size_t put_mark(char *out, const char *name)
{
	return (size_t)sprintf(out, ELLIPSIS "#%010" PRIx64 ELLIPSIS, hash_of(name) >> 24);
}

static size_t put_ellipsis(char *out)
{
	memcpy(out, ELLIPSIS, strlen(ELLIPSIS));
	return strlen(ELLIPSIS);
}

static void cut_arguments(char *out, const char *name, struct plan plan)
{
	struct place place = {.name = name};
	bool has_mark = false, more = step(&place);
	size_t used = 0, begin, end;

	while (more) {
		bool left_out = place.depth >= plan.depths;

		begin = place.at;
		do
			more = step(&place);
		while (more && left_out && place.depth >= plan.depths);
		end = place.at;
		if (left_out && (end - begin > SMALL_BYTES || !plan.keeps_small)) {
			used += has_mark ? put_ellipsis(out + used) : put_mark(out + used, name);
			has_mark = true;
		} else {
			memcpy(out + used, name + begin, end - begin);
			used += end - begin;
		}
	}
	out[used] = '\0';
}

static bool is_continued(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static void cut_middle(char *out, size_t size, const char *name)
{
	const size_t len = strlen(name), half = (size - 1 - MARK_BYTES) / 2;
	size_t head = half, tail = len - half;

	while (head && is_continued(name[head]))
		head--;
	while (is_continued(name[tail]))
		tail++;
	memcpy(out, name, head);
	head += put_mark(out + head, name);
	memcpy(out + head, name + tail, len - tail + 1);
}

void function_cut(char *out, size_t size, const char *name)
{
	struct plan plan;

	if (strlen(name) < size || size <= 2 * MARK_BYTES) {
		snprintf(out, size, "%s", name);
		return;
	}
	plan = make_plan(name, size - 1);
	if (plan.depths)
		cut_arguments(out, name, plan);
	else
		cut_middle(out, size, name);
}
