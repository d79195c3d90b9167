/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.c - segments, counts and changes from an image's symbol table.
 *
 * Runs in the thread of symbols.h.
 */
#include "symbols/client/private.h"
#include "symbols/client/symbols.h"

bool symbols_segment(
	const struct symbols *symbols, uint32_t key, uint64_t offset, struct symbols_segment *out)
{
	const struct symtab *table = symbols_table(symbols, key);

	for (uint32_t i = 0; table && i < table->n_segments; i++) {
		const struct symtab_segment *segment = &table->segments[i];

		*out = (struct symbols_segment){segment->offset, segment->len, segment->vaddr};
		if (offset >= segment->offset && offset - segment->offset < segment->len)
			return true;
	}
	return false;
}

void symbols_count(const struct symbols *symbols, uint32_t key, uint32_t *named, uint32_t *nameless)
{
	const struct symtab *table = symbols_table(symbols, key);

	*named = *nameless = 0;
	for (uint32_t i = 0; table && i < table->n_entries; i++) {
		if (*symtab_name(table, i))
			(*named)++;
		else
			(*nameless)++;
	}
}

bool symbols_change(
	const struct symbols *symbols, uint32_t key, uint32_t i, struct symbols_change *out)
{
	const struct symtab *table = symbols_table(symbols, key);

	if (!table || i >= table->n_changes)
		return false;
	*out = (struct symbols_change){.start = table->changes[i].start,
		.size = table->changes[i].size,
		.since_ns = table->changes[i].since_ns};
	return true;
}
