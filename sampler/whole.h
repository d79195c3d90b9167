/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * whole.h - writing that does not stop half-way, and files without a name.  Pure functions; any thread.
 */
#ifndef SAMPLER_WHOLE_H
#define SAMPLER_WHOLE_H

#include <stddef.h>
#include <stdint.h>

/* Write len bytes, going on after signals.  0 or -errno; *done, where it is not NULL, tells how many were written. */
int whole_write(int fd, const void *bytes, size_t len, size_t *done);
/* The same at an offset, which the descriptor's own does not follow. */
int whole_pwrite(int fd, const void *bytes, size_t len, uint64_t offset);

/* Where temporary files go: $TMPDIR, where it is an absolute path and this program has no more rights than its user;
 * else /tmp. */
const char *whole_folder(void);

/* A file without a name there, of mode 0600, to be read and written.  Its descriptor, or -errno. */
int whole_unnamed(void);

#endif
