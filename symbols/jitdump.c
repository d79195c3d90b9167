/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jitdump.c - the records of a jitdump file, read one after the other with pread(2).
 */
#include "symbols/jitdump.h"

#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC 0x4a695444u
#define HEADER_BYTES 40u
#define PREFIX_BYTES 16u
#define NAME_BYTES 4096u /* of longer names the end is cut */

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE };

/* Of a CODE_LOAD after its prefix: pid, tid (32 bits each), vma, address, size, index; then the
 * name and the code. CODE_MOVE: the same, with the old and the new address for the one. */
#define LOAD_BYTES 40u
#define MOVE_BYTES 48u

static ssize_t read_at(int fd, void *out, size_t len, uint64_t at)
{
	size_t done = 0;

	if (at > INT64_MAX - len)
		return 0;
	while (done < len) {
		ssize_t n = pread(fd, (char *)out + done, len - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static uint32_t get32(const struct jitdump *dump, const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return dump->swapped ? bswap_32(value) : value;
}

static uint64_t get64(const struct jitdump *dump, const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return dump->swapped ? bswap_64(value) : value;
}

int jitdump_open(struct jitdump *out, int fd)
{
	uint8_t header[HEADER_BYTES];
	uint32_t magic;

	*out = (struct jitdump){.fd = fd};
	ssize_t n = read_at(fd, header, sizeof(header), 0);
	if (n < 0)
		return (int)n;
	if (n < (ssize_t)sizeof(header))
		return -ENOEXEC;
	memcpy(&magic, header, sizeof(magic));
	if (magic != MAGIC && magic != bswap_32(MAGIC))
		return -ENOEXEC;
	out->swapped = magic != MAGIC;
	out->first = get32(out, header + 8);
	out->machine = (uint16_t)get32(out, header + 12);
	return out->first < HEADER_BYTES ? -ENOEXEC : 0;
}

struct entry {
	uint32_t kind;
	uint64_t at, size; /* of the whole record in the file */
	uint64_t address, code_size, index, old_address;
	size_t len; /* of the bytes below */
	uint8_t bytes[PREFIX_BYTES + LOAD_BYTES + NAME_BYTES];
	const char *name; /* of CODE_LOAD, in bytes */
	size_t name_len;
	uint64_t code_at;
};

/* The record at entry->at.  1; 0 where there is no whole one; -errno. */
static int read_entry(const struct jitdump *dump, struct entry *entry)
{
	uint8_t *bytes = entry->bytes;
	const uint8_t *body = bytes + PREFIX_BYTES;
	char last;

	ssize_t n = read_at(dump->fd, bytes, sizeof(entry->bytes), entry->at);
	if (n < (ssize_t)PREFIX_BYTES)
		return n < 0 ? (int)n : 0;
	entry->kind = get32(dump, bytes);
	entry->size = get32(dump, bytes + 4);
	if (entry->size < PREFIX_BYTES)
		return 0;
	entry->len = (size_t)n < entry->size ? (size_t)n : (size_t)entry->size;
	/* Being written: its end is not there yet. */
	if (entry->len < entry->size) {
		n = read_at(dump->fd, &last, 1, entry->at + entry->size - 1);
		if (n < 1)
			return n < 0 ? (int)n : 0;
	}
	if (entry->kind == CODE_LOAD && entry->len > PREFIX_BYTES + LOAD_BYTES) {
		entry->address = get64(dump, body + 16);
		entry->code_size = get64(dump, body + 24);
		entry->index = get64(dump, body + 32);
		entry->name = (const char *)body + LOAD_BYTES;
		entry->name_len = strnlen(entry->name, entry->len - PREFIX_BYTES - LOAD_BYTES);
		/* The code ends the record, whatever stands before it. */
		if (entry->code_size > entry->size - PREFIX_BYTES - LOAD_BYTES)
			entry->kind = UINT32_MAX;
		else
			entry->code_at = entry->at + entry->size - entry->code_size;
	} else if (entry->kind == CODE_MOVE && entry->len >= PREFIX_BYTES + MOVE_BYTES) {
		entry->old_address = get64(dump, body + 16);
		entry->address = get64(dump, body + 24);
		entry->code_size = get64(dump, body + 32);
		entry->index = get64(dump, body + 40);
	} else if (entry->kind == CODE_LOAD || entry->kind == CODE_MOVE) {
		entry->kind = UINT32_MAX;
	}
	return 1;
}

/* --- names of pieces by index, for those that move --- */

struct known {
	uint64_t index;
	size_t span; /* its number and one; 0: free */
};

struct indices {
	struct known *slots; /* open addressing, at most half full */
	size_t n, room;
};

static struct known *find_index(const struct indices *indices, uint64_t index)
{
	uint64_t i = index * 0x9e3779b97f4a7c15ull >> 20;

	for (;; i++) {
		struct known *slot = &indices->slots[i & (indices->room - 1)];
		if (!slot->span || slot->index == index)
			return slot;
	}
}

static int put_index(struct indices *indices, uint64_t index, size_t span)
{
	if (indices->n >= indices->room / 2) {
		struct indices grown = {.room = indices->room ? indices->room * 2 : 1024};
		grown.slots = calloc(grown.room, sizeof(*grown.slots));
		if (!grown.slots)
			return -ENOMEM;
		for (size_t i = 0; i < indices->room; i++)
			if (indices->slots[i].span)
				*find_index(&grown, indices->slots[i].index) = indices->slots[i];
		grown.n = indices->n;
		free(indices->slots);
		*indices = grown;
	}
	struct known *slot = find_index(indices, index);
	indices->n += !slot->span;
	*slot = (struct known){index, span + 1};
	return 0;
}

static int take_entry(const struct entry *entry, struct jitspans *spans, struct indices *indices)
{
	const size_t before = spans->n;
	int ret = 0;

	if (entry->kind == CODE_LOAD) {
		ret = jitspans_add(
			spans, entry->address, entry->code_size, entry->name, entry->name_len);
	} else if (entry->kind == CODE_MOVE && indices->room) {
		const struct known *known = find_index(indices, entry->index);
		if (known->span)
			ret = jitspans_move(spans, known->span - 1, entry->address);
	}
	if (ret == 0 && spans->n > before)
		ret = put_index(indices, entry->index, before);
	return ret;
}

int jitdump_read(const struct jitdump *dump, struct jitspans *spans)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	struct indices indices = {0};
	int ret;

	if (!entry)
		return -ENOMEM;
	entry->at = dump->first;
	while ((ret = read_entry(dump, entry)) > 0 && entry->kind != CODE_CLOSE) {
		ret = take_entry(entry, spans, &indices);
		if (ret < 0)
			break;
		entry->at += entry->size;
	}
	free(indices.slots);
	free(entry);
	return ret < 0 ? ret : 0;
}

/* One that moved has its bytes where it was loaded: those are looked for in a second go. */
static int find_moved(
	const struct jitdump *dump, uint64_t end, uint64_t index, uint64_t *code_at, uint64_t *size)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	int ret, found = -ENOENT;

	if (!entry)
		return -ENOMEM;
	entry->at = dump->first;
	while (entry->at < end && (ret = read_entry(dump, entry)) > 0) {
		if (entry->kind == CODE_LOAD && entry->index == index) {
			*code_at = entry->code_at;
			*size = entry->code_size;
			found = 0;
		}
		entry->at += entry->size;
	}
	free(entry);
	return found;
}

int jitdump_find(const struct jitdump *dump, uint64_t address, struct jitdump_code *out)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	uint64_t moved_index = 0, moved_end = 0;
	int ret, found = -ENOENT;

	if (!entry)
		return -ENOMEM;
	entry->at = dump->first;
	while ((ret = read_entry(dump, entry)) > 0 && entry->kind != CODE_CLOSE) {
		if ((entry->kind == CODE_LOAD || entry->kind == CODE_MOVE) &&
			address - entry->address < entry->code_size) {
			*out = (struct jitdump_code){
				entry->address, entry->code_size, entry->code_at};
			moved_end = entry->kind == CODE_MOVE ? entry->at : 0;
			moved_index = entry->index;
			found = 0;
		}
		entry->at += entry->size;
	}
	free(entry);
	if (ret < 0)
		return ret;
	if (found == 0 && moved_end)
		found = find_moved(dump, moved_end, moved_index, &out->file_offset, &out->size);
	return found;
}
