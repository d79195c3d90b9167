/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merge.c - a binary heap of sources by the time of their oldest record; see merge.h. */
#include "sampler/kernel/merge.h"

#include <stdbool.h>

/* Loads the source's oldest record; false if none is due. */
static bool load(struct merge_source *source, const struct record_format *format, uint64_t limit_ns)
{
	source->head = ring_peek(source->ring);
	if (!source->head)
		return false;
	source->time_ns = record_time(source->head, format);
	return source->time_ns <= limit_ns;
}

static void sift_down(struct merge_source *heap, size_t n, size_t i)
{
	struct merge_source moving = heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && heap[child + 1].time_ns < heap[child].time_ns)
			child++;
		if (moving.time_ns <= heap[child].time_ns)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moving;
}

static int drain_one(struct merge_source *source, const struct record_format *format,
	uint64_t limit_ns, merge_record_fn *fn, void *ctx)
{
	while (load(source, format, limit_ns)) {
		int ret = fn(source->head, source->owner, ctx);

		ring_consume(source->ring);
		if (ret)
			return ret;
	}
	return 0;
}

int merge_drain(struct merge_source *sources, size_t n, const struct record_format *format,
	uint64_t limit_ns, merge_record_fn *fn, void *ctx)
{
	size_t live = 0;

	if (n == 1)
		return drain_one(sources, format, limit_ns, fn, ctx);
	for (size_t i = 0; i < n; i++) {
		struct merge_source source = sources[i];

		if (!load(&source, format, limit_ns))
			continue;
		sources[i] = sources[live];
		sources[live++] = source;
	}
	for (size_t i = live / 2; i-- > 0;)
		sift_down(sources, live, i);

	while (live) {
		struct merge_source *top = &sources[0];
		int ret = fn(top->head, top->owner, ctx);

		ring_consume(top->ring);
		if (ret)
			return ret;
		if (!load(top, format, limit_ns)) {
			struct merge_source done = *top;

			*top = sources[--live];
			sources[live] = done;
		}
		if (live)
			sift_down(sources, live, 0);
	}
	return 0;
}
