/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * codetab.c - checks, maps and searches tables of code.  The builder is in codetab_build.c.
 *
 * Once codetab_check() has returned 0, no call here reads beyond the bytes of the table.
 */
#include "symbols/wire/codetab.h"

#include "symbols/wire/symtab.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static bool entry_fits(const struct codetab_header *header, const struct codetab_entry *entry)
{
	return entry->text < header->pool_bytes && entry->kind < CODETAB_KINDS &&
		entry->n_frames <= CODETAB_DEPTH_MAX && entry->n_frames <= header->n_frames &&
		entry->frames <= header->n_frames - entry->n_frames &&
		entry->start <= UINT64_MAX - entry->len;
}

int codetab_check(struct codetab *table, const void *bytes, size_t len)
{
	struct codetab_header header;

	memset(table, 0, sizeof(*table));
	if (len < sizeof(header) || len > CODETAB_BYTES_MAX)
		return -EBADMSG;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.magic, "strobe\0C", 8) != 0 || header.version != CODETAB_VERSION ||
		header.total_bytes != len || header.n_entries > CODETAB_ENTRIES_MAX)
		return -EBADMSG;
	if (!symtab_fits(
		    header.entries_at, header.n_entries, sizeof(struct codetab_entry), 8, len) ||
		!symtab_fits(
			header.frames_at, header.n_frames, sizeof(struct codetab_frame), 4, len) ||
		!symtab_fits(header.pool_at, header.pool_bytes, 1, 1, len))
		return -EBADMSG;

	const uint8_t *base = bytes;
	const char *pool = (const char *)base + header.pool_at;
	const struct codetab_entry *entries = (const void *)(base + header.entries_at);
	const struct codetab_frame *frames = (const void *)(base + header.frames_at);

	/* The pool's last byte is NUL, so any offset below its size is a terminated string. */
	if (header.pool_bytes == 0 || pool[0] != '\0' || pool[header.pool_bytes - 1] != '\0')
		return -EBADMSG;
	for (uint32_t i = 0; i < header.n_entries; i++)
		if (!entry_fits(&header, &entries[i]) ||
			(i &&
				(entries[i].start <= entries[i - 1].start ||
					entries[i].start - entries[i - 1].start <
						entries[i - 1].len)))
			return -EBADMSG;
	for (uint32_t i = 0; i < header.n_frames; i++)
		if (frames[i].function >= header.pool_bytes || frames[i].file >= header.pool_bytes)
			return -EBADMSG;

	*table = (struct codetab){
		.bytes = bytes,
		.len = len,
		.entries = entries,
		.frames = frames,
		.pool = pool,
		.n_entries = header.n_entries,
		.n_frames = header.n_frames,
		.pool_bytes = header.pool_bytes,
		.bias = header.bias,
	};
	return 0;
}

int codetab_open(struct codetab *table, int fd)
{
	const uint8_t *bytes;
	size_t len;

	memset(table, 0, sizeof(*table));
	int ret = symtab_map(fd, sizeof(struct codetab_header), CODETAB_BYTES_MAX, &bytes, &len);
	if (ret < 0)
		return ret;
	ret = codetab_check(table, bytes, len);
	if (ret < 0)
		munmap((void *)(uintptr_t)bytes, len);
	return ret;
}

void codetab_close(struct codetab *table)
{
	if (table->bytes)
		munmap((void *)(uintptr_t)table->bytes, table->len);
	memset(table, 0, sizeof(*table));
}

int64_t codetab_find(const struct codetab *table, uint64_t offset)
{
	uint32_t low = 0, high = table->n_entries;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (table->entries[middle].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return -1;
	const struct codetab_entry *entry = &table->entries[low - 1];
	uint64_t into = offset - entry->start;
	return into == 0 || into < entry->len ? (int64_t)low - 1 : -1;
}
