/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archive.h - strobe archive: a recording packed with the binaries that its symbols need; and such a one unpacked.
 *
 * An archive is a tar file compressed with zstd:
 *   strobe-archive              the first: "1" and a newline
 *   perf.data                   the recording
 *   .build-id/xx/yyyy/elf       a binary, by build-id; .build-id/xx/yyyy.debug: its separate debug file
 *   .build-id/xx/yyyy/kallsyms  the kernel's symbols; .build-id/xx/yyyy/vdso: the vdso
 *   usr/bin/name                a binary without build-id, by path
 * UI thread.
 */
#ifndef TUI_ARCHIVE_H
#define TUI_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#define ARCHIVE_MARK "strobe-archive"
#define ARCHIVE_RECORDING "perf.data"
#define ARCHIVE_MAGIC_MAX 512u

struct request;

/* request->files[0], a perf.data file, into request->output ("-": standard output; NULL: beside the recording, its
 * path with .strobe.tar.zst).  Binaries are looked for below request->symfs first.  Sentences go to standard
 * error.  Returns the exit status.  main.c: case CMD_ARCHIVE: return archive_run(request); */
int archive_run(const struct request *request);

struct unpacked;

/* Is it compressed or a tar file, so that it can only be an archive?  By its first ARCHIVE_MAGIC_MAX bytes, or what there is
 * of them. */
bool unpacked_is_magic(const void *bytes, size_t len);
bool unpacked_is_archive(int fd);

/* Unpack into a private directory below $TMPDIR.  Every byte is taken for hostile: nothing is written outside of
 * it, nothing but plain files is made, and no more than limits tell.  fd is read from its beginning and stays the
 * caller's.  0; -ENOEXEC: not an archive of strobe; -EBADMSG: it is broken; -EFBIG: it is larger than any such
 * should be; -ECANCELED: a signal that is blocked has come; -errno.  *out is NULL then, and nothing is left. */
int unpacked_open(struct unpacked **out, int fd);
void unpacked_close(struct unpacked *unpacked); /* removes it all; NULL is a no-op */

const char *unpacked_dir(const struct unpacked *unpacked); /* for symbols_config.archive */
const char *unpacked_recording(const struct unpacked *unpacked); /* path of the perf.data file */

#endif
