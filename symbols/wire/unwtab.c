/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwtab.c - checking, mapping and searching unwind tables.  The builder is in unwtab_build.c.
 *
 * Once unwtab_check() has accepted the bytes, no call here reads beyond them, even if they are
 * hostile.
 */
#include "symbols/wire/unwtab.h"

#include "symbols/wire/symtab.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES_MAX                                                                       \
	(sizeof(struct unwtab_header) + UNWTAB_RULES_MAX * sizeof(struct unwtab_rule) + \
		(UNWTAB_PAGES_MAX + 1ull) * sizeof(uint32_t) +                          \
		UNWTAB_ROWS_MAX * sizeof(struct unwtab_row) + 64)

static bool is_sane_header(const struct unwtab_header *header, size_t len)
{
	if (memcmp(header->magic, "strobe\0U", 8) != 0 || header->version != UNWTAB_VERSION ||
		header->total_bytes != len || header->n_rules > UNWTAB_RULES_MAX ||
		header->n_pages > UNWTAB_PAGES_MAX || header->n_rows > UNWTAB_ROWS_MAX)
		return false;
	return header->flags <= (UNWTAB_SPARSE | UNWTAB_GO | UNWTAB_32_BITS) &&
		header->first_page <= UNWTAB_PAGES_MAX - header->n_pages &&
		header->bp_bytes <= header->code_bytes &&
		header->code_bytes <= (uint64_t)header->n_pages << UNWTAB_PAGE_BITS &&
		symtab_fits(
			header->rules_at, header->n_rules, sizeof(struct unwtab_rule), 4, len) &&
		symtab_fits(header->pages_at, (uint64_t)header->n_pages + 1, sizeof(uint32_t), 4,
			len) &&
		symtab_fits(header->rows_at, header->n_rows, sizeof(struct unwtab_row), 4, len);
}

static bool is_sane_rule(const struct unwtab_rule *rule)
{
	const bool has_any = rule->cfa == UNWTAB_SP || rule->cfa == UNWTAB_BP ||
		rule->cfa == UNWTAB_DEREF_SP || rule->cfa == UNWTAB_DEREF_BP ||
		rule->cfa == UNWTAB_DEREF_INDEXED;
	const uint32_t most = has_any	       ? UINT8_MAX
		: rule->cfa == UNWTAB_REGISTER ? UNWTAB_REGISTER_MAX
					       : 0;

	return rule->cfa > UNWTAB_NONE && rule->cfa <= UNWTAB_DEREF_INDEXED &&
		rule->bp <= UNWTAB_REG_UNDEFINED && rule->ra < UNWTAB_REG_UNDEFINED &&
		rule->flags >> UNWTAB_MORE_SHIFT <= most &&
		(rule->cfa != UNWTAB_PLT || (rule->cfa_off > 0 && rule->cfa_off < 16));
}

/* Returns whether the rows of a page begin at its start and ascend. */
static bool is_sane_page(const struct unwtab_row *rows, uint32_t n, uint32_t n_rules)
{
	for (uint32_t i = 0; i < n; i++)
		if ((i ? rows[i].low <= rows[i - 1].low : rows[i].low != 0) ||
			(rows[i].rule >= n_rules && rows[i].rule != UNWTAB_NO_RULE))
			return false;
	return true;
}

int unwtab_check(struct unwtab *table, const void *bytes, size_t len)
{
	const uint8_t *base = bytes;
	struct unwtab_header header;

	memset(table, 0, sizeof(*table));
	if (len < sizeof(header) || len > BYTES_MAX)
		return -EBADMSG;
	memcpy(&header, bytes, sizeof(header));
	if (!is_sane_header(&header, len))
		return -EBADMSG;

	const struct unwtab_rule *rules = (const void *)(base + header.rules_at);
	const uint32_t *pages = (const void *)(base + header.pages_at);
	const struct unwtab_row *rows = (const void *)(base + header.rows_at);

	for (uint32_t i = 0; i < header.n_rules; i++)
		if (!is_sane_rule(&rules[i]))
			return -EBADMSG;
	if (pages[0] != 0 || pages[header.n_pages] != header.n_rows)
		return -EBADMSG;
	for (uint32_t i = 0; i < header.n_pages; i++)
		if (pages[i + 1] < pages[i] || pages[i + 1] > header.n_rows ||
			!is_sane_page(rows + pages[i], pages[i + 1] - pages[i], header.n_rules))
			return -EBADMSG;

	*table = (struct unwtab){
		.bytes = bytes,
		.len = len,
		.rules = rules,
		.pages = pages,
		.rows = rows,
		.n_rules = header.n_rules,
		.n_rows = header.n_rows,
		.n_pages = header.n_pages,
		.first_page = header.first_page,
		.machine = header.machine,
		.flags = header.flags,
		.code_bytes = header.code_bytes,
		.bp_bytes = header.bp_bytes,
	};
	return 0;
}

int unwtab_open(struct unwtab *table, int fd)
{
	const uint8_t *bytes;
	size_t len;

	memset(table, 0, sizeof(*table));
	int ret = symtab_map(fd, sizeof(struct unwtab_header), BYTES_MAX, &bytes, &len);
	if (ret < 0)
		return ret;
	ret = unwtab_check(table, bytes, len);
	if (ret < 0)
		munmap((void *)(uintptr_t)bytes, len);
	return ret;
}

void unwtab_close(struct unwtab *table)
{
	if (table->bytes)
		munmap((void *)(uintptr_t)table->bytes, table->len);
	memset(table, 0, sizeof(*table));
}

bool unwtab_keeps_bp(const struct unwtab *table)
{
	return table->flags & UNWTAB_GO || table->bp_bytes > table->code_bytes / 2;
}

const struct unwtab_rule *unwtab_find(const struct unwtab *table, uint64_t offset)
{
	const uint64_t page = (offset >> UNWTAB_PAGE_BITS) - table->first_page;
	const uint16_t wanted = (uint16_t)offset;

	if (page >= table->n_pages)
		return NULL;
	uint32_t low = table->pages[page], high = table->pages[page + 1];
	if (low == high)
		return NULL;
	/* The page's first row begins at its start, so low is never above wanted. */
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;
		if (table->rows[middle].low <= wanted)
			low = middle;
		else
			high = middle;
	}
	const uint16_t rule = table->rows[low].rule;
	return rule == UNWTAB_NO_RULE ? NULL : &table->rules[rule];
}
