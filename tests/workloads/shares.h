/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shares.h - the work of one call, some 10 us, equal in every function.
 */
#ifndef TESTS_WORKLOADS_SHARES_H
#define TESTS_WORKLOADS_SHARES_H

#include <stdint.h>

#define SHARES_TURNS 4000

/* The empty asm hides x from the compiler, so each turn stays as it is written. */
#define SHARES_WORK(x, factor)                                                \
	do {                                                                  \
		for (unsigned int turn_ = 0; turn_ < SHARES_TURNS; turn_++) { \
			(x) = (x) * (factor) + 1;                             \
			(x) ^= (x) >> 29;                                     \
			__asm__ volatile("" : "+r"(x));                       \
		}                                                             \
	} while (0)

uint64_t shares_warm(uint64_t x); /* in the shared library */

#endif
