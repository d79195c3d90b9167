/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cache.c - one file per table, KEY.sym.  The least recently used files are removed first when they
 * take too much space.
 */
#include "symbols/loader/cache.h"

#include "symbols/base/grow.h"
#include "symbols/base/timedopen.h"
#include "symbols/wire/symtab.h"
#include "symbols/wire/unwtab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

#define SUFFIX ".sym"
#define COPY_BYTES (64u * 1024)

struct cache {
	int dir_fd;
	uint64_t max_bytes;
};

struct cache_header {
	char magic[8]; /* "strobe\0C" */
	uint64_t hash; /* XXH3 of the table */
	char key[CACHE_KEY_MAX];
};

/* Opens a directory that no other user can write to; creates it first. */
static int open_private_dir(const char *path)
{
	struct stat st;

	/* The program works without a cache, and must not wait for its disk. */
	if (timedopen_stat(path, &st) == -ETIMEDOUT)
		return -ETIMEDOUT;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int default_dir(char *out, size_t size)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct stat st;
	int n;

	/* A file system that does not answer hangs mkdir(2) as well. */
	if (xdg && xdg[0] == '/') {
		if (timedopen_stat(xdg, &st) == -ETIMEDOUT)
			return -ETIMEDOUT;
		if (mkdir(xdg, 0700) < 0 && errno != EEXIST)
			return -errno;
		n = snprintf(out, size, "%s/strobe", xdg);
	} else {
		/* Under sudo, HOME may belong to another user: no files of root there. */
		if (!home || home[0] != '/' || timedopen_stat(home, &st) < 0 ||
			st.st_uid != geteuid())
			return -ENOENT;
		n = snprintf(out, size, "%s/.cache", home);
		if (n > 0 && (size_t)n < size && timedopen_stat(out, &st) == -ETIMEDOUT)
			return -ETIMEDOUT;
		if (n > 0 && (size_t)n < size && mkdir(out, 0700) < 0 && errno != EEXIST)
			return -errno;
		n = snprintf(out, size, "%s/.cache/strobe", home);
	}
	return n > 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

int cache_open(struct cache **out, const char *dir, size_t max_bytes)
{
	char path[4096];
	int ret;

	*out = NULL;
	if (dir && dir[0] == '\0')
		return -ENOENT;
	if (!dir) {
		ret = default_dir(path, sizeof(path));
		if (ret < 0)
			return ret;
		dir = path;
	}
	int fd = open_private_dir(dir);
	if (fd < 0)
		return fd;
	struct cache *cache = malloc(sizeof(*cache));
	if (!cache) {
		close(fd);
		return -ENOMEM;
	}
	cache->dir_fd = fd;
	cache->max_bytes = max_bytes ? max_bytes : CACHE_DEFAULT_BYTES;
	*out = cache;
	return 0;
}

void cache_close(struct cache *cache)
{
	if (!cache)
		return;
	close(cache->dir_fd);
	free(cache);
}

static void append_hex(char *out, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sprintf(out + 2 * i, "%02x", bytes[i]);
}

void cache_key_build_id(char key[CACHE_KEY_MAX], const uint8_t *build_id, size_t len)
{
	int n = snprintf(key, CACHE_KEY_MAX, "id%u-", SYMTAB_VERSION);

	append_hex(key + n, build_id, len < 32 ? len : 32);
}

void cache_key_vdso(char key[CACHE_KEY_MAX], const uint8_t *build_id, size_t len)
{
	int n = snprintf(key, CACHE_KEY_MAX, "vdso%u-", SYMTAB_VERSION);

	append_hex(key + n, build_id, len < 32 ? len : 32);
}

void cache_key_file(char key[CACHE_KEY_MAX], const uint8_t *build_id, size_t len, uint64_t size,
	uint64_t mtime_ns)
{
	cache_key_build_id(key, build_id, len < 20 ? len : 20);
	size_t used = strlen(key);
	snprintf(key + used, CACHE_KEY_MAX - used, "-%" PRIx64 "-%" PRIx64, size, mtime_ns);
}

void cache_key_debug(char key[CACHE_KEY_MAX], uint64_t size, uint64_t mtime_ns)
{
	size_t used = strlen(key);

	snprintf(key + used, CACHE_KEY_MAX - used, "-d%" PRIx64 "-%" PRIx64, size, mtime_ns);
}

void cache_key_stripped(char key[CACHE_KEY_MAX])
{
	size_t used = strlen(key);

	snprintf(key + used, CACHE_KEY_MAX - used, "-s");
}

void cache_key_unwind(char key[CACHE_KEY_MAX])
{
	size_t used = strlen(key);

	snprintf(key + used, CACHE_KEY_MAX - used, "-u%u", UNWTAB_VERSION);
}

static int hash_file(XXH3_state_t *state, const char *path, bool optional)
{
	char buffer[4096];
	ssize_t n;

	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return optional ? 0 : -errno;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		XXH3_128bits_update(state, buffer, (size_t)n);
	int ret = n < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* kallsyms names BPF programs, which come and go without a trace in /proc/modules.  Their ids are
 * never reused. */
static int hash_bpf(XXH3_state_t *state)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	while (syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr)) == 0) {
		XXH3_128bits_update(state, &attr.next_id, sizeof(attr.next_id));
		attr.start_id = attr.next_id;
	}
	return errno == ENOENT || errno == ENOSYS ? 0 : -errno;
}

int cache_key_kernel(char key[CACHE_KEY_MAX])
{
	struct utsname name;
	XXH128_canonical_t bytes;
	int ret = -ENOMEM;

	XXH3_state_t *state = XXH3_createState();
	if (!state)
		return ret;
	XXH3_128bits_reset(state);
	if (uname(&name) == 0) {
		XXH3_128bits_update(state, name.release, sizeof(name.release));
		XXH3_128bits_update(state, name.version, sizeof(name.version));
	}
	ret = hash_file(state, "/proc/sys/kernel/random/boot_id", false);
	if (ret == 0)
		ret = hash_file(state, "/proc/modules", true);
	if (ret == 0)
		ret = hash_bpf(state);
	XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(state));
	XXH3_freeState(state);
	int n = snprintf(key, CACHE_KEY_MAX, "kernel%u-", SYMTAB_VERSION);
	append_hex(key + n, bytes.digest, sizeof(bytes.digest));
	return ret;
}

/* Copies the rest of a file to `at` in another one and hashes it.  It uses a buffer: a mapping
 * would count as memory, and another process could truncate it. */
static int copy_hashed(int from, off_t offset, int to, uint64_t at, uint64_t *hash)
{
	int ret = -ENOMEM;
	ssize_t n = 0;

	XXH3_state_t *state = XXH3_createState();
	char *buffer = malloc(COPY_BYTES);
	if (!state || !buffer)
		goto out;
	XXH3_64bits_reset(state);
	ret = 0;
	while (ret == 0 && (n = pread(from, buffer, COPY_BYTES, offset)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			ret = -errno;
			break;
		}
		XXH3_64bits_update(state, buffer, (size_t)n);
		ret = symtab_write(to, buffer, (size_t)n, at);
		offset += n;
		at += (uint64_t)n;
	}
	*hash = XXH3_64bits_digest(state);
out:
	free(buffer);
	XXH3_freeState(state);
	return ret;
}

static int file_name(char *out, size_t size, const char *key)
{
	int n = snprintf(out, size, "%s" SUFFIX, key);

	return n > 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

int cache_load(struct cache *cache, const char *key)
{
	struct cache_header header;
	char name[CACHE_KEY_MAX + 8];
	struct stat st;
	uint64_t hash;
	int memory = -1;

	if (!cache)
		return -ENOENT;
	int ret = file_name(name, sizeof(name), key);
	if (ret < 0)
		return ret;
	int fd = openat(cache->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	ret = -EBADMSG;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
		st.st_size > (off_t)(SYMTAB_BYTES_MAX + sizeof(header)) ||
		pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
		memcmp(header.magic, "strobe\0C", 8) != 0 ||
		strncmp(header.key, key, sizeof(header.key)) != 0)
		goto out;
	memory = memfd_create("strobe-table", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (memory < 0) {
		ret = -errno;
		goto out;
	}
	ret = copy_hashed(fd, sizeof(header), memory, 0, &hash);
	if (ret == 0 && hash != header.hash)
		ret = -EBADMSG;
	if (ret == 0)
		ret = symtab_seal(memory);
	futimens(fd, NULL); /* mark as used now */
out:
	close(fd);
	if (ret == 0)
		return memory;
	if (memory >= 0)
		close(memory);
	if (ret == -EBADMSG)
		unlinkat(cache->dir_fd, name, 0);
	return ret;
}

struct entry {
	char name[CACHE_KEY_MAX + 8];
	struct timespec used;
	uint64_t bytes;
};

static int by_age(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

/* Removes the oldest files until the rest take no more than the maximum. */
static void trim(struct cache *cache)
{
	struct entry *entries = NULL;
	size_t n = 0, cap = 0;
	uint64_t total = 0;
	struct dirent *dirent;

	int fd = openat(cache->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((dirent = readdir(dir))) {
		size_t len = strlen(dirent->d_name);
		struct stat st;
		/* Files left by a crash have the prefix ".new-" and no suffix. */
		bool ours = len > 4 && strcmp(dirent->d_name + len - 4, SUFFIX) == 0;
		if ((!ours && strncmp(dirent->d_name, ".new-", 5) != 0) ||
			len >= sizeof(entries->name) ||
			fstatat(cache->dir_fd, dirent->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (array_grow(&entries, &cap, n + 1, sizeof(*entries)) < 0)
			break;
		memcpy(entries[n].name, dirent->d_name, len + 1);
		entries[n].used = st.st_mtim;
		entries[n].bytes = (uint64_t)st.st_size;
		total += entries[n++].bytes;
	}
	closedir(dir);
	if (total > cache->max_bytes)
		qsort(entries, n, sizeof(*entries), by_age);
	for (size_t i = 0; i < n && total > cache->max_bytes; i++)
		if (unlinkat(cache->dir_fd, entries[i].name, 0) == 0)
			total -= entries[i].bytes;
	free(entries);
}

int cache_store(struct cache *cache, const char *key, int fd)
{
	struct cache_header header = {0};
	char name[CACHE_KEY_MAX + 8], fresh[64];

	if (!cache)
		return 0;
	int ret = file_name(name, sizeof(name), key);
	if (ret < 0)
		return ret;
	snprintf(fresh, sizeof(fresh), ".new-%d", getpid());
	unlinkat(cache->dir_fd, fresh, 0);
	int out = openat(cache->dir_fd, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	memcpy(header.magic, "strobe\0C", 8);
	snprintf(header.key, sizeof(header.key), "%s", key);
	ret = copy_hashed(fd, 0, out, sizeof(header), &header.hash);
	if (ret == 0)
		ret = symtab_write(out, &header, sizeof(header), 0);
	if (close(out) < 0 && ret == 0)
		ret = -errno;
	if (ret == 0 && renameat(cache->dir_fd, fresh, cache->dir_fd, name) < 0)
		ret = -errno;
	if (ret < 0)
		unlinkat(cache->dir_fd, fresh, 0);
	else
		trim(cache);
	return ret;
}
