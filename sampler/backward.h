/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backward.h - a perf_event ring that overwrites itself (attr.write_backward), read from its newest record back.
 *
 * perf_event_open(2): mapped without PROT_WRITE the kernel never waits for a reader; written backward, data_head is where
 * the newest record begins, and every record that still is whole follows it, newest first.  The oldest may be torn.
 *
 * The ring borrows its event's fd.  One thread; the kernel's output should be paused while backward_copy() runs.
 */
#ifndef SAMPLER_BACKWARD_H
#define SAMPLER_BACKWARD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct backward;

/* Map 2^order data pages of fd, read-only.  0 and *out for backward_close(); or -errno (EPERM: mlock limit, ENOMEM,
 * EINVAL) and NULL. */
int backward_open(struct backward **out, int fd, unsigned int order);

/* The same over memory that the caller keeps: one perf_event_mmap_page followed by data_len bytes, a power of two. */
int backward_open_memory(struct backward **out, const void *memory, size_t data_len);

void backward_close(struct backward *ring); /* NULL is a no-op */

size_t backward_size(const struct backward *ring); /* of the data area */

/* Bytes that were ever written to it.  A position: what was written between two of them is new. */
uint64_t backward_written(const struct backward *ring);

struct backward_copy {
	uint8_t *bytes; /* the newest record first; for free() */
	size_t len;
	uint64_t written; /* the position it was made at */
	bool overwritten; /* older records were there, and are gone */
};

/* Copy what was written since a position (0: all) and still is there; only records that began after it are whole.  0 or
 * -ENOMEM, with *out empty. */
int backward_copy(const struct backward *ring, uint64_t since, struct backward_copy *out);

/* Sees one whole record, 8-byte aligned; nonzero ends the walk. */
typedef int backward_record_fn(const struct perf_event_header *record, void *ctx);

/* Every whole record of a copy, newest first.  Returns 0, also where the oldest is torn; what fn returned; or -EBADMSG for
 * a header that cannot be right: what is older than that is lost. */
int backward_walk(const struct backward_copy *copy, backward_record_fn *fn, void *ctx);

#endif
