/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * codetab_build.c - collects entries, frames and strings, and writes them as one table.
 *
 * Runs in the worker.  Keeps everything in memory until the end: a table holds a function or some
 * thousand addresses, not an image.
 */
#include "symbols/base/grow.h"
#include "symbols/wire/codetab.h"

#include "symbols/wire/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#define STRING_BYTES_MAX (64u * 1024)
#define FRAMES_MAX (CODETAB_BYTES_MAX / (uint32_t)sizeof(struct codetab_frame))

struct codetab_builder {
	int error; /* first error; later calls do nothing */
	struct codetab_entry *entries; /* pad: number in the order of addition */
	struct codetab_frame *frames;
	char *pool;
	uint32_t *slots; /* open addressing: offsets in the pool, 0: free */
	size_t n_entries, n_frames, pool_bytes, n_strings;
	size_t cap_entries, cap_frames, cap_pool, n_slots;
	uint32_t last_frames, last_n; /* the last run added */
	uint64_t bias;
};

/* Makes room for n more items of a size, `most` in all.  Returns false on errors. */
static bool reserve(struct codetab_builder *builder, void *array, size_t *cap, size_t used,
	size_t n, size_t size, size_t most)
{
	if (builder->error)
		return false;
	if (n > most || used > most - n) {
		builder->error = -EFBIG;
		return false;
	}
	builder->error = array_grow(array, cap, used + n, size);
	return builder->error == 0;
}

int codetab_builder_new(struct codetab_builder **out)
{
	struct codetab_builder *builder = calloc(1, sizeof(*builder));

	*out = NULL;
	if (!builder)
		return -ENOMEM;
	if (!reserve(builder, &builder->pool, &builder->cap_pool, 0, 1, 1, CODETAB_BYTES_MAX)) {
		codetab_builder_free(builder);
		return -ENOMEM;
	}
	builder->pool[builder->pool_bytes++] = '\0';
	*out = builder;
	return 0;
}

void codetab_builder_free(struct codetab_builder *builder)
{
	if (!builder)
		return;
	free(builder->entries);
	free(builder->frames);
	free(builder->pool);
	free(builder->slots);
	free(builder);
}

/* Returns the slot of the string, or the free one in its place. */
static uint32_t *slot_of(const struct codetab_builder *builder, const char *text, size_t len)
{
	for (size_t i = XXH3_64bits(text, len);; i++) {
		uint32_t *slot = &builder->slots[i & (builder->n_slots - 1)];
		const char *there = builder->pool + *slot;
		if (*slot == 0 || (strlen(there) == len && memcmp(there, text, len) == 0))
			return slot;
	}
}

static bool grow_slots(struct codetab_builder *builder)
{
	if (builder->n_strings < builder->n_slots / 2)
		return true;
	uint32_t *old = builder->slots;
	size_t n_old = builder->n_slots, n = n_old ? n_old * 2 : 256;
	uint32_t *slots = calloc(n, sizeof(*slots));
	if (!slots) {
		builder->error = -ENOMEM;
		return false;
	}
	builder->slots = slots;
	builder->n_slots = n;
	for (size_t i = 0; i < n_old; i++)
		if (old[i])
			*slot_of(builder, builder->pool + old[i], strlen(builder->pool + old[i])) =
				old[i];
	free(old);
	return true;
}

uint32_t codetab_builder_string(struct codetab_builder *builder, const char *text, size_t len)
{
	if (builder->error)
		return 0;
	len = strnlen(text, len < STRING_BYTES_MAX ? len : STRING_BYTES_MAX);
	if (len == 0 || !grow_slots(builder))
		return 0;
	uint32_t *slot = slot_of(builder, text, len);
	if (*slot)
		return *slot;
	if (!reserve(builder, &builder->pool, &builder->cap_pool, builder->pool_bytes, len + 1, 1,
		    CODETAB_BYTES_MAX))
		return 0;
	*slot = (uint32_t)builder->pool_bytes;
	memcpy(builder->pool + builder->pool_bytes, text, len);
	builder->pool[builder->pool_bytes + len] = '\0';
	builder->pool_bytes += len + 1;
	builder->n_strings++;
	return *slot;
}

uint32_t codetab_builder_frames(
	struct codetab_builder *builder, const struct codetab_frame *frames, size_t n)
{
	if (builder->error || n == 0)
		return 0;
	if (n == builder->last_n &&
		memcmp(&builder->frames[builder->last_frames], frames, n * sizeof(*frames)) == 0)
		return builder->last_frames;
	if (!reserve(builder, &builder->frames, &builder->cap_frames, builder->n_frames, n,
		    sizeof(*frames), FRAMES_MAX))
		return 0;
	memcpy(&builder->frames[builder->n_frames], frames, n * sizeof(*frames));
	builder->last_frames = (uint32_t)builder->n_frames;
	builder->last_n = (uint32_t)n;
	builder->n_frames += n;
	return builder->last_frames;
}

void codetab_builder_add(struct codetab_builder *builder, const struct codetab_entry *entry)
{
	if (!reserve(builder, &builder->entries, &builder->cap_entries, builder->n_entries, 1,
		    sizeof(*entry), CODETAB_ENTRIES_MAX))
		return;
	builder->entries[builder->n_entries] = *entry;
	builder->entries[builder->n_entries].pad = (uint32_t)builder->n_entries;
	builder->n_entries++;
}

static int by_start(const void *left, const void *right)
{
	const struct codetab_entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->pad < b->pad ? -1 : a->pad > b->pad;
}

/* Sorts; keeps the first entry of each start, and none that begins inside another. */
static void arrange(struct codetab_builder *builder)
{
	struct codetab_entry *entries = builder->entries;
	size_t n = 0, sorted = 1;

	while (sorted < builder->n_entries && by_start(&entries[sorted - 1], &entries[sorted]) < 0)
		sorted++;
	if (sorted < builder->n_entries)
		qsort(entries, builder->n_entries, sizeof(*entries), by_start);
	for (size_t i = 0; i < builder->n_entries; i++) {
		struct codetab_entry entry = entries[i];
		if (n &&
			(entry.start == entries[n - 1].start ||
				entry.start - entries[n - 1].start < entries[n - 1].len))
			continue;
		entry.pad = 0;
		entries[n++] = entry;
	}
	builder->n_entries = n;
}

void codetab_builder_bias(struct codetab_builder *builder, uint64_t bias)
{
	builder->bias = bias;
}

int codetab_builder_finish(struct codetab_builder *builder, int *fd)
{
	struct codetab_header header = {.version = CODETAB_VERSION};
	const struct codetab_builder *from = builder;

	*fd = -1;
	if (builder->error)
		return builder->error;
	arrange(builder);
	memcpy(header.magic, "strobe\0C", 8);
	header.bias = from->bias;
	header.n_entries = (uint32_t)from->n_entries;
	header.n_frames = (uint32_t)from->n_frames;
	header.pool_bytes = (uint32_t)from->pool_bytes;
	header.entries_at = sizeof(header);
	header.frames_at = header.entries_at + from->n_entries * sizeof(*from->entries);
	header.pool_at = header.frames_at + from->n_frames * sizeof(*from->frames);
	header.total_bytes = header.pool_at + from->pool_bytes;
	if (header.total_bytes > CODETAB_BYTES_MAX)
		return -EFBIG;

	int file = memfd_create("strobe-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (file < 0)
		return -errno;
	int ret = symtab_write(file, &header, sizeof(header), 0);
	if (ret == 0)
		ret = symtab_write(file, from->entries, from->n_entries * sizeof(*from->entries),
			header.entries_at);
	if (ret == 0)
		ret = symtab_write(file, from->frames, from->n_frames * sizeof(*from->frames),
			header.frames_at);
	if (ret == 0)
		ret = symtab_write(file, from->pool, from->pool_bytes, header.pool_at);
	if (ret == 0)
		ret = symtab_seal(file);
	if (ret < 0) {
		close(file);
		return ret;
	}
	*fd = file;
	return 0;
}
