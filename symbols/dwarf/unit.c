/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit.c - units of .debug_info, found by a walk over their headers, and their split parts.
 *
 * Split parts are in .dwo files or in packages of them (.dwp).
 */
#include "symbols/base/grow.h"
#include "symbols/dwarf/names.h"
#include "symbols/dwarf/private.h"

#include <errno.h>
#include <stdlib.h>

#define HEADER_BYTES 64u /* more than the longest header */

/* Reads the header at image->scanned.  Returns false if it is broken. */
static bool read_header(struct dwarf_image *image, struct dwarf_unit *unit)
{
	const struct dwarf_section *info = &image->sections[DWARF_INFO];
	struct dwarf_cursor cursor = {.at = info->bytes + image->scanned,
		.end = info->bytes + info->ready,
		.swapped = image->swapped};
	const uint8_t *start = cursor.at;

	uint64_t len = dwarf_get(&cursor, 4);
	unit->offset_size = 4;
	if (len == 0xffffffff) {
		unit->offset_size = 8;
		len = dwarf_get(&cursor, 8);
	}
	unit->offset = image->scanned;
	uint64_t body = image->scanned + (uint64_t)(cursor.at - start);
	if (cursor.bad || len < 7 || len > info->len - body)
		return false;
	unit->end = body + len;
	uint64_t version = dwarf_get(&cursor, 2);
	unit->version = version <= 5 ? (uint8_t)version : 0;
	unit->type = DW_UT_compile;
	if (unit->version >= 5) {
		unit->type = (uint8_t)dwarf_get(&cursor, 1);
		unit->address_size = (uint8_t)dwarf_get(&cursor, 1);
		unit->abbrev_offset = dwarf_get(&cursor, unit->offset_size);
		if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
			unit->id = dwarf_get(&cursor, 8);
		else if (unit->type == DW_UT_type || unit->type == DW_UT_split_type)
			dwarf_skip(&cursor, 8u + unit->offset_size);
	} else {
		unit->abbrev_offset = dwarf_get(&cursor, unit->offset_size);
		unit->address_size = (uint8_t)dwarf_get(&cursor, 1);
	}
	unit->entries = unit->offset + (uint64_t)(cursor.at - start);
	return !cursor.bad && unit->entries <= unit->end;
}

int dwarf_units_scan(struct dwarf_image *image, uint64_t until)
{
	struct dwarf_section *info = &image->sections[DWARF_INFO];

	if (until > info->len)
		until = info->len;
	while (image->scanned < until) {
		uint64_t left = info->len - image->scanned;
		int ret = dwarf_section_need(
			info, image->scanned + (left < HEADER_BYTES ? left : HEADER_BYTES));
		if (ret == -EBADMSG)
			break;
		if (ret == 0)
			ret = dwarf_work(image->dwarf, 16);
		if (ret < 0)
			return ret;
		struct dwarf_unit *unit = calloc(1, sizeof(*unit));
		if (!unit)
			return -ENOMEM;
		unit->image = image;
		unit->stmt_list = unit->low = DWARF_NONE;
		if (!read_header(image, unit)) {
			free(unit);
			break;
		}
		if (array_grow(&image->units, &image->cap_units, image->n_units + 1,
			    sizeof(struct dwarf_unit *)) < 0) {
			free(unit);
			return -ENOMEM;
		}
		image->units[image->n_units++] = unit;
		image->scanned = unit->end;
	}
	if (image->scanned < until)
		image->scanned = info->len; /* no unit can be found after broken data */
	return 0;
}

int dwarf_unit_at(struct dwarf_image *image, uint64_t offset, struct dwarf_unit **out)
{
	*out = NULL;
	if (offset >= image->sections[DWARF_INFO].len)
		return 0;
	int ret = dwarf_units_scan(image, offset + 1);
	if (ret < 0)
		return ret;
	size_t low = 0, high = image->n_units;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (image->units[middle]->end <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < image->n_units && image->units[low]->offset <= offset)
		*out = image->units[low];
	return 0;
}

static void read_bases(struct dwarf_unit *unit, const struct dwarf_entry *root)
{
	const struct dwarf_value *values = root->values;
	/* Without a base a table begins after its header. */
	const uint64_t wide = unit->offset_size == 8;

	unit->addr_base = values[SLOT_ADDR_BASE].number;
	unit->ranges_base = values[SLOT_RANGES_BASE].number;
	unit->str_offsets_base = unit->str_offsets_at;
	unit->rnglists_base = unit->rnglists_at;
	if (values[SLOT_STR_OFFSETS_BASE].form)
		unit->str_offsets_base += values[SLOT_STR_OFFSETS_BASE].number;
	else if (unit->version >= 5)
		unit->str_offsets_base += wide ? 16 : 8;
	if (values[SLOT_RNGLISTS_BASE].form)
		unit->rnglists_base += values[SLOT_RNGLISTS_BASE].number;
	else if (unit->version >= 5)
		unit->rnglists_base += wide ? 20 : 12;
	if (values[SLOT_STMT_LIST].form)
		unit->stmt_list = values[SLOT_STMT_LIST].number;
	if (values[SLOT_DWO_ID].form)
		unit->id = values[SLOT_DWO_ID].number;
}

int dwarf_unit_root(struct dwarf_unit *unit)
{
	struct dwarf_entry root;

	if (unit->version < 2 || unit->version > 5 ||
		(unit->address_size != 4 && unit->address_size != 8))
		return -EBADMSG;
	int ret = dwarf_section_need(&unit->image->sections[DWARF_INFO], unit->end);
	if (ret == 0 && !unit->abbrevs)
		ret = dwarf_abbrevs_get(unit->image, unit, &unit->abbrevs);
	if (ret < 0 || unit->rooted)
		return ret;
	ret = dwarf_entry_read(unit, unit->entries, &root);
	if (ret < 0)
		return ret;
	read_bases(unit, &root);
	unit->partial = !root.abbrev || root.abbrev->tag == DW_TAG_partial_unit;
	if (unit->skeleton)
		unit->low = unit->skeleton->low;
	else if (!dwarf_value_address(unit, &root.values[SLOT_LOW], &unit->low))
		unit->low = DWARF_NONE;
	unit->comp_dir = dwarf_value_string(unit, &root.values[SLOT_COMP_DIR]);
	if (root.values[SLOT_DWO_NAME].form && !unit->image->split)
		unit->dwo_name = dwarf_value_string(unit, &root.values[SLOT_DWO_NAME]);
	unit->rooted = true;
	return 0;
}

int dwarf_unit_ranges(struct dwarf_unit *unit, struct dwarf_ranges *ranges, uint32_t owner)
{
	struct dwarf_entry root;

	int ret = dwarf_entry_read(unit, unit->entries, &root);
	return ret < 0 ? ret : dwarf_entry_ranges(unit, &root, ranges, owner);
}

/* Makes `unit` the split part of a skeleton.  Its root is read again: the places of its tables are
 * known now. */
static int link_split(struct dwarf_unit *skeleton, struct dwarf_unit *unit)
{
	unit->skeleton = skeleton;
	unit->rooted = false;
	int ret = dwarf_unit_root(unit);
	if (ret < 0)
		unit->skeleton = NULL;
	else
		skeleton->split = unit;
	return ret;
}

static int find_in_dwo(struct dwarf_unit *skeleton, struct dwarf_image *part)
{
	int ret = dwarf_units_scan(part, UINT64_MAX);

	for (size_t i = 0; i < part->n_units && ret == 0 && !skeleton->split; i++) {
		struct dwarf_unit *unit = part->units[i];
		if (unit->skeleton || unit->type == DW_UT_type || unit->type == DW_UT_split_type)
			continue;
		/* Before version 5 the id is in the root entry. */
		if (unit->version < 5 && dwarf_unit_root(unit) < 0)
			continue;
		if (unit->id == skeleton->id)
			ret = link_split(skeleton, unit);
	}
	return ret == -EBADMSG ? 0 : ret;
}

/* Looks the unit up in a package.  Its index has a hash table of ids, and for each unit the place
 * of its part of each section. */
static int find_in_package(struct dwarf_unit *skeleton, struct dwarf_image *part)
{
	const uint64_t id = skeleton->id;
	struct dwarf_cursor index, at;
	struct dwarf_unit *unit;
	uint64_t offsets[DW_SECT_RNGLISTS + 1] = {0}, row = 0;

	int ret = dwarf_section_at(part, DWARF_CU_INDEX, 0, true, &index);
	if (ret < 0)
		return ret;
	const uint64_t len = (uint64_t)(index.end - index.at);
	const uint8_t *start = index.at;
	dwarf_skip(&index, 4); /* version: 2 or 5 */
	uint64_t columns = dwarf_get(&index, 4), units = dwarf_get(&index, 4);
	uint64_t slots = dwarf_get(&index, 4), table = 16 + slots * 12;
	if (index.bad || columns > 16 || slots == 0 || slots & (slots - 1) || slots > len / 12 ||
		units > len / 4 || table + (1 + units) * columns * 4 > len)
		return 0;
	uint64_t slot = id & (slots - 1), step = ((id >> 32) & (slots - 1)) | 1;
	for (uint64_t i = 0; i < slots; i++, slot = (slot + step) & (slots - 1)) {
		at = (struct dwarf_cursor){start + 16 + slot * 8, index.end, part->swapped, false};
		if (dwarf_get(&at, 8) != id)
			continue;
		at.at = start + 16 + slots * 8 + slot * 4;
		row = dwarf_get(&at, 4);
		break;
	}
	ret = dwarf_work(part->dwarf, slots);
	if (ret < 0 || row == 0 || row > units)
		return ret;
	for (uint64_t i = 0; i < columns; i++) {
		at.at = start + table + i * 4;
		uint64_t section = dwarf_get(&at, 4);
		at.at = start + table + (row * columns + i) * 4;
		if (section <= DW_SECT_RNGLISTS)
			offsets[section] = dwarf_get(&at, 4);
	}
	ret = dwarf_unit_at(part, offsets[DW_SECT_INFO], &unit);
	if (ret < 0 || !unit || unit->skeleton || unit->offset != offsets[DW_SECT_INFO])
		return ret;
	unit->abbrev_offset += offsets[DW_SECT_ABBREV];
	unit->str_offsets_at = offsets[DW_SECT_STR_OFFSETS];
	if (unit->version >= 5)
		unit->rnglists_at = offsets[DW_SECT_RNGLISTS];
	ret = link_split(skeleton, unit);
	return ret == -EBADMSG ? 0 : ret;
}

int dwarf_unit_entries(struct dwarf_unit *unit, struct dwarf_unit **out)
{
	struct dwarf *dwarf = unit->image->dwarf;

	*out = unit;
	int ret = dwarf_unit_root(unit);
	if (ret < 0 || !unit->dwo_name || !*unit->dwo_name)
		return ret;
	for (size_t i = 0; i < dwarf->n_parts && !unit->split && !unit->split_sought; i++) {
		struct dwarf_image *part = dwarf->parts[i];
		ret = part->sections[DWARF_CU_INDEX].len ? find_in_package(unit, part)
							 : find_in_dwo(unit, part);
		if (ret < 0)
			return ret;
	}
	unit->split_sought = true;
	if (!unit->split)
		return dwarf_missing_add(dwarf, unit->comp_dir, unit->dwo_name);
	*out = unit->split;
	return dwarf_unit_root(unit->split);
}

void dwarf_unit_forget(struct dwarf_unit *unit)
{
	dwarf_ranges_fini(&unit->map);
	free(unit->functions);
	unit->functions = NULL;
	unit->n_functions = unit->cap_functions = 0;
	unit->scanned = false;
}

void dwarf_unit_free(struct dwarf_unit *unit)
{
	if (!unit)
		return;
	dwarf_unit_forget(unit);
	dwarf_header_free(unit->header);
	free(unit);
}
