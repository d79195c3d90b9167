/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * range.c - address ranges of entries (.debug_ranges, .debug_rnglists), and the search among
 * ranges.
 */
#include "symbols/base/grow.h"
#include "symbols/dwarf/names.h"
#include "symbols/dwarf/private.h"

#include <errno.h>
#include <stdlib.h>

#define RANGES_MAX (16u << 20)

int dwarf_ranges_add(struct dwarf_ranges *ranges, uint64_t low, uint64_t high, uint32_t owner)
{
	if (low >= high)
		return 0;
	if (ranges->n >= RANGES_MAX)
		return -ELOOP;
	if (array_grow(&ranges->at, &ranges->cap, ranges->n + 1, sizeof(*ranges->at)) < 0)
		return -ENOMEM;
	ranges->at[ranges->n++] = (struct dwarf_range){
		.low = low, .high = high, .owner = owner, .order = (uint32_t)ranges->n};
	return 0;
}

static int by_low(const void *a, const void *b)
{
	const struct dwarf_range *left = a, *right = b;

	return left->low < right->low ? -1 : left->low > right->low;
}

/* A heap of range indexes; the range that was added last is on top. */
static void heap_push(uint32_t *heap, size_t *n, const struct dwarf_range *ranges, uint32_t range)
{
	size_t at = (*n)++;

	for (; at > 0; at = (at - 1) / 2) {
		if (ranges[heap[(at - 1) / 2]].order >= ranges[range].order)
			break;
		heap[at] = heap[(at - 1) / 2];
	}
	heap[at] = range;
}

static void heap_pop(uint32_t *heap, size_t *n, const struct dwarf_range *ranges)
{
	uint32_t last = heap[--*n];
	size_t at = 0;

	for (;;) {
		size_t child = at * 2 + 1;
		if (child >= *n)
			break;
		if (child + 1 < *n && ranges[heap[child + 1]].order > ranges[heap[child]].order)
			child++;
		if (ranges[heap[child]].order <= ranges[last].order)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
}

int dwarf_ranges_flatten(struct dwarf_ranges *ranges)
{
	struct dwarf_ranges flat = {0};
	size_t active = 0, next = 0;
	uint64_t at = 0;
	int ret = 0;

	if (ranges->n == 0)
		return 0;
	uint32_t *heap = reallocarray(NULL, ranges->n, sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	qsort(ranges->at, ranges->n, sizeof(*ranges->at), by_low);
	for (;;) {
		while (next < ranges->n && ranges->at[next].low <= at)
			heap_push(heap, &active, ranges->at, (uint32_t)next++);
		while (active && ranges->at[heap[0]].high <= at)
			heap_pop(heap, &active, ranges->at);
		if (!active && next == ranges->n)
			break;
		if (!active) {
			at = ranges->at[next].low;
			continue;
		}
		const struct dwarf_range *top = &ranges->at[heap[0]];
		struct dwarf_range *last = flat.n ? &flat.at[flat.n - 1] : NULL;
		uint64_t end = top->high;
		if (next < ranges->n && ranges->at[next].low < end)
			end = ranges->at[next].low;
		if (last && last->owner == top->owner && last->high == at)
			last->high = end;
		else if ((ret = dwarf_ranges_add(&flat, at, end, top->owner)) < 0)
			break;
		at = end;
	}
	free(heap);
	if (ret < 0) {
		dwarf_ranges_fini(&flat);
		return ret;
	}
	free(ranges->at);
	*ranges = flat;
	return 0;
}

const struct dwarf_range *dwarf_ranges_find(const struct dwarf_ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges->at[middle].high <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ranges->n && ranges->at[low].low <= address ? &ranges->at[low] : NULL;
}

void dwarf_ranges_fini(struct dwarf_ranges *ranges)
{
	free(ranges->at);
	memset(ranges, 0, sizeof(*ranges));
}

bool dwarf_is_code(const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t address)
{
	const uint64_t top = unit->address_size == 4 ? UINT32_MAX : UINT64_MAX;

	/* Linkers put dropped code at 0, or at -1 or -2 (lld). */
	return address >= dwarf->main.code_start && address < top - 1;
}

struct list {
	struct dwarf_unit *unit;
	struct dwarf_ranges *ranges;
	uint64_t base;
	uint32_t owner;
};

static int add(struct list *list, uint64_t low, uint64_t high)
{
	struct dwarf *dwarf = list->unit->image->dwarf;

	int ret = dwarf_work(dwarf, 1);
	if (ret < 0 || !dwarf_is_code(dwarf, list->unit, low))
		return ret;
	return dwarf_ranges_add(list->ranges, low, high, list->owner);
}

/* Reads a list of DWARF 2 to 4. */
static int add_pairs(struct list *list, struct dwarf_cursor *cursor)
{
	const unsigned int width = list->unit->address_size;
	const uint64_t top = width == 4 ? UINT32_MAX : UINT64_MAX;
	int ret = 0;

	while (ret == 0) {
		uint64_t low = dwarf_get(cursor, width), high = dwarf_get(cursor, width);
		if (cursor->bad || (low == 0 && high == 0))
			break;
		if (low == top)
			list->base = high;
		else
			ret = add(list, list->base + low, list->base + high);
	}
	return ret;
}

static int add_rnglist(struct list *list, struct dwarf_cursor *cursor)
{
	const unsigned int width = list->unit->address_size;
	struct dwarf_unit *unit = list->unit;
	uint64_t low, high;
	int ret = 0;

	while (ret == 0) {
		uint64_t kind = dwarf_get(cursor, 1);
		if (cursor->bad || kind == DW_RLE_end_of_list)
			break;
		switch (kind) {
		case DW_RLE_base_addressx:
			if (!dwarf_unit_address(unit, dwarf_get_uleb(cursor), &list->base))
				return 0;
			ret = dwarf_work(unit->image->dwarf, 1);
			continue;
		case DW_RLE_base_address:
			list->base = dwarf_get(cursor, width);
			ret = dwarf_work(unit->image->dwarf, 1);
			continue;
		case DW_RLE_startx_endx:
			if (!dwarf_unit_address(unit, dwarf_get_uleb(cursor), &low) ||
				!dwarf_unit_address(unit, dwarf_get_uleb(cursor), &high))
				return 0;
			break;
		case DW_RLE_startx_length:
			if (!dwarf_unit_address(unit, dwarf_get_uleb(cursor), &low))
				return 0;
			high = low + dwarf_get_uleb(cursor);
			break;
		case DW_RLE_offset_pair:
			low = dwarf_get_uleb(cursor);
			high = list->base + dwarf_get_uleb(cursor);
			low += list->base;
			if (list->base >= (width == 4 ? UINT32_MAX : UINT64_MAX) - 1)
				high = low; /* range of dropped code */
			break;
		case DW_RLE_start_end:
			low = dwarf_get(cursor, width);
			high = dwarf_get(cursor, width);
			break;
		case DW_RLE_start_length:
			low = dwarf_get(cursor, width);
			high = low + dwarf_get_uleb(cursor);
			break;
		default:
			return 0;
		}
		if (!cursor->bad)
			ret = add(list, low, high);
	}
	return ret;
}

/* Gets the offset of list `index` in .debug_rnglists. */
static bool rnglist_at(struct dwarf_unit *unit, uint64_t index, uint64_t *offset)
{
	struct dwarf_cursor cursor;

	if (index > UINT32_MAX ||
		dwarf_section_at(unit->image, DWARF_RNGLISTS,
			unit->rnglists_base + index * unit->offset_size, true, &cursor) < 0)
		return false;
	*offset = unit->rnglists_base + dwarf_get(&cursor, unit->offset_size);
	return !cursor.bad;
}

static int add_list(struct list *list, const struct dwarf_value *value)
{
	struct dwarf_unit *unit = list->unit;
	struct dwarf_image *image = unit->image;
	struct dwarf_cursor cursor;
	uint64_t offset = value->number;
	int ret;

	list->base = unit->low == DWARF_NONE ? 0 : unit->low;
	if (unit->version >= 5) {
		if (value->form == DW_FORM_rnglistx) {
			if (!rnglist_at(unit, value->number, &offset))
				return 0;
		} else {
			offset += unit->rnglists_at;
		}
		ret = dwarf_section_at(image, DWARF_RNGLISTS, offset, true, &cursor);
		return ret < 0 ? (ret == -ENOMEM ? ret : 0) : add_rnglist(list, &cursor);
	}
	/* A split unit's ranges are in the program, from its skeleton's base on. */
	if (unit->skeleton) {
		image = unit->skeleton->image;
		offset += unit->skeleton->ranges_base;
	}
	ret = dwarf_section_at(image, DWARF_RANGES, offset, true, &cursor);
	return ret < 0 ? (ret == -ENOMEM ? ret : 0) : add_pairs(list, &cursor);
}

int dwarf_entry_ranges(struct dwarf_unit *unit, const struct dwarf_entry *entry,
	struct dwarf_ranges *ranges, uint32_t owner)
{
	struct list list = {.unit = unit, .ranges = ranges, .owner = owner};
	const struct dwarf_value *high_value = &entry->values[SLOT_HIGH];
	uint64_t low, high;

	if (entry->values[SLOT_RANGES].form)
		return add_list(&list, &entry->values[SLOT_RANGES]);
	if (!dwarf_value_address(unit, &entry->values[SLOT_LOW], &low) || !high_value->form)
		return 0;
	if (!dwarf_value_address(unit, high_value, &high))
		high = low + high_value->number;
	return add(&list, low, high);
}
