/* SPDX-License-Identifier: GPL-3.0-or-later */
/* opener.c - opens mapped files in several ways, and copies the vdso. */
#include "symbols/loader/opener.h"

#include "symbols/base/timedopen.h"
#include "symbols/loader/rights.h"
#include "symbols/wire/symtab.h"

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

static struct opener_file describe_file(int fd, const struct stat *st)
{
	return (struct opener_file){
		.fd = fd,
		.owner = st->st_uid,
		.dev = st->st_dev,
		.inode = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns =
			(uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec,
		.ctime_ns =
			(uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec,
	};
}

/* Returns 0 and sets *out; or -errno with fd -1 in *out. */
static int open_regular(
	int dir_fd, const char *path, unsigned long long resolve, struct opener_file *out)
{
	struct stat st;

	*out = (struct opener_file){.fd = -1};
	const int fd = timedopen(dir_fd, path, resolve, true, &st);
	if (fd < 0)
		return fd;
	*out = describe_file(fd, &st);
	return 0;
}

int opener_regular(int dir_fd, const char *path, unsigned long long resolve)
{
	struct opener_file file;
	const int ret = open_regular(dir_fd, path, resolve, &file);

	return ret < 0 ? ret : file.fd;
}

int opener_directory(int dir_fd, const char *path, unsigned long long resolve)
{
	return timedopen(dir_fd, path, resolve, false, NULL);
}

struct mapping {
	uint64_t end, inode;
	dev_t dev;
	bool is_vdso;
};

/* Finds the mapping in /proc/PID/maps that begins at an address.  Returns 0; -ENOENT, also if the
 * process has ended; -errno. */
static int find_mapping(const char *maps_path, uint64_t address, struct mapping *out)
{
	bool found = false;
	char line[4608];

	FILE *maps = fopen(maps_path, "re");
	if (!maps)
		return -errno;
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
	const int err = found ? 0 : !ferror(maps) || errno == ESRCH ? -ENOENT : -errno;
	fclose(maps);
	return err;
}

/* Finds device and inode as the kernel shows them for mappings.  On btrfs and overlayfs, stat(2)
 * shows others. */
static bool mapped_identity(int fd, struct mapping *mapping)
{
	void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return false;
	bool found = find_mapping("/proc/self/maps", (uintptr_t)page, mapping) == 0;
	munmap(page, 1);
	return found;
}

static bool is_of_source(const struct symbols_source *source, const struct mapping *mapping)
{
	return mapping->inode == source->inode &&
		mapping->dev == makedev(source->dev_major, source->dev_minor);
}

/* Returns whether the process still maps the file at map_start.  If so, the file's current
 * contents are those that run. */
static bool is_mapped(const struct symbols_source *source)
{
	struct mapping mapping;
	char maps[64];

	snprintf(maps, sizeof(maps), "/proc/%d/maps", source->pid);
	return source->pid > 0 && find_mapping(maps, source->map_start, &mapping) == 0 &&
		is_of_source(source, &mapping);
}

/* An overwritten file is another one.  A file that was only touched has another mtime, too.  While
 * it is mapped, its contents are those that run. */
static bool is_same(const struct symbols_source *source, int fd, const struct opener_file *file)
{
	const struct mapping found = {.inode = file->inode, .dev = file->dev};
	struct mapping mapping;

	if (source->inode == 0)
		return source->build_id_len == 0;
	if (!is_of_source(source, &found) &&
		!(mapped_identity(fd, &mapping) && is_of_source(source, &mapping)))
		return false;
	return !source->file_mtime_ns ||
		(file->mtime_ns == source->file_mtime_ns && file->size == source->file_size) ||
		is_mapped(source);
}

static int open_below_root(const struct symbols_source *source, struct opener_file *out)
{
	char root[64];

	snprintf(root, sizeof(root), "/proc/%d/root", source->pid);
	int root_fd = opener_directory(AT_FDCWD, root, 0);
	if (root_fd < 0)
		return root_fd;
	int ret = open_regular(root_fd, source->path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS, out);
	close(root_fd);
	return ret;
}

int opener_open(const struct symbols_source *source, enum opener_way way, struct opener_file *out)
{
	char path[128];
	int ret = -EINVAL;

	*out = (struct opener_file){.fd = -1};
	if (way == OPENER_MAP_FILES && source->pid > 0 && source->map_end > source->map_start) {
		snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, source->pid,
			source->map_start, source->map_end);
		ret = open_regular(AT_FDCWD, path, 0, out);
	} else if (way == OPENER_EXE && source->pid > 0 && source->inode) {
		snprintf(path, sizeof(path), "/proc/%d/exe", source->pid);
		ret = open_regular(AT_FDCWD, path, 0, out);
	} else if (way == OPENER_ROOT && source->pid > 0 && source->path &&
		source->path[0] == '/') {
		ret = open_below_root(source, out);
	} else if (way == OPENER_PATH && source->path && source->path[0] == '/') {
		ret = open_regular(AT_FDCWD, source->path, 0, out);
	}
	out->same = ret == 0 && is_same(source, out->fd, out);
	/* /proc/PID/exe is of use only if it is the mapped file. */
	if (ret == 0 && way == OPENER_EXE && !out->same) {
		close(out->fd);
		out->fd = -1;
		ret = -EINVAL;
	}
	return ret;
}

bool opener_fuse_owner(const char *line, const struct symbols_source *source, uid_t *owner)
{
	/* "36 35 0:50 / /mnt rw - fuse.sshfs host:/ rw,user_id=1000,...": names contain no
	 * blanks. */
	const char *type = strstr(line, " - ");
	const char *name = type ? strchr(type + 3, ' ') : NULL;
	const char *option = name ? strchr(name + 1, ' ') : NULL;
	unsigned int major, minor, id;

	if (!option || sscanf(line, "%*d %*d %u:%u", &major, &minor) != 2 ||
		major != source->dev_major || minor != source->dev_minor)
		return false;
	type += 3;
	if (strncmp(type, "fuse", 4) != 0 || !memchr(". b", type[4], 3))
		return false;
	for (; option; option = strchr(option, ',')) {
		option++;
		if (sscanf(option, "user_id=%u", &id) != 1)
			continue;
		*owner = id;
		return true;
	}
	return false;
}

bool opener_is_fuse(const struct symbols_source *source, uid_t *owner)
{
	char path[64] = "/proc/self/mountinfo", *line = NULL;
	size_t size = 0;
	bool found = false;

	if (source->pid > 0)
		snprintf(path, sizeof(path), "/proc/%d/mountinfo", source->pid);
	FILE *mounts = fopen(path, "re");
	while (mounts && !found && getline(&line, &size, mounts) > 0)
		found = opener_fuse_owner(line, source, owner);
	if (mounts)
		fclose(mounts);
	free(line);
	return found;
}

int opener_same_file(const char *a, const char *b)
{
	const char *const paths[2] = {a, b};
	struct statx found[2];

	for (size_t i = 0; i < 2; i++)
		if (statx(AT_FDCWD, paths[i], AT_STATX_DONT_SYNC, STATX_INO, &found[i]) < 0)
			return -errno;
	return found[0].stx_ino == found[1].stx_ino &&
		found[0].stx_dev_major == found[1].stx_dev_major &&
		found[0].stx_dev_minor == found[1].stx_dev_minor;
}

enum opener_view opener_view_of(int32_t pid)
{
	char path[64], theirs[64] = "", ours[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	bool known = readlink(path, theirs, sizeof(theirs) - 1) > 0 &&
		readlink("/proc/self/ns/mnt", ours, sizeof(ours) - 1) > 0;
	if (known && strcmp(theirs, ours) != 0)
		return OPENER_VIEW_OTHER;
	snprintf(path, sizeof(path), "/proc/%d/root/", pid);
	const int same = opener_same_file(path, "/");
	if (same <= 0)
		return same ? OPENER_VIEW_UNKNOWN : OPENER_VIEW_OTHER;
	return known ? OPENER_VIEW_SAME : OPENER_VIEW_UNKNOWN;
}

bool opener_is_here(const struct symbols_source *source, const struct opener_file *file)
{
	const enum opener_view view = opener_view_of(source->pid);
	struct opener_file here;

	if (source->elsewhere || view == OPENER_VIEW_OTHER)
		return false;
	if (opener_open(source, OPENER_PATH, &here) == 0) {
		close(here.fd);
		if (here.dev == file->dev && here.inode == file->inode)
			return true;
	}
	/* The process may have ended, and another may have its PID. */
	return view == OPENER_VIEW_SAME && is_mapped(source);
}

int opener_below_as(const char *dir, const char *relative, unsigned long long resolve, uid_t user,
	struct opener_file *out)
{
	struct rights_before before;

	*out = (struct opener_file){.fd = -1};
	int dir_fd = opener_directory(AT_FDCWD, dir, 0);
	if (dir_fd < 0)
		return dir_fd;
	int ret = rights_become(user, &before);
	if (ret == 0) {
		ret = open_regular(dir_fd, relative, resolve, out);
		rights_restore(&before);
	}
	close(dir_fd);
	return ret;
}

int opener_below(const char *dir, const char *relative, bool in_root, struct opener_file *out)
{
	return opener_below_as(dir, relative, in_root ? RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS : 0,
		geteuid(), out);
}

static int memory_file(const void *bytes, size_t len)
{
	int fd = memfd_create("strobe-vdso", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	int ret = symtab_write(fd, bytes, len, 0);
	if (ret == 0)
		return fd;
	close(fd);
	return ret;
}

uid_t opener_user(int proc_fd, uid_t owner)
{
	unsigned int ids[4];
	char line[256];
	bool found = false;

	const int fd = openat(proc_fd, "status", O_RDONLY | O_CLOEXEC);
	FILE *status = fd < 0 ? NULL : fdopen(fd, "r");
	if (!status) {
		if (fd >= 0)
			close(fd);
		return RIGHTS_NOBODY;
	}
	while (!found && fgets(line, sizeof(line), status))
		found = sscanf(line, "Uid: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) == 4;
	fclose(status);
	for (size_t i = 0; found && i < 4; i++)
		found = ids[i] == owner;
	return found ? owner : RIGHTS_NOBODY;
}

static int copy_memory(int proc_fd, const struct symbols_source *source)
{
	const size_t len = (size_t)(source->map_end - source->map_start);
	struct stat st;

	/* The process may execute another program meanwhile, so its user is read before and
	 * after. */
	if (fstat(proc_fd, &st) < 0)
		return -errno;
	uid_t user = opener_user(proc_fd, st.st_uid);
	const int mem = openat(proc_fd, "mem", O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		return -errno;
	char *bytes = malloc(len);
	const ssize_t n = bytes ? pread(mem, bytes, len, (off_t)source->map_start) : 0;
	int ret = !bytes ? -ENOMEM : n < 0 ? -errno : n < (ssize_t)len ? -EIO : 0;
	close(mem);
	if (opener_user(proc_fd, st.st_uid) != user)
		user = RIGHTS_NOBODY;
	if (ret == 0)
		ret = memory_file(bytes, len);
	free(bytes);
	/* The process may have written to this memory, so its user becomes the owner. */
	if (ret >= 0 && user != geteuid() && fchown(ret, user, (gid_t)-1) < 0) {
		const int error = errno;
		close(ret);
		return -error;
	}
	return ret;
}

static int copy_vdso(const struct symbols_source *source)
{
	struct mapping mapping;
	char path[64];

	/* The process may have ended, and another may have its PID. */
	snprintf(path, sizeof(path), "/proc/%d/maps", source->pid);
	const int err = source->pid > 0 ? find_mapping(path, source->map_start, &mapping) : -ENOENT;
	if (err)
		return err;
	if (mapping.end != source->map_end || !mapping.is_vdso)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d", source->pid);
	const int proc_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		return -errno;
	const int ret = copy_memory(proc_fd, source);
	close(proc_fd);
	return ret;
}

bool opener_vdso_is_copy(const struct symbols_source *source)
{
	return source->map_end > source->map_start &&
		(source->map_start <= UINT32_MAX) != (sizeof(void *) == 4);
}

int opener_vdso(const struct symbols_source *source)
{
	const uintptr_t own = getauxval(AT_SYSINFO_EHDR);
	struct mapping mapping;

	if (opener_vdso_is_copy(source))
		return source->map_end - source->map_start <= VDSO_MAX_BYTES ? copy_vdso(source)
									     : -ENOENT;
	const int err = own ? find_mapping("/proc/self/maps", own, &mapping) : -ENOENT;
	if (err)
		return err;
	if (mapping.end - own > VDSO_MAX_BYTES)
		return -ENOENT;
	return memory_file((const void *)own, (size_t)(mapping.end - own));
}
