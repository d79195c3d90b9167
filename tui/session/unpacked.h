/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unpacked.h - an archive of strobe, unpacked into a directory for the time of a session.
 *
 * An archive is a tar file compressed with zstd (gzip and plain tar can be read, too):
 *   strobe-archive              first entry: "1" and a newline
 *   perf.data                   the recording
 *   .build-id/xx/yyyy/elf       a binary, by build-id
 *   .build-id/xx/yyyy.debug     its separate debug file
 *   .build-id/xx/yyyy/kallsyms  the kernel's symbols
 *   .build-id/xx/yyyy/vdso      the vdso
 *   usr/bin/name                a binary without build-id in the recording, by path
 *   tmp/perf-PID.map            the perf map of JIT code; a jitdump file has its own path
 * UI thread.
 */
#ifndef TUI_SESSION_UNPACKED_H
#define TUI_SESSION_UNPACKED_H

#include <stdbool.h>
#include <stddef.h>

#define ARCHIVE_MARK "strobe-archive"
#define ARCHIVE_RECORDING "perf.data"
#define ARCHIVE_MAGIC_MAX 512u

struct unpacked;

/* Return true for zstd, gzip or tar magic: such a file can only be an archive.  bytes: the
 * beginning of the file, up to ARCHIVE_MAGIC_MAX bytes. */
bool unpacked_is_magic(const void *bytes, size_t len);
bool unpacked_is_archive(int fd);

/* Unpacks into a private directory below $TMPDIR, and treats every byte as hostile: it writes only
 * regular files, none outside the directory, and no more than its limits allow.  Reads fd from its
 * beginning; the caller keeps it.
 *
 * Returns 0; -ENOEXEC: not an archive of strobe; -EBADMSG: broken; -EFBIG: larger than the limits;
 * -ECANCELED: a blocked signal is pending; or -errno.  On error *out is NULL, and the directory is
 * removed. */
int unpacked_open(struct unpacked **out, int fd);
void unpacked_close(struct unpacked *unpacked); /* removes the directory; NULL is a no-op */

const char *unpacked_dir(const struct unpacked *unpacked); /* for symbols_config.archive */
const char *unpacked_recording(const struct unpacked *unpacked); /* path of the perf.data file */

#endif
