/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * swap.h - turn what a machine of the other byte order recorded into this one's order, in place.
 *
 * Pure functions on bytes; nothing outside the given length is read or written.  Any thread.
 */
#ifndef SAMPLER_RECORDING_SWAP_H
#define SAMPLER_RECORDING_SWAP_H

#include "sampler/record.h"

#include <stddef.h>
#include <string.h>

static inline uint16_t swap_16(uint16_t value, bool swapped)
{
	return swapped ? __builtin_bswap16(value) : value;
}

static inline uint32_t swap_32(uint32_t value, bool swapped)
{
	return swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t swap_64(uint64_t value, bool swapped)
{
	return swapped ? __builtin_bswap64(value) : value;
}

/* Numbers at any address. */
static inline uint32_t swap_get_32(const void *at, bool swapped)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swap_32(value, swapped);
}

static inline uint64_t swap_get_64(const void *at, bool swapped)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return swap_64(value, swapped);
}

/* An attribute of the other order.  Its bit fields were laid out from the highest bit of each byte. */
void swap_attr(struct perf_event_attr *attr);

/* The body of a record whose header is in this machine's order already and which is 8-byte aligned.
 * Kernel records need the format of their attribute.  Returns 0, or -EBADMSG where its fields do not fit its
 * size (it may then be half turned).  Records of unknown types are left alone. */
int swap_record(struct perf_event_header *header, const struct record_format *format);

#endif
