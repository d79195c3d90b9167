/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kept.c - see kept.h.
 */
#include "symbols/loader/kept.h"

#include "symbols/base/timedopen.h"
#include "symbols/wire/symtab.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES (1u << 20)

/* Bytes in the copy from the beginning and from the end of a file of this size. */
struct parts {
	uint64_t first, last;
};

static struct parts parts_of(uint64_t size, bool both_ends)
{
	if (size <= PERFMAP_BYTES_MAX)
		return (struct parts){.first = size};
	return both_ends ? (struct parts){PERFMAP_BYTES_MAX / 2, PERFMAP_BYTES_MAX / 2}
			 : (struct parts){.first = PERFMAP_BYTES_MAX};
}

/* --- writing --- */

/* Copies bytes; the missing part of a file that got shorter stays zero. */
static int copy_part(int from, int to, uint64_t at, uint64_t len, char *block)
{
	int ret = 0;

	while (len && ret == 0) {
		const size_t wanted = len < BLOCK_BYTES ? (size_t)len : BLOCK_BYTES;
		ssize_t n = timedopen_read(from, at, block, wanted);
		if (n <= 0)
			return (int)n;
		ret = symtab_write(to, block, (size_t)n, at);
		at += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return ret;
}

int kept_copy(int fd, uint64_t most, bool both_ends, bool *cut)
{
	struct stat st;

	*cut = false;
	if (fstat(fd, &st) < 0)
		return -errno;
	/* It may have grown since room was made for it. */
	const uint64_t size = (uint64_t)st.st_size < most ? (uint64_t)st.st_size : most;
	const struct parts parts = parts_of(size, both_ends);
	*cut = parts.first + parts.last < size;
	const uint64_t copied = parts.last ? size : parts.first;
	char *block = malloc(BLOCK_BYTES);
	int memory = block ? memfd_create("strobe-kept", MFD_CLOEXEC) : -1;
	int ret = !block ? -ENOMEM : memory < 0 ? -errno : 0;
	if (ret == 0 && ftruncate(memory, (off_t)copied) < 0)
		ret = -errno;
	if (ret == 0)
		ret = copy_part(fd, memory, 0, parts.first, block);
	if (ret == 0)
		ret = copy_part(fd, memory, size - parts.last, parts.last, block);
	free(block);
	if (ret == 0)
		return memory;
	if (memory >= 0)
		close(memory);
	return ret;
}

int kept_begin(FILE *out)
{
	return fputs(KEPT_MAGIC, out) < 0 ? -ENOMEM : 0;
}

int kept_append(FILE *out, int fd, uint64_t at, uint64_t len)
{
	char block[16384];

	while (len) {
		ssize_t n = pread(
			fd, block, len < sizeof(block) ? (size_t)len : sizeof(block), (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		if (fwrite(block, 1, (size_t)n, out) != (size_t)n)
			return -ENOMEM;
		at += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return 0;
}

int kept_put(FILE *out, const struct kept_file *file)
{
	const size_t path_len = strnlen(file->path, KEPT_PATH_MAX);
	struct stat st = {0};
	int ret = 0;

	if (file->fd >= 0 && fstat(file->fd, &st) < 0)
		return -errno;
	const uint64_t size = file->fd >= 0 ? (uint64_t)st.st_size : file->len;
	const struct parts parts = parts_of(size, file->kind == KEPT_MAP);
	fprintf(out, "%c %" PRId32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %zu %zu %zu\n",
		(char)file->kind, file->pid, file->inode, size, parts.first + parts.last,
		file->n_steps, file->build_id_len, path_len);
	for (size_t i = 0; i < file->n_steps; i++)
		fprintf(out, "%" PRIu64 " %" PRIu64 "\n", file->steps[i].bytes,
			file->steps[i].since_ns);
	if (file->build_id_len)
		fwrite(file->build_id, 1, file->build_id_len, out);
	fwrite(file->path, 1, path_len, out);
	if (file->fd < 0 && parts.first)
		fwrite(file->bytes, 1, (size_t)parts.first, out);
	if (file->fd >= 0)
		ret = kept_append(out, file->fd, 0, parts.first);
	if (file->fd >= 0 && ret == 0)
		ret = kept_append(out, file->fd, size - parts.last, parts.last);
	return ret == 0 && ferror(out) ? -ENOMEM : ret;
}

/* --- reading --- */

struct reading {
	const char *at, *end;
};

/* Reads a number and skips one character after it. */
static bool take_number(struct reading *in, uint64_t *out)
{
	uint64_t value = 0;
	const char *from = in->at;

	for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*in->at - '0'), &value))
			return false;
	if (in->at == from || in->at == in->end)
		return false;
	in->at++;
	*out = value;
	return true;
}

static bool take_bytes(struct reading *in, uint64_t len, const char **out)
{
	if (len > (uint64_t)(in->end - in->at))
		return false;
	*out = in->at;
	in->at += len;
	return true;
}

struct entry {
	char kind;
	uint64_t pid, inode, size, len, n_steps, id_len, path_len;
	struct reading steps;
	const char *id, *path, *bytes;
};

static bool take_entry(struct reading *in, struct entry *out)
{
	uint64_t number;

	*out = (struct entry){.kind = *in->at};
	if (in->end - in->at < 2)
		return false;
	in->at += 2;
	if (!take_number(in, &out->pid) || !take_number(in, &out->inode) ||
		!take_number(in, &out->size) || !take_number(in, &out->len) ||
		!take_number(in, &out->n_steps) || !take_number(in, &out->id_len) ||
		!take_number(in, &out->path_len))
		return false;
	if (out->n_steps > PERFMAP_STEPS_MAX || out->path_len > KEPT_PATH_MAX ||
		out->size > INT64_MAX)
		return false;
	out->steps = *in;
	for (uint64_t i = 0; i < 2 * out->n_steps; i++)
		if (!take_number(in, &number))
			return false;
	return take_bytes(in, out->id_len, &out->id) && take_bytes(in, out->path_len, &out->path) &&
		take_bytes(in, out->len, &out->bytes);
}

static int take_steps(const struct entry *entry, struct kept_found *out)
{
	struct reading steps = entry->steps;

	out->n_steps = entry->n_steps;
	for (size_t i = 0; i < entry->n_steps; i++) {
		struct perfmap_step *step = &out->steps[i];

		if (!take_number(&steps, &step->bytes) || !take_number(&steps, &step->since_ns) ||
			(i && (step->bytes < step[-1].bytes || step->since_ns < step[-1].since_ns)))
			return -EBADMSG;
	}
	return 0;
}

static int open_entry(const struct entry *entry, struct kept_found *out)
{
	const struct parts parts = parts_of(entry->size, entry->kind == KEPT_MAP);
	int ret = 0;

	if (parts.first + parts.last != entry->len)
		return -EBADMSG;
	out->steps = calloc(entry->n_steps + 1, sizeof(*out->steps));
	out->fd = out->steps ? memfd_create("strobe-kept", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;
	if (out->fd < 0)
		ret = out->steps ? -errno : -ENOMEM;
	if (ret == 0)
		ret = take_steps(entry, out);
	if (ret == 0 && ftruncate(out->fd, (off_t)entry->size) < 0)
		ret = -errno;
	if (ret == 0)
		ret = symtab_write(out->fd, entry->bytes, parts.first, 0);
	if (ret == 0)
		ret = symtab_write(
			out->fd, entry->bytes + parts.first, parts.last, entry->size - parts.last);
	if (ret == 0 &&
		fcntl(out->fd, F_ADD_SEALS,
			F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		ret = -errno;
	snprintf(out->path, sizeof(out->path), "%.*s", (int)entry->path_len, entry->path);
	if (ret == 0)
		return 0;
	if (out->fd >= 0)
		close(out->fd);
	free(out->steps);
	*out = (struct kept_found){.fd = -1};
	return ret;
}

static bool is_same_path(const struct entry *entry, const struct kept_file *wanted)
{
	return entry->path_len == strlen(wanted->path) &&
		memcmp(entry->path, wanted->path, entry->path_len) == 0;
}

static bool is_same_table(const struct entry *entry, const struct kept_file *wanted)
{
	if (entry->kind != KEPT_TABLE || !is_same_path(entry, wanted))
		return false;
	if (entry->id_len && wanted->build_id_len)
		return entry->id_len == wanted->build_id_len &&
			memcmp(entry->id, wanted->build_id, entry->id_len) == 0;
	return !entry->inode || !wanted->inode || entry->inode == wanted->inode;
}

static bool is_wanted(const struct entry *entry, const struct kept_file *wanted)
{
	if (wanted->kind == KEPT_TABLE)
		return is_same_table(entry, wanted);
	if (wanted->pid <= 0 || entry->pid != (uint64_t)wanted->pid)
		return false;
	if (entry->kind == KEPT_NONE)
		return true;
	return entry->kind == (char)wanted->kind &&
		(wanted->kind == KEPT_MAP || is_same_path(entry, wanted));
}

/* Two containers may have different files with one path and one inode number. */
static bool is_other_table(const struct entry *a, const struct entry *b)
{
	return a->kind == KEPT_TABLE &&
		(a->len != b->len || memcmp(a->bytes, b->bytes, a->len) != 0);
}

int kept_find(const char *bytes, size_t len, const struct kept_file *wanted, struct kept_found *out)
{
	const size_t magic = sizeof(KEPT_MAGIC) - 1;
	struct reading in = {bytes + magic, bytes + len};
	struct entry entry, found = {0};
	bool none = false, differ = false;

	*out = (struct kept_found){.fd = -1};
	if (len < magic || memcmp(bytes, KEPT_MAGIC, magic) != 0)
		return -ENOENT;
	/* A truncated entry ends the list. */
	for (size_t n = 0; in.at < in.end && n < KEPT_ENTRIES_MAX; n++) {
		if (!take_entry(&in, &entry))
			break;
		if (!is_wanted(&entry, wanted))
			continue;
		if (entry.kind == KEPT_NONE || (entry.kind == KEPT_TABLE && !entry.len))
			none = true;
		else if (found.kind && is_other_table(&found, &entry))
			differ = true;
		else
			found = entry;
	}
	if (differ)
		return -ENODATA;
	if (found.kind)
		return open_entry(&found, out);
	return none ? -ENODATA : -ENOENT;
}
