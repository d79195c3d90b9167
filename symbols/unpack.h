/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unpack.h - a part of a file, or all of it, that xz, zstd or gzip has packed: kernel modules
 * (.ko.xz), and what is packed within ELF files.
 *
 * Runs in the worker: what is packed may be a bomb, so that size and memory are bounded.
 */
#ifndef SYMBOLS_UNPACK_H
#define SYMBOLS_UNPACK_H

#include <stdint.h>

#define UNPACK_BYTES_MAX (64u << 20) /* unpacked */
#define UNPACK_MEMORY_MAX (128u << 20) /* of unpacking */

/* Unpack bytes [at, at + len), which xz has packed, into a memory file.  An fd, which is the
 * caller's; -EFBIG beyond the maxima; -EBADMSG for what is broken; -ENOMEM; -errno. */
int unpack_xz(int fd, uint64_t at, uint64_t len);

/* The same for a whole file, by whichever of the three its first bytes tell.  -ENODATA: by none of
 * them. */
int unpack_file(int fd);

#endif
