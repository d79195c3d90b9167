/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_files.c - see memory_files.h.
 *
 * The memory of a closed file is kept for the next file.
 */
#define MEMORY_FILES_C
#include "tests/fuzz/memory_files.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_FD (1 << 20) /* above all descriptors of the kernel */
#define FILES 64
#define MAPPINGS 1024
#define LEN_MAX ((size_t)1 << 30)
#define KEPT_MAX ((size_t)1 << 20) /* bytes; larger files are freed when they are closed */

struct file {
	uint8_t *bytes;
	size_t len, room, at;
	unsigned int descriptors; /* number of open descriptors; 0: free */
	int seals;
	bool is_pipe;
	ino_t number;
};

static struct file files[FILES];
static ino_t last_number;

static struct {
	void *at;
	size_t len;
} mappings[MAPPINGS];
static size_t n_mappings;

/* Returns the file in memory; NULL if fd is a descriptor of the kernel. */
static struct file *find_file(int fd)
{
	if (fd < FIRST_FD || fd >= FIRST_FD + FILES)
		return NULL;
	struct file *file = &files[fd - FIRST_FD];
	if (!file->descriptors)
		abort();
	return file;
}

static ssize_t fail(int error)
{
	errno = error;
	return -1;
}

static int make_file(bool is_pipe)
{
	int i = 0;

	/* So many files are open only if the target failed to close some. */
	while (files[i].descriptors)
		if (++i == FILES)
			abort();
	files[i].len = files[i].at = 0;
	files[i].descriptors = is_pipe ? 2 : 1;
	files[i].seals = 0;
	files[i].is_pipe = is_pipe;
	files[i].number = ++last_number;
	return FIRST_FD + i;
}

int memory_create(const char *name, unsigned int flags)
{
	(void)name;
	(void)flags;
	return make_file(false);
}

int memory_pipe(int fds[2])
{
	fds[0] = fds[1] = make_file(true);
	return 0;
}

int memory_open(const char *path, int flags, ...)
{
	va_list list;

	va_start(list, flags);
	const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
	va_end(list);
	return (flags & O_TMPFILE) == O_TMPFILE ? make_file(false) : open(path, flags, mode);
}

int memory_close(int fd)
{
	struct file *file = find_file(fd);

	if (!file)
		return close(fd);
	if (--file->descriptors == 0 && file->room > KEPT_MAX) {
		free(file->bytes);
		file->bytes = NULL;
		file->room = 0;
	}
	return 0;
}

int memory_dup3(int fd, int other, int flags)
{
	struct file *from = find_file(fd), *to = find_file(other);

	if (!from || !to)
		return dup3(fd, other, flags);
	const struct file was = *to;
	*to = *from;
	*from = was;
	return other;
}

ssize_t memory_pread(int fd, void *out, size_t len, off_t at)
{
	const struct file *file = find_file(fd);

	if (!file)
		return pread(fd, out, len, at);
	if (file->is_pipe || at < 0)
		return fail(file->is_pipe ? ESPIPE : EINVAL);
	if ((size_t)at >= file->len)
		return 0;
	if (len > file->len - (size_t)at)
		len = file->len - (size_t)at;
	memcpy(out, file->bytes + at, len);
	return (ssize_t)len;
}

ssize_t memory_read(int fd, void *out, size_t len)
{
	struct file *file = find_file(fd);

	if (!file)
		return read(fd, out, len);
	if (file->at >= file->len)
		return 0;
	if (len > file->len - file->at)
		len = file->len - file->at;
	memcpy(out, file->bytes + file->at, len);
	file->at += len;
	return (ssize_t)len;
}

/* Changes the length; new bytes are zeros.  Returns 0 or -ENOSPC. */
static int set_len(struct file *file, size_t len)
{
	if (len > LEN_MAX)
		return -ENOSPC;
	if (len > file->room) {
		const size_t room = len < 4096 ? 4096 : 2 * len;
		uint8_t *grown = realloc(file->bytes, room);
		if (!grown)
			return -ENOSPC;
		file->bytes = grown;
		file->room = room;
	}
	if (len > file->len)
		memset(file->bytes + file->len, 0, len - file->len);
	file->len = len;
	return 0;
}

static ssize_t put(struct file *file, const void *bytes, size_t len, size_t at)
{
	if (file->seals & F_SEAL_WRITE)
		return fail(EPERM);
	if (at > LEN_MAX || len > LEN_MAX)
		return fail(ENOSPC);
	if (at + len > file->len && set_len(file, at + len) < 0)
		return fail(ENOSPC);
	if (len)
		memcpy(file->bytes + at, bytes, len);
	return (ssize_t)len;
}

ssize_t memory_pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	struct file *file = find_file(fd);

	if (!file)
		return pwrite(fd, bytes, len, at);
	if (file->is_pipe || at < 0)
		return fail(file->is_pipe ? ESPIPE : EINVAL);
	return put(file, bytes, len, (size_t)at);
}

ssize_t memory_write(int fd, const void *bytes, size_t len)
{
	struct file *file = find_file(fd);

	if (!file)
		return write(fd, bytes, len);
	const ssize_t n = put(file, bytes, len, file->is_pipe ? file->len : file->at);
	if (n > 0 && !file->is_pipe)
		file->at += (size_t)n;
	return n;
}

off_t memory_lseek(int fd, off_t offset, int whence)
{
	struct file *file = find_file(fd);

	if (!file)
		return lseek(fd, offset, whence);
	if (file->is_pipe)
		return fail(ESPIPE);
	offset += whence == SEEK_CUR ? (off_t)file->at : whence == SEEK_END ? (off_t)file->len : 0;
	if (offset < 0)
		return fail(EINVAL);
	file->at = (size_t)offset;
	return offset;
}

int memory_ftruncate(int fd, off_t len)
{
	struct file *file = find_file(fd);

	if (!file)
		return ftruncate(fd, len);
	if (file->seals & (F_SEAL_GROW | F_SEAL_SHRINK))
		return (int)fail(EPERM);
	return len < 0 || set_len(file, (size_t)len) < 0 ? (int)fail(EINVAL) : 0;
}

int memory_fstat(int fd, struct stat *out)
{
	const struct file *file = find_file(fd);

	if (!file)
		return fstat(fd, out);
	memset(out, 0, sizeof(*out));
	out->st_mode = (file->is_pipe ? S_IFIFO : S_IFREG) | 0600;
	out->st_size = file->is_pipe ? 0 : (off_t)file->len;
	out->st_ino = file->number;
	out->st_nlink = 1;
	return 0;
}

int memory_fcntl(int fd, int command, ...)
{
	struct file *file = find_file(fd);
	va_list list;

	va_start(list, command);
	const int value = command == F_ADD_SEALS ? va_arg(list, int) : 0;
	va_end(list);
	if (!file)
		return (int)fail(EBADF);
	if (command == F_ADD_SEALS)
		file->seals |= value;
	else if (command != F_GET_SEALS)
		abort();
	return command == F_GET_SEALS ? file->seals : 0;
}

void *memory_map(void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
	const struct file *file = fd < 0 ? NULL : find_file(fd);

	if (!file)
		return mmap(at, len, protection, flags, fd, offset);
	if (!(flags & MAP_PRIVATE) || offset < 0 || n_mappings == MAPPINGS)
		abort();
	const size_t from = (size_t)offset < file->len ? (size_t)offset : file->len;
	const size_t n = len < file->len - from ? len : file->len - from;
	uint8_t *copy = malloc(n ? n : 1);
	if (!copy)
		abort();
	if (n)
		memcpy(copy, file->bytes + from, n);
	mappings[n_mappings].at = copy;
	mappings[n_mappings++].len = len;
	return copy;
}

int memory_unmap(void *at, size_t len)
{
	for (size_t i = n_mappings; i-- > 0;) {
		if (mappings[i].at != at)
			continue;
		if (mappings[i].len != len)
			abort();
		mappings[i] = mappings[--n_mappings];
		free(at);
		return 0;
	}
	return munmap(at, len);
}
