// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_backward.c - any head over any bytes, read as a ring that overwrites its oldest records.
 *
 * Input: data_head, the previous read position, then the data area of 4 KiB (missing bytes are 0).
 */
#include "sampler/kernel/backward.h"

#include <stdlib.h>
#include <string.h>

#define DATA_LEN 4096

static volatile uint64_t sink; /* keeps the reads from being optimized out */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(const struct perf_event_header *record, void *ctx)
{
	size_t *left = ctx;

	if ((uintptr_t)record % 8 || record->size < sizeof(*record) || record->size > *left)
		abort();
	*left -= record->size;
	for (unsigned int i = 0; i < record->size; i++)
		sink += ((const uint8_t *)record)[i];
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_event_mmap_page *page;
	struct backward_copy copy;
	struct backward *ring;
	uint64_t since;
	size_t left;

	if (size < 16)
		return 0;
	page = calloc(1, sizeof(*page) + DATA_LEN);
	if (!page)
		return 0;
	memcpy(&page->data_head, data, 8);
	memcpy(&since, data + 8, 8);
	memcpy(page + 1, data + 16, size - 16 < DATA_LEN ? size - 16 : DATA_LEN);
	if (backward_open_memory(&ring, page, DATA_LEN) || backward_copy(ring, since, &copy))
		abort();
	left = copy.len;
	if (left > DATA_LEN || (left && !copy.bytes))
		abort();
	(void)backward_walk(&copy, take, &left);
	free(copy.bytes);
	backward_close(ring);
	free(page);
	return 0;
}
