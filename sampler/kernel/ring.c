// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * ring.c - the reader's side of a perf_event mmap ring buffer; see ring.h.
 *
 * Positions (head, tail) only grow; their low bits are offsets into the data area.  No value in the
 * mapping is trusted to be in range.  At an invalid header the unread records are lost, never more.
 */
#include "sampler/kernel/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORD_SIZE_MAX 65536u /* header.size has 16 bits */

struct ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size;
	uint64_t head; /* at the last refresh */
	uint64_t tail; /* consumed up to here */
	const struct perf_event_header *current; /* record of the last peek, until consumed */
	uint64_t current_size;
	uint64_t corrupt;
	void *bounce; /* holds one record that wraps */
	void *map; /* NULL if the caller owns the memory */
	size_t map_len;
};

static int ring_new(
	struct ring **out, struct perf_event_mmap_page *page, const uint8_t *data, uint64_t size)
{
	struct ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	/* Allocated here, because a failure at the first wrap could not be reported.  Its pages
	 * become resident only when records wrap. */
	ring->bounce = malloc(size < RECORD_SIZE_MAX ? (size_t)size : RECORD_SIZE_MAX);
	if (!ring->bounce) {
		free(ring);
		return -ENOMEM;
	}
	ring->page = page;
	ring->data = data;
	ring->size = size;
	ring->tail = __atomic_load_n(&page->data_tail, __ATOMIC_RELAXED);
	ring->head = ring->tail;
	*out = ring;
	return 0;
}

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

int ring_map(struct ring_map *out, int fd, unsigned int order, int protection)
{
	size_t page_len = (size_t)sysconf(_SC_PAGESIZE), map_len;
	const struct perf_event_mmap_page *page;
	uint64_t data_offset = page_len, data_len;
	void *map;

	if (order > 30)
		return -EINVAL;
	data_len = (uint64_t)page_len << order;
	map_len = page_len + (size_t)data_len;
	map = mmap(NULL, map_len, protection, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	page = map;
	/* Kernels before 4.1 leave these 0. */
	if (page->data_size) {
		data_offset = page->data_offset;
		data_len = page->data_size;
	}
	if (data_offset > map_len || data_len > map_len - data_offset ||
		!is_power_of_two(data_len) || data_offset % 8) {
		munmap(map, map_len);
		return -EINVAL;
	}
	*out = (struct ring_map){map, map_len, (const uint8_t *)map + data_offset, data_len};
	return 0;
}

int ring_open(struct ring **out, int fd, unsigned int order)
{
	struct ring_map map;
	int ret = ring_map(&map, fd, order, PROT_READ | PROT_WRITE);

	*out = NULL;
	if (ret)
		return ret;
	ret = ring_new(out, map.map, map.data, map.data_len);
	if (ret) {
		munmap(map.map, map.map_len);
		return ret;
	}
	(*out)->map = map.map;
	(*out)->map_len = map.map_len;
	return 0;
}

int ring_open_memory(struct ring **out, void *memory, size_t data_len)
{
	*out = NULL;
	if (!is_power_of_two(data_len) || data_len < 8 || (uintptr_t)memory % 8)
		return -EINVAL;
	return ring_new(out, memory, (const uint8_t *)memory + sizeof(struct perf_event_mmap_page),
		data_len);
}

void ring_refresh(struct ring *ring)
{
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

static const struct perf_event_header *skip_corrupt(struct ring *ring)
{
	ring->corrupt++;
	ring->tail = ring->head;
	return NULL;
}

const struct perf_event_header *ring_peek(struct ring *ring)
{
	uint64_t unread = ring->head - ring->tail;
	uint64_t offset = ring->tail & (ring->size - 1);
	const struct perf_event_header *header;
	uint64_t size;

	if (ring->current)
		return ring->current;
	if (!unread)
		return NULL;
	/* The kernel writes whole 8-byte words, so a header itself never wraps. */
	if (unread > ring->size || unread < sizeof(*header) || (ring->tail & 7))
		return skip_corrupt(ring);
	header = (const struct perf_event_header *)(const void *)(ring->data + offset);
	size = header->size;
	if (size < sizeof(*header) || size > unread || (size & 7))
		return skip_corrupt(ring);
	if (offset + size > ring->size) {
		size_t first = (size_t)(ring->size - offset);

		memcpy(ring->bounce, header, first);
		memcpy((uint8_t *)ring->bounce + first, ring->data, (size_t)size - first);
		header = ring->bounce;
	}
	ring->current = header;
	ring->current_size = size;
	return header;
}

void ring_consume(struct ring *ring)
{
	if (!ring->current)
		return;
	ring->tail += ring->current_size;
	ring->current = NULL;
}

void ring_release(struct ring *ring)
{
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

size_t ring_pending(const struct ring *ring)
{
	uint64_t unread = ring->head - ring->tail;

	return (size_t)(unread < ring->size ? unread : ring->size);
}

size_t ring_size(const struct ring *ring)
{
	return (size_t)ring->size;
}

uint64_t ring_corrupt(const struct ring *ring)
{
	return ring->corrupt;
}

const struct perf_event_mmap_page *ring_page(const struct ring *ring)
{
	return ring->page;
}

void ring_close(struct ring *ring)
{
	if (!ring)
		return;
	if (ring->map)
		munmap(ring->map, ring->map_len);
	free(ring->bounce);
	free(ring);
}
