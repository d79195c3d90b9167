/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * amounts.h - decides whether a test judges amounts.
 */
#ifndef TESTS_LIVE_AMOUNTS_H
#define TESTS_LIVE_AMOUNTS_H

#include <stdbool.h>

/* Returns whether bounds on time, CPU, memory and numbers of samples are asserted.  They are not
 * under a sanitizer, which changes them all; the plain build judges them. */
static inline bool amounts_count(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return false;
#else
	return true;
#endif
}

#endif
