/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * abbrev.c - abbreviation tables: the layouts of a unit's entries.
 *
 * Most entries have a length that follows from their abbreviation and the unit's widths.  It is
 * computed here once, so that an addition skips an entry.
 */
#include "symbols/base/grow.h"
#include "symbols/dwarf/names.h"
#include "symbols/dwarf/private.h"

#include <errno.h>
#include <stdlib.h>

#define ABBREVS_MAX (1u << 20)
#define STEPS_MAX (1u << 22)

static const struct {
	uint16_t attribute;
	uint8_t slot;
} wanted[] = {
	{DW_AT_low_pc, SLOT_LOW},
	{DW_AT_high_pc, SLOT_HIGH},
	{DW_AT_ranges, SLOT_RANGES},
	{DW_AT_abstract_origin, SLOT_ORIGIN},
	{DW_AT_specification, SLOT_SPECIFICATION},
	{DW_AT_linkage_name, SLOT_LINKAGE},
	{DW_AT_MIPS_linkage_name, SLOT_LINKAGE},
	{DW_AT_name, SLOT_NAME},
	{DW_AT_decl_file, SLOT_DECL_FILE},
	{DW_AT_decl_line, SLOT_DECL_LINE},
	{DW_AT_call_file, SLOT_CALL_FILE},
	{DW_AT_call_line, SLOT_CALL_LINE},
	{DW_AT_call_column, SLOT_CALL_COLUMN},
	{DW_AT_stmt_list, SLOT_STMT_LIST},
	{DW_AT_comp_dir, SLOT_COMP_DIR},
	{DW_AT_dwo_name, SLOT_DWO_NAME},
	{DW_AT_GNU_dwo_name, SLOT_DWO_NAME},
	{DW_AT_GNU_dwo_id, SLOT_DWO_ID},
	{DW_AT_addr_base, SLOT_ADDR_BASE},
	{DW_AT_GNU_addr_base, SLOT_ADDR_BASE},
	{DW_AT_str_offsets_base, SLOT_STR_OFFSETS_BASE},
	{DW_AT_rnglists_base, SLOT_RNGLISTS_BASE},
	{DW_AT_GNU_ranges_base, SLOT_RANGES_BASE},
};

static uint8_t slot_of(uint64_t attribute)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (wanted[i].attribute == attribute)
			return wanted[i].slot;
	return SLOTS;
}

uint8_t dwarf_form_skip(uint64_t form, const struct dwarf_unit *unit)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return unit->address_size;
	case DW_FORM_ref_addr:
		return unit->version <= 2 ? unit->address_size : unit->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return unit->offset_size;
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return DWARF_SKIP_LEB;
	default:
		return DWARF_SKIP_OTHER;
	}
}

static int read_steps(struct dwarf_abbrevs *table, size_t *cap, const struct dwarf_unit *unit,
	struct dwarf_cursor *cursor, struct dwarf_abbrev *abbrev)
{
	bool has_addresses = false;

	abbrev->steps = (uint32_t)table->n_steps;
	abbrev->fixed = true;
	for (;;) {
		uint64_t attribute = dwarf_get_uleb(cursor), form = dwarf_get_uleb(cursor);
		int64_t constant = form == DW_FORM_implicit_const ? dwarf_get_sleb(cursor) : 0;
		if (cursor->bad || form > UINT16_MAX || table->n_steps >= STEPS_MAX)
			return -EBADMSG;
		if (attribute == 0 && form == 0)
			break;
		if (array_grow(&table->steps, cap, table->n_steps + 1, sizeof(*table->steps)) < 0)
			return -ENOMEM;
		struct dwarf_step step = {.form = (uint16_t)form,
			.slot = slot_of(attribute),
			.skip = dwarf_form_skip(form, unit),
			.constant = constant};
		table->steps[table->n_steps++] = step;
		has_addresses |= step.slot == SLOT_LOW || step.slot == SLOT_RANGES;
		if (step.skip >= DWARF_SKIP_LEB)
			abbrev->fixed = false;
		else
			abbrev->fixed_len += step.skip;
	}
	abbrev->n_steps = (uint32_t)table->n_steps - abbrev->steps;
	abbrev->code_here = has_addresses &&
		(abbrev->tag == DW_TAG_subprogram || abbrev->tag == DW_TAG_inlined_subroutine);
	return 0;
}

static int by_code(const void *a, const void *b)
{
	const struct dwarf_abbrev *left = a, *right = b;

	return left->code < right->code ? -1 : left->code > right->code;
}

static int read_table(
	struct dwarf_image *image, const struct dwarf_unit *unit, struct dwarf_abbrevs *table)
{
	struct dwarf_cursor cursor;
	size_t cap = 0, cap_steps = 0;
	bool sorted = true;

	int ret = dwarf_section_at(image, DWARF_ABBREV, unit->abbrev_offset, true, &cursor);
	if (ret < 0)
		return ret;
	/* The array must exist even if no entry has attributes. */
	if (array_grow(&table->steps, &cap_steps, 1, sizeof(*table->steps)) < 0)
		return -ENOMEM;
	for (;;) {
		uint64_t code = dwarf_get_uleb(&cursor);
		if (code == 0 || cursor.bad)
			break;
		struct dwarf_abbrev abbrev = {.code = (uint32_t)code};
		uint64_t tag = dwarf_get_uleb(&cursor);
		abbrev.tag = tag <= UINT16_MAX ? (uint16_t)tag : 0;
		abbrev.children = dwarf_get(&cursor, 1);
		if (code > UINT32_MAX || table->n_abbrevs >= ABBREVS_MAX)
			return -EBADMSG;
		ret = read_steps(table, &cap_steps, unit, &cursor, &abbrev);
		if (ret < 0)
			return ret;
		if (array_grow(&table->abbrevs, &cap, table->n_abbrevs + 1, sizeof(abbrev)) < 0)
			return -ENOMEM;
		if (table->n_abbrevs && table->abbrevs[table->n_abbrevs - 1].code >= abbrev.code)
			sorted = false;
		table->abbrevs[table->n_abbrevs++] = abbrev;
	}
	if (cursor.bad)
		return -EBADMSG;
	if (!sorted)
		qsort(table->abbrevs, table->n_abbrevs, sizeof(*table->abbrevs), by_code);
	table->dense = sorted && table->n_abbrevs &&
		table->abbrevs[table->n_abbrevs - 1].code == table->n_abbrevs;
	/* The size of a table counts as work, since a broken file may have many. */
	return dwarf_work(image->dwarf, table->n_steps);
}

const struct dwarf_abbrev *dwarf_abbrev_search(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	size_t low = 0, high = abbrevs->n_abbrevs;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (abbrevs->abbrevs[middle].code == code)
			return &abbrevs->abbrevs[middle];
		if (abbrevs->abbrevs[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static void table_free(struct dwarf_abbrevs *table)
{
	free(table->abbrevs);
	free(table->steps);
	free(table);
}

int dwarf_abbrevs_get(
	struct dwarf_image *image, const struct dwarf_unit *unit, const struct dwarf_abbrevs **out)
{
	struct dwarf_abbrevs **bucket = &image->abbrevs[unit->abbrev_offset % DWARF_BUCKETS];

	for (struct dwarf_abbrevs *table = *bucket; table; table = table->next)
		if (table->offset == unit->abbrev_offset && table->version == unit->version &&
			table->address_size == unit->address_size &&
			table->offset_size == unit->offset_size) {
			*out = table;
			return 0;
		}
	struct dwarf_abbrevs *table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->offset = unit->abbrev_offset;
	table->version = unit->version;
	table->address_size = unit->address_size;
	table->offset_size = unit->offset_size;
	int ret = read_table(image, unit, table);
	if (ret < 0) {
		table_free(table);
		return ret;
	}
	table->next = *bucket;
	*bucket = table;
	image->abbrev_bytes += sizeof(*table) + table->n_abbrevs * sizeof(*table->abbrevs) +
		table->n_steps * sizeof(*table->steps);
	*out = table;
	return 0;
}

void dwarf_abbrevs_forget(struct dwarf_image *image)
{
	for (size_t i = 0; i < DWARF_BUCKETS; i++)
		while (image->abbrevs[i]) {
			struct dwarf_abbrevs *next = image->abbrevs[i]->next;
			table_free(image->abbrevs[i]);
			image->abbrevs[i] = next;
		}
	for (size_t i = 0; i < image->n_units; i++)
		image->units[i]->abbrevs = NULL;
	image->abbrev_bytes = 0;
}
