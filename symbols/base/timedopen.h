/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timedopen.h - open(2), stat(2) and pread(2) with a time limit, since other users' file systems
 * and dead network disks may never answer.
 *
 * Each call runs in its own thread, which is left behind if it hangs.  Any thread.
 */
#ifndef SYMBOLS_BASE_TIMEDOPEN_H
#define SYMBOLS_BASE_TIMEDOPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens a path below dir_fd (or AT_FDCWD) for reading, with resolve for openat2(2).  regular:
 * accepts only a regular file and sets *st; devices and pipes are not touched.  Otherwise opens
 * a directory with O_PATH.  Returns an fd, -ENOEXEC if it is no regular file, -ETIMEDOUT or
 * -errno. */
int timedopen(
	int dir_fd, const char *path, unsigned long long resolve, bool regular, struct stat *st);

/* Calls stat(2).  Returns 0, -ETIMEDOUT or -errno. */
int timedopen_stat(const char *path, struct stat *st);

/* Reads a regular file with pread(2).  Returns the bytes read, -ETIMEDOUT or -errno. */
ssize_t timedopen_read(int fd, uint64_t at, void *out, size_t size);

/* Limits in ms.  The second one is for opens while another call hangs.  Tests change them. */
extern unsigned int timedopen_first_ms, timedopen_next_ms;

#endif
