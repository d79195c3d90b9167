/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quick.c - finds source lines alone, in the line tables, if a unit comes after hundreds of
 * megabytes that must be unpacked first.
 *
 * A line table does not name its unit.  Tables have the order of their units, so the search begins
 * at the most likely table.  It goes both ways until a table covers the address.
 */
#include "symbols/base/grow.h"
#include "symbols/dwarf/private.h"

#include <errno.h>
#include <stdlib.h>

#define PREPARE_BYTES ((uint64_t)16 << 20)

uint64_t dwarf_quick_bytes = (uint64_t)32 << 20;

/* Returns the bytes that must be unpacked for a full answer. */
static uint64_t bytes_before(const struct dwarf *dwarf, bool listed, uint64_t unit)
{
	const struct dwarf_section *info = &dwarf->main.sections[DWARF_INFO];
	const struct dwarf_section *strings = &dwarf->main.sections[DWARF_STR];
	const uint64_t until = listed ? unit : info->len;
	uint64_t sum = 0;

	if (info->unpacker && until > info->ready)
		sum += until - info->ready;
	if (strings->unpacker)
		sum += strings->len - strings->ready;
	return sum;
}

/* Unpacks some bytes before `until`.  Returns false if little is left there, or on errors. */
static bool unpack_some(struct dwarf_section *section, uint64_t until)
{
	if (until > section->len)
		until = section->len;
	if (!section->unpacker || until <= section->ready ||
		until - section->ready <= PREPARE_BYTES)
		return false;
	return dwarf_section_need(section, section->ready + PREPARE_BYTES) == 0;
}

bool dwarf_prepare(struct dwarf *dwarf, uint64_t address)
{
	struct dwarf_section *info = &dwarf->main.sections[DWARF_INFO];
	uint64_t unit = 0;
	size_t number, n;
	bool listed;

	dwarf_begin(dwarf);
	if (dwarf_index_listed(dwarf, address, &listed, &unit, &number, &n) < 0)
		return false;
	const uint64_t until = listed && unit < info->len ? unit : info->len;
	return unpack_some(info, until) ||
		unpack_some(&dwarf->main.sections[DWARF_STR], UINT64_MAX);
}

struct tables { /* offsets in .debug_line */
	uint64_t *at;
	size_t n, cap;
};

static int find_tables(struct dwarf *dwarf, struct tables *tables)
{
	struct dwarf_cursor cursor;

	int ret = dwarf_section_at(&dwarf->main, DWARF_LINE, 0, true, &cursor);
	if (ret < 0)
		return ret == -EBADMSG ? 0 : ret;
	const uint8_t *start = cursor.at;
	while (cursor.at < cursor.end) {
		struct dwarf_cursor table = cursor;
		if (dwarf_get_length(&table) == 0)
			break;
		ret = dwarf_work(dwarf, 1);
		if (ret < 0)
			return ret;
		if (array_grow(&tables->at, &tables->cap, tables->n + 1, sizeof(*tables->at)) < 0)
			return -ENOMEM;
		tables->at[tables->n++] = (uint64_t)(cursor.at - start);
		cursor.at = table.end;
	}
	return 0;
}

/* Makes a substitute for the unit, which is not read.  A table of version 5 is complete without its
 * unit: directory 0 is the compilation directory.  An older one is complete if the names of its
 * files are absolute. */
static void stand_in(struct dwarf_unit *unit, struct dwarf *dwarf, uint64_t table)
{
	static const struct dwarf_abbrevs none = {.version = 5};

	*unit = (struct dwarf_unit){.image = &dwarf->main,
		.version = 5,
		.address_size = dwarf->main.is64 ? 8 : 4,
		.offset_size = 4,
		.rooted = true,
		.abbrevs = &none,
		.comp_dir = "",
		.low = DWARF_NONE,
		.stmt_list = table};
}

static bool is_whole(const struct dwarf_header *header, uint64_t file)
{
	if (file < 1 || file - 1 >= header->n_files)
		return true; /* without a name in any case */
	const struct dwarf_path *path = &header->files[file - 1];
	return *path->name == '/' ||
		(path->dir >= 1 && path->dir - 1 < header->n_dirs &&
			*header->dirs[path->dir - 1].name == '/');
}

/* Returns true if the files of all addresses have absolute names. */
static bool are_whole(const struct dwarf_header *header, const struct dwarf_rows *rows,
	const uint64_t *addresses, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct dwarf_row *row = dwarf_rows_find(rows, addresses[i]);
		if (row && !is_whole(header, row->file))
			return false;
	}
	return true;
}

/* Reads the rows around the addresses in a table.  Returns 1; 0 if it has none of them; -ENODATA if
 * it has some, but is incomplete without its unit; or -errno. */
static int read_table(struct dwarf *dwarf, uint64_t table, const uint64_t *addresses, size_t n,
	struct dwarf_unit *unit, struct dwarf_rows *rows)
{
	struct dwarf_header *header;

	stand_in(unit, dwarf, table);
	int ret = dwarf_rows_header(unit, &header);
	if (ret == 0 && header && (header->version < 5 || header->n_dirs)) {
		if (header->version >= 5)
			unit->comp_dir = header->dirs[0].name;
		ret = dwarf_rows_read(unit, addresses, n, rows);
		const bool found = ret == 0 && rows->n_sequences;
		if (found && (header->version >= 5 || are_whole(header, rows, addresses, n)))
			return 1;
		if (found)
			ret = -ENODATA;
		dwarf_rows_fini(rows);
	}
	dwarf_header_free(unit->header);
	return ret;
}

/* Searches from the most likely table to both sides. */
static int search(struct dwarf *dwarf, const struct tables *tables, size_t likely,
	const uint64_t *addresses, size_t n, struct dwarf_unit *unit, struct dwarf_rows *rows)
{
	int ret = 0;

	for (size_t away = 0; away < tables->n && ret == 0; away++) {
		if (likely + away < tables->n)
			ret = read_table(
				dwarf, tables->at[likely + away], addresses, n, unit, rows);
		if (ret == 0 && away && away <= likely && likely - away < tables->n)
			ret = read_table(
				dwarf, tables->at[likely - away], addresses, n, unit, rows);
	}
	return ret;
}

static void put_frames(struct dwarf_unit *unit, const struct dwarf_rows *rows,
	const uint64_t *addresses, size_t n, struct codetab_builder *builder,
	struct codetab_entry *entries)
{
	for (size_t i = 0; i < n; i++) {
		const struct dwarf_row *row = dwarf_rows_find(rows, addresses[i]);
		if (!row)
			continue;
		struct codetab_frame frame = {.line = row->line, .column = row->column};
		frame.file = dwarf_rows_path(unit, row->file, builder, unit->image->dwarf->asked);
		entries[i].frames = codetab_builder_frames(builder, &frame, 1);
		entries[i].n_frames = 1;
	}
}

int dwarf_lines_quick(struct dwarf *dwarf, const uint64_t *addresses, size_t n,
	struct codetab_builder *builder, struct codetab_entry *entries)
{
	struct tables tables = {0};
	struct dwarf_rows rows = {0};
	struct dwarf_unit unit;
	uint64_t at = 0;
	size_t number = 0, n_listed = 0;
	bool listed;

	dwarf_begin(dwarf);
	for (size_t i = 0; i < n; i++)
		entries[i].frames = entries[i].n_frames = 0;
	if (n == 0)
		return 0;
	int ret = dwarf_index_listed(dwarf, addresses[0], &listed, &at, &number, &n_listed);
	for (size_t i = 1; i < n && ret == 0 && !listed; i++)
		ret = dwarf_index_listed(dwarf, addresses[i], &listed, &at, &number, &n_listed);
	if (ret < 0 || bytes_before(dwarf, listed, at) < dwarf_quick_bytes)
		return ret == -ENOMEM ? ret : 0;
	ret = find_tables(dwarf, &tables);
	if (ret == 0 && tables.n) {
		/* Units without code have tables, too, but are not listed. */
		const size_t likely = n_listed ? number * tables.n / n_listed : 0;
		ret = search(dwarf, &tables, likely, addresses, n, &unit, &rows);
	}
	if (ret > 0) {
		put_frames(&unit, &rows, addresses, n, builder, entries);
		dwarf_rows_fini(&rows);
		dwarf_header_free(unit.header);
	}
	free(tables.at);
	/* dwarf_lines() reports errors of a broken file. */
	return ret == -ENOMEM || ret > 0 ? ret : 0;
}
