/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symtab_build.c - collects symbols, chooses among those at one address, writes the table.
 *
 * Runs in the worker.  Names go straight to the memory file; only 24 bytes a symbol are kept.
 */
#include "symbols/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFER_BYTES (64u * 1024)
#define NAME_MAX_BYTES (64u * 1024)
#define KERNEL_PAGE 4096u

struct symtab_item {
	uint64_t start;
	uint32_t size; /* without RANK_SIZED: the most it can be */
	uint32_t rank; /* see rank_of() */
	uint32_t module; /* or, in a table without modules, the greater the better */
	uint32_t name;
};

/* The rank orders names of one address, best highest.  As perf chooses: with a size, no weak one,
 * global, the fewest underscores in front, the longest, the first. */
#define RANK_LENGTH_BITS 16
#define RANK_UNDERSCORE_BITS 4
#define RANK_GLOBAL (1u << 27)
#define RANK_STRONG (1u << 28)
#define RANK_SIZED (1u << 29)
#define RANK_NOT_LABEL (1u << 30)
#define RANK_REAL (1u << 31)

static uint32_t rank_of(unsigned int kind, bool sized, const char *name, size_t len)
{
	const uint32_t most = (1u << RANK_UNDERSCORE_BITS) - 1;
	uint32_t underscores = 0;
	uint32_t rank = 0;

	while (underscores < most && underscores < len && name[underscores] == '_')
		underscores++;
	if (len >= 1u << RANK_LENGTH_BITS)
		len = (1u << RANK_LENGTH_BITS) - 1;
	rank |= (uint32_t)len;
	rank |= (most - underscores) << RANK_LENGTH_BITS;
	rank |= kind & SYMTAB_LOCAL ? 0 : RANK_GLOBAL;
	rank |= kind & SYMTAB_WEAK ? 0 : RANK_STRONG;
	rank |= sized ? RANK_SIZED : 0;
	rank |= kind & SYMTAB_LABEL ? 0 : RANK_NOT_LABEL;
	rank |= kind & SYMTAB_SYNTHETIC ? 0 : RANK_REAL;
	return rank;
}

static bool is_sized(const struct symtab_item *item)
{
	return item->rank & RANK_SIZED;
}

int symtab_builder_new(struct symtab_builder **out)
{
	struct symtab_builder *builder = calloc(1, sizeof(*builder));

	*out = NULL;
	if (!builder)
		return -ENOMEM;
	builder->buffer = malloc(BUFFER_BYTES);
	builder->fd = memfd_create("strobe-table", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (!builder->buffer || builder->fd < 0) {
		int ret = builder->buffer ? -errno : -ENOMEM;
		symtab_builder_free(builder);
		return ret;
	}
	*out = builder;
	return 0;
}

void symtab_builder_free(struct symtab_builder *builder)
{
	if (!builder)
		return;
	if (builder->fd >= 0)
		close(builder->fd);
	free(builder->buffer);
	free(builder->items);
	free(builder);
}

void symtab_builder_segment(
	struct symtab_builder *builder, uint64_t offset, uint64_t len, uint64_t vaddr)
{
	const struct symtab_segment segment = {offset, len, vaddr};

	if (builder->n_segments < SYMTAB_SEGMENTS_MAX && symtab_segment_is_sane(&segment))
		builder->segments[builder->n_segments++] = segment;
}

static void write_at(struct symtab_builder *builder, const void *bytes, size_t len, uint64_t at)
{
	if (!builder->error)
		builder->error = symtab_write(builder->fd, bytes, len, at);
}

static void flush_pool(struct symtab_builder *builder)
{
	write_at(builder, builder->buffer, builder->buffered,
		sizeof(struct symtab_header) + builder->pool_bytes - builder->buffered);
	builder->buffered = 0;
}

static uint32_t add_name(struct symtab_builder *builder, const char *name, size_t len)
{
	const uint32_t at = builder->pool_bytes;

	if (builder->pool_bytes + len + 1 > SYMTAB_BYTES_MAX / 2) {
		builder->error = -EFBIG;
		return 0;
	}
	builder->pool_bytes += (uint32_t)len + 1;
	for (;;) {
		size_t room = BUFFER_BYTES - builder->buffered;
		size_t n = len < room ? len : room;
		memcpy(builder->buffer + builder->buffered, name, n);
		builder->buffered += n;
		name += n;
		len -= n;
		if (len == 0 && n < room) {
			builder->buffer[builder->buffered++] = '\0';
			break;
		}
		/* Full: only what is in the buffer is written, the rest is not there yet. */
		write_at(builder, builder->buffer, builder->buffered,
			sizeof(struct symtab_header) + builder->pool_bytes - len - 1 -
				builder->buffered);
		builder->buffered = 0;
	}
	return at;
}

void symtab_builder_add(struct symtab_builder *builder, uint64_t start, uint64_t size,
	uint64_t limit, unsigned int kind, const char *name, size_t len, uint32_t module)
{
	if (builder->error || len == 0)
		return;
	if (len > NAME_MAX_BYTES)
		len = NAME_MAX_BYTES;
	const char *end = memchr(name, '\0', len);
	if (end)
		len = (size_t)(end - name);
	if (builder->n == builder->cap) {
		size_t cap = builder->cap ? builder->cap * 2 : 4096;
		void *items = builder->cap < SYMTAB_SYMBOLS_MAX
			? realloc(builder->items, cap * sizeof(*builder->items))
			: NULL;
		if (!items) {
			builder->error = builder->cap < SYMTAB_SYMBOLS_MAX ? -ENOMEM : -EFBIG;
			return;
		}
		builder->items = items;
		builder->cap = cap;
	}
	const uint64_t most = size ? size : limit;
	builder->items[builder->n++] = (struct symtab_item){
		.start = start,
		.size = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most,
		.rank = rank_of(kind, size != 0, name, len),
		.module = module,
		.name = add_name(builder, name, len),
	};
}

uint32_t symtab_builder_module(struct symtab_builder *builder, const char *name, size_t len)
{
	/* Symbols of a module come together: only a change of module costs a name. */
	if (builder->error || builder->n_modules == SYMTAB_MODULES_MAX)
		return 0;
	builder->module_names[builder->n_modules] = add_name(builder, name, len);
	return ++builder->n_modules;
}

static bool before(const struct symtab_item *a, const struct symtab_item *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	return a->rank != b->rank ? a->rank > b->rank : a->module > b->module;
}

static void sift(struct symtab_item *items, size_t root, size_t n)
{
	struct symtab_item moving = items[root];

	for (size_t child; (child = 2 * root + 1) < n; root = child) {
		if (child + 1 < n && before(&items[child], &items[child + 1]))
			child++;
		if (!before(&moving, &items[child]))
			break;
		items[root] = items[child];
	}
	items[root] = moving;
}

static void heap_sort(struct symtab_item *items, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift(items, i, n);
	while (n > 1) {
		struct symtab_item last = items[--n];
		items[n] = items[0];
		items[0] = last;
		sift(items, 0, n);
	}
}

/* In place, since qsort(3) of glibc 2.36 takes as much memory again; a hostile order gets no more
 * than n log n out of it. */
static void intro_sort(struct symtab_item *items, size_t n, unsigned int depth)
{
	while (n > 16) {
		if (depth-- == 0) {
			heap_sort(items, n);
			return;
		}
		struct symtab_item a = items[0], b = items[n / 2], c = items[n - 1];
		struct symtab_item pivot = before(&a, &b) ? (before(&b, &c)		     ? b
									    : before(&a, &c) ? c
											     : a)
							  : (before(&a, &c)		     ? a
									    : before(&b, &c) ? c
											     : b);
		size_t i = 0, j = n - 1;
		for (;; i++, j--) {
			while (before(&items[i], &pivot))
				i++;
			while (before(&pivot, &items[j]))
				j--;
			if (i >= j)
				break;
			struct symtab_item swap = items[i];
			items[i] = items[j];
			items[j] = swap;
		}
		intro_sort(items + j + 1, n - j - 1, depth);
		n = j + 1;
	}
	for (size_t i = 1; i < n; i++) {
		struct symtab_item moving = items[i];
		size_t j = i;
		for (; j > 0 && before(&moving, &items[j - 1]); j--)
			items[j] = items[j - 1];
		items[j] = moving;
	}
}

void symtab_builder_sort(struct symtab_builder *builder)
{
	unsigned int depth = 0;

	for (size_t n = builder->n; n; n /= 2)
		depth += 2;
	size_t unsorted = 1;
	while (unsorted < builder->n &&
		!before(&builder->items[unsorted], &builder->items[unsorted - 1]))
		unsorted++;
	if (unsorted < builder->n)
		intro_sort(builder->items, builder->n, depth);
	builder->sorted = builder->n;
}

bool symtab_builder_has(const struct symtab_builder *builder, uint64_t start)
{
	size_t low = 0, high = builder->sorted;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (builder->items[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < builder->sorted && builder->items[low].start == start;
}

void symtab_builder_move(struct symtab_builder *builder, uint64_t delta)
{
	size_t n = 0;

	for (size_t i = 0; delta && i < builder->n; i++) {
		if (builder->n_modules && builder->items[i].module)
			continue;
		builder->items[n] = builder->items[i];
		builder->items[n++].start += delta;
	}
	builder->n = delta ? n : builder->n;
	builder->sorted = delta ? 0 : builder->sorted;
}

/* Keep the best of each address and no labels inside of sized symbols; give the others sizes. */
static void choose(struct symtab_builder *builder)
{
	struct symtab_item *items = builder->items;
	uint64_t covered = 0;
	size_t n = 0;

	for (size_t i = 0; i < builder->n; i++) {
		if (n && items[n - 1].start == items[i].start)
			continue;
		if (items[i].start < covered && !is_sized(&items[i]))
			continue;
		items[n++] = items[i];
		uint64_t end = items[i].start + items[i].size;
		if (is_sized(&items[i]) && end > covered)
			covered = end;
	}
	for (size_t i = 0; i < n; i++) {
		if (is_sized(&items[i]))
			continue;
		uint64_t size = items[i].size;
		if (i + 1 < n && items[i + 1].start - items[i].start < size)
			size = items[i + 1].start - items[i].start;
		/* Between modules lies much that is in neither, and where none was loaded yet one may
		 * be loaded after what has no end. */
		bool last = i + 1 == n;
		if ((last && items[i].size == UINT32_MAX) ||
			(builder->n_modules && (last || items[i].module != items[i + 1].module))) {
			uint64_t rest = 2 * KERNEL_PAGE - items[i].start % KERNEL_PAGE;
			size = rest < size ? rest : size;
		}
		items[i].size = (uint32_t)size;
	}
	builder->n = n;
}

static uint64_t write_entries(struct symtab_builder *builder, uint64_t at)
{
	struct symtab_entry *out = (void *)builder->buffer;
	const size_t most = BUFFER_BYTES / sizeof(*out);

	for (size_t i = 0, n; i < builder->n; i += n) {
		for (n = 0; n < most && i + n < builder->n; n++) {
			const struct symtab_item *item = &builder->items[i + n];
			out[n] = (struct symtab_entry){item->start, item->size, item->name};
		}
		write_at(builder, out, n * sizeof(*out), at);
		at += n * sizeof(*out);
	}
	return at;
}

static uint64_t write_modules(struct symtab_builder *builder, uint64_t at)
{
	uint16_t *out = (void *)builder->buffer;
	const size_t most = BUFFER_BYTES / sizeof(*out);

	for (size_t i = 0, n; builder->n_modules && i < builder->n; i += n) {
		for (n = 0; n < most && i + n < builder->n; n++)
			out[n] = (uint16_t)builder->items[i + n].module;
		write_at(builder, out, n * sizeof(*out), at);
		at += n * sizeof(*out);
	}
	return at;
}

int symtab_builder_finish(struct symtab_builder *builder, int *fd, uint32_t *count)
{
	struct symtab_header header = {.version = SYMTAB_VERSION};

	*fd = -1;
	*count = 0;
	symtab_builder_sort(builder);
	choose(builder);
	flush_pool(builder);

	memcpy(header.magic, "strobe\0T", 8);
	header.n_segments = builder->n_segments;
	memcpy(header.segments, builder->segments, sizeof(header.segments));
	header.n_entries = (uint32_t)builder->n;
	header.n_modules = builder->n_modules;
	header.pool_bytes = builder->pool_bytes;
	header.entries_at = (sizeof(header) + builder->pool_bytes + 7) & ~7ull;
	header.modules_at = write_entries(builder, header.entries_at);
	header.module_names_at = (write_modules(builder, header.modules_at) + 3) & ~3ull;
	write_at(builder, builder->module_names, builder->n_modules * sizeof(uint32_t),
		header.module_names_at);
	header.total_bytes = header.module_names_at + builder->n_modules * sizeof(uint32_t);
	write_at(builder, &header, sizeof(header), 0);
	if (!builder->error && ftruncate(builder->fd, (off_t)header.total_bytes) < 0)
		builder->error = -errno;
	if (!builder->error)
		builder->error = symtab_seal(builder->fd);
	if (builder->error)
		return builder->error;
	*fd = builder->fd;
	*count = header.n_entries;
	builder->fd = -1;
	return 0;
}
