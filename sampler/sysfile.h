/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sysfile.h - files and directories of sysfs, tracefs and cgroupfs, read whole.
 *
 * Paths are given as printf(3) does; they may not be longer than PATH_MAX.  No state; any thread.
 */
#ifndef SAMPLER_SYSFILE_H
#define SAMPLER_SYSFILE_H

#include <stddef.h>

/* Names in a directory, sorted by bytes, without "." and "..". */
struct sysfile_names {
	char **names;
	size_t n;
};

/* A file's text with a NUL behind it, for free(); len may be NULL.  -EFBIG beyond 16 MiB, -errno. */
__attribute__((format(printf, 3, 4))) int sysfile_read(
	char **text, size_t *len, const char *format, ...);

/* The same without blanks and newlines at its end; cut to size. */
__attribute__((format(printf, 3, 4))) int sysfile_line(
	char *out, size_t size, const char *format, ...);

/* The names in a directory; released with sysfile_names_fini().  -errno; *out is empty then. */
__attribute__((format(printf, 2, 3))) int sysfile_names(
	struct sysfile_names *out, const char *format, ...);
/* Only those that are directories themselves, or links to some. */
__attribute__((format(printf, 2, 3))) int sysfile_directories(
	struct sysfile_names *out, const char *format, ...);
void sysfile_names_fini(struct sysfile_names *names); /* all zeros is legal */

#endif
