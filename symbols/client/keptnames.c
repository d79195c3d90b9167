/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keptnames.c - see keptnames.h.
 */
#include "symbols/client/keptnames.h"

#include "symbols/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void keptnames_fini(struct keptnames *names)
{
	for (uint32_t i = 0; i < names->n; i++)
		free(names->at[i].text);
	free(names->at);
	free(names->slots);
	*names = (struct keptnames){0};
}

static void place(uint32_t *slots, uint32_t n_slots, uint64_t hash, uint32_t index)
{
	uint64_t i = hash;

	while (slots[i & (n_slots - 1)])
		i++;
	slots[i & (n_slots - 1)] = index + 1;
}

static int grow(struct keptnames *names)
{
	if (array_grow(&names->at, &names->room, (size_t)names->n + 1, sizeof(*names->at)) < 0)
		return -ENOMEM;
	if (names->n < names->n_slots / 2)
		return 0;
	uint32_t n_slots = names->n_slots ? names->n_slots * 2 : 128;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < names->n; i++)
		place(slots, n_slots, names->at[i].hash, i);
	free(names->slots);
	names->slots = slots;
	names->n_slots = n_slots;
	return 0;
}

int keptnames_intern(struct keptnames *names, uint64_t start, const char *name, uint32_t *index,
	const char **text)
{
	const uint64_t hash = XXH3_64bits_withSeed(name, strlen(name), start);

	for (uint64_t i = hash; names->n_slots; i++) {
		uint32_t slot = names->slots[i & (names->n_slots - 1)];
		if (!slot)
			break;
		const struct keptname *known = &names->at[slot - 1];
		if (known->hash == hash && known->start == start && !strcmp(known->text, name)) {
			*index = slot - 1;
			*text = known->text;
			return 0;
		}
	}
	char *copy = strdup(name);
	if (!copy || grow(names) < 0) {
		free(copy);
		return -ENOMEM;
	}
	*index = names->n++;
	*text = copy;
	names->at[*index] = (struct keptname){start, hash, copy};
	place(names->slots, names->n_slots, hash, *index);
	return 0;
}
