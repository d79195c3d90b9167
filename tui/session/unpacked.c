/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unpacked.c - unpacks an archive into a directory that is removed with the session.
 *
 * libarchive only parses the file; this file decides which entries are written.  UI thread, before
 * other threads start.
 */
#include "tui/session/unpacked.h"

#include "sampler/base/whole.h"
#include "tui/session/tarlib.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ENTRIES_MAX 100000u
#define BLOCK_BYTES 65536u
#define TAR_MAGIC_AT 257u
/* A recording compresses to a tenth.  An archive that grows by more than this factor is
 * malicious. */
#define GROWTH_MAX 200u
#define BYTES_ALWAYS (1ull << 30)
/* disk space charged for each file or directory, even if it is empty */
#define BYTES_EACH 4096u

struct unpacked {
	char dir[4096];
	char recording[4096 + sizeof(ARCHIVE_RECORDING) + 1];
	int dir_fd;
	uint64_t bytes_left;
};

bool unpacked_is_magic(const void *bytes, size_t len)
{
	static const unsigned char zstd[] = {0x28, 0xb5, 0x2f, 0xfd}, gzip[] = {0x1f, 0x8b};
	static const char tar[] = {'u', 's', 't', 'a', 'r'};

	return (len >= sizeof(zstd) && !memcmp(bytes, zstd, sizeof(zstd))) ||
		(len >= sizeof(gzip) && !memcmp(bytes, gzip, sizeof(gzip))) ||
		(len >= TAR_MAGIC_AT + sizeof(tar) &&
			!memcmp((const char *)bytes + TAR_MAGIC_AT, tar, sizeof(tar)));
}

bool unpacked_is_archive(int fd)
{
	unsigned char bytes[ARCHIVE_MAGIC_MAX];
	ssize_t len = pread(fd, bytes, sizeof(bytes), 0);

	return len > 0 && unpacked_is_magic(bytes, (size_t)len);
}

const char *unpacked_dir(const struct unpacked *unpacked)
{
	return unpacked->dir;
}

const char *unpacked_recording(const struct unpacked *unpacked)
{
	return unpacked->recording;
}

static void remove_tree(const char *dir)
{
	char path[4096];
	char *const paths[] = {path, NULL};
	FTSENT *entry;

	snprintf(path, sizeof(path), "%s", dir);
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	while (tree && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_DP)
			rmdir(entry->fts_accpath);
		else if (entry->fts_info != FTS_D)
			unlink(entry->fts_accpath);
	}
	if (tree)
		fts_close(tree);
}

void unpacked_close(struct unpacked *unpacked)
{
	if (!unpacked)
		return;
	if (unpacked->dir_fd >= 0)
		close(unpacked->dir_fd);
	if (unpacked->dir[0])
		remove_tree(unpacked->dir);
	free(unpacked);
}

/* Returns true if a blocked signal is pending that would end the program. */
static bool is_interrupted(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
		(sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
			sigismember(&pending, SIGHUP) == 1);
}

static int make_dir(struct unpacked *unpacked, uint64_t archive_bytes)
{
	struct statvfs fs;

	int n = snprintf(
		unpacked->dir, sizeof(unpacked->dir), "%s/strobe-archive-XXXXXX", whole_folder());
	if (n >= (int)sizeof(unpacked->dir) || !mkdtemp(unpacked->dir)) {
		int ret = n >= (int)sizeof(unpacked->dir) ? -ENAMETOOLONG : -errno;
		unpacked->dir[0] = '\0';
		return ret;
	}
	snprintf(unpacked->recording, sizeof(unpacked->recording), "%s/%s", unpacked->dir,
		ARCHIVE_RECORDING);
	unpacked->dir_fd = open(unpacked->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (unpacked->dir_fd < 0 || fstatvfs(unpacked->dir_fd, &fs) < 0)
		return -errno;
	unpacked->bytes_left = archive_bytes < (1ull << 40)
		? BYTES_ALWAYS + archive_bytes * GROWTH_MAX
		: UINT64_MAX;
	/* Leave a tenth of the free space to other programs. */
	const uint64_t room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (unpacked->bytes_left > room - room / 10)
		unpacked->bytes_left = room - room / 10;
	return 0;
}

static int make_dir_in(struct unpacked *unpacked, int dir, const char *name)
{
	if (unpacked->bytes_left < BYTES_EACH)
		return -EFBIG;
	if (mkdirat(dir, name, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	unpacked->bytes_left -= BYTES_EACH;
	return 0;
}

/* Creates the parent directories of a path, never through a link, and the file.  Returns an fd or
 * -errno. */
static int make_file(struct unpacked *unpacked, char *path)
{
	int dir = fcntl(unpacked->dir_fd, F_DUPFD_CLOEXEC, 3), ret = -errno;
	char *part = path;

	for (char *slash; dir >= 0 && (slash = strchr(part, '/')); part = slash + 1) {
		*slash = '\0';
		if (!*part || !strcmp(part, ".") || !strcmp(part, "..")) {
			ret = -EBADMSG;
			goto out;
		}
		ret = make_dir_in(unpacked, dir, part);
		if (ret < 0)
			goto out;
		int next = openat(dir, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		ret = -errno;
		close(dir);
		dir = next;
	}
	if (dir < 0)
		return ret;
	if (!*part || !strcmp(part, ".") || !strcmp(part, "..")) {
		ret = -EBADMSG;
		goto out;
	}
	int fd = openat(dir, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	ret = fd < 0 ? -errno : fd;
out:
	close(dir);
	return ret;
}

/* Maps libarchive's error to -ENOMEM, -EIO or -EBADMSG; libarchive has codes that are no errno. */
static int error_of(struct archive *archive)
{
	int error = tarlib()->archive_errno(archive);

	return error == ENOMEM || error == EIO ? -error : -EBADMSG;
}

static int copy_out(struct unpacked *unpacked, struct archive *archive, int fd)
{
	char *block = malloc(BLOCK_BYTES);
	int ret = block ? 0 : -ENOMEM;

	while (ret == 0) {
		la_ssize_t n = tarlib()->archive_read_data(archive, block, BLOCK_BYTES);
		if (n == 0)
			break;
		if (n < 0)
			ret = error_of(archive);
		else if ((uint64_t)n > unpacked->bytes_left)
			ret = -EFBIG;
		else if (is_interrupted())
			ret = -ECANCELED;
		else
			ret = whole_write(fd, block, (size_t)n, NULL);
		if (ret == 0)
			unpacked->bytes_left -= (uint64_t)n;
	}
	free(block);
	return ret;
}

static int unpack_entry(
	struct unpacked *unpacked, struct archive *archive, struct archive_entry *entry)
{
	const char *name = tarlib()->archive_entry_pathname(entry);

	/* Directories are created together with their files. */
	if (tarlib()->archive_entry_filetype(entry) == AE_IFDIR)
		return 0;
	if (!name || tarlib()->archive_entry_filetype(entry) != AE_IFREG ||
		tarlib()->archive_entry_hardlink(entry) || tarlib()->archive_entry_symlink(entry))
		return -EBADMSG;
	/* A longer path could be neither read nor removed. */
	if (strlen(unpacked->dir) + 1 + strlen(name) >= sizeof(unpacked->dir))
		return -EBADMSG;
	char *path = strdup(name);
	if (!path)
		return -ENOMEM;
	int fd = make_file(unpacked, path);
	free(path);
	if (fd < 0)
		return fd == -EEXIST || fd == -ENOTDIR || fd == -ELOOP ? -EBADMSG : fd;
	int ret = copy_out(unpacked, archive, fd);
	/* The file's time is the only record of when it was recorded. */
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
		{.tv_sec = tarlib()->archive_entry_mtime(entry), .tv_nsec = 0}};
	futimens(fd, times);
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	return ret;
}

static int unpack_all(struct unpacked *unpacked, struct archive *archive)
{
	struct archive_entry *entry;
	bool has_recording = false;

	for (unsigned int n = 0;; n++) {
		int ret = tarlib()->archive_read_next_header(archive, &entry);
		if (ret == ARCHIVE_EOF)
			return n && has_recording ? 0 : -ENOEXEC;
		if (ret != ARCHIVE_OK && ret != ARCHIVE_WARN)
			return n ? error_of(archive) : -ENOEXEC;
		const char *name = tarlib()->archive_entry_pathname(entry);
		if (n == 0 && (!name || strcmp(name, ARCHIVE_MARK) != 0))
			return -ENOEXEC;
		if (n == ENTRIES_MAX)
			return -EFBIG;
		has_recording |= name && strcmp(name, ARCHIVE_RECORDING) == 0;
		ret = unpack_entry(unpacked, archive, entry);
		if (ret < 0)
			return ret;
	}
}

int unpacked_open(struct unpacked **out, int fd)
{
	struct unpacked *unpacked;
	struct archive *archive;
	struct stat st;
	int ret;

	*out = NULL;
	if (!tarlib())
		return tarlib_error();
	unpacked = calloc(1, sizeof(*unpacked));
	archive = tarlib()->archive_read_new();
	if (unpacked)
		unpacked->dir_fd = -1;
	if (!unpacked || !archive) {
		ret = -ENOMEM;
		goto out;
	}
	if (fstat(fd, &st) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		ret = -errno;
		goto out;
	}
	tarlib()->archive_read_support_filter_zstd(archive);
	tarlib()->archive_read_support_filter_gzip(archive);
	tarlib()->archive_read_support_format_tar(archive);
	if (tarlib()->archive_read_open_fd(archive, fd, BLOCK_BYTES) != ARCHIVE_OK) {
		ret = tarlib()->archive_errno(archive) == ENOMEM ? -ENOMEM : -ENOEXEC;
		goto out;
	}
	ret = make_dir(unpacked, (uint64_t)st.st_size);
	if (ret == 0)
		ret = unpack_all(unpacked, archive);
out:
	/* After a fatal error, archive_read_free() alone would leak its buffer. */
	if (archive)
		(void)tarlib()->archive_read_close(archive);
	tarlib()->archive_read_free(archive);
	if (ret < 0)
		unpacked_close(unpacked);
	else
		*out = unpacked;
	return ret;
}
