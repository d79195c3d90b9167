// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * backward.c - see backward.h.
 *
 * The kernel starts the position at 0 and counts down.  Its low bits are the offset of the newest
 * record; its negation is the number of bytes written.  The code trusts nothing in the mapping.
 */
#include "sampler/kernel/backward.h"

#include "sampler/kernel/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct backward {
	const struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size;
	void *map; /* NULL if the caller owns the memory */
	size_t map_len;
};

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

int backward_open_memory(struct backward **out, const void *memory, size_t data_len)
{
	struct backward *ring;

	*out = NULL;
	if (!is_power_of_two(data_len) || data_len < 8 || (uintptr_t)memory % 8)
		return -EINVAL;
	ring = calloc(1, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	ring->page = memory;
	ring->data = (const uint8_t *)memory + sizeof(struct perf_event_mmap_page);
	ring->size = data_len;
	*out = ring;
	return 0;
}

int backward_open(struct backward **out, int fd, unsigned int order)
{
	struct ring_map map;
	/* The kernel overwrites old records only if the mapping has PROT_READ alone. */
	int ret = ring_map(&map, fd, order, PROT_READ);

	*out = NULL;
	if (ret)
		return ret;
	*out = calloc(1, sizeof(**out));
	if (!*out) {
		munmap(map.map, map.map_len);
		return -ENOMEM;
	}
	**out = (struct backward){map.map, map.data, map.data_len, map.map, map.map_len};
	return 0;
}

void backward_close(struct backward *ring)
{
	if (!ring)
		return;
	if (ring->map)
		munmap(ring->map, ring->map_len);
	free(ring);
}

size_t backward_size(const struct backward *ring)
{
	return (size_t)ring->size;
}

uint64_t backward_written(const struct backward *ring)
{
	/* Pairs with the barrier that the kernel has between the data and the head. */
	return 0 - __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

int backward_copy(const struct backward *ring, uint64_t since, struct backward_copy *out)
{
	uint64_t written = backward_written(ring), len = written - since, after, start, first;

	*out = (struct backward_copy){.written = written};
	/* Also rejects a torn position: the kernel writes whole 8-byte words. */
	if (!len || written % 8)
		return 0;
	if (len > ring->size) {
		len = ring->size;
		out->overwritten = true;
	}
	out->bytes = malloc((size_t)len);
	if (!out->bytes) {
		*out = (struct backward_copy){0};
		return -ENOMEM;
	}
	start = (0 - written) & (ring->size - 1);
	first = ring->size - start < len ? ring->size - start : len;
	memcpy(out->bytes, ring->data + start, (size_t)first);
	memcpy(out->bytes + first, ring->data, (size_t)(len - first));
	/* A writer that began before the pause may have overwritten the oldest bytes during the
	 * copy. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	after = backward_written(ring) - written;
	if (after > ring->size - len) {
		uint64_t gone = after - (ring->size - len);

		len = gone < len ? len - gone : 0;
		out->overwritten = true;
	}
	out->len = (size_t)len;
	return 0;
}

int backward_walk(const struct backward_copy *copy, backward_record_fn *fn, void *ctx)
{
	size_t position = 0;

	while (copy->len - position >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *record =
			(const struct perf_event_header *)(const void *)(copy->bytes + position);
		int ret;

		if (record->size < sizeof(*record) || record->size % 8)
			return -EBADMSG;
		if (record->size > copy->len - position)
			return copy->overwritten ? 0 : -EBADMSG;
		ret = fn(record, ctx);
		if (ret)
			return ret;
		position += record->size;
	}
	return 0;
}
