/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pretty.c - see pretty.h.
 */
#include "symbols/client/pretty.h"

#include "symbols/wire/wire.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct pretty {
	struct loader_name *name; /* owned by the loader while pending */
	uint64_t hash;
	const char *text; /* NULL: pending */
};

static bool looks_mangled(const char *name)
{
	if (name[0] != '_')
		return false;
	return name[1] == 'Z' || name[1] == 'R' || strncmp(name, "___Z", 4) == 0 ||
		strncmp(name, "_GLOBAL_", 8) == 0 ||
		(name[1] == 'D' && name[2] >= '0' && name[2] <= '9');
}

static struct pretty *find_slot(struct pretty *slots, size_t cap, uint64_t hash, const char *name)
{
	size_t i = hash & (cap - 1);

	while (slots[i].name && (slots[i].hash != hash || strcmp(slots[i].name->name, name) != 0))
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static bool grow_slots(struct pretty_names *names)
{
	size_t cap = names->cap ? names->cap * 2 : 256;

	if (names->n < names->cap / 2)
		return true;
	struct pretty *slots = calloc(cap, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < names->cap; i++) {
		struct pretty *old = &names->slots[i];
		if (old->name)
			*find_slot(slots, cap, old->hash, old->name->name) = *old;
	}
	free(names->slots);
	names->slots = slots;
	names->cap = cap;
	return true;
}

const char *pretty_find(struct pretty_names *names, struct loader *loader, const char *name)
{
	const size_t len = looks_mangled(name) ? strlen(name) : 0;

	if (!len || len >= WIRE_MANGLED_BYTES)
		return name;
	if (!grow_slots(names))
		return NULL;
	uint64_t hash = XXH3_64bits(name, len);
	struct pretty *slot = find_slot(names->slots, names->cap, hash, name);
	if (slot->name)
		return slot->text ? slot->text : name;

	struct loader_name *job = calloc(1, sizeof(*job) + len + 1);
	if (!job)
		return NULL;
	memcpy(job->name, name, len);
	*slot = (struct pretty){.name = job, .hash = hash};
	names->n++;
	names->pending++;
	loader_post_name(loader, job);
	return name;
}

bool pretty_take(struct pretty_names *names, struct loader_name *answers)
{
	bool changed = false;

	for (; answers; answers = answers->next) {
		uint64_t hash = XXH3_64bits(answers->name, strlen(answers->name));
		struct pretty *slot = find_slot(names->slots, names->cap, hash, answers->name);
		slot->text = answers->pretty ? answers->pretty : answers->name;
		names->pending--;
		changed |= answers->pretty != NULL;
	}
	return changed;
}

void pretty_fini(struct pretty_names *names)
{
	for (size_t i = 0; i < names->cap; i++) {
		if (!names->slots[i].text)
			continue;
		free(names->slots[i].name->pretty);
		free(names->slots[i].name);
	}
	free(names->slots);
}
