/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outpath.h - resolves the path of an output file to an open directory and a name that is no
 * symbolic link.
 *
 * Every output path from the user goes through here.  In a sticky directory that several users may
 * write to, symbolic links and special files of other users, except root, are refused.  The
 * kernel's fs.protected_symlinks and fs.protected_fifos do this too, but may be off, trust the
 * directory's owner and do not cover realpath(3).
 */
#ifndef TUI_EXPORT_OUTPATH_H
#define TUI_EXPORT_OUTPATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct outpath {
	int dir_fd; /* owned */
	char name[NAME_MAX + 1];
	bool exists;
	bool is_fd; /* a link in /proc/PID/fd to an open file */
	struct stat about; /* valid if exists */
};

/* Resolves a path.  Returns 0, or -errno, after which outpath_close() is legal.  -ELOOP: another
 * user may have planted the entry. */
int outpath_find(struct outpath *path, const char *text);
void outpath_close(struct outpath *path);

/* Returns true if a new file may replace the path: it is a regular file or does not exist. */
bool outpath_is_replaceable(const struct outpath *path);

/* Opens an existing device, pipe, socket or open file for writing.  Returns an fd or -errno. */
int outpath_open_directly(const struct outpath *path);

/* Creates a file with a similar name in the same directory, for reading and writing.  Returns an fd
 * or -errno. */
int outpath_create_beside(const struct outpath *path, char name[NAME_MAX + 1], mode_t mode);

/* Rename or remove an entry within the directory.  outpath_rename() returns 0 or -errno. */
int outpath_rename(const struct outpath *path, const char *from, const char *to);
void outpath_unlink(const struct outpath *path, const char *name);

#endif
