/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ring.h - one perf_event mmap ring buffer, drained by one thread.
 *
 * A ring borrows its event's fd: the caller closes the fd, after ring_close().
 * The barriers are those of perf_event_open(2) and include/uapi/linux/perf_event.h: data_head is
 * loaded with acquire, data_tail is stored with release.
 */
#ifndef SAMPLER_RING_H
#define SAMPLER_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring;

/* Map 2^order data pages of fd.  Returns 0 and sets *out, which the caller frees with
 * ring_close(); or -errno (EPERM: mlock limit, ENOMEM, EINVAL) and sets *out to NULL. */
int ring_open(struct ring **out, int fd, unsigned int order);

/* What an event's mapping consists of: its control page, and the data area in it. */
struct ring_map {
	void *map; /* for munmap() */
	size_t map_len;
	const uint8_t *data;
	uint64_t data_len; /* a power of two */
};

/* Map 2^order data pages with PROT_READ, or PROT_WRITE too, and check what the control page says.  0 or -errno as of ring_open(). */
int ring_map(struct ring_map *out, int fd, unsigned int order, int protection);

/* The same over memory that the caller owns and keeps: one perf_event_mmap_page followed by
 * data_len bytes, a power of two.  For tests, benches and fuzzers. */
int ring_open_memory(struct ring **out, void *memory, size_t data_len);

/* Load the kernel's head: what was written until now is what ring_peek() will give. */
void ring_refresh(struct ring *ring);

/* The oldest unread whole record, valid until ring_consume(); NULL where there is none before the
 * head that ring_refresh() loaded.  A record that wraps is given as a copy; every record is 8-byte
 * aligned.  A corrupt header (size below the header's own, no multiple of 8, or past the head)
 * skips everything up to the head, adds one to ring_corrupt() and gives NULL. */
const struct perf_event_header *ring_peek(struct ring *ring);

/* Step over the record of the last ring_peek(). */
void ring_consume(struct ring *ring);

/* Give everything consumed back to the kernel. */
void ring_release(struct ring *ring);

/* Bytes unread at the last ring_refresh(), and the size of the data area. */
size_t ring_pending(const struct ring *ring);
size_t ring_size(const struct ring *ring);
uint64_t ring_corrupt(const struct ring *ring);

/* The mapped control page, for the time conversion fields and rdpmc. */
const struct perf_event_mmap_page *ring_page(const struct ring *ring);

void ring_close(struct ring *ring); /* NULL is a no-op */

#endif
