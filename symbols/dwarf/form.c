/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * form.c - entries (DIEs) and the values of their attributes.
 */
#include "symbols/dwarf/names.h"
#include "symbols/dwarf/private.h"

#include <errno.h>

/* Moves past a value without a fixed length.  DW_FORM_indirect is replaced by the form that
 * follows. */
static void skip_other(struct dwarf_unit *unit, struct dwarf_cursor *cursor, uint64_t form)
{
	for (int depth = 0; form == DW_FORM_indirect && depth < 4; depth++)
		form = dwarf_get_uleb(cursor);
	switch (form) {
	case DW_FORM_string:
		dwarf_get_string(cursor);
		return;
	case DW_FORM_block1:
		dwarf_skip(cursor, dwarf_get(cursor, 1));
		return;
	case DW_FORM_block2:
		dwarf_skip(cursor, dwarf_get(cursor, 2));
		return;
	case DW_FORM_block4:
		dwarf_skip(cursor, dwarf_get(cursor, 4));
		return;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		dwarf_skip(cursor, dwarf_get_uleb(cursor));
		return;
	default:
		break;
	}
	/* After DW_FORM_indirect any other form may come. */
	uint8_t skip = dwarf_form_skip(form, unit);
	if (skip == DWARF_SKIP_LEB)
		dwarf_get_uleb(cursor);
	else if (skip == DWARF_SKIP_OTHER)
		cursor->bad = true;
	else
		dwarf_skip(cursor, skip);
}

void dwarf_entry_skip(
	struct dwarf_unit *unit, const struct dwarf_abbrev *abbrev, struct dwarf_cursor *cursor)
{
	const struct dwarf_step *step = unit->abbrevs->steps + abbrev->steps;
	const struct dwarf_step *end = step + abbrev->n_steps;

	if (abbrev->fixed) {
		dwarf_skip(cursor, abbrev->fixed_len);
		return;
	}
	for (; step < end; step++)
		if (step->skip < DWARF_SKIP_LEB)
			dwarf_skip(cursor, step->skip);
		else if (step->skip == DWARF_SKIP_LEB)
			dwarf_get_uleb(cursor);
		else
			skip_other(unit, cursor, step->form);
}

void dwarf_value_read(struct dwarf_unit *unit, const struct dwarf_step *step,
	struct dwarf_cursor *cursor, struct dwarf_value *value)
{
	const struct dwarf_section *info = &unit->image->sections[DWARF_INFO];
	uint64_t form = step->form;

	for (int depth = 0; form == DW_FORM_indirect && depth < 4; depth++)
		form = dwarf_get_uleb(cursor);
	uint8_t skip = dwarf_form_skip(form, unit);
	value->form = (uint16_t)form;
	if (form > UINT16_MAX)
		cursor->bad = true;
	else if (form == DW_FORM_implicit_const)
		value->number = (uint64_t)step->constant;
	else if (form == DW_FORM_flag_present)
		value->number = 1;
	else if (form == DW_FORM_sdata)
		value->number = (uint64_t)dwarf_get_sleb(cursor);
	else if (skip == DWARF_SKIP_LEB)
		value->number = dwarf_get_uleb(cursor);
	else if (skip <= 4 || skip == 8)
		value->number = dwarf_get(cursor, skip);
	else {
		value->number = (uint64_t)(cursor->at - info->bytes);
		skip_other(unit, cursor, form);
	}
}

int dwarf_entry_read(struct dwarf_unit *unit, uint64_t offset, struct dwarf_entry *out)
{
	const struct dwarf_section *info = &unit->image->sections[DWARF_INFO];
	struct dwarf_cursor cursor = {.swapped = unit->image->swapped};

	memset(out, 0, sizeof(*out));
	if (offset < unit->entries || offset >= unit->end || unit->end > info->ready)
		return -EBADMSG;
	cursor.at = info->bytes + offset;
	cursor.end = info->bytes + unit->end;
	uint64_t code = dwarf_get_uleb(&cursor);
	if (code) {
		out->abbrev = dwarf_abbrev_find(unit->abbrevs, code);
		if (!out->abbrev)
			return -EBADMSG;
		const struct dwarf_step *step = unit->abbrevs->steps + out->abbrev->steps;
		for (uint32_t i = 0; i < out->abbrev->n_steps; i++, step++) {
			if (step->slot < SLOTS)
				dwarf_value_read(unit, step, &cursor, &out->values[step->slot]);
			else if (step->skip < DWARF_SKIP_LEB)
				dwarf_skip(&cursor, step->skip);
			else
				skip_other(unit, &cursor, step->form);
		}
	}
	out->next = (uint64_t)(cursor.at - info->bytes);
	return cursor.bad ? -EBADMSG : 0;
}

/* Returns string `index` of the table of string offsets; "" if there is none. */
static const char *indexed_string(struct dwarf_unit *unit, uint64_t index)
{
	struct dwarf_cursor cursor;

	if (index > UINT32_MAX ||
		dwarf_section_at(unit->image, DWARF_STR_OFFSETS,
			unit->str_offsets_base + index * unit->offset_size, true, &cursor) < 0)
		return "";
	uint64_t offset = dwarf_get(&cursor, unit->offset_size);
	return cursor.bad ? "" : dwarf_section_string(unit->image, DWARF_STR, offset);
}

const char *dwarf_value_string(struct dwarf_unit *unit, const struct dwarf_value *value)
{
	struct dwarf_image *image = unit->image;

	switch (value->form) {
	case DW_FORM_string: /* its end was found when it was read */
		return (const char *)image->sections[DWARF_INFO].bytes + value->number;
	case DW_FORM_strp:
		return dwarf_section_string(image, DWARF_STR, value->number);
	case DW_FORM_line_strp:
		return dwarf_section_string(image, DWARF_LINE_STR, value->number);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return image->dwarf->has_alt
			? dwarf_section_string(&image->dwarf->alt, DWARF_STR, value->number)
			: "";
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return indexed_string(unit, value->number);
	default:
		return "";
	}
}

bool dwarf_value_address(struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *out)
{
	switch (value->form) {
	case DW_FORM_addr:
		*out = value->number;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return dwarf_unit_address(unit, value->number, out);
	default:
		return false;
	}
}

bool dwarf_unit_address(struct dwarf_unit *unit, uint64_t index, uint64_t *out)
{
	/* A split unit's addresses are in the program that it was linked into. */
	struct dwarf_unit *owner = unit->skeleton ? unit->skeleton : unit;
	struct dwarf_cursor cursor;

	if (index > UINT32_MAX ||
		dwarf_section_at(owner->image, DWARF_ADDR,
			owner->addr_base + index * owner->address_size, true, &cursor) < 0)
		return false;
	*out = dwarf_get(&cursor, owner->address_size);
	return !cursor.bad;
}

bool dwarf_value_entry(struct dwarf_unit *unit, const struct dwarf_value *value,
	struct dwarf_unit **to, uint64_t *offset, int *ret)
{
	struct dwarf_image *image = unit->image;

	*ret = 0;
	*to = unit;
	*offset = value->number;
	switch (value->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		if (*offset >= unit->end - unit->offset)
			return false;
		*offset += unit->offset;
		return *offset >= unit->entries;
	case DW_FORM_ref_addr:
		break;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		if (!image->dwarf->has_alt)
			return false;
		image = &image->dwarf->alt;
		break;
	default: /* types by signature have no code */
		return false;
	}
	if (image == unit->image && *offset >= unit->entries && *offset < unit->end)
		return true;
	*ret = dwarf_unit_at(image, *offset, to);
	if (*ret == 0 && *to)
		*ret = dwarf_unit_root(*to);
	return *ret == 0 && *to && *offset >= (*to)->entries;
}
