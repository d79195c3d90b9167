// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * stack.c - chooses how much stack samples copy, if config.stack_adapts.
 *
 * An event begins with config.stack_bytes.  Threads sleep near the root, so events of switches
 * begin with STACK_SPAN_BYTES.  The size doubles when copies are too short for more than 1/100 of
 * the chains.  It is halved, not below STACK_LEAST, if a second's copies exceed STACK_BUDGET.  It
 * is also halved, for good, if more than 1/20 of a second's samples are lost.  Runs in the sampling
 * thread.
 *
 * The kernel cannot change the size in an open event.  A second event replaces the first in the
 * same ring; hits between the two system calls are missed.
 *
 * Without config.keep_stacks, events that fire on each hit copy nothing and use the kernel's chain.
 * Their hits are counted one by one, and copies would fill the rings so that hits are lost.
 */
#include "sampler/engine/stack.h"
#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/engine/attr.h"
#include "sampler/engine/change.h"
#include "sampler/engine/group.h"
#include "sampler/engine/internal.h"
#include "sampler/kernel/attr.h"

#include <errno.h>
#include <unistd.h>

#define STACK_BUDGET (80ull << 20) /* bytes per second and CPU */
#define STACK_LEAST 1024u
#define LOST_SHARE 20u
#define STACK_SPAN_BYTES 4096u
#define STACK_SAMPLES_LEAST 8u
/* Copies grow only while a ring holds this many; with fewer, samples are lost between two
 * drains. */
#define STACK_SAMPLES_GROWN 32u
/* The size is judged after this many cut chains, or this many chains in total. */
#define CUT_LEAST 5u
#define JUDGED_LEAST 100u

static uint32_t shorter(uint32_t bytes)
{
	return bytes / 2 < STACK_LEAST ? STACK_LEAST : bytes / 2 / 8 * 8;
}

static bool fires_by_hits(const struct choice *choice)
{
	return !choice->spec.span && !attr_fires_by_time(&choice->attr);
}

uint32_t stack_begin(const struct engine *engine, const struct choice *choice)
{
	uint32_t bytes = engine_stack_bytes(engine);

	if (!engine->config.stack_adapts)
		return bytes;
	if (fires_by_hits(choice) && !engine->config.keep_stacks)
		return 0;
	if (bytes > STACK_SPAN_BYTES && (choice->spec.span || fires_by_hits(choice)))
		bytes = STACK_SPAN_BYTES;
	while (bytes > STACK_LEAST && choice->attr.freq &&
		choice->attr.sample_freq * bytes > STACK_BUDGET)
		bytes = shorter(bytes);
	return bytes;
}

uint32_t engine_stack_most(const struct engine *engine)
{
	return (uint32_t)(((size_t)PAGE_BYTES << engine->budget.order) / STACK_SAMPLES_GROWN) & ~7u;
}

/* A point with a small ring copies less stack, so that the ring holds some samples. */
void point_fit_stack(
	const struct engine *engine, const struct point *point, struct perf_event_attr *attr)
{
	const size_t ring = point->channel ? ring_size(point->channel->ring)
					   : (size_t)PAGE_BYTES << engine->budget.order;
	const uint32_t most = (uint32_t)(ring / STACK_SAMPLES_LEAST) & ~7u;

	if (attr->sample_stack_user > most)
		attr->sample_stack_user = most;
}

static bool stays_open(const struct engine *engine, unsigned int index)
{
	return engine->status.scope == SCOPE_INHERIT || engine->choices[index].leader != index ||
		group_leads(engine, index);
}

uint32_t stack_copied(const struct engine *engine, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];
	const bool by_pointers = choice->spec.chain == EVENT_CHAIN_ON; /* call-graph=fp */

	return engine_stack_bytes(engine) && !by_pointers ? choice->stack.bytes : 0;
}

static bool is_too_short(const struct unwind_ends *ends)
{
	const uint64_t judged = unwind_judged(ends);

	return (ends->cut >= CUT_LEAST || judged >= JUDGED_LEAST) && ends->cut * 100 > judged;
}

static uint32_t fit(const struct engine *engine, const struct choice *choice, uint64_t rate,
	const struct unwind_ends *ends)
{
	const uint64_t most = STACK_BUDGET * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	const uint32_t before = choice->stack.bytes;
	uint32_t longest = engine_stack_most(engine);
	uint32_t bytes = before, longer = 2 * (bytes + 8) - 8;

	if (choice->stack.most && choice->stack.most < longest)
		longest = choice->stack.most;
	if (bytes > longest && choice->stack.most)
		bytes = longest;
	while (bytes > STACK_LEAST && rate * bytes > most)
		bytes = shorter(bytes);
	if (bytes < before || !is_too_short(ends))
		return bytes;
	if (longer > UNWIND_STACK_MAX)
		longer = UNWIND_STACK_MAX;
	if (longer > longest)
		longer = longest;
	return longer < bytes || rate * longer > most ? bytes : longer;
}

/* Returns 0, or -errno with the size unchanged. */
static int change_size(struct engine *engine, unsigned int index, uint32_t bytes)
{
	struct choice *choice = &engine->choices[index];
	const struct choice before = *choice;
	int ret;

	choice->stack.bytes = bytes;
	if (choice->spec.span || stays_open(engine, index)) {
		ret = change_reopen(engine, index);
		if (ret && ret != -ESRCH)
			change_restore(engine, index, &before);
	} else {
		ret = change_swap(engine, index);
	}
	if (ret)
		choice->stack.bytes = before.stack.bytes;
	return ret;
}

static void adapt(struct engine *engine, unsigned int index)
{
	struct choice *choice = &engine->choices[index];
	struct stack_copies *stack = &choice->stack;
	const struct unwind_ends *ends = &engine->ingest.ends[engine->status.events[index].id];
	const struct unwind_ends since = {.whole = ends->whole - stack->ends.whole,
		.cut = ends->cut - stack->ends.cut,
		.broken = ends->broken - stack->ends.broken,
		.away = ends->away - stack->ends.away,
		.deep = ends->deep - stack->ends.deep};
	const uint64_t elapsed_ns = engine->round.begun_ns - stack->begun_ns;
	const uint64_t seen = stack->seen - stack->told;
	const uint64_t lost = engine->status.events[index].lost - stack->lost;
	const uint64_t rate = seen * 1000 / (elapsed_ns / NS_PER_MS + 1);

	if (elapsed_ns < NS_PER_S && !is_too_short(&since))
		return;
	if (lost * LOST_SHARE > seen && !choice->spec.span)
		stack->most = shorter(stack->bytes);
	const uint32_t before = stack->bytes, bytes = fit(engine, choice, rate, &since);
	if (elapsed_ns < NS_PER_S && bytes <= before)
		return;
	stack->ends = *ends;
	stack->told = stack->seen;
	stack->lost += lost;
	stack->begun_ns = engine->round.begun_ns;
	if (bytes == before || change_owns_ring(engine, index) || change_size(engine, index, bytes))
		return;
	if (!engine->status.events[index].stack_first)
		engine->status.events[index].stack_first = before;
	engine_note(engine, NOTE_STACK_BYTES, 0, 0, bytes, engine->status.events[index].name);
}

/* Inherited events stay open, since reopening would lose the children's. */
static bool is_adapted(const struct engine *engine, unsigned int index)
{
	return engine->choices[index].open && choice_runs(engine, index) &&
		stack_copied(engine, index) && engine->status.scope != SCOPE_INHERIT;
}

void stack_sweep(struct engine *engine)
{
	if (!engine->config.stack_adapts || engine->config.keep_stacks || engine->paused ||
		engine->stopped)
		return;
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (is_adapted(engine, i))
			adapt(engine, i);
}
