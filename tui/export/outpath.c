/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outpath.c - see outpath.h.
 */
#include "tui/export/outpath.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* the kernel's limit */
#define ENDING_LEN 9 /* ".00000000" */
#define ATTEMPTS 100

/* --- walking along a path --- */

struct walk {
	struct outpath *path;
	char *rest; /* remaining path without leading slashes; owned */
	int links;
};

/* Returns true if several users may create entries in the directory, and only an entry's owner may
 * remove it. */
static bool is_shared(const struct stat *dir)
{
	return dir->st_mode & S_ISVTX && dir->st_mode & (S_IWGRP | S_IWOTH);
}

/* Returns true if the entry is the user's or root's, or the directory is not shared.  The
 * directory's owner is not trusted, or that user could redirect root. */
static bool is_trusted(const struct stat *dir, const struct stat *entry)
{
	return !is_shared(dir) || entry->st_uid == geteuid() || entry->st_uid == 0;
}

static bool is_in_proc(int fd)
{
	struct statfs about;

	return !fstatfs(fd, &about) && about.f_type == PROC_SUPER_MAGIC;
}

static int enter_dir(struct walk *walk, const char *name, int flags)
{
	const int at = walk->path->dir_fd < 0 ? AT_FDCWD : walk->path->dir_fd;
	int fd = openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);

	if (fd < 0)
		return -errno;
	if (walk->path->dir_fd >= 0)
		close(walk->path->dir_fd);
	walk->path->dir_fd = fd;
	return 0;
}

/* Puts the target of a link in front of the remaining path. */
static int follow_link(struct walk *walk, const char *name)
{
	char target[PATH_MAX], *joined;
	ssize_t len = readlinkat(walk->path->dir_fd, name, target, sizeof(target) - 1);

	if (len < 0)
		return -errno;
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	target[len] = '\0';
	if (*target == '/') {
		int ret = enter_dir(walk, "/", 0);

		if (ret)
			return ret;
	}
	if (asprintf(&joined, "%s%s%s", target, *walk->rest ? "/" : "", walk->rest) < 0)
		return -ENOMEM;
	free(walk->rest);
	walk->rest = joined;
	return 0;
}

/* Takes the next name off the remaining path.  Returns 0 or -ENAMETOOLONG. */
static int take_name(struct walk *walk)
{
	const char *begin = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(begin, "/");
	const char *end = begin + len + strspn(begin + len, "/");

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(walk->path->name, begin, len);
	walk->path->name[len] = '\0';
	memmove(walk->rest, end, strlen(end) + 1);
	return 0;
}

/* Walks one name of the path.  Returns 1 if it was the last one, 0, or -errno. */
static int walk_name(struct walk *walk)
{
	struct outpath *path = walk->path;
	struct stat dir;
	bool last;
	int ret = take_name(walk);

	if (ret)
		return ret;
	last = !*walk->rest;
	if (!*path->name)
		return -EISDIR;
	if (fstat(path->dir_fd, &dir))
		return -errno;
	path->exists = !fstatat(path->dir_fd, path->name, &path->about, AT_SYMLINK_NOFOLLOW);
	if (!path->exists)
		return errno == ENOENT && last ? 1 : -errno;
	if (S_ISLNK(path->about.st_mode)) {
		if (!is_trusted(&dir, &path->about))
			return -ELOOP;
		/* The link's open file may have no name. */
		if (last && is_in_proc(path->dir_fd) &&
			!fstatat(path->dir_fd, path->name, &path->about, 0) &&
			!S_ISDIR(path->about.st_mode)) {
			path->is_fd = true;
			return 1;
		}
		/* The kernel follows directory links in /proc, such as /proc/self. */
		return is_in_proc(path->dir_fd) ? enter_dir(walk, path->name, 0)
						: follow_link(walk, path->name);
	}
	if (!last)
		return enter_dir(walk, path->name, O_NOFOLLOW);
	if (S_ISDIR(path->about.st_mode))
		return -EISDIR;
	return S_ISREG(path->about.st_mode) || is_trusted(&dir, &path->about) ? 1 : -ELOOP;
}

int outpath_find(struct outpath *path, const char *text)
{
	struct walk walk = {.path = path, .rest = strdup(text)};
	int ret;

	*path = (struct outpath){.dir_fd = -1};
	if (!walk.rest)
		return -ENOMEM;
	ret = enter_dir(&walk, *text == '/' ? "/" : ".", 0);
	while (!ret)
		ret = walk_name(&walk);
	free(walk.rest);
	if (ret > 0)
		return 0;
	outpath_close(path);
	return ret;
}

void outpath_close(struct outpath *path)
{
	if (path->dir_fd >= 0)
		close(path->dir_fd);
	path->dir_fd = -1;
}

/* --- the existing file --- */

bool outpath_is_replaceable(const struct outpath *path)
{
	return !path->is_fd && (!path->exists || S_ISREG(path->about.st_mode));
}

int outpath_open_directly(const struct outpath *path)
{
	/* O_APPEND preserves the output that other programs wrote to this open file. */
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (path->is_fd ? O_APPEND : O_NOFOLLOW);
	int fd = openat(path->dir_fd, path->name, flags);

	return fd < 0 ? -errno : fd;
}

/* Creates the file with mode and umask.  mkostemp(3) ignores the mode, and a thread cannot read the
 * umask without changing it. */
int outpath_create_beside(const struct outpath *path, char name[NAME_MAX + 1], mode_t mode)
{
	int fd = -1;

	errno = EEXIST;
	for (uint32_t i = 0; i < ATTEMPTS && fd < 0 && errno == EEXIST; i++) {
		uint32_t random;

		if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
			random = (uint32_t)getpid() + i;
		snprintf(name, NAME_MAX + 1, "%.*s.%08" PRIx32, NAME_MAX - ENDING_LEN, path->name,
			random);
		fd = openat(path->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			mode);
	}
	return fd < 0 ? -errno : fd;
}

int outpath_rename(const struct outpath *path, const char *from, const char *to)
{
	return renameat(path->dir_fd, from, path->dir_fd, to) ? -errno : 0;
}

void outpath_unlink(const struct outpath *path, const char *name)
{
	unlinkat(path->dir_fd, name, 0);
}
