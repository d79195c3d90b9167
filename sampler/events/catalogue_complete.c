// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * catalogue_complete.c - finds the entries that a partly typed word may become.
 */
#include "sampler/events/catalogue.h"
#include "sampler/events/private.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum rank { RANK_PREFIX, RANK_PART, RANK_ANYWHERE, RANKS, RANK_NONE = RANKS };

size_t catalogue_literal(const struct catalogue_entry *entry)
{
	size_t len = 0;

	if (entry->group != CATALOGUE_FORM)
		return strlen(entry->name);
	while (entry->name[len] && !isupper((unsigned char)entry->name[len]))
		len++;
	return len;
}

/* In a form, the word may continue into the part that the user fills in. */
static enum rank rank_of_form(const struct catalogue_entry *entry, const char *word, size_t len)
{
	size_t literal = catalogue_literal(entry);

	/* A one-letter form ("rNNN") would match too many words: only the letter itself matches
	 * it. */
	if (literal < 2 || !len)
		return len == 1 && literal == 1 && *word == *entry->name ? RANK_PREFIX : RANK_NONE;
	return strncasecmp(entry->name, word, len < literal ? len : literal) ? RANK_NONE
									     : RANK_PREFIX;
}

static enum rank rank_of(const struct catalogue_entry *entry, const char *word, size_t len)
{
	const char *found;

	if (entry->group == CATALOGUE_FORM)
		return rank_of_form(entry, word, len);
	if (!strncasecmp(entry->name, word, len) ||
		(entry->alias && !strncasecmp(entry->alias, word, len)))
		return RANK_PREFIX;
	found = strcasestr(entry->name, word);
	if (!found)
		return entry->alias && strcasestr(entry->alias, word) ? RANK_ANYWHERE : RANK_NONE;
	return found > entry->name && strchr(":/-_", found[-1]) ? RANK_PART : RANK_ANYWHERE;
}

static void find_near(const struct catalogue_entry *entries, size_t n, const char *word,
	struct catalogue_completion *out)
{
	struct event_near near;

	event_near_begin(&near, (struct event_piece){word, strlen(word)});
	for (size_t i = 0; i < n; i++) {
		unsigned int least = near.least;

		if (entries[i].group == CATALOGUE_FORM)
			continue;
		event_near_try(&near, entries[i].name);
		if (entries[i].alias)
			event_near_try(&near, entries[i].alias);
		if (near.least < least)
			out->at[0] = i;
	}
	if (!near.best[0])
		return;
	out->n = out->total = 1;
	out->near = true;
}

void catalogue_complete(const struct catalogue_entry *entries, size_t n, const char *word,
	struct catalogue_completion *out)
{
	const size_t len = strlen(word);
	size_t counts[RANKS + 1] = {0};

	memset(out, 0, sizeof(*out));
	if (!len)
		return;
	for (enum rank rank = RANK_PREFIX; rank < RANKS; rank++)
		for (size_t i = 0; i < n; i++) {
			if (rank_of(&entries[i], word, len) != rank)
				continue;
			counts[rank]++;
			if (out->n < CATALOGUE_COMPLETIONS)
				out->at[out->n++] = i;
		}
	out->prefixed = counts[RANK_PREFIX];
	out->total = counts[RANK_PREFIX] + counts[RANK_PART] + counts[RANK_ANYWHERE];
	if (!out->total)
		find_near(entries, n, word, out);
}

size_t catalogue_common(const struct catalogue_entry *entries, size_t n, const char *word)
{
	const size_t len = strlen(word);
	const char *first = NULL;
	size_t common = 0;

	for (size_t i = 0; len && i < n; i++) {
		const char *name = entries[i].name;
		size_t most = catalogue_literal(&entries[i]), same = 0;

		if (rank_of(&entries[i], word, len) != RANK_PREFIX ||
			strncasecmp(name, word, len) != 0)
			continue;
		if (!first) {
			first = name;
			common = most;
			continue;
		}
		while (same < most && same < common && name[same] == first[same])
			same++;
		common = same;
	}
	return common;
}
