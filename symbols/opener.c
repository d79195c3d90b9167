/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opener.c - the three ways to a mapped file, and the vdso.
 */
#include "symbols/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define VDSO_MAX_BYTES (1u << 20)

int opener_regular(int dir_fd, const char *path, unsigned long long resolve)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = resolve};
	char self[64];
	struct stat st;

	/* Opening a device or a pipe can have effects; looking at it through O_PATH has none. */
	int fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
	if (fd < 0 && errno == ENOSYS && resolve == 0)
		fd = openat(dir_fd, path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -ENOEXEC;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	int real = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int ret = real < 0 ? -errno : real;
	close(fd);
	return ret;
}

/* The mapping of this process that begins at address. */
static bool find_own_mapping(uintptr_t address, uintptr_t *end, dev_t *dev, uint64_t *inode)
{
	bool found = false;
	char line[4608];

	FILE *maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return false;
	while (!found && fgets(line, sizeof(line), maps)) {
		uintptr_t start;
		unsigned int major, minor;
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*x %x:%x %" SCNu64, &start, end,
			    &major, &minor, inode) != 5)
			continue;
		*dev = makedev(major, minor);
		found = start == address;
	}
	fclose(maps);
	return found;
}

/* Device and inode as the kernel tells them of mappings; on btrfs and overlayfs, stat(2) tells others. */
static bool mapped_identity(int fd, dev_t *dev, uint64_t *inode)
{
	uintptr_t end;

	void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return false;
	bool found = find_own_mapping((uintptr_t)page, &end, dev, inode);
	munmap(page, 1);
	return found;
}

static bool is_same(const struct symbols_source *source, int fd, const struct stat *st)
{
	const dev_t wanted = makedev(source->dev_major, source->dev_minor);
	uint64_t inode;
	dev_t dev;

	if (source->inode == 0)
		return source->build_id_len == 0;
	if (st->st_ino == source->inode && st->st_dev == wanted)
		return true;
	return mapped_identity(fd, &dev, &inode) && inode == source->inode && dev == wanted;
}

static int open_below_root(const struct symbols_source *source)
{
	char root[64];

	snprintf(root, sizeof(root), "/proc/%d/root", source->pid);
	int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return -errno;
	int fd = opener_regular(root_fd, source->path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	close(root_fd);
	return fd;
}

int opener_open(const struct symbols_source *source, enum opener_way way, struct opener_file *out)
{
	char path[128];
	struct stat st;
	int fd = -EINVAL;

	*out = (struct opener_file){.fd = -1};
	if (way == OPENER_MAP_FILES && source->pid > 0 && source->map_end > source->map_start) {
		snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, source->pid,
			source->map_start, source->map_end);
		fd = opener_regular(AT_FDCWD, path, 0);
	} else if (way == OPENER_ROOT && source->pid > 0 && source->path &&
		source->path[0] == '/') {
		fd = open_below_root(source);
	} else if (way == OPENER_PATH && source->path && source->path[0] == '/') {
		fd = opener_regular(AT_FDCWD, source->path, 0);
	}
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0) {
		int ret = -errno;
		close(fd);
		return ret;
	}
	out->fd = fd;
	out->same = is_same(source, fd, &st);
	out->owner = st.st_uid;
	return 0;
}

int opener_vdso(void)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR), end;
	uint64_t inode;
	dev_t dev;

	if (start == 0 || !find_own_mapping(start, &end, &dev, &inode) || end <= start ||
		end - start > VDSO_MAX_BYTES)
		return -ENOENT;
	int fd = memfd_create("strobe-vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	size_t len = end - start;
	if (write(fd, (const void *)start, len) != (ssize_t)len) {
		int ret = errno ? -errno : -EIO;
		close(fd);
		return ret;
	}
	return fd;
}
