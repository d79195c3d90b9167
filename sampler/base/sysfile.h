/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sysfile.h - whole files and directories of sysfs, tracefs and cgroupfs.
 *
 * Paths are printf(3) formats, at most PATH_MAX long.  No state; any thread.
 */
#ifndef SAMPLER_BASE_SYSFILE_H
#define SAMPLER_BASE_SYSFILE_H

#include <stddef.h>

/* Names in a directory, sorted by bytes, without "." and "..". */
struct sysfile_names {
	char **names;
	size_t n;
};

/* Reads a file and terminates the text; the caller frees it with free().  len may be NULL.  Returns
 * 0, -EFBIG above 16 MiB, or another -errno. */
__attribute__((format(printf, 3, 4))) int sysfile_read(
	char **text, size_t *len, const char *format, ...);

/* Reads a file into `out`, cut to size, without blanks and newlines at its end.  Returns 0 or
 * -errno. */
__attribute__((format(printf, 3, 4))) int sysfile_line(
	char *out, size_t size, const char *format, ...);

/* Lists the names in a directory; free them with sysfile_names_fini().  Returns 0, or -errno with
 * *out empty. */
__attribute__((format(printf, 2, 3))) int sysfile_names(
	struct sysfile_names *out, const char *format, ...);
/* Lists only the names of directories and of links to directories. */
__attribute__((format(printf, 2, 3))) int sysfile_directories(
	struct sysfile_names *out, const char *format, ...);
void sysfile_names_fini(struct sysfile_names *names); /* also for all zeros */

#endif
