/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * swap.h - converts records of a machine with the other byte order to this one's, in place.
 *
 * Pure functions on bytes, within the given length.  Any thread.
 */
#ifndef SAMPLER_PERFDATA_SWAP_H
#define SAMPLER_PERFDATA_SWAP_H

#include "sampler/kernel/record.h"

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

/* Read a number at any address. */
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

/* Converts an attribute from the other byte order.  Its bit fields were placed from the highest bit
 * of each byte. */
void swap_attr(struct perf_event_attr *attr);

/* Converts the body of a record that is 8-byte aligned.  Its header is already in this machine's
 * byte order.  Kernel records need the format of their attribute.  Returns 0, or -EBADMSG if the
 * fields do not fit the size; the record may then be half converted.  Records of unknown types stay
 * unchanged. */
int swap_record(struct perf_event_header *header, const struct record_format *format);

#endif
