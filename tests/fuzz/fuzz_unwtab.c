/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_unwtab.c - any bytes as an unwind table; an accepted table can be searched anywhere.
 */
#include "symbols/wire/unwtab.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Sets version and length in the header, so that inputs stay valid when these change. */
static void set_version(void *bytes, size_t size)
{
	struct unwtab_header header;

	if (size < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	header.version = UNWTAB_VERSION;
	header.total_bytes = size;
	memcpy(bytes, &header, sizeof(header));
}

static void find_at(const struct unwtab *table, uint64_t offset)
{
	const struct unwtab_rule *rule = unwtab_find(table, offset);

	if (rule && (rule->cfa == UNWTAB_NONE || rule->cfa > UNWTAB_DEREF_INDEXED))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwtab table;
	void *bytes = malloc(size ? size : 1);

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	set_version(bytes, size);
	if (unwtab_check(&table, bytes, size) == 0) {
		for (uint32_t page = 0; page < table.n_pages; page++) {
			const uint64_t start = (uint64_t)(table.first_page + page)
				<< UNWTAB_PAGE_BITS;
			find_at(&table, start);
			find_at(&table, start - 1);
			find_at(&table, start + 0xffff);
			for (uint32_t i = table.pages[page]; i < table.pages[page + 1]; i++) {
				const struct unwtab_rule *rule =
					unwtab_find(&table, start + table.rows[i].low);
				if (rule !=
					(table.rows[i].rule == UNWTAB_NO_RULE
							? NULL
							: &table.rules[table.rows[i].rule]))
					abort();
			}
		}
		find_at(&table, 0);
		find_at(&table, UINT64_MAX);
	}
	free(bytes);
	return 0;
}
