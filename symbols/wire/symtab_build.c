/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symtab_build.c - collects symbols, chooses among those at one address, writes the table.
 *
 * Runs in the worker.  Names go straight to the memory file; each symbol keeps only 24 bytes.
 */
#include "symbols/wire/symtab.h"

#include "symbols/base/grow.h"

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
	uint32_t size; /* without RANK_SIZED: its upper limit */
	uint32_t rank; /* see rank_of() */
	uint32_t module; /* in a table without modules, the greater number is better */
	uint32_t name;
};

/* Orders the names of one address, best highest.  The order is perf's: sized, not weak, global,
 * fewest leading underscores, longest. */
#define RANK_LENGTH_BITS 16
#define RANK_UNDERSCORE_BITS 4
#define RANK_BOUNDED (1u << 20) /* not part of the order: its function's bounds are known */
#define RANK_GLOBAL (1u << 27)
#define RANK_STRONG (1u << 28)
#define RANK_SIZED (1u << 29)
#define RANK_NOT_LABEL (1u << 30)
#define RANK_REAL (1u << 31)

struct symtab_function {
	uint64_t start;
	uint32_t size;
};

/* If more than 1/16 of the functions have no name, symbols were left out. */
#define UNNAMED_SHARE 16

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
	free(builder->segments);
	free(builder->loads);
	free(builder->functions);
	free(builder->resumes);
	free(builder->changes);
	free(builder);
}

/* Makes room for one more item.  Returns false and sets the error if memory runs out. */
static bool grow(struct symtab_builder *builder, void *array, size_t *cap, size_t n, size_t size)
{
	if (!builder->error && array_grow(array, cap, n + 1, size) < 0)
		builder->error = -ENOMEM;
	return !builder->error;
}

void symtab_builder_segment(
	struct symtab_builder *builder, uint64_t offset, uint64_t len, uint64_t vaddr)
{
	const struct symtab_segment segment = {offset, len, vaddr};

	if (symtab_segment_is_sane(&segment) &&
		grow(builder, &builder->segments, &builder->segments_cap, builder->n_segments,
			sizeof(segment)))
		builder->segments[builder->n_segments++] = segment;
}

void symtab_builder_load(
	struct symtab_builder *builder, uint64_t offset, uint64_t len, uint64_t vaddr)
{
	const struct symtab_segment load = {offset, len, vaddr};

	if (symtab_segment_is_sane(&load) &&
		grow(builder, &builder->loads, &builder->loads_cap, builder->n_loads, sizeof(load)))
		builder->loads[builder->n_loads++] = load;
}

void symtab_builder_function(struct symtab_builder *builder, uint64_t start, uint64_t size)
{
	if (size == 0 || size > UINT32_MAX || builder->n_functions >= SYMTAB_SYMBOLS_MAX ||
		(builder->n_functions &&
			builder->functions[builder->n_functions - 1].start >= start) ||
		!grow(builder, &builder->functions, &builder->functions_cap, builder->n_functions,
			sizeof(*builder->functions)))
		return;
	builder->functions[builder->n_functions++] =
		(struct symtab_function){start, (uint32_t)size};
}

void symtab_builder_change(
	struct symtab_builder *builder, uint64_t start, uint64_t size, uint64_t since_ns)
{
	if (builder->n_changes >= SYMTAB_SYMBOLS_MAX ||
		!grow(builder, &builder->changes, &builder->changes_cap, builder->n_changes,
			sizeof(*builder->changes)))
		return;
	builder->changes[builder->n_changes++] = (struct symtab_change){
		.start = start, .since_ns = since_ns, .size = (uint32_t)size};
}

static int change_by_start(const void *a, const void *b)
{
	const struct symtab_change *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
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
		/* The buffer is full: write it.  The rest of the name goes into the next one. */
		write_at(builder, builder->buffer, builder->buffered,
			sizeof(struct symtab_header) + builder->pool_bytes - len - 1 -
				builder->buffered);
		builder->buffered = 0;
	}
	return at;
}

static void put_item(struct symtab_builder *builder, const struct symtab_item *item)
{
	if (!builder->error && builder->n == SYMTAB_SYMBOLS_MAX)
		builder->error = -EFBIG;
	if (grow(builder, &builder->items, &builder->cap, builder->n, sizeof(*item)))
		builder->items[builder->n++] = *item;
}

static size_t name_len(const char *name, size_t len)
{
	return strnlen(name, len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES);
}

uint32_t symtab_builder_name(struct symtab_builder *builder, const char *name, size_t len)
{
	return builder->error ? 0 : add_name(builder, name, name_len(name, len));
}

void symtab_builder_add_named(
	struct symtab_builder *builder, uint64_t start, uint64_t size, uint32_t name)
{
	const struct symtab_item item = {
		.start = start,
		.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
		.name = name,
	};

	if (!builder->error)
		put_item(builder, &item);
}

void symtab_builder_add(struct symtab_builder *builder, uint64_t start, uint64_t size,
	uint64_t limit, unsigned int kind, const char *name, size_t len, uint32_t module)
{
	if (builder->error || len == 0)
		return;
	len = name_len(name, len);
	const uint64_t most = size ? size : limit;
	const struct symtab_item item = {
		.start = start,
		.size = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most,
		.rank = rank_of(kind, size != 0, name, len),
		.module = module,
		.name = add_name(builder, name, len),
	};
	put_item(builder, &item);
	builder->n_local += (kind & SYMTAB_LOCAL) != 0;
}

uint32_t symtab_builder_module(struct symtab_builder *builder, const char *name, size_t len)
{
	/* Symbols of a module come together, so only a change of module adds a name. */
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

/* Sorts in place, because qsort(3) of glibc 2.36 takes as much memory again.  A hostile order costs
 * at most n log n. */
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
	return low < builder->sorted && builder->items[low].start == start &&
		builder->items[low].rank & RANK_NOT_LABEL && builder->items[low].rank & RANK_REAL;
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

/* --- bounds of functions --- */

static bool is_synthetic(const struct symtab_item *item)
{
	return !(item->rank & RANK_REAL);
}

/* Returns whether a function has no name among n sorted symbols.  Keeps in *at the first symbol
 * that does not begin before the function, and in *covered the end of sized ones that do. */
static bool is_unnamed(const struct symtab_item *items, size_t n,
	const struct symtab_function *function, size_t *at, uint64_t *covered)
{
	for (; *at < n && items[*at].start < function->start; ++*at) {
		const uint64_t end = items[*at].start + items[*at].size;
		if (is_sized(&items[*at]) && end > *covered)
			*covered = end;
	}
	return function->start >= *covered && (*at == n || items[*at].start != function->start);
}

size_t symtab_builder_unnamed(const struct symtab_builder *builder)
{
	uint64_t covered = 0;
	size_t at = 0, n = 0;

	for (size_t i = 0; i < builder->n_functions; i++) {
		const struct symtab_function *function = &builder->functions[i];
		n += is_unnamed(builder->items, builder->sorted, function, &at, &covered);
	}
	return n;
}

static void bound_item(
	struct symtab_item *item, const struct symtab_function *function, bool is_named)
{
	const uint64_t into = item->start - function->start;

	if (is_sized(item) || is_synthetic(item) || item->start < function->start ||
		into >= function->size)
		return;
	const uint32_t rest = function->size - (uint32_t)into;
	const bool is_label = !(item->rank & RANK_NOT_LABEL);
	item->size = is_label && !is_named ? 0 : rest < item->size ? rest : item->size;
	item->rank |= RANK_BOUNDED | (into == 0 && !is_label ? RANK_SIZED : 0);
}

/* Bounds symbols without a size by their functions, and drops labels in functions without a name.
 * Functions in assembly may share bounds: there each label ends the one before. */
static void bound_items(struct symtab_builder *builder)
{
	const struct symtab_function *functions = builder->functions;
	struct symtab_item *items = builder->items;
	uint64_t covered = 0;
	size_t at = 0;

	for (size_t f = 0; f < builder->n_functions; f++) {
		const uint64_t next =
			f + 1 < builder->n_functions ? functions[f + 1].start : UINT64_MAX;
		const bool is_named = !is_unnamed(items, builder->n, &functions[f], &at, &covered);
		for (size_t i = at; i < builder->n && items[i].start < next; i++)
			bound_item(&items[i], &functions[f], is_named);
	}
}

/* Moves the items after the first n, which are sorted, to their places. */
static void merge_tail(struct symtab_builder *builder, size_t n)
{
	const size_t added = builder->n - n;
	struct symtab_item *tail = malloc(added * sizeof(*tail));
	size_t to = builder->n, left = n;

	if (!tail) {
		builder->error = -ENOMEM;
		return;
	}
	memcpy(tail, builder->items + n, added * sizeof(*tail));
	for (size_t i = added; i > 0;) {
		if (left && builder->items[left - 1].start > tail[i - 1].start)
			builder->items[--to] = builder->items[--left];
		else
			builder->items[--to] = tail[--i];
	}
	free(tail);
}

/* Adds functions without a name as symbols with the name "". */
static void add_unnamed(struct symtab_builder *builder)
{
	const size_t n = builder->n;
	uint64_t covered = 0;
	uint32_t name = 0;
	size_t at = 0;

	for (size_t i = 0; i < builder->n_functions; i++) {
		const struct symtab_function *function = &builder->functions[i];
		if (!is_unnamed(builder->items, n, function, &at, &covered))
			continue;
		if (builder->n == n)
			name = add_name(builder, "", 0);
		const struct symtab_item item = {.start = function->start,
			.size = function->size,
			.rank = RANK_SIZED | RANK_BOUNDED,
			.name = name};
		put_item(builder, &item);
	}
	if (!builder->error && builder->n > n)
		merge_tail(builder, n);
}

/* --- writing the table --- */

static void reverse(struct symtab_item *items, size_t first, size_t end)
{
	for (; first + 1 < end; first++) {
		const struct symtab_item swap = items[first];
		items[first] = items[--end];
		items[end] = swap;
	}
}

/* Keeps the best symbol of each address, after those that end later than it.  Drops symbols without
 * a size inside sized ones. */
static void choose(struct symtab_builder *builder)
{
	struct symtab_item *items = builder->items;
	uint64_t covered = 0;
	size_t n = 0, first = 0;

	for (size_t i = 0; i < builder->n; i++) {
		if (!items[i].size)
			continue;
		if (n > first && items[first].start != items[i].start) {
			reverse(items, first, n);
			first = n;
		}
		if (n > first && items[i].size <= items[n - 1].size)
			continue;
		if (items[i].start < covered && !is_sized(&items[i]))
			continue;
		items[n++] = items[i];
		uint64_t end = items[i].start + items[i].size;
		if (is_sized(&items[i]) && end > covered)
			covered = end;
	}
	reverse(items, first, n);
	builder->n = builder->sorted = n;
}

/* Gives sizes to symbols without one. */
static void give_sizes(struct symtab_builder *builder, bool has_all)
{
	struct symtab_item *items = builder->items;
	const size_t n = builder->n;

	for (size_t i = 0; i < n; i++) {
		if (is_sized(&items[i]))
			continue;
		uint64_t size = items[i].size;
		if (i + 1 < n && items[i + 1].start - items[i].start < size)
			size = items[i + 1].start - items[i].start;
		/* The gap between modules belongs to neither, and a module may be loaded later
		 * after a symbol without an end.  So that symbol ends with the next page, at the
		 * latest. */
		bool last = i + 1 == n;
		if ((last && items[i].size == UINT32_MAX) ||
			(builder->n_modules && (last || items[i].module != items[i + 1].module))) {
			uint64_t rest = 2 * KERNEL_PAGE - items[i].start % KERNEL_PAGE;
			size = rest < size ? rest : size;
		}
		items[i].size = (uint32_t)size;
		if (!has_all && !(items[i].rank & RANK_BOUNDED) && !is_synthetic(&items[i]))
			items[i].name |= SYMTAB_UNCERTAIN;
	}
}

static uint64_t end_of(const struct symtab_item *item)
{
	return item->size < UINT64_MAX - item->start ? item->start + item->size : UINT64_MAX;
}

/* Adds the offsets up to `until` at which a symbol on the stack continues: those above it have
 * ended. */
static void resume(struct symtab_builder *builder, uint32_t *stack, size_t *depth, uint64_t until)
{
	const struct symtab_item *items = builder->items;

	while (*depth && end_of(&items[stack[*depth - 1]]) <= until) {
		const uint64_t end = end_of(&items[stack[*depth - 1]]);
		while (*depth && end_of(&items[stack[*depth - 1]]) <= end)
			--*depth;
		/* A symbol that begins there counts instead. */
		if (!*depth || end == until ||
			!grow(builder, &builder->resumes, &builder->resumes_cap, builder->n_resumes,
				sizeof(*builder->resumes)))
			continue;
		builder->resumes[builder->n_resumes++] =
			(struct symtab_resume){.at = end, .entry = stack[*depth - 1]};
	}
}

static void find_resumes(struct symtab_builder *builder)
{
	uint32_t *stack = NULL;
	size_t depth = 0, cap = 0;

	for (size_t i = 0; i < builder->n; i++) {
		resume(builder, stack, &depth, builder->items[i].start);
		if (!grow(builder, &stack, &cap, depth, sizeof(*stack)))
			break;
		stack[depth++] = (uint32_t)i;
	}
	if (!builder->error)
		resume(builder, stack, &depth, UINT64_MAX);
	free(stack);
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
	/* strip(1) removes source file names first, or else local symbols alone. */
	const bool has_all = !builder->is_program ||
		(builder->has_files && builder->n_local &&
			symtab_builder_unnamed(builder) * UNNAMED_SHARE <= builder->n_functions);
	bound_items(builder);
	choose(builder);
	add_unnamed(builder);
	give_sizes(builder, has_all);
	find_resumes(builder);
	flush_pool(builder);

	memcpy(header.magic, "strobe\0T", 8);
	header.n_segments = (uint32_t)builder->n_segments;
	header.n_loads = (uint32_t)builder->n_loads;
	header.n_resumes = (uint32_t)builder->n_resumes;
	header.n_changes = (uint32_t)builder->n_changes;
	header.n_entries = (uint32_t)builder->n;
	header.n_modules = builder->n_modules;
	header.pool_bytes = builder->pool_bytes;
	header.entries_at = (sizeof(header) + builder->pool_bytes + 7) & ~7ull;
	header.modules_at = write_entries(builder, header.entries_at);
	header.module_names_at = (write_modules(builder, header.modules_at) + 3) & ~3ull;
	write_at(builder, builder->module_names, builder->n_modules * sizeof(uint32_t),
		header.module_names_at);
	header.segments_at =
		(header.module_names_at + builder->n_modules * sizeof(uint32_t) + 7) & ~7ull;
	write_at(builder, builder->segments, builder->n_segments * sizeof(*builder->segments),
		header.segments_at);
	const uint64_t loads_at =
		header.segments_at + builder->n_segments * sizeof(*builder->segments);
	write_at(builder, builder->loads, builder->n_loads * sizeof(*builder->loads), loads_at);
	header.resumes_at = loads_at + builder->n_loads * sizeof(*builder->loads);
	write_at(builder, builder->resumes, builder->n_resumes * sizeof(*builder->resumes),
		header.resumes_at);
	header.changes_at = header.resumes_at + builder->n_resumes * sizeof(*builder->resumes);
	if (builder->n_changes)
		qsort(builder->changes, builder->n_changes, sizeof(*builder->changes),
			change_by_start);
	write_at(builder, builder->changes, builder->n_changes * sizeof(*builder->changes),
		header.changes_at);
	header.total_bytes = header.changes_at + builder->n_changes * sizeof(*builder->changes);
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
