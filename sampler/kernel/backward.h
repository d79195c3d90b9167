/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backward.h - a perf_event ring that overwrites itself (attr.write_backward), newest record first.
 *
 * Without PROT_WRITE in the mapping the kernel never waits for a reader, see perf_event_open(2).
 * In a ring written backward, data_head is the start of the newest record.  All intact older
 * records follow it, newest first; the oldest may be torn.
 *
 * The ring borrows its event's fd.  One thread.  Pause the kernel's output while backward_copy()
 * runs.
 */
#ifndef SAMPLER_KERNEL_BACKWARD_H
#define SAMPLER_KERNEL_BACKWARD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct backward;

/* Maps 2^order data pages of fd, read-only.  Returns 0 and *out for backward_close(); or -errno
 * (EPERM: mlock limit, ENOMEM, EINVAL) and NULL. */
int backward_open(struct backward **out, int fd, unsigned int order);

/* Like backward_open(), over borrowed memory: one perf_event_mmap_page followed by data_len bytes,
 * a power of two. */
int backward_open_memory(struct backward **out, const void *memory, size_t data_len);

void backward_close(struct backward *ring); /* NULL is a no-op */

size_t backward_size(const struct backward *ring); /* bytes of the data area */

/* Returns the position: bytes written since the ring was opened.  Data between two positions is
 * new. */
uint64_t backward_written(const struct backward *ring);

struct backward_copy {
	uint8_t *bytes; /* newest record first; release with free() */
	size_t len;
	uint64_t written; /* position at the time of the copy */
	bool overwritten; /* older records existed and are lost */
};

/* Copies the bytes written since a position (0: all) that the ring still holds.  Only records that
 * began after that position are whole.  Returns 0, or -ENOMEM with *out empty. */
int backward_copy(const struct backward *ring, uint64_t since, struct backward_copy *out);

/* Receives one whole record, 8-byte aligned; a nonzero return ends the walk. */
typedef int backward_record_fn(const struct perf_event_header *record, void *ctx);

/* Calls fn for every whole record of a copy, newest first.  Returns 0, even if the oldest record is
 * torn; the nonzero result of fn; or -EBADMSG for an invalid header, with all older records
 * lost. */
int backward_walk(const struct backward_copy *copy, backward_record_fn *fn, void *ctx);

#endif
