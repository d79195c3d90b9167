/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jitspans.c - goes from boundary to boundary: the pieces that cover an address, in the order of
 * their creation.
 *
 * A heap finds the last one, so that a hostile order costs at most n log n.  A sorted array keeps
 * all of them as long as that is cheap.
 */
#include "symbols/jit/jitspans.h"

#include "symbols/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_BYTES_MAX ((size_t)1 << 30)
/* Limits of history: numbers moved and compared, and symbols that are not the first. */
#define STEPS_MAX (UINT64_C(1) << 26)
#define OLDER_MAX (UINT32_C(1) << 18)

void jitspans_fini(struct jitspans *spans)
{
	free(spans->at);
	free(spans->names);
	*spans = (struct jitspans){0};
}

static int add_span(struct jitspans *spans, const struct jitspan *span)
{
	if (spans->n >= JITSPANS_MAX)
		return -EFBIG;
	if (array_grow(&spans->at, &spans->room, spans->n + 1, sizeof(*spans->at)) < 0)
		return -ENOMEM;
	spans->at[spans->n++] = *span;
	return 0;
}

/* Returns the end of a piece; or its start if the address has a piece number in its upper bits: the
 * piece is then left out. */
static uint64_t end_of(uint64_t start, uint64_t size)
{
	const uint64_t most = start <= JITSPANS_PLAIN ? JITSPANS_PLAIN + 1 : UINT64_MAX;

	if (start > JITSPANS_PLAIN && start >> JITSPANS_SHIFT < JITSPANS_NUMBERS)
		return start;
	if (size == 0)
		size = 1;
	if (size > UINT32_MAX)
		size = UINT32_MAX;
	return size > most - start ? most : start + size;
}

int jitspans_add(struct jitspans *spans, uint64_t start, uint64_t size, uint64_t since_ns,
	const char *name, size_t len)
{
	const struct jitspan span = {.start = start,
		.end = end_of(start, size),
		.since_ns = start <= JITSPANS_PLAIN ? since_ns : 0,
		.name = spans->names_len,
		.len = (uint32_t)len};

	if (len == 0 || span.end == start)
		return 0;
	if (len > NAMES_BYTES_MAX - spans->names_len)
		return -EFBIG;
	if (array_grow(&spans->names, &spans->names_room, spans->names_len + len, 1) < 0)
		return -ENOMEM;
	int ret = add_span(spans, &span);
	if (ret == 0) {
		memcpy(spans->names + spans->names_len, name, len);
		spans->names_len += len;
	}
	return ret;
}

int jitspans_move(struct jitspans *spans, size_t i, uint64_t start, uint64_t since_ns)
{
	struct jitspan moved = spans->at[i];

	moved.end = end_of(start, moved.end - moved.start);
	moved.start = start;
	moved.since_ns = start <= JITSPANS_PLAIN ? since_ns : 0;
	moved.moved = true;
	return moved.end == start ? 0 : add_span(spans, &moved);
}

/* --- the pieces at an address --- */

/* The last piece found with one number; it may continue. */
struct run {
	uint32_t span;
	uint64_t start, end, since_ns;
};

/* A piece that counts, and the time of its appearance. */
struct chosen {
	uint32_t span;
	uint64_t since_ns;
};

struct sweep {
	const struct jitspans *spans;
	struct symtab_builder *builder;
	uint32_t *heap; /* indexes of spans, the largest on top */
	size_t n_heap;
	uint32_t *all; /* spans of the heap, ascending */
	size_t n_all;
	struct chosen *chosen; /* has room for all */
	uint32_t *names; /* by span: index of its name in the table plus one; 0: not added yet */
	struct run *runs; /* by number of pieces that lay there before */
	size_t n_runs, runs_room;
	uint64_t steps;
	uint32_t older; /* number of symbols that are not the first */
	bool only_last; /* history takes too much work */
};

static void heap_push(struct sweep *sweep, uint32_t number)
{
	size_t i = sweep->n_heap++;

	for (; i && sweep->heap[(i - 1) / 2] < number; i = (i - 1) / 2)
		sweep->heap[i] = sweep->heap[(i - 1) / 2];
	sweep->heap[i] = number;
}

static void heap_pop(struct sweep *sweep)
{
	const uint32_t number = sweep->heap[--sweep->n_heap];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < sweep->n_heap; i = child) {
		if (child + 1 < sweep->n_heap && sweep->heap[child + 1] > sweep->heap[child])
			child++;
		if (sweep->heap[child] <= number)
			break;
		sweep->heap[i] = sweep->heap[child];
	}
	sweep->heap[i] = number;
}

static void step(struct sweep *sweep, size_t steps)
{
	sweep->steps += steps + 1;
	if (sweep->steps > STEPS_MAX || sweep->older > OLDER_MAX)
		sweep->only_last = true;
}

static void all_add(struct sweep *sweep, uint32_t number)
{
	size_t i = sweep->n_all++;

	for (; i && sweep->all[i - 1] > number; i--)
		sweep->all[i] = sweep->all[i - 1];
	sweep->all[i] = number;
	step(sweep, sweep->n_all - i);
}

/* Removes the spans that end here. */
static void all_trim(struct sweep *sweep, uint64_t at)
{
	size_t kept = 0;

	for (size_t i = 0; i < sweep->n_all; i++)
		if (sweep->spans->at[sweep->all[i]].end > at)
			sweep->all[kept++] = sweep->all[i];
	step(sweep, sweep->n_all);
	sweep->n_all = kept;
}

static void emit(struct sweep *sweep, size_t number)
{
	const struct run *run = &sweep->runs[number];
	const struct jitspan *span = &sweep->spans->at[run->span];
	const uint64_t start = run->start | (uint64_t)number << JITSPANS_SHIFT;
	const uint64_t size = run->end - run->start;
	uint32_t *name = &sweep->names[run->span];

	if (!size)
		return;
	if (!*name)
		*name = symtab_builder_name(
				sweep->builder, sweep->spans->names + span->name, span->len) +
			1;
	symtab_builder_add_named(sweep->builder, start, size, *name - 1);
	if (number)
		symtab_builder_change(sweep->builder, start, size, run->since_ns);
	sweep->older += number != 0;
}

/* Records that the piece is number `number` from start to end.  Returns 0 or -ENOMEM. */
static int found(struct sweep *sweep, size_t number, const struct chosen *chosen, uint64_t start,
	uint64_t end)
{
	const struct run new = {chosen->span, start, end, chosen->since_ns};

	if (array_grow(&sweep->runs, &sweep->runs_room, number + 1, sizeof(*sweep->runs)) < 0)
		return -ENOMEM;
	if (number == sweep->n_runs)
		sweep->runs[sweep->n_runs++] = (struct run){.span = new.span};
	struct run *run = &sweep->runs[number];
	if (run->span == new.span && run->since_ns == new.since_ns && run->end == start &&
		run->end > run->start) {
		run->end = end;
		return 0;
	}
	emit(sweep, number);
	*run = new;
	return 0;
}

/* Returns true if a piece only repeats the one before.  In a map, only names are compared. */
static bool is_told_again(const struct jitspans *spans, uint32_t number, uint32_t before)
{
	const struct jitspan *a = &spans->at[number], *b = &spans->at[before];
	const bool mapped = number < spans->n_mapped && before < spans->n_mapped;

	return (mapped || (!a->moved && !b->moved && a->start == b->start && a->end == b->end)) &&
		a->len == b->len && !memcmp(spans->names + a->name, spans->names + b->name, a->len);
}

/* Chooses the pieces that count here, in the order of their times.  Returns their number. */
static size_t choose(struct sweep *sweep)
{
	const struct jitspans *spans = sweep->spans;
	size_t n = 0;
	bool dumped = false;

	for (size_t i = 0; i < sweep->n_all; i++) {
		const uint32_t number = sweep->all[i];
		const uint64_t since_ns = spans->at[number].since_ns;
		struct chosen *last = n ? &sweep->chosen[n - 1] : NULL;

		if (number >= spans->n_mapped && !dumped) {
			dumped = true;
			n = 0;
			last = NULL;
		}
		if (!since_ns)
			continue;
		if (last &&
			(last->since_ns == since_ns || is_told_again(spans, number, last->span)))
			last->span = number;
		else
			sweep->chosen[n++] = (struct chosen){number, since_ns};
		/* A larger piece was reported again just before this one: nothing changed. */
		if (n > 1 && is_told_again(spans, number, sweep->chosen[n - 2].span))
			sweep->chosen[--n - 1].span = number;
	}
	step(sweep, sweep->n_all);
	return n;
}

static int found_all(struct sweep *sweep, uint64_t start, uint64_t end)
{
	const size_t n = sweep->only_last ? 0 : choose(sweep);
	int ret = 0;

	if (n == 0 || n > JITSPANS_NUMBERS)
		return found(sweep, 0, &(const struct chosen){.span = sweep->heap[0]}, start, end);
	for (size_t i = 0; i < n && ret == 0; i++)
		ret = found(sweep, i, &sweep->chosen[i], start, end);
	return ret;
}

struct order {
	uint64_t at;
	uint32_t number;
};

static int by_place(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Goes from each boundary of a piece to the next one. */
static int go_over(struct sweep *sweep, const struct order *starts, const struct order *ends)
{
	const struct jitspan *spans = sweep->spans->at;
	const size_t n = sweep->spans->n;
	size_t i = 0, ended = 0;
	int ret = 0;

	while (ended < n && ret == 0) {
		const uint64_t at =
			i < n && starts[i].at < ends[ended].at ? starts[i].at : ends[ended].at;

		const size_t before = ended;
		while (ended < n && ends[ended].at == at)
			ended++;
		if (ended > before && !sweep->only_last)
			all_trim(sweep, at);
		for (; i < n && starts[i].at == at; i++) {
			heap_push(sweep, starts[i].number);
			if (!sweep->only_last)
				all_add(sweep, starts[i].number);
		}
		while (sweep->n_heap && spans[sweep->heap[0]].end <= at)
			heap_pop(sweep);
		if (!sweep->n_heap)
			continue;
		uint64_t end = ends[ended].at;
		if (i < n && starts[i].at < end)
			end = starts[i].at;
		ret = found_all(sweep, at, end);
	}
	for (size_t k = 0; k < sweep->n_runs && ret == 0; k++)
		emit(sweep, k);
	return ret;
}

int jitspans_build(const struct jitspans *spans, struct symtab_builder *builder)
{
	struct sweep sweep = {.spans = spans, .builder = builder};
	struct order *starts = calloc(spans->n + 1, sizeof(*starts));
	struct order *ends = calloc(spans->n + 1, sizeof(*ends));
	int ret = -ENOMEM;

	sweep.heap = calloc(spans->n + 1, sizeof(*sweep.heap));
	sweep.all = calloc(spans->n + 1, sizeof(*sweep.all));
	sweep.chosen = calloc(spans->n + 1, sizeof(*sweep.chosen));
	sweep.names = calloc(spans->n + 1, sizeof(*sweep.names));
	if (starts && ends && sweep.heap && sweep.all && sweep.chosen && sweep.names) {
		for (size_t k = 0; k < spans->n; k++) {
			starts[k] = (struct order){spans->at[k].start, (uint32_t)k};
			ends[k] = (struct order){spans->at[k].end, (uint32_t)k};
		}
		qsort(starts, spans->n, sizeof(*starts), by_place);
		qsort(ends, spans->n, sizeof(*ends), by_place);
		ret = go_over(&sweep, starts, ends);
	}
	free(starts);
	free(ends);
	free(sweep.heap);
	free(sweep.all);
	free(sweep.chosen);
	free(sweep.names);
	free(sweep.runs);
	return ret;
}
