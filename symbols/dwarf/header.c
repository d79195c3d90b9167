/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * header.c - headers of line number programs: directories and files.
 */
#include "symbols/base/grow.h"
#include "symbols/dwarf/names.h"
#include "symbols/dwarf/private.h"

#include <errno.h>
#include <stdlib.h>

#define FORMATS_MAX 16u

struct formats {
	struct {
		uint64_t content;
		struct dwarf_step step;
	} at[FORMATS_MAX];
	size_t n;
};

static int add_path(
	struct dwarf_path **paths, size_t *n, size_t *cap, const struct dwarf_path *path)
{
	if (array_grow(paths, cap, *n + 1, sizeof(**paths)) < 0)
		return -ENOMEM;
	(*paths)[(*n)++] = *path;
	return 0;
}

/* Reads directories and files of DWARF 2 to 4. */
static int read_old(struct dwarf_header *header, struct dwarf_cursor *cursor)
{
	size_t cap_dirs = 0;
	int ret = 0;

	for (int files = 0; files < 2; files++)
		while (ret == 0) {
			struct dwarf_path path = {.name = dwarf_get_string(cursor)};
			if (cursor->bad)
				return -EBADMSG;
			if (!*path.name)
				break;
			if (!files) {
				ret = add_path(&header->dirs, &header->n_dirs, &cap_dirs, &path);
				continue;
			}
			path.dir = dwarf_get_uleb(cursor);
			dwarf_get_uleb(cursor); /* time */
			dwarf_get_uleb(cursor); /* size */
			ret = add_path(&header->files, &header->n_files, &header->cap_files, &path);
		}
	header->n_listed = header->n_files;
	return ret;
}

int dwarf_header_define(struct dwarf_header *header, struct dwarf_cursor *cursor)
{
	struct dwarf_path path = {.name = dwarf_get_string(cursor)};

	path.dir = dwarf_get_uleb(cursor);
	if (cursor->bad || header->version >= 5)
		return 0;
	/* In jitdumps this name means the file before; perf inject copies it. */
	if (strcmp(path.name, "\xff") == 0 && header->n_files)
		path = header->files[header->n_files - 1];
	return add_path(&header->files, &header->n_files, &header->cap_files, &path);
}

/* Reads the layout of a DWARF 5 table's entries. */
static bool read_formats(struct dwarf_cursor *cursor, struct formats *formats)
{
	formats->n = dwarf_get(cursor, 1);
	if (formats->n > FORMATS_MAX)
		return false;
	for (size_t i = 0; i < formats->n; i++) {
		formats->at[i].content = dwarf_get_uleb(cursor);
		uint64_t form = dwarf_get_uleb(cursor);
		if (form > UINT16_MAX || form == DW_FORM_implicit_const)
			return false;
		formats->at[i].step = (struct dwarf_step){.form = (uint16_t)form};
	}
	return !cursor->bad;
}

static int read_new(
	struct dwarf_unit *unit, struct dwarf_cursor *cursor, struct dwarf_path **paths, size_t *n)
{
	struct formats formats;
	size_t cap = 0;
	int ret = 0;

	if (!read_formats(cursor, &formats))
		return -EBADMSG;
	uint64_t count = dwarf_get_uleb(cursor);
	if (count > (uint64_t)(cursor->end - cursor->at))
		return -EBADMSG;
	for (uint64_t i = 0; i < count && ret == 0; i++) {
		struct dwarf_path path = {.name = ""};
		for (size_t k = 0; k < formats.n; k++) {
			uint64_t content = formats.at[k].content;
			struct dwarf_value value = {0};
			const uint8_t *at = cursor->at;
			dwarf_value_read(unit, &formats.at[k].step, cursor, &value);
			if (cursor->bad)
				return -EBADMSG;
			if (content == DW_LNCT_path && value.form == DW_FORM_string)
				path.name = (const char *)at;
			else if (content == DW_LNCT_path)
				path.name = dwarf_value_string(unit, &value);
			else if (content == DW_LNCT_directory_index)
				path.dir = value.number;
		}
		ret = add_path(paths, n, &cap, &path);
	}
	return ret;
}

static int read_header(struct dwarf_unit *unit, struct dwarf_header *header)
{
	struct dwarf_cursor cursor;

	int ret = dwarf_section_at(unit->image, DWARF_LINE, unit->stmt_list, true, &cursor);
	if (ret < 0)
		return ret;
	unsigned int width = dwarf_get_length(&cursor);
	uint64_t version = dwarf_get(&cursor, 2);
	if (cursor.bad || version < 2 || version > 5)
		return -EBADMSG;
	header->version = (uint8_t)version;
	if (version >= 5)
		dwarf_skip(&cursor, 2); /* sizes of addresses and segments */
	uint64_t len = dwarf_get(&cursor, width);
	if (cursor.bad || len > (uint64_t)(cursor.end - cursor.at))
		return -EBADMSG;
	header->program = cursor;
	header->program.at += len;
	cursor.end = header->program.at;
	header->min_length = (uint8_t)dwarf_get(&cursor, 1);
	if (version >= 4)
		/* operations per instruction, for VLIW machines */
		dwarf_skip(&cursor, 1);
	dwarf_skip(&cursor, 1); /* initial is_stmt: all rows count, as in other tools */
	header->line_base = (int8_t)dwarf_get(&cursor, 1);
	header->line_range = (uint8_t)dwarf_get(&cursor, 1);
	header->opcode_base = (uint8_t)dwarf_get(&cursor, 1);
	for (unsigned int i = 1; i < header->opcode_base; i++)
		header->lengths[i] = (uint8_t)dwarf_get(&cursor, 1);
	if (cursor.bad)
		return -EBADMSG;
	if (version < 5)
		return read_old(header, &cursor);
	/* The table's offset size may differ from the unit's. */
	struct dwarf_unit forms = *unit;
	forms.offset_size = (uint8_t)width;
	ret = read_new(&forms, &cursor, &header->dirs, &header->n_dirs);
	return ret < 0 ? ret : read_new(&forms, &cursor, &header->files, &header->n_files);
}

int dwarf_rows_header(struct dwarf_unit *unit, struct dwarf_header **out)
{
	*out = unit->header;
	if (unit->header || unit->no_header)
		return 0;
	int ret = dwarf_unit_root(unit);
	if (ret < 0)
		return ret == -EBADMSG ? 0 : ret;
	if (unit->stmt_list == DWARF_NONE) {
		unit->no_header = true;
		return 0;
	}
	struct dwarf_header *header = calloc(1, sizeof(*header));
	if (!header)
		return -ENOMEM;
	ret = read_header(unit, header);
	if (ret < 0) {
		dwarf_header_free(header);
		unit->no_header = ret == -EBADMSG;
		return ret == -EBADMSG ? 0 : ret;
	}
	/* In a broken file many units may name one large table. */
	ret = dwarf_work(unit->image->dwarf, 16 + header->n_files + header->n_dirs);
	if (ret < 0) {
		dwarf_header_free(header);
		return ret;
	}
	*out = unit->header = header;
	return 0;
}

void dwarf_header_free(struct dwarf_header *header)
{
	if (!header)
		return;
	free(header->dirs);
	free(header->files);
	free(header);
}
