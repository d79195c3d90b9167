/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwtab_build.c - turns ascending ranges into rows, and equal rules into one.
 *
 * Runs in the worker.
 */
#include "symbols/base/grow.h"
#include "symbols/wire/unwtab.h"

#include "symbols/wire/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#define SLOTS_MIN 256u
#define PAGE_BYTES (1ull << UNWTAB_PAGE_BITS)
#define OFFSET_MAX ((uint64_t)UNWTAB_PAGES_MAX << UNWTAB_PAGE_BITS)

struct unwtab_builder {
	uint16_t machine, flags;
	int error; /* the first error; later calls do nothing */
	struct unwtab_rule *rules;
	size_t n_rules, rules_cap;
	uint16_t *slots; /* rule number + 1, by hash; 0: free; at most half full */
	size_t n_slots;
	uint32_t *pages; /* first rows of pages first_page to first_page + n_pages */
	size_t n_pages, pages_cap;
	uint64_t first_page;
	struct unwtab_row *rows;
	size_t n_rows, rows_cap;
	uint64_t end; /* end of all ranges added; 0 if none yet */
	uint64_t code_bytes, bp_bytes;
};

int unwtab_builder_new(struct unwtab_builder **out, uint16_t machine)
{
	struct unwtab_builder *builder = calloc(1, sizeof(*builder));

	*out = NULL;
	if (!builder)
		return -ENOMEM;
	builder->machine = machine;
	*out = builder;
	return 0;
}

void unwtab_builder_free(struct unwtab_builder *builder)
{
	if (!builder)
		return;
	free(builder->rules);
	free(builder->slots);
	free(builder->pages);
	free(builder->rows);
	free(builder);
}

/* Makes room for one more item.  Returns false and sets the error if memory runs out. */
static bool grow_array(
	struct unwtab_builder *builder, void *array, size_t *cap, size_t n, size_t size)
{
	if (array_grow(array, cap, n + 1, size) == 0)
		return true;
	builder->error = -ENOMEM;
	return false;
}

/* Returns the slot of a rule, or the free slot for it. */
static uint16_t *find_slot(const struct unwtab_builder *builder, const struct unwtab_rule *rule)
{
	for (uint64_t i = XXH3_64bits(rule, sizeof(*rule));; i++) {
		uint16_t *slot = &builder->slots[i & (builder->n_slots - 1)];
		if (!*slot || memcmp(&builder->rules[*slot - 1], rule, sizeof(*rule)) == 0)
			return slot;
	}
}

/* Makes room for one more rule.  Returns false and sets the error if memory runs out. */
static bool grow_slots(struct unwtab_builder *builder)
{
	if (builder->n_rules < builder->n_slots / 2)
		return true;
	const size_t n = builder->n_slots ? builder->n_slots * 2 : SLOTS_MIN;
	uint16_t *slots = calloc(n, sizeof(*slots));
	if (!slots) {
		builder->error = -ENOMEM;
		return false;
	}
	free(builder->slots);
	builder->slots = slots;
	builder->n_slots = n;
	for (size_t i = 0; i < builder->n_rules; i++)
		*find_slot(builder, &builder->rules[i]) = (uint16_t)(i + 1);
	return true;
}

/* Returns the number of a rule, added if new; UNWTAB_NO_RULE if there are too many. */
static uint16_t number_rule(struct unwtab_builder *builder, const struct unwtab_rule *rule)
{
	if (rule->cfa == UNWTAB_NONE || !grow_slots(builder))
		return UNWTAB_NO_RULE;
	uint16_t *slot = find_slot(builder, rule);
	if (*slot)
		return (uint16_t)(*slot - 1);
	if (builder->n_rules == UNWTAB_RULES_MAX ||
		!grow_array(builder, &builder->rules, &builder->rules_cap, builder->n_rules,
			sizeof(*rule)))
		return UNWTAB_NO_RULE;
	builder->rules[builder->n_rules] = *rule;
	*slot = (uint16_t)(builder->n_rules + 1);
	return (uint16_t)builder->n_rules++;
}

static void put_row(struct unwtab_builder *builder, uint64_t low, uint16_t rule)
{
	if (builder->n_rows == UNWTAB_ROWS_MAX)
		builder->error = -EFBIG;
	if (builder->error ||
		!grow_array(builder, &builder->rows, &builder->rows_cap, builder->n_rows,
			sizeof(*builder->rows)))
		return;
	builder->rows[builder->n_rows++] = (struct unwtab_row){(uint16_t)low, rule};
}

/* Begins all pages up to this one. */
static void open_pages(struct unwtab_builder *builder, uint64_t page)
{
	if (!builder->n_pages)
		builder->first_page = page;
	while (!builder->error && builder->first_page + builder->n_pages <= page &&
		grow_array(builder, &builder->pages, &builder->pages_cap, builder->n_pages,
			sizeof(*builder->pages)))
		builder->pages[builder->n_pages++] = (uint32_t)builder->n_rows;
}

/* Adds a range, which begins at the end of the previous one unless it is the first. */
static void put_span(struct unwtab_builder *builder, uint64_t start, uint64_t end, uint16_t rule)
{
	while (start < end && !builder->error) {
		const uint64_t page = start >> UNWTAB_PAGE_BITS;
		const uint64_t page_end = (page + 1) << UNWTAB_PAGE_BITS;
		const uint64_t low = start & (PAGE_BYTES - 1);

		open_pages(builder, page);
		if (builder->error)
			return;
		const bool is_empty = builder->pages[builder->n_pages - 1] == builder->n_rows;
		if (is_empty && low)
			put_row(builder, 0, UNWTAB_NO_RULE);
		/* A page without rows has no rule. */
		const bool is_left_empty =
			is_empty && !low && rule == UNWTAB_NO_RULE && end >= page_end;
		if (!is_left_empty && !builder->error &&
			((is_empty && !low) || builder->rows[builder->n_rows - 1].rule != rule))
			put_row(builder, low, rule);
		start = page_end;
	}
}

void unwtab_builder_add(struct unwtab_builder *builder, uint64_t start, uint64_t end,
	const struct unwtab_rule *rule)
{
	if (start < builder->end)
		start = builder->end;
	if (end > OFFSET_MAX)
		end = OFFSET_MAX;
	const uint16_t number =
		builder->error || start >= end ? UNWTAB_NO_RULE : number_rule(builder, rule);
	/* Code without a rule needs no row. */
	if (builder->error || start >= end || number == UNWTAB_NO_RULE)
		return;
	if (builder->end && start > builder->end)
		put_span(builder, builder->end, start, UNWTAB_NO_RULE);
	put_span(builder, start, end, number);
	builder->end = end;
	if (rule->cfa != UNWTAB_END)
		builder->code_bytes += end - start;
	if (rule->cfa == UNWTAB_BP || rule->cfa == UNWTAB_DEREF_BP)
		builder->bp_bytes += end - start;
}

uint64_t unwtab_builder_code_bytes(const struct unwtab_builder *builder)
{
	return builder->code_bytes;
}

void unwtab_builder_set_flags(struct unwtab_builder *builder, uint16_t flags)
{
	builder->flags = flags;
}

static int write_table(const struct unwtab_builder *builder, int fd)
{
	const uint32_t end = (uint32_t)builder->n_rows;
	struct unwtab_header header = {
		.version = UNWTAB_VERSION,
		.machine = builder->machine,
		.flags = builder->flags,
		.n_rules = (uint32_t)builder->n_rules,
		.n_pages = (uint32_t)builder->n_pages,
		.n_rows = end,
		.first_page = (uint32_t)builder->first_page,
		.rules_at = sizeof(header),
		.code_bytes = builder->code_bytes,
		.bp_bytes = builder->bp_bytes,
	};

	memcpy(header.magic, "strobe\0U", 8);
	header.pages_at = header.rules_at + builder->n_rules * sizeof(*builder->rules);
	header.rows_at = header.pages_at + (builder->n_pages + 1) * sizeof(*builder->pages);
	header.total_bytes = header.rows_at + builder->n_rows * sizeof(*builder->rows);
	int ret = symtab_write(fd, &header, sizeof(header), 0);
	if (ret == 0)
		ret = symtab_write(fd, builder->rules, builder->n_rules * sizeof(*builder->rules),
			header.rules_at);
	if (ret == 0)
		ret = symtab_write(fd, builder->pages, builder->n_pages * sizeof(*builder->pages),
			header.pages_at);
	if (ret == 0)
		ret = symtab_write(fd, &end, sizeof(end), header.rows_at - sizeof(end));
	if (ret == 0)
		ret = symtab_write(fd, builder->rows, builder->n_rows * sizeof(*builder->rows),
			header.rows_at);
	return ret;
}

int unwtab_builder_finish(struct unwtab_builder *builder, int *fd, uint32_t *n_rows)
{
	*fd = -1;
	*n_rows = 0;
	/* No rule applies after the end of the last range. */
	if (!builder->error && builder->end & (PAGE_BYTES - 1))
		put_row(builder, builder->end & (PAGE_BYTES - 1), UNWTAB_NO_RULE);
	if (builder->error)
		return builder->error;
	const int made = memfd_create("strobe-unwind", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (made < 0)
		return -errno;
	int ret = write_table(builder, made);
	if (ret == 0)
		ret = symtab_seal(made);
	if (ret < 0) {
		close(made);
		return ret;
	}
	*fd = made;
	*n_rows = (uint32_t)builder->n_rows;
	return 0;
}
