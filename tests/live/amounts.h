/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * amounts.h - whether a test judges amounts.
 */
#ifndef TESTS_LIVE_AMOUNTS_H
#define TESTS_LIVE_AMOUNTS_H

#include <stdbool.h>

/* Whether bounds on time, CPU, memory and numbers of samples are asserted: not under a sanitizer, which changes them all.
 * The plain build judges them. */
static inline bool amounts_count(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return false;
#else
	return true;
#endif
}

#endif
