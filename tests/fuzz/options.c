/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.c - ASan's defaults in all targets; ASAN_OPTIONS overrides them.
 *
 * Freed memory stays in quarantine for a while, to find uses after free.  With the usual 256 MiB a
 * piece has left the CPU caches before it is reused.  One input uses 1 MiB at most.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8:malloc_context_size=8";
}
