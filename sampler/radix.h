/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * radix.h - sorting many numbers.  Pure; any thread.
 */
#ifndef SAMPLER_RADIX_H
#define SAMPLER_RADIX_H

#include <stdint.h>

struct radix_item {
	uint64_t key;
	uint32_t id;
};

/* By rising keys, equal ones as they were.  There is as much work space as items; returns which of the two is sorted. */
struct radix_item *radix_sort(struct radix_item *items, struct radix_item *work, uint32_t n);

#endif
