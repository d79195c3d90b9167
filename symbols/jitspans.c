/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jitspans.c - from start to start: of the pieces that cover an address the one made last has it.
 *
 * They are kept in a heap by their number, so that a hostile order costs n log n and no more.
 */
#include "symbols/jitspans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_BYTES_MAX ((size_t)1 << 30)

void jitspans_fini(struct jitspans *spans)
{
	free(spans->at);
	free(spans->names);
	*spans = (struct jitspans){0};
}

static int add_span(struct jitspans *spans, const struct jitspan *span)
{
	size_t room = spans->room ? spans->room * 2 : 1024;

	if (spans->n == spans->room) {
		struct jitspan *grown = spans->n < JITSPANS_MAX
			? reallocarray(spans->at, room, sizeof(*grown))
			: NULL;
		if (!grown)
			return spans->n < JITSPANS_MAX ? -ENOMEM : -EFBIG;
		spans->at = grown;
		spans->room = room;
	}
	spans->at[spans->n++] = *span;
	return 0;
}

static uint64_t end_of(uint64_t start, uint64_t size)
{
	if (size == 0)
		size = 1;
	if (size > UINT32_MAX)
		size = UINT32_MAX;
	return size > UINT64_MAX - start ? UINT64_MAX : start + size;
}

int jitspans_add(
	struct jitspans *spans, uint64_t start, uint64_t size, const char *name, size_t len)
{
	const struct jitspan span = {.start = start,
		.end = end_of(start, size),
		.name = spans->names_len,
		.len = (uint32_t)len};

	if (len == 0 || span.end == start)
		return 0;
	if (len > NAMES_BYTES_MAX - spans->names_len)
		return -EFBIG;
	if (spans->names_len + len > spans->names_room) {
		size_t room = spans->names_room ? spans->names_room * 2 : 65536;
		while (room < spans->names_len + len)
			room *= 2;
		char *grown = realloc(spans->names, room);
		if (!grown)
			return -ENOMEM;
		spans->names = grown;
		spans->names_room = room;
	}
	int ret = add_span(spans, &span);
	if (ret == 0) {
		memcpy(spans->names + spans->names_len, name, len);
		spans->names_len += len;
	}
	return ret;
}

int jitspans_move(struct jitspans *spans, size_t i, uint64_t start)
{
	struct jitspan moved = spans->at[i];

	moved.end = end_of(start, moved.end - moved.start);
	moved.start = start;
	return moved.end == start ? 0 : add_span(spans, &moved);
}

/* --- what lies where in the end --- */

struct sweep {
	const struct jitspans *spans;
	struct symtab_builder *builder;
	uint32_t *heap; /* numbers of spans, the greatest first */
	size_t n;
	/* What was found last, as long as it may go on. */
	uint32_t last;
	uint64_t start, end;
};

static void heap_push(struct sweep *sweep, uint32_t number)
{
	size_t i = sweep->n++;

	for (; i && sweep->heap[(i - 1) / 2] < number; i = (i - 1) / 2)
		sweep->heap[i] = sweep->heap[(i - 1) / 2];
	sweep->heap[i] = number;
}

static void heap_pop(struct sweep *sweep)
{
	const uint32_t number = sweep->heap[--sweep->n];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < sweep->n; i = child) {
		if (child + 1 < sweep->n && sweep->heap[child + 1] > sweep->heap[child])
			child++;
		if (sweep->heap[child] <= number)
			break;
		sweep->heap[i] = sweep->heap[child];
	}
	sweep->heap[i] = number;
}

static void emit(struct sweep *sweep)
{
	const struct jitspan *span;

	if (sweep->end == sweep->start)
		return;
	span = &sweep->spans->at[sweep->last];
	symtab_builder_add(sweep->builder, sweep->start, sweep->end - sweep->start, 0, 0,
		sweep->spans->names + span->name, span->len, 0);
}

static void found(struct sweep *sweep, uint32_t number, uint64_t start, uint64_t end)
{
	if (sweep->last == number && sweep->end == start) {
		sweep->end = end;
		return;
	}
	emit(sweep);
	sweep->last = number;
	sweep->start = start;
	sweep->end = end;
}

struct order {
	uint64_t start;
	uint32_t number;
};

static int by_start(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int jitspans_build(const struct jitspans *spans, struct symtab_builder *builder)
{
	struct sweep sweep = {.spans = spans, .builder = builder};
	struct order *order = calloc(spans->n + 1, sizeof(*order));
	uint64_t at = 0;
	size_t i = 0;

	sweep.heap = calloc(spans->n + 1, sizeof(*sweep.heap));
	if (!order || !sweep.heap) {
		free(order);
		free(sweep.heap);
		return -ENOMEM;
	}
	for (size_t k = 0; k < spans->n; k++)
		order[k] = (struct order){spans->at[k].start, (uint32_t)k};
	qsort(order, spans->n, sizeof(*order), by_start);
	while (i < spans->n || sweep.n) {
		while (sweep.n && spans->at[sweep.heap[0]].end <= at)
			heap_pop(&sweep);
		if (!sweep.n && i == spans->n)
			break;
		if (!sweep.n)
			at = order[i].start;
		while (i < spans->n && order[i].start <= at)
			heap_push(&sweep, order[i++].number);
		const struct jitspan *top = &spans->at[sweep.heap[0]];
		uint64_t end = top->end;
		if (i < spans->n && order[i].start < end)
			end = order[i].start;
		if (end > at)
			found(&sweep, sweep.heap[0], at, end);
		at = end;
	}
	emit(&sweep);
	free(order);
	free(sweep.heap);
	return 0;
}
