// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * shares_lib.c - the shared library of shares.c.
 */
#include "shares.h"

__attribute__((noinline, aligned(64))) uint64_t shares_warm(uint64_t x)
{
	SHARES_WORK(x, 0xd6e8feb86659fd93u);
	return x;
}
