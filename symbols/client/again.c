/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * again.c - see again.h.
 */
#include "symbols/client/again.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAUSES_MAX 8u /* upper limit of a doubled pause, in units of again_pause_ns */
#define SHARE 20u /* next pause: at least this many times the duration of the last look */

uint64_t again_pause_ns = 1000000000;

int again_new(struct again **out, const struct symbols_source *source)
{
	struct again *again = calloc(1, sizeof(*again));

	*out = NULL;
	if (!again)
		return -ENOMEM;
	if (source_copy(&again->source, source) < 0) {
		free(again);
		return -ENOMEM;
	}
	*out = again;
	return 0;
}

void again_free(struct again *again)
{
	if (!again)
		return;
	source_drop(&again->source);
	free(again->jit.steps);
	keptnames_fini(&again->names);
	free(again);
}

int again_learn(struct again *again, const struct symbols_source *source)
{
	if (!source->jitdump || again->source.jitdump)
		return 0;
	again->source.jitdump = strdup(source->jitdump);
	return again->source.jitdump ? 0 : -ENOMEM;
}

bool again_keep(struct again *again, struct symbol *symbol)
{
	const uint64_t start = again->source.kind == SYMBOLS_JIT ? 0 : symbol->start;
	uint32_t unused;

	again->wanted = true;
	if (symbol->module &&
		keptnames_intern(
			&again->names, UINT64_MAX, symbol->module, &unused, &symbol->module) < 0)
		return false;
	return keptnames_intern(
		       &again->names, start, symbol->name, &symbol->index, &symbol->name) == 0;
}

void again_missed(struct again *again)
{
	again->wanted = again->unresolved = true;
}

bool again_is_due(const struct again *again, uint64_t now_ns, uint64_t final_ns)
{
	/* One final look per wait, even if the look before was late: a map may grow without end. */
	const bool final = final_ns && again->asked_ns < final_ns;

	if (again->looking || again->over)
		return false;
	/* Other code may lie there now, even if every address asked for has a name. */
	if (again->idle_ns && (final || (!final_ns && now_ns >= again->idle_ns)))
		return true;
	if (!again->wanted && !again->unresolved)
		return false;
	if (again->source.kind != SYMBOLS_JIT && !again->unresolved)
		return false;
	return final || (!final_ns && now_ns >= again->due_ns);
}

struct loader_image *again_begin(struct again *again, uint32_t key, uint64_t now_ns)
{
	struct loader_image *job = calloc(1, sizeof(*job));

	if (!job || source_copy(&job->source, &again->source) < 0) {
		free(job);
		return NULL;
	}
	job->key = key;
	if (loader_jit_copy(&job->jit, &again->jit) < 0) {
		loader_image_free(job);
		return NULL;
	}
	again->looking = true;
	again->idle = !again->wanted && !again->unresolved;
	again->wanted = false;
	again->asked_ns = now_ns;
	/* An address without a name is asked for again once the new table is there. */
	if (again->source.kind != SYMBOLS_JIT)
		again->unresolved = false;
	return job;
}

static bool is_same_table(const struct symtab *a, const struct symtab *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->bytes, b->bytes, a->len));
}

/* Doubles the pause between looks without a request while nothing changes. */
static void plan_idle(struct again *again, bool same, uint64_t now_ns)
{
	if (!same || !again->idle || !again->idle_pause_ns)
		again->idle_pause_ns = again_pause_ns;
	else if (again->idle_pause_ns < PAUSES_MAX * again_pause_ns)
		again->idle_pause_ns *= 2;
	again->idle_ns = again->due_ns > now_ns + again->idle_pause_ns
		? again->due_ns
		: now_ns + again->idle_pause_ns;
}

bool again_end(struct again *again, struct loader_image *answer, const struct symtab *table,
	uint64_t now_ns)
{
	const uint64_t took_ns = now_ns - again->asked_ns;
	const bool failed =
		answer->state != SYMBOLS_READY && answer->state != SYMBOLS_NONE && table->len;
	const bool same = answer->jit.same || failed || is_same_table(&answer->table, table);
	const bool first = !again->tried;

	again->looking = false;
	again->tried = true;
	free(again->jit.steps);
	again->jit = answer->jit;
	answer->jit.steps = NULL;
	again->over |= answer->jit.over;
	/* The kernel's list is long, and many of its addresses never get a name. */
	if (!same || again->source.kind == SYMBOLS_JIT || !again->pause_ns)
		again->pause_ns = again_pause_ns;
	else if (again->pause_ns < PAUSES_MAX * again_pause_ns)
		again->pause_ns *= 2;
	again->due_ns = now_ns + again->pause_ns;
	if (again->pause_ns < took_ns * SHARE && again_pause_ns)
		again->due_ns = now_ns + took_ns * SHARE;
	if (again->source.kind == SYMBOLS_JIT)
		plan_idle(again, same, now_ns);
	if (!same && table->len)
		again->unresolved = false;
	/* A list that cannot be read at first is read once more, also in a wait that began before:
	 * no process could be started, or the machine was too busy. */
	if (first && again->source.kind != SYMBOLS_JIT && answer->state == SYMBOLS_UNREADABLE) {
		again->unresolved = true;
		again->asked_ns = 0;
		again->due_ns = now_ns + again_pause_ns;
	}
	return !same;
}
