/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index.c - finds the unit that covers an address.
 *
 * First it searches .debug_aranges, which needs no unpacking of .debug_info.  If no range there has
 * the address, it reads the ranges of units that are not listed (clang lists none).
 */
#include "symbols/base/grow.h"
#include "symbols/dwarf/names.h"
#include "symbols/dwarf/private.h"

#include <errno.h>
#include <stdlib.h>

#define ABBREV_BYTES_MAX ((size_t)64 << 20)

static int add_offset(struct dwarf *dwarf, uint64_t offset, uint32_t *owner)
{
	if (dwarf->n_offsets >= UINT32_MAX)
		return -ELOOP;
	if (array_grow(&dwarf->offsets, &dwarf->cap_offsets, dwarf->n_offsets + 1,
		    sizeof(*dwarf->offsets)) < 0)
		return -ENOMEM;
	*owner = (uint32_t)dwarf->n_offsets;
	dwarf->offsets[dwarf->n_offsets++] = offset;
	return 0;
}

/* Reads the addresses of one unit. start: beginning of its table, for the alignment. */
static int read_set(struct dwarf *dwarf, struct dwarf_cursor *cursor, const uint8_t *start)
{
	struct dwarf_unit shape = {.image = &dwarf->main};
	uint32_t owner;

	unsigned int width = dwarf_get_length(cursor);
	uint64_t version = dwarf_get(cursor, 2), offset = dwarf_get(cursor, width);
	shape.address_size = (uint8_t)dwarf_get(cursor, 1);
	uint64_t segment = dwarf_get(cursor, 1);
	if (cursor->bad || version < 2 || version > 5 || segment ||
		(shape.address_size != 4 && shape.address_size != 8))
		return 0;
	uint64_t over = (uint64_t)(cursor->at - start) % (2u * shape.address_size);
	dwarf_skip(cursor, over ? 2u * shape.address_size - over : 0);
	int ret = add_offset(dwarf, offset, &owner);
	while (ret == 0) {
		uint64_t low = dwarf_get(cursor, shape.address_size);
		uint64_t len = dwarf_get(cursor, shape.address_size);
		if (cursor->bad || (low == 0 && len == 0))
			break;
		ret = dwarf_work(dwarf, 1);
		if (ret == 0 && dwarf_is_code(dwarf, &shape, low) && len <= UINT64_MAX - low)
			ret = dwarf_ranges_add(&dwarf->aranges, low, low + len, owner);
	}
	return ret;
}

/* If units claim the same address, e.g. since a linker folded equal functions, the first one
 * counts, as in other tools. */
static int settle(struct dwarf_ranges *ranges)
{
	for (size_t i = 0; i < ranges->n; i++)
		ranges->at[i].order = (uint32_t)(ranges->n - i);
	return dwarf_ranges_flatten(ranges);
}

static int read_aranges(struct dwarf *dwarf)
{
	struct dwarf_cursor cursor;

	int ret = dwarf_section_at(&dwarf->main, DWARF_ARANGES, 0, true, &cursor);
	if (ret < 0)
		return ret == -EBADMSG ? 0 : ret;
	while (cursor.at < cursor.end && ret == 0) {
		struct dwarf_cursor set = cursor;
		if (dwarf_get_length(&set) == 0)
			break;
		const uint8_t *next = set.end;
		set.at = cursor.at;
		ret = read_set(dwarf, &set, cursor.at);
		cursor.at = next;
	}
	return ret < 0 ? ret : settle(&dwarf->aranges);
}

void dwarf_trim(struct dwarf_image *image)
{
	if (image->abbrev_bytes > ABBREV_BYTES_MAX)
		dwarf_abbrevs_forget(image);
}

static int by_offset(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/* Adds the ranges of a unit that .debug_aranges does not list. */
static int add_rest(struct dwarf *dwarf, struct dwarf_unit *unit, uint32_t owner)
{
	struct dwarf_unit *entries;
	size_t before = dwarf->rest.n;

	int ret = dwarf_unit_root(unit);
	if (ret < 0 || unit->partial)
		return ret;
	ret = dwarf_unit_ranges(unit, &dwarf->rest, owner);
	if (ret < 0 || dwarf->rest.n > before)
		return ret;
	/* The root entry has no ranges; its functions may have some. */
	ret = dwarf_unit_entries(unit, &entries);
	if (ret == 0)
		ret = dwarf_tree_scan(entries);
	for (size_t i = 0; ret == 0 && i < entries->map.n; i++)
		ret = dwarf_ranges_add(
			&dwarf->rest, entries->map.at[i].low, entries->map.at[i].high, owner);
	/* perf inject writes units that have a line table and nothing else. */
	unit->line_only = ret == 0 && dwarf->rest.n == before;
	if (unit->line_only)
		ret = dwarf_rows_ranges(unit, &dwarf->rest, owner);
	return ret;
}

static int read_rest(struct dwarf *dwarf)
{
	const size_t n_listed = dwarf->n_offsets;
	struct dwarf_image *main = &dwarf->main;

	uint64_t *listed = reallocarray(NULL, n_listed + 1, sizeof(*listed));
	if (!listed)
		return -ENOMEM;
	if (n_listed)
		memcpy(listed, dwarf->offsets, n_listed * sizeof(*listed));
	qsort(listed, n_listed, sizeof(*listed), by_offset);
	int ret = dwarf_units_scan(main, UINT64_MAX);
	for (size_t i = 0; i < main->n_units && ret == 0; i++) {
		struct dwarf_unit *unit = main->units[i];
		uint32_t owner;
		if (unit->type == DW_UT_type ||
			bsearch(&unit->offset, listed, n_listed, sizeof(*listed), by_offset))
			continue;
		ret = add_offset(dwarf, unit->offset, &owner);
		if (ret == 0)
			ret = add_rest(dwarf, unit, owner);
		dwarf_trim(main);
		if (ret == -EBADMSG)
			ret = 0;
	}
	free(listed);
	return ret < 0 ? ret : settle(&dwarf->rest);
}

static int need_aranges(struct dwarf *dwarf)
{
	if (dwarf->aranges_read)
		return 0;
	int ret = read_aranges(dwarf);
	if (ret < 0) {
		dwarf_index_fini(dwarf);
		return ret;
	}
	dwarf->aranges_read = true;
	dwarf->n_listed = dwarf->n_offsets;
	return 0;
}

int dwarf_index_listed(struct dwarf *dwarf, uint64_t address, bool *listed, uint64_t *unit,
	size_t *number, size_t *n)
{
	*listed = false;
	int ret = need_aranges(dwarf);
	if (ret < 0)
		return ret;
	const struct dwarf_range *range = dwarf_ranges_find(&dwarf->aranges, address);
	*n = dwarf->n_listed;
	*listed = range;
	*number = range ? range->owner : 0;
	*unit = range ? dwarf->offsets[range->owner] : 0;
	return 0;
}

int dwarf_index_find(struct dwarf *dwarf, uint64_t address, struct dwarf_unit **out)
{
	*out = NULL;
	int ret = need_aranges(dwarf);
	if (ret < 0)
		return ret;
	const struct dwarf_range *range = dwarf_ranges_find(&dwarf->aranges, address);
	if (!range && !dwarf->rest_read) {
		ret = read_rest(dwarf);
		if (ret < 0) {
			dwarf_index_fini(dwarf);
			return ret;
		}
		dwarf->rest_read = true;
	}
	if (!range)
		range = dwarf_ranges_find(&dwarf->rest, address);
	return range ? dwarf_unit_at(&dwarf->main, dwarf->offsets[range->owner], out) : 0;
}

void dwarf_index_fini(struct dwarf *dwarf)
{
	dwarf_ranges_fini(&dwarf->aranges);
	dwarf_ranges_fini(&dwarf->rest);
	free(dwarf->offsets);
	dwarf->offsets = NULL;
	dwarf->n_offsets = dwarf->n_listed = dwarf->cap_offsets = 0;
	dwarf->aranges_read = dwarf->rest_read = false;
}
