/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * whole.h - writes that do not stop half-way, and files without a name.  Pure functions; any
 * thread.
 */
#ifndef SAMPLER_BASE_WHOLE_H
#define SAMPLER_BASE_WHOLE_H

#include <stddef.h>
#include <stdint.h>

/* Writes len bytes, and continues after signals.  Sets *done, unless NULL, to the number written.
 * Returns 0 or -errno. */
int whole_write(int fd, const void *bytes, size_t len, size_t *done);
/* Writes like whole_write() at an offset.  The descriptor's own offset does not change. */
int whole_pwrite(int fd, const void *bytes, size_t len, uint64_t offset);

/* Returns the directory for temporary files: $TMPDIR if it is absolute and this program has no more
 * rights than its user; otherwise /tmp. */
const char *whole_folder(void);

/* Makes an unnamed file there, mode 0600, for reading and writing.  Returns its descriptor, or
 * -errno. */
int whole_unnamed(void);

#endif
