/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.c - ASan's defaults in all targets; ASAN_OPTIONS goes before.
 *
 * Freed memory is kept for a while, to find who still uses it.  Of 256 MiB, the usual amount, each
 * piece has left the caches when its turn comes; one input uses 1 MiB at most.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8:malloc_context_size=8";
}
