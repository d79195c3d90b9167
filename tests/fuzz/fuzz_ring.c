// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_ring.c - any head and tail over any bytes as a ring.
 *
 * Input: data_tail, then data_head as a distance from it, then the data area of 4 KiB.  Missing
 * bytes are 0.
 */
#include "sampler/kernel/ring.h"

#include <stdlib.h>
#include <string.h>

#define DATA_LEN 4096

static volatile uint64_t sink; /* keeps the reads from being optimized out */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t total = sizeof(struct perf_event_mmap_page) + DATA_LEN;
	static struct perf_event_mmap_page *page;
	const struct perf_event_header *record;
	struct ring *ring;
	uint64_t tail, ahead;

	if (size < 16)
		return 0;
	if (!page && !(page = calloc(1, total)))
		abort();
	memset(page + 1, 0, DATA_LEN);
	memcpy(&tail, data, 8);
	memcpy(&ahead, data + 8, 8);
	page->data_tail = tail;
	page->data_head = tail + ahead;
	memcpy(page + 1, data + 16, size - 16 < DATA_LEN ? size - 16 : DATA_LEN);
	if (ring_open_memory(&ring, page, DATA_LEN))
		abort();
	ring_refresh(ring);
	while ((record = ring_peek(ring))) {
		if ((uintptr_t)record % 8 || record->size < sizeof(*record))
			abort();
		uint64_t sum = 0;
		for (unsigned int i = 0; i < record->size; i++)
			sum += ((const uint8_t *)record)[i];
		sink += sum;
		ring_consume(ring);
	}
	ring_release(ring);
	if (page->data_tail != page->data_head || ring_pending(ring))
		abort();
	ring_close(ring);
	return 0;
}
