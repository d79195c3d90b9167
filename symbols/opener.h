/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opener.h - find and open the file behind a mapping, and only that file.
 *
 * Paths are names that other people's processes chose: nothing but regular files is ever opened,
 * and devices and pipes are not touched.  Runs in the loader thread, with the caller's privileges.
 */
#ifndef SYMBOLS_OPENER_H
#define SYMBOLS_OPENER_H

#include "symbols/symbols.h"

#include <stdbool.h>
#include <sys/types.h>

enum opener_way {
	OPENER_MAP_FILES, /* /proc/PID/map_files/START-END: right for deleted and replaced files; needs privileges */
	OPENER_ROOT, /* the path, below /proc/PID/root */
	OPENER_PATH, /* the path */
	OPENER_WAYS,
};

struct opener_file {
	int fd; /* the caller's */
	bool same; /* it is the mapped file, as far as device and inode tell; else only the build-id can */
	uid_t owner;
	dev_t dev;
	ino_t inode;
	uint64_t size, mtime_ns;
};

/* Open the source in one way.  0; -EINVAL where that way makes no sense for it; -errno. */
int opener_open(const struct symbols_source *source, enum opener_way way, struct opener_file *out);

/* Open a regular file below a directory; in_root: links in it do not lead out of there.  0 or -errno. */
int opener_below(const char *dir, const char *relative, bool in_root, struct opener_file *out);

/* Open a regular file: how is a path's directory (or AT_FDCWD), resolve is for openat2(2).  An fd or -errno. */
int opener_regular(int dir_fd, const char *path, unsigned long long resolve);

/* The vdso that the source's process has, copied into a memory file: this process's own where that is the same
 * (which nobody can tamper with), else, below 4 GiB, that process's, as far as its memory may be read.
 * An fd, or -ENOENT, -errno. */
int opener_vdso(const struct symbols_source *source);

#endif
