/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symtab.c - checking, mapping and searching symbol tables.  The builder is in symtab_build.c.
 *
 * Once symtab_check() has accepted the bytes, no call here reads beyond them, even if they are
 * hostile.
 */
#include "symbols/wire/symtab.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

bool symtab_fits(uint64_t at, uint64_t count, uint64_t each, uint64_t align, uint64_t total)
{
	return at % align == 0 && at <= total && count <= (total - at) / each;
}

/* Leaves room for callers that round to pages. */
bool symtab_segment_is_sane(const struct symtab_segment *segment)
{
	const uint64_t most = INT64_MAX;

	return segment->len && segment->len <= most / 2 && segment->offset <= most / 2 &&
		segment->vaddr <= most;
}

int symtab_check(struct symtab *table, const void *bytes, size_t len)
{
	struct symtab_header header;

	memset(table, 0, sizeof(*table));
	if (len < sizeof(header) || len > SYMTAB_BYTES_MAX)
		return -EBADMSG;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.magic, "strobe\0T", 8) != 0 || header.version != SYMTAB_VERSION ||
		header.total_bytes != len || header.n_entries > SYMTAB_SYMBOLS_MAX ||
		header.n_modules > SYMTAB_MODULES_MAX)
		return -EBADMSG;
	if (!symtab_fits(sizeof(header), header.pool_bytes, 1, 1, len) ||
		!symtab_fits(
			header.entries_at, header.n_entries, sizeof(struct symtab_entry), 8, len) ||
		!symtab_fits(header.modules_at, header.n_modules ? header.n_entries : 0,
			sizeof(uint16_t), 2, len) ||
		!symtab_fits(header.module_names_at, header.n_modules, sizeof(uint32_t), 4, len) ||
		!symtab_fits(header.segments_at, (uint64_t)header.n_segments + header.n_loads,
			sizeof(struct symtab_segment), 8, len) ||
		!symtab_fits(header.resumes_at, header.n_resumes, sizeof(struct symtab_resume), 8,
			len) ||
		!symtab_fits(
			header.changes_at, header.n_changes, sizeof(struct symtab_change), 8, len))
		return -EBADMSG;

	const uint8_t *base = bytes;
	const char *pool = (const char *)base + sizeof(header);
	const struct symtab_entry *entries = (const void *)(base + header.entries_at);
	const uint16_t *modules = (const void *)(base + header.modules_at);
	const uint32_t *names = (const void *)(base + header.module_names_at);
	const struct symtab_segment *segments = (const void *)(base + header.segments_at);
	const struct symtab_resume *resumes = (const void *)(base + header.resumes_at);
	const struct symtab_change *changes = (const void *)(base + header.changes_at);

	/* With the pool's last byte a NUL, any offset below its size is a terminated name. */
	if ((header.n_entries || header.n_modules) &&
		(header.pool_bytes == 0 || pool[header.pool_bytes - 1] != '\0'))
		return -EBADMSG;
	for (uint32_t i = 0; i < header.n_entries; i++)
		if ((entries[i].name & ~SYMTAB_UNCERTAIN) >= header.pool_bytes ||
			(i && entries[i].start < entries[i - 1].start))
			return -EBADMSG;
	for (uint32_t i = 0; i < header.n_modules; i++)
		if (names[i] >= header.pool_bytes)
			return -EBADMSG;
	for (uint32_t i = 0; header.n_modules && i < header.n_entries; i++)
		if (modules[i] > header.n_modules)
			return -EBADMSG;
	for (uint64_t i = 0; i < (uint64_t)header.n_segments + header.n_loads; i++)
		if (!symtab_segment_is_sane(&segments[i]))
			return -EBADMSG;
	for (uint32_t i = 0; i < header.n_resumes; i++)
		if (resumes[i].entry >= header.n_entries ||
			(i && resumes[i].at <= resumes[i - 1].at))
			return -EBADMSG;

	for (uint32_t i = 0; i < header.n_changes; i++)
		if (changes[i].size > UINT64_MAX - changes[i].start ||
			(i && changes[i].start < changes[i - 1].start + changes[i - 1].size))
			return -EBADMSG;

	table->bytes = bytes;
	table->len = len;
	table->pool = pool;
	table->entries = entries;
	table->modules = header.n_modules ? modules : NULL;
	table->module_names = names;
	table->n_entries = header.n_entries;
	table->n_modules = header.n_modules;
	table->segments = segments;
	table->n_segments = header.n_segments;
	table->n_loads = header.n_loads;
	table->resumes = resumes;
	table->n_resumes = header.n_resumes;
	table->changes = changes;
	table->n_changes = header.n_changes;
	return 0;
}

int symtab_map(int fd, size_t least, size_t most, const uint8_t **bytes, size_t *len)
{
	struct stat st;

	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0)
		return errno == EINVAL ? -EBADMSG : -errno; /* not a memfd */
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((seals & SEALS) != SEALS || st.st_size < (off_t)least || st.st_size > (off_t)most)
		return -EBADMSG;

	/* Not MAP_SHARED: before Linux 6.7 a write seal refuses that even for reading. */
	void *mapped = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapped == MAP_FAILED)
		return -errno;
	*bytes = mapped;
	*len = (size_t)st.st_size;
	return 0;
}

int symtab_open(struct symtab *table, int fd)
{
	const uint8_t *bytes;
	size_t len;

	memset(table, 0, sizeof(*table));
	int ret = symtab_map(fd, sizeof(struct symtab_header), SYMTAB_BYTES_MAX, &bytes, &len);
	if (ret < 0)
		return ret;
	ret = symtab_check(table, bytes, len);
	if (ret < 0)
		munmap((void *)(uintptr_t)bytes, len);
	return ret;
}

void symtab_close(struct symtab *table)
{
	if (table->bytes)
		munmap((void *)(uintptr_t)table->bytes, table->len);
	memset(table, 0, sizeof(*table));
}

/* Counts the sorted items that begin with this offset or a smaller one. */
static uint32_t count_up_to(const void *items, size_t each, uint32_t n, uint64_t offset)
{
	uint32_t low = 0;

	while (low < n) {
		const uint32_t middle = low + (n - low) / 2;
		uint64_t at;
		memcpy(&at, (const uint8_t *)items + middle * each, sizeof(at));
		if (at <= offset)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

int64_t symtab_find(const struct symtab *table, uint64_t offset)
{
	uint32_t found =
		count_up_to(table->entries, sizeof(*table->entries), table->n_entries, offset);
	const uint32_t resumed =
		count_up_to(table->resumes, sizeof(*table->resumes), table->n_resumes, offset);

	if (found-- == 0)
		return -1;
	if (resumed && table->resumes[resumed - 1].at > table->entries[found].start)
		found = table->resumes[resumed - 1].entry;
	const struct symtab_entry *entry = &table->entries[found];
	return offset - entry->start < entry->size ? (int64_t)found : -1;
}

int symtab_seal(int fd)
{
	return fcntl(fd, F_ADD_SEALS, SEALS) < 0 ? -errno : 0;
}

int symtab_write(int fd, const void *bytes, size_t len, uint64_t at)
{
	const char *from = bytes;

	while (len) {
		ssize_t n = pwrite(fd, from, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		from += n;
		len -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}
