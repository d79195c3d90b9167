/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.c - queue that sorts records by time; see order.h.
 *
 * Copies of records are in pieces, each freed when all its records are passed on.  The queue is
 * sorted before records are passed on.  Sorting merges runs that are already in order, such as
 * those of each CPU's buffer.
 */
#include "sampler/perfdata/order.h"

#include "sampler/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Aligned to its size, so that a record's address gives its piece. */
#define PIECE_BYTES ((size_t)256 << 10)
#define PIECES_SPARE 64u

struct piece {
	struct piece *next; /* next spare piece */
	size_t used;
	size_t records; /* not yet passed on */
};

struct order {
	order_fn *fn;
	void *ctx;
	size_t bytes, bytes_max;

	struct order_record *queue, *other; /* other: destination of merges */
	size_t n, size;
	size_t *runs; /* ends of the runs while sorting */
	size_t runs_size;

	struct piece *piece; /* the piece being filled */
	struct piece *spare;
	unsigned int n_spare;

	uint64_t round_ns; /* latest time before this round */
	uint64_t latest_ns;
	uint64_t given_ns;
	uint64_t late;
};

int order_new(struct order **out, size_t bytes_max, order_fn *fn, void *ctx)
{
	struct order *order = calloc(1, sizeof(*order));

	*out = order;
	if (!order)
		return -ENOMEM;
	order->fn = fn;
	order->ctx = ctx;
	order->bytes_max = bytes_max;
	return 0;
}

/* --- copies --- */

static struct piece *piece_of(const void *at)
{
	return (struct piece *)((uintptr_t)at & ~(uintptr_t)(PIECE_BYTES - 1));
}

static void drop_piece(struct order *order, struct piece *piece)
{
	if (order->n_spare == PIECES_SPARE) {
		free(piece);
		return;
	}
	piece->next = order->spare;
	order->spare = piece;
	order->n_spare++;
}

static int next_piece(struct order *order)
{
	struct piece *piece = order->spare;

	if (piece) {
		order->spare = piece->next;
		order->n_spare--;
	} else {
		piece = aligned_alloc(PIECE_BYTES, PIECE_BYTES);
		if (!piece)
			return -ENOMEM;
	}
	*piece = (struct piece){.used = sizeof(*piece)};
	if (order->piece && !order->piece->records)
		drop_piece(order, order->piece);
	order->piece = piece;
	return 0;
}

static const struct perf_event_header *copy(
	struct order *order, const struct perf_event_header *header)
{
	size_t len = (header->size + 7u) & ~7u;
	char *at;

	if ((!order->piece || order->piece->used + len > PIECE_BYTES) && next_piece(order))
		return NULL;
	at = (char *)order->piece + order->piece->used;
	memcpy(at, header, header->size);
	order->piece->used += len;
	order->piece->records++;
	return (const struct perf_event_header *)(const void *)at;
}

static size_t cost_of(const struct perf_event_header *header)
{
	return header->size + 2 * sizeof(struct order_record);
}

static void release(struct order *order, const struct order_record *record)
{
	struct piece *piece = piece_of(record->header);

	order->bytes -= cost_of(record->header);
	if (!--piece->records && piece != order->piece)
		drop_piece(order, piece);
}

void order_free(struct order *order)
{
	struct piece *next;

	if (!order)
		return;
	for (size_t i = 0; i < order->n; i++)
		release(order, &order->queue[i]);
	free(order->piece);
	for (; order->spare; order->spare = next) {
		next = order->spare->next;
		free(order->spare);
	}
	free(order->queue);
	free(order->other);
	free(order->runs);
	free(order);
}

/* --- sorting --- */

static int grow(struct order *order)
{
	size_t size = order->size ? order->size * 2 : 4096;

	if (grow_exact(&order->queue, size, sizeof(*order->queue)) ||
		grow_exact(&order->other, size, sizeof(*order->other)))
		return -ENOMEM;
	order->size = size;
	return 0;
}

static int find_runs(struct order *order, size_t *n_runs)
{
	size_t n = 0;

	for (size_t i = 1; i <= order->n; i++) {
		if (i < order->n && order->queue[i - 1].time_ns <= order->queue[i].time_ns)
			continue;
		if (grow_items(&order->runs, &order->runs_size, n + 1, sizeof(*order->runs)))
			return -ENOMEM;
		order->runs[n++] = i;
	}
	*n_runs = n;
	return 0;
}

/* Merges [begin, middle) and [middle, end) of the queue into the other array; equal times keep
 * their order. */
static void merge_two(struct order *order, size_t begin, size_t middle, size_t end)
{
	const struct order_record *from = order->queue;
	struct order_record *to = order->other + begin;
	size_t a = begin, b = middle;

	while (a < middle && b < end)
		*to++ = from[a].time_ns <= from[b].time_ns ? from[a++] : from[b++];
	memcpy(to, from + a, (middle - a) * sizeof(*to));
	memcpy(to + (middle - a), from + b, (end - b) * sizeof(*to));
}

static int sort(struct order *order)
{
	size_t n_runs;
	int err = find_runs(order, &n_runs);

	if (err)
		return err;
	while (n_runs > 1) {
		struct order_record *merged = order->other;
		size_t kept = 0, begin = 0;

		for (size_t i = 0; i < n_runs; i += 2) {
			size_t middle = order->runs[i];
			size_t end = i + 1 < n_runs ? order->runs[i + 1] : middle;

			merge_two(order, begin, middle, end);
			order->runs[kept++] = begin = end;
		}
		order->other = order->queue;
		order->queue = merged;
		n_runs = kept;
	}
	return 0;
}

/* --- passing on --- */

/* Passes on the first `count` records of the sorted queue. */
static int give_out(struct order *order, size_t count)
{
	size_t given = 0;
	int ret = 0;

	while (given < count && !ret) {
		const struct order_record *record = &order->queue[given++];

		if (record->time_ns > order->given_ns)
			order->given_ns = record->time_ns;
		ret = order->fn(record, order->ctx);
		release(order, record);
	}
	order->n -= given;
	if (order->n)
		memmove(order->queue, order->queue + given, order->n * sizeof(*order->queue));
	return ret;
}

static size_t count_until(const struct order *order, uint64_t time_ns)
{
	size_t low = 0, high = order->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (order->queue[middle].time_ns > time_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

int order_add(struct order *order, const struct order_record *record)
{
	struct order_record kept = *record;
	int err;

	if (order->n == order->size) {
		err = grow(order);
		if (err)
			return err;
	}
	kept.header = copy(order, record->header);
	if (!kept.header)
		return -ENOMEM;
	order->queue[order->n++] = kept;
	order->bytes += cost_of(kept.header);
	if (kept.time_ns < order->given_ns)
		order->late++;
	if (kept.time_ns > order->latest_ns)
		order->latest_ns = kept.time_ns;
	if (order->bytes <= order->bytes_max)
		return 0;
	err = sort(order);
	return err ? err : give_out(order, (order->n + 1) / 2);
}

int order_round(struct order *order)
{
	int err = sort(order);

	if (!err)
		err = give_out(order, count_until(order, order->round_ns));
	order->round_ns = order->latest_ns;
	return err;
}

int order_flush(struct order *order)
{
	int err = sort(order);

	return err ? err : give_out(order, order->n);
}

uint64_t order_late(const struct order *order)
{
	return order->late;
}
