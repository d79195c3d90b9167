/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ring.h - one perf_event mmap ring buffer, drained by one thread.
 *
 * A ring borrows its event's fd; the caller closes the fd after ring_close().  The barriers are
 * those of perf_event_open(2) and include/uapi/linux/perf_event.h: data_head is loaded with
 * acquire, data_tail is stored with release.
 */
#ifndef SAMPLER_KERNEL_RING_H
#define SAMPLER_KERNEL_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring;

/* Maps 2^order data pages of fd.  Returns 0 and sets *out, which the caller frees with
 * ring_close(); or -errno (EPERM: mlock limit, ENOMEM, EINVAL) and sets *out to NULL. */
int ring_open(struct ring **out, int fd, unsigned int order);

/* An event's mapping: its control page and its data area. */
struct ring_map {
	void *map; /* for munmap() */
	size_t map_len;
	const uint8_t *data;
	uint64_t data_len; /* a power of two */
};

/* Maps 2^order data pages with the given protection (PROT_READ, perhaps with PROT_WRITE), and
 * checks the control page.  Returns 0 or -errno like ring_open(). */
int ring_map(struct ring_map *out, int fd, unsigned int order, int protection);

/* Like ring_open(), on memory that the caller owns and keeps: one perf_event_mmap_page, then
 * data_len bytes, a power of two.  For tests, benches and fuzzers. */
int ring_open_memory(struct ring **out, void *memory, size_t data_len);

/* Loads the kernel's head: ring_peek() returns the records written up to now. */
void ring_refresh(struct ring *ring);

/* Returns the oldest unread whole record, valid until ring_consume().  Returns NULL if there is
 * none before the head of the last ring_refresh().  A record that wraps is returned as a copy;
 * every record is 8-byte aligned.
 *
 * A header is corrupt if its size is below its own, no multiple of 8, or reaches past the head.
 * Then all records up to the head are skipped, ring_corrupt() grows by one, and NULL is
 * returned. */
const struct perf_event_header *ring_peek(struct ring *ring);

/* Steps over the record of the last ring_peek(). */
void ring_consume(struct ring *ring);

/* Returns all consumed space to the kernel. */
void ring_release(struct ring *ring);

/* Return the unread bytes at the last ring_refresh(), and the size of the data area in bytes. */
size_t ring_pending(const struct ring *ring);
size_t ring_size(const struct ring *ring);
uint64_t ring_corrupt(const struct ring *ring);

/* Returns the mapped control page, for the time conversion fields and rdpmc. */
const struct perf_event_mmap_page *ring_page(const struct ring *ring);

void ring_close(struct ring *ring); /* NULL is a no-op */

#endif
