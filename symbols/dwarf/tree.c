/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.c - the functions of a unit, the functions inlined into them, and their names.
 *
 * A unit is scanned once, in the order of the file, for function entries with addresses at any
 * depth.  The contents of a function are read when an address in it is asked for.
 */
#include "symbols/base/grow.h"
#include "symbols/dwarf/names.h"
#include "symbols/dwarf/private.h"

#include <errno.h>
#include <stdlib.h>

#define DEPTH_MAX 1024u
#define FUNCTIONS_MAX (16u << 20)

static int add_function(struct dwarf_unit *unit, uint64_t offset, uint64_t *next)
{
	struct dwarf_entry entry;

	int ret = dwarf_entry_read(unit, offset, &entry);
	if (ret < 0)
		return ret;
	*next = entry.next;
	if (unit->n_functions >= FUNCTIONS_MAX)
		return -ELOOP;
	if (array_grow(&unit->functions, &unit->cap_functions, unit->n_functions + 1,
		    sizeof(*unit->functions)) < 0)
		return -ENOMEM;
	size_t before = unit->map.n;
	ret = dwarf_entry_ranges(unit, &entry, &unit->map, (uint32_t)unit->n_functions);
	if (unit->map.n > before)
		unit->functions[unit->n_functions++] = offset;
	return ret;
}

int dwarf_tree_scan(struct dwarf_unit *unit)
{
	const struct dwarf_section *info = &unit->image->sections[DWARF_INFO];
	struct dwarf_cursor cursor = {.at = info->bytes + unit->entries,
		.end = info->bytes + unit->end,
		.swapped = unit->image->swapped};
	int ret;

	if (unit->scanned)
		return 0;
	ret = dwarf_work(unit->image->dwarf, 16 + (unit->end - unit->entries) / 8);
	while (ret == 0 && cursor.at < cursor.end && !cursor.bad) {
		const uint8_t *start = cursor.at;
		uint64_t code = *cursor.at < 0x80 ? *cursor.at++ : dwarf_get_uleb(&cursor);
		if (code == 0)
			continue;
		const struct dwarf_abbrev *abbrev = dwarf_abbrev_find(unit->abbrevs, code);
		if (!abbrev)
			break; /* broken: entries before it count */
		if (abbrev->tag != DW_TAG_subprogram || !abbrev->code_here) {
			dwarf_entry_skip(unit, abbrev, &cursor);
			continue;
		}
		uint64_t next = 0;
		ret = add_function(unit, (uint64_t)(start - info->bytes), &next);
		if (ret == -EBADMSG) {
			ret = 0;
			break;
		}
		cursor.at = info->bytes + next;
	}
	if (ret == 0)
		ret = dwarf_ranges_flatten(&unit->map);
	if (ret < 0)
		dwarf_unit_forget(unit);
	else
		unit->scanned = true;
	return ret;
}

/* Adds one entry. parent: index of the inlined function around it. */
static int add_inlined(struct dwarf_unit *unit, uint64_t offset, const struct dwarf_entry *entry,
	uint32_t parent, struct dwarf_function *out)
{
	if (out->n >= UINT32_MAX / 2)
		return -ELOOP;
	if (array_grow(&out->inlined, &out->cap, out->n + 1, sizeof(*out->inlined)) < 0)
		return -ENOMEM;
	out->inlined[out->n++] = (struct dwarf_inlined){.entry = offset,
		.parent = parent,
		.call_file = entry->values[SLOT_CALL_FILE].number,
		.call_line = (uint32_t)entry->values[SLOT_CALL_LINE].number,
		.call_column = (uint32_t)entry->values[SLOT_CALL_COLUMN].number};
	return dwarf_entry_ranges(unit, entry, &out->map, (uint32_t)(out->n - 1));
}

static int read_function(struct dwarf_unit *unit, uint64_t offset, struct dwarf_function *out)
{
	uint32_t parents[DEPTH_MAX] = {0};
	struct dwarf_entry entry;
	size_t depth = 0, skip = 0; /* skip: depth to return to after a nested function; 0: none */

	for (bool first = true; first || depth > 0; first = false) {
		int ret = dwarf_entry_read(unit, offset, &entry);
		if (ret == 0)
			ret = dwarf_work(unit->image->dwarf, 4);
		if (ret < 0)
			return ret;
		uint64_t here = offset;
		offset = entry.next;
		if (!entry.abbrev) {
			depth--;
			if (depth <= skip)
				skip = 0;
			continue;
		}
		uint32_t parent = parents[depth < DEPTH_MAX ? depth : DEPTH_MAX - 1], own = parent;
		if (!skip && (first || entry.abbrev->tag == DW_TAG_inlined_subroutine)) {
			own = (uint32_t)out->n;
			ret = add_inlined(unit, here, &entry, parent, out);
			if (ret < 0)
				return ret;
		} else if (!skip && entry.abbrev->code_here && entry.abbrev->children) {
			skip = depth;
		}
		if (!entry.abbrev->children && first)
			break;
		if (entry.abbrev->children) {
			depth++;
			if (depth < DEPTH_MAX)
				parents[depth] = own;
		}
		if (offset >= unit->end)
			break;
	}
	return 0;
}

int dwarf_tree_function(struct dwarf_unit *unit, uint64_t entry, struct dwarf_function *out)
{
	memset(out, 0, sizeof(*out));
	int ret = read_function(unit, entry, out);
	if (ret == -EBADMSG && out->n)
		ret = 0; /* broken: entries before it count */
	if (ret == 0)
		ret = dwarf_ranges_flatten(&out->map);
	if (ret < 0)
		dwarf_function_fini(out);
	return ret;
}

void dwarf_function_fini(struct dwarf_function *function)
{
	free(function->inlined);
	dwarf_ranges_fini(&function->map);
	memset(function, 0, sizeof(*function));
}

/* Entries that supply missing attributes of one: itself first, then those it refers to. */
struct origins {
	struct {
		struct dwarf_unit *unit;
		uint64_t entry;
	} at[DWARF_ORIGINS_MAX];
	size_t n, next;
};

/* Reads the next one.  Returns 1; 0 after the last one; or -errno. */
static int next_origin(
	struct origins *origins, struct dwarf_entry *entry, struct dwarf_unit **entry_unit)
{
	static const enum dwarf_slot ways[] = {SLOT_ORIGIN, SLOT_SPECIFICATION};
	struct dwarf_unit *to;
	uint64_t offset;
	int ret;

	if (origins->next == origins->n)
		return 0;
	struct dwarf_unit *unit = origins->at[origins->next].unit;
	ret = dwarf_work(unit->image->dwarf, 4);
	if (ret == 0)
		ret = dwarf_entry_read(unit, origins->at[origins->next++].entry, entry);
	if (ret < 0)
		return ret;
	*entry_unit = unit;
	for (size_t i = 0; i < 2 && origins->n < DWARF_ORIGINS_MAX; i++) {
		if (!entry->values[ways[i]].form)
			continue;
		if (dwarf_value_entry(unit, &entry->values[ways[i]], &to, &offset, &ret)) {
			origins->at[origins->n].unit = to;
			origins->at[origins->n++].entry = offset;
		} else if (ret < 0) {
			return ret;
		}
	}
	return 1;
}

int dwarf_tree_name(struct dwarf_unit *unit, struct dwarf_inlined *inlined)
{
	struct origins origins = {.at[0] = {unit, inlined->entry}, .n = 1};
	struct dwarf_entry entry;
	const char *linkage = "", *name = "";
	struct dwarf_unit *from;
	int ret;

	if (inlined->named)
		return 0;
	while ((ret = next_origin(&origins, &entry, &from)) > 0) {
		if (!*linkage)
			linkage = dwarf_value_string(from, &entry.values[SLOT_LINKAGE]);
		if (!*name)
			name = dwarf_value_string(from, &entry.values[SLOT_NAME]);
		if (!inlined->decl_line)
			inlined->decl_line = (uint32_t)entry.values[SLOT_DECL_LINE].number;
		if (*linkage && inlined->decl_line)
			break;
	}
	inlined->name = *linkage ? linkage : name;
	inlined->named = true;
	return ret == -EBADMSG || ret > 0 ? 0 : ret;
}

int dwarf_tree_declared(
	struct dwarf_unit *unit, uint64_t entry_at, struct dwarf_unit **file_unit, uint64_t *file)
{
	struct origins origins = {.at[0] = {unit, entry_at}, .n = 1};
	struct dwarf_entry entry;
	int ret;

	*file_unit = NULL;
	while ((ret = next_origin(&origins, &entry, &unit)) > 0) {
		if (!entry.values[SLOT_DECL_FILE].form)
			continue;
		*file_unit = unit->skeleton ? unit->skeleton : unit;
		*file = entry.values[SLOT_DECL_FILE].number;
		return 0;
	}
	return ret == -EBADMSG ? 0 : ret;
}
