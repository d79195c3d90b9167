/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unpack.h - unpacks a file, or a part of one, packed by xz, zstd or gzip: kernel modules (.ko.xz)
 * and sections of ELF files.
 *
 * Runs in the worker.  Size and memory are limited, because the data may be a decompression bomb.
 */
#ifndef SYMBOLS_ELF_UNPACK_H
#define SYMBOLS_ELF_UNPACK_H

#include <stdint.h>

#define UNPACK_BYTES_MAX (64u << 20) /* unpacked bytes */
#define UNPACK_MEMORY_MAX (128u << 20) /* memory used while unpacking */

/* Unpacks bytes [at, at + len), packed by xz, into a memory file.  Returns an fd, which the caller
 * closes; -EFBIG above the limits; -EBADMSG if the data is broken; -ENOMEM; -errno. */
int unpack_xz(int fd, uint64_t at, uint64_t len);

/* Variant for a whole file, whose first bytes show the format.  Also returns -ENODATA if it is none
 * of the three. */
int unpack_file(int fd);

#endif
