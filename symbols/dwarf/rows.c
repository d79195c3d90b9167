/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows.c - runs line number programs, and keeps the rows around the addresses asked for.
 */
#include "symbols/base/grow.h"
#include "symbols/dwarf/names.h"
#include "symbols/dwarf/private.h"

#include <errno.h>
#include <stdlib.h>

struct state {
	struct dwarf_unit *unit;
	struct dwarf_header *header;
	const uint64_t *addresses; /* addresses asked for */
	size_t n_addresses;
	struct dwarf_rows *rows;
	/* not NULL: collects the ranges with lines, and no row is kept */
	struct dwarf_ranges *covered;
	uint32_t owner; /* owner of these ranges */
	bool met_end; /* a sequence has ended */
	struct dwarf_row row;
	size_t first; /* first row of the current sequence */
};

/* Returns true if one of the addresses is in [low, high). */
static bool is_wanted(const struct state *state, uint64_t low, uint64_t high)
{
	size_t from = 0, to = state->n_addresses;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (state->addresses[middle] < low)
			from = middle + 1;
		else
			to = middle;
	}
	return from < state->n_addresses && state->addresses[from] < high;
}

static int add_row(struct state *state)
{
	struct dwarf_rows *rows = state->rows;

	if (array_grow(&rows->at, &rows->cap, rows->n + 1, sizeof(*rows->at)) < 0)
		return -ENOMEM;
	rows->at[rows->n++] = state->row;
	return 0;
}

/* Returns the end of the sequence.  perf inject writes one sequence per function and ends it where
 * its last row begins: that row covers the rest of the code. */
static uint64_t end_of(const struct state *state, bool is_last)
{
	const struct dwarf_rows *rows = state->rows;
	const uint64_t end = state->row.address, code_end = state->unit->image->code_end;
	const bool is_cut = state->unit->line_only && is_last && !state->met_end &&
		rows->n > state->first && rows->at[rows->n - 1].address == end;

	return is_cut && code_end > end ? code_end : end;
}

static int end_sequence(struct state *state, bool is_last)
{
	struct dwarf_rows *rows = state->rows;
	struct dwarf *dwarf = state->unit->image->dwarf;
	uint64_t low = rows->n > state->first ? rows->at[state->first].address : 0;
	uint64_t high = end_of(state, is_last);
	int ret = 0;

	state->met_end = true;
	const bool is_code = rows->n > state->first && dwarf_is_code(dwarf, state->unit, low);
	if (is_code && state->covered)
		ret = dwarf_ranges_add(state->covered, low, high, state->owner);
	if (is_code && !state->covered && is_wanted(state, low, high)) {
		if (array_grow(&rows->sequences, &rows->cap_sequences, rows->n_sequences + 1,
			    sizeof(*rows->sequences)) < 0)
			return -ENOMEM;
		ret = dwarf_ranges_add(&rows->map, low, high, (uint32_t)rows->n_sequences);
		rows->sequences[rows->n_sequences].first = state->first;
		rows->sequences[rows->n_sequences++].n = rows->n - state->first;
		state->first = rows->n;
	} else {
		rows->n = state->first;
	}
	state->row = (struct dwarf_row){.file = 1, .line = 1};
	return ret;
}

static int run_extended(struct state *state, struct dwarf_cursor *program)
{
	uint64_t len = dwarf_get_uleb(program);

	if (len == 0 || len > (uint64_t)(program->end - program->at))
		return program->bad || len ? -EBADMSG : 0;
	const uint8_t *next = program->at + len;
	uint64_t opcode = dwarf_get(program, 1);
	int ret = 0;
	if (opcode == DW_LNE_end_sequence)
		ret = end_sequence(state, next == program->end);
	else if (opcode == DW_LNE_set_address && (len == 9 || len == 5))
		state->row.address = dwarf_get(program, (unsigned int)len - 1);
	else if (opcode == DW_LNE_define_file)
		ret = dwarf_header_define(state->header, program);
	program->at = next;
	return ret;
}

static int run_standard(struct state *state, struct dwarf_cursor *program, unsigned int opcode)
{
	const struct dwarf_header *header = state->header;
	struct dwarf_row *row = &state->row;

	switch (opcode) {
	case DW_LNS_copy:
		return add_row(state);
	case DW_LNS_advance_pc:
		row->address += dwarf_get_uleb(program) * header->min_length;
		return 0;
	case DW_LNS_advance_line:
		row->line = (uint32_t)(row->line + (uint64_t)dwarf_get_sleb(program));
		return 0;
	case DW_LNS_set_file:
		row->file = (uint32_t)dwarf_get_uleb(program);
		return 0;
	case DW_LNS_set_column: {
		uint64_t column = dwarf_get_uleb(program);
		row->column = column <= UINT16_MAX ? (uint16_t)column : 0;
		return 0;
	}
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		return 0;
	case DW_LNS_const_add_pc:
		if (header->line_range)
			row->address += (uint64_t)(255 - header->opcode_base) / header->line_range *
				header->min_length;
		return 0;
	case DW_LNS_fixed_advance_pc:
		row->address += dwarf_get(program, 2);
		return 0;
	default: /* DW_LNS_set_isa and unknown opcodes */
		for (unsigned int i = 0; i < header->lengths[opcode]; i++)
			dwarf_get_uleb(program);
		return 0;
	}
}

static int run(struct state *state)
{
	struct dwarf_header *header = state->header;
	struct dwarf_cursor program = header->program;

	if (header->version < 5)
		header->n_files = header->n_listed;
	int ret = dwarf_work(state->unit->image->dwarf, (uint64_t)(program.end - program.at) / 4);
	while (ret == 0 && program.at < program.end && !program.bad) {
		unsigned int opcode = *program.at++;
		if (opcode == 0) {
			ret = run_extended(state, &program);
		} else if (opcode < header->opcode_base) {
			ret = run_standard(state, &program, opcode);
		} else if (header->line_range) {
			unsigned int special = opcode - header->opcode_base;
			state->row.address +=
				(uint64_t)(special / header->line_range) * header->min_length;
			state->row.line +=
				(uint32_t)(header->line_base + (int)(special % header->line_range));
			ret = add_row(state);
		}
	}
	/* Rows of a sequence without an end cover no address. */
	state->rows->n = state->first;
	return ret == -EBADMSG ? 0 : ret;
}

int dwarf_rows_read(
	struct dwarf_unit *unit, const uint64_t *addresses, size_t n, struct dwarf_rows *out)
{
	struct state state = {.unit = unit,
		.addresses = addresses,
		.n_addresses = n,
		.rows = out,
		.row = {.file = 1, .line = 1}};
	struct dwarf_header *header;

	memset(out, 0, sizeof(*out));
	int ret = dwarf_rows_header(unit, &header);
	if (ret < 0 || !header)
		return ret;
	state.header = header;
	ret = run(&state);
	if (ret == 0)
		ret = dwarf_ranges_flatten(&out->map);
	if (ret < 0)
		dwarf_rows_fini(out);
	return ret;
}

int dwarf_rows_ranges(struct dwarf_unit *unit, struct dwarf_ranges *ranges, uint32_t owner)
{
	struct dwarf_rows rows = {0};
	struct state state = {.unit = unit,
		.rows = &rows,
		.covered = ranges,
		.owner = owner,
		.row = {.file = 1, .line = 1}};
	struct dwarf_header *header;

	int ret = dwarf_rows_header(unit, &header);
	if (ret < 0 || !header)
		return ret;
	state.header = header;
	ret = run(&state);
	dwarf_rows_fini(&rows);
	return ret;
}

void dwarf_rows_fini(struct dwarf_rows *rows)
{
	free(rows->at);
	free(rows->sequences);
	dwarf_ranges_fini(&rows->map);
	memset(rows, 0, sizeof(*rows));
}

const struct dwarf_row *dwarf_rows_find(const struct dwarf_rows *rows, uint64_t address)
{
	const struct dwarf_range *range = dwarf_ranges_find(&rows->map, address);

	if (!range)
		return NULL;
	/* Finds the last row at or before the address; among rows of one address the last one
	 * counts. */
	const struct dwarf_row *first = &rows->at[rows->sequences[range->owner].first];
	size_t low = 0, high = rows->sequences[range->owner].n;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (first[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	return &first[low];
}

/* Appends a directory or name to a path.  Returns false if it gets too long. */
static bool append(char *path, size_t size, size_t *len, const char *part)
{
	size_t part_len;

	if (*len && path[*len - 1] == '/')
		while (*part == '/')
			part++;
	part_len = strlen(part);
	if (part_len == 0)
		return true;
	if (part_len + 2 > size - *len)
		return false;
	if (*len && path[*len - 1] != '/' && *part != '/')
		path[(*len)++] = '/';
	memcpy(path + *len, part, part_len);
	*len += part_len;
	return true;
}

uint32_t dwarf_rows_path(
	struct dwarf_unit *unit, uint64_t file, struct codetab_builder *builder, uint32_t asked)
{
	struct dwarf_header *header;
	char path[8192];
	size_t len = 0;

	if (dwarf_rows_header(unit, &header) < 0 || !header)
		return 0;
	const uint64_t first = header->version < 5;
	if (file < first || file - first >= header->n_files)
		return 0;
	struct dwarf_path *entry = &header->files[file - first];
	if (entry->asked == asked)
		return entry->pooled;
	const char *dir = "";
	if (*entry->name != '/' && entry->dir >= first && entry->dir - first < header->n_dirs)
		dir = header->dirs[entry->dir - first].name;
	bool fits = *entry->name == '/' || *dir == '/' ||
		append(path, sizeof(path), &len, unit->comp_dir);
	fits = fits && append(path, sizeof(path), &len, dir) &&
		append(path, sizeof(path), &len, entry->name);
	entry->pooled = fits && *entry->name ? codetab_builder_string(builder, path, len) : 0;
	entry->asked = asked;
	return entry->pooled;
}
