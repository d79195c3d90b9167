/* SPDX-License-Identifier: GPL-3.0-or-later */
/* radix.h - sorts many numbers.  Pure; any thread. */
#ifndef SAMPLER_BASE_RADIX_H
#define SAMPLER_BASE_RADIX_H

#include <stdint.h>

struct radix_item {
	uint64_t key;
	uint32_t id;
};

/* Sorts n items by ascending key; equal keys keep their order.  `work` has room for n items.
 * Returns the array that holds the result, either items or work. */
struct radix_item *radix_sort(struct radix_item *items, struct radix_item *work, uint32_t n);

#endif
