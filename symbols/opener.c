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
#include <stdlib.h>
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

struct mapping {
	uint64_t end, inode;
	dev_t dev;
	bool is_vdso;
};

/* The mapping in /proc/PID/maps that begins at an address. */
static bool find_mapping(const char *maps_path, uint64_t address, struct mapping *out)
{
	bool found = false;
	char line[4608];

	FILE *maps = fopen(maps_path, "re");
	if (!maps)
		return false;
	while (!found && fgets(line, sizeof(line), maps)) {
		unsigned int major, minor;
		uint64_t start;
		int name = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %x:%x %" SCNu64 " %n", &start,
			    &out->end, &major, &minor, &out->inode, &name) != 5)
			continue;
		out->dev = makedev(major, minor);
		out->is_vdso = name && strncmp(line + name, "[vdso]", 6) == 0;
		found = start == address && out->end > start;
	}
	fclose(maps);
	return found;
}

/* Device and inode as the kernel tells them of mappings; on btrfs and overlayfs, stat(2) tells others. */
static bool mapped_identity(int fd, struct mapping *mapping)
{
	void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return false;
	bool found = find_mapping("/proc/self/maps", (uintptr_t)page, mapping);
	munmap(page, 1);
	return found;
}

static bool is_same(const struct symbols_source *source, int fd, const struct opener_file *file)
{
	const dev_t wanted = makedev(source->dev_major, source->dev_minor);
	struct mapping mapping;

	if (source->inode == 0)
		return source->build_id_len == 0;
	/* Written over since. */
	if (source->file_mtime_ns &&
		(file->mtime_ns != source->file_mtime_ns || file->size != source->file_size))
		return false;
	if (file->inode == source->inode && file->dev == wanted)
		return true;
	return mapped_identity(fd, &mapping) && mapping.inode == source->inode &&
		mapping.dev == wanted;
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

/* Takes fd. */
static int describe(int fd, struct opener_file *out)
{
	struct stat st;

	if (fstat(fd, &st) < 0) {
		int ret = -errno;
		close(fd);
		return ret;
	}
	*out = (struct opener_file){
		.fd = fd,
		.owner = st.st_uid,
		.dev = st.st_dev,
		.inode = st.st_ino,
		.size = (uint64_t)st.st_size,
		.mtime_ns =
			(uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec,
	};
	return 0;
}

int opener_open(const struct symbols_source *source, enum opener_way way, struct opener_file *out)
{
	char path[128];
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
	int ret = describe(fd, out);
	out->same = ret == 0 && is_same(source, fd, out);
	return ret;
}

int opener_below(const char *dir, const char *relative, bool in_root, struct opener_file *out)
{
	*out = (struct opener_file){.fd = -1};
	int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return -errno;
	int fd = opener_regular(
		dir_fd, relative, in_root ? RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS : 0);
	close(dir_fd);
	return fd < 0 ? fd : describe(fd, out);
}

static int memory_file(const void *bytes, size_t len)
{
	int fd = memfd_create("strobe-vdso", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	ssize_t n = write(fd, bytes, len);
	if (n == (ssize_t)len)
		return fd;
	int ret = n < 0 ? -errno : -EIO;
	close(fd);
	return ret;
}

static int copy_vdso(const struct symbols_source *source)
{
	const size_t len = (size_t)(source->map_end - source->map_start);
	struct mapping mapping;
	char path[64];

	/* The process may have ended, and its number be another's. */
	snprintf(path, sizeof(path), "/proc/%d/maps", source->pid);
	if (source->pid <= 0 || !find_mapping(path, source->map_start, &mapping) ||
		mapping.end != source->map_end || !mapping.is_vdso)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d/mem", source->pid);
	int mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		return -errno;
	char *bytes = malloc(len);
	ssize_t n = bytes ? pread(mem, bytes, len, (off_t)source->map_start) : 0;
	int ret = !bytes ? -ENOMEM : n < 0 ? -errno : n < (ssize_t)len ? -EIO : 0;
	close(mem);
	if (ret == 0)
		ret = memory_file(bytes, len);
	free(bytes);
	return ret;
}

int opener_vdso(const struct symbols_source *source)
{
	const bool narrow = source->map_start <= UINT32_MAX;
	const uintptr_t own = getauxval(AT_SYSINFO_EHDR);
	struct mapping mapping;

	if (source->map_end > source->map_start && narrow != (sizeof(void *) == 4))
		return source->map_end - source->map_start <= VDSO_MAX_BYTES ? copy_vdso(source)
									     : -ENOENT;
	if (own == 0 || !find_mapping("/proc/self/maps", own, &mapping) ||
		mapping.end - own > VDSO_MAX_BYTES)
		return -ENOENT;
	return memory_file((const void *)own, (size_t)(mapping.end - own));
}
