/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opener.h - finds and opens the file of a mapping, and only that file.
 *
 * Processes of other users choose the paths, so only regular files are opened, never devices or
 * pipes.  Runs in the loader thread, with the caller's privileges.
 */
#ifndef SYMBOLS_LOADER_OPENER_H
#define SYMBOLS_LOADER_OPENER_H

#include "symbols/loader/source.h"

#include <stdbool.h>
#include <sys/types.h>

enum opener_way {
	/* /proc/PID/map_files/START-END: finds deleted and replaced files, too; needs privileges */
	OPENER_MAP_FILES,
	/* /proc/PID/exe if it is the mapped file: finds those, too, with its owner's rights */
	OPENER_EXE,
	OPENER_ROOT, /* the path, below /proc/PID/root */
	OPENER_PATH, /* the path */
	OPENER_WAYS,
};

struct opener_file {
	int fd; /* the caller's */
	/* device, inode and contents are the mapped file's; otherwise the build-id decides */
	bool same;
	uid_t owner;
	dev_t dev;
	ino_t inode;
	uint64_t size, mtime_ns;
	uint64_t ctime_ns; /* last change of contents or attributes; no user can set it */
};

/* Opens the source in one way.  Returns 0; -EINVAL if the way does not suit it; -errno. */
int opener_open(const struct symbols_source *source, enum opener_way way, struct opener_file *out);

/* Returns 1 if links of /proc lead to the same file, else 0 or -errno.  Asks no file server. */
int opener_same_file(const char *a, const char *b);

/* How a process sees files: with the same mounts below the same root as this process, or not. */
enum opener_view {
	OPENER_VIEW_SAME,
	OPENER_VIEW_OTHER,
	OPENER_VIEW_UNKNOWN, /* it has ended, or access is denied */
};
enum opener_view opener_view_of(int32_t pid);

/* Returns whether an open file lies here.  Its process must not have another view of files, and the
 * path leads to the file or the process still maps it. */
bool opener_is_here(const struct symbols_source *source, const struct opener_file *file);

/* Opens a regular file below a directory.  in_root: links in it do not lead out of dir.  Returns 0
 * or -errno. */
int opener_below(const char *dir, const char *relative, bool in_root, struct opener_file *out);

/* Variant with resolve for openat2(2).  Opens with the rights of user (rights.h) if that is not
 * this process's user: also returns -EACCES. */
int opener_below_as(const char *dir, const char *relative, unsigned long long resolve, uid_t user,
	struct opener_file *out);

/* All functions below wait at most 2 s for a file system, or 100 ms while another call hangs.  Then
 * they return -ETIMEDOUT. */

/* Opens a regular file below dir_fd (or AT_FDCWD); resolve is for openat2(2).  Returns an fd or
 * -errno. */
int opener_regular(int dir_fd, const char *path, unsigned long long resolve);

/* Opens a directory with O_PATH.  Returns an fd or -errno. */
int opener_directory(int dir_fd, const char *path, unsigned long long resolve);

/* Returns the user of a process whose directory in /proc has this owner; RIGHTS_NOBODY if another
 * user shares control.  Root owns the directories of undumpable processes; a set-uid program has
 * another real user. */
uid_t opener_user(int proc_fd, uid_t owner);

/* Returns whether the mapped file lies in a file system in user space (FUSE), with the user who
 * mounted it.  The kernel lets no other in, not even root, unless it is mounted with
 * allow_other. */
bool opener_is_fuse(const struct symbols_source *source, uid_t *owner);
/* Variant for one line of /proc/PID/mountinfo; reads the file system's options, the last field. */
bool opener_fuse_owner(const char *line, const struct symbols_source *source, uid_t *owner);

/* Copies the vdso of the source's process into a memory file.  If both processes have one word
 * size, it is this process's own, which no other process can change.  Otherwise it is read from
 * that process's memory, if that is allowed.  Returns an fd, -ENOENT or -errno.  The fd's owner is
 * the user who could have changed it (RIGHTS_NOBODY: several users). */
int opener_vdso(const struct symbols_source *source);

/* Returns whether opener_vdso() reads the process's memory.  The process may have written anything
 * there. */
bool opener_vdso_is_copy(const struct symbols_source *source);

#endif
