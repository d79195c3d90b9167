/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dwarf_private.h - what the files of dwarf.h share.
 *
 *   dwarf.c         questions; which files are open
 *   dwarf_bytes.c   numbers and strings
 *   dwarf_image.c   sections of one file, unpacked as far as they are needed; strings
 *   dwarf_abbrev.c  abbreviations, with the lengths of what they describe worked out beforehand
 *   dwarf_unit.c    units: headers, root entries, their split parts
 *   dwarf_index.c   which unit covers an address
 *   dwarf_form.c    values of attributes
 *   dwarf_range.c   address ranges, and what covers what
 *   dwarf_tree.c    functions and what is inlined into them; names
 *   dwarf_header.c  headers of line number programs
 *   dwarf_rows.c    line number programs
 *   dwarf_quick.c   lines alone, without units
 *
 * Everything found in a file that outlives a call is an offset or a pointer into its sections,
 * which stay where they are until the file is closed.
 */
#ifndef SYMBOLS_DWARF_PRIVATE_H
#define SYMBOLS_DWARF_PRIVATE_H

#include "symbols/dwarf.h"
#include "symbols/elffile.h"

#include <errno.h>
#include <string.h>

#define DWARF_ORIGINS_MAX 16 /* entries that a name is looked for in, one leading to the next */
#define DWARF_NONE UINT64_MAX

/* --- bytes --- */

struct dwarf_cursor {
	const uint8_t *at, *end;
	bool swapped, bad; /* bad: something was read beyond end, and is 0 */
};

uint64_t dwarf_get_uleb(struct dwarf_cursor *cursor);
int64_t dwarf_get_sleb(struct dwarf_cursor *cursor);
const char *dwarf_get_string(struct dwarf_cursor *cursor); /* "" where it does not end */
/* width: 1, 2, 3, 4 or 8 */
uint64_t dwarf_get(struct dwarf_cursor *cursor, unsigned int width);
void dwarf_skip(struct dwarf_cursor *cursor, uint64_t len);
/* The length at the beginning of a unit or table: cuts the cursor to it.  Returns the width of
 * offsets in it, 4 or 8, or 0. */
unsigned int dwarf_get_length(struct dwarf_cursor *cursor);

/* --- one file --- */

enum dwarf_section_id {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_LINE,
	DWARF_STR,
	DWARF_LINE_STR,
	DWARF_STR_OFFSETS,
	DWARF_ADDR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_ARANGES,
	DWARF_CU_INDEX,
	DWARF_SECTIONS
};

struct dwarf_unpacker;

struct dwarf_section {
	const uint8_t *bytes;
	uint64_t len, ready; /* ready: how many of len are there to be read */
	struct dwarf_unpacker *unpacker; /* of the rest */
	void *map;
	size_t map_len;
	size_t number; /* of the section in the file */
};

struct dwarf_unit;

#define DWARF_BUCKETS 1024

struct dwarf_image {
	struct dwarf_section sections[DWARF_SECTIONS];
	uint64_t identity[5]; /* device, inode, size, time */
	bool is64, swapped, split;
	uint64_t
		code_start; /* what is below is no code, but a linker's mark for what it left out */
	uint64_t code_end; /* 0: not known */
	/* Units by offset, as far as they have been looked for. */
	struct dwarf_unit **units;
	size_t n_units, cap_units;
	uint64_t scanned;
	struct dwarf_abbrevs *abbrevs[DWARF_BUCKETS]; /* lists, by offset */
	size_t abbrev_bytes;
	struct dwarf *dwarf;
};

/* Map a section of elf into a zeroed structure, or begin to unpack it; old_packed: it is a .zdebug
 * one.  0 (with no bytes if it has none) or -errno.  For dwarf_section_close(), NULL bytes are
 * legal. */
int dwarf_section_open(const struct elffile *elf, const struct elffile_section *header,
	bool old_packed, struct dwarf_section *section);
void dwarf_section_close(struct dwarf_section *section);

void dwarf_identify(int fd, uint64_t identity[5]);
/* 0 or -errno; -ENODATA: no .debug_info. */
int dwarf_image_open(struct dwarf_image *image, int fd, bool split);
void dwarf_image_close(struct dwarf_image *image);
/* Make bytes [0, end) of a section readable.  0, -EBADMSG, -ENOMEM. */
int dwarf_section_need(struct dwarf_section *section, uint64_t end);
/* A cursor at an offset; with all of the section behind it if whole, else only what is ready. */
int dwarf_section_at(struct dwarf_image *image, enum dwarf_section_id id, uint64_t offset,
	bool whole, struct dwarf_cursor *out);
/* "" where there is none */
const char *dwarf_section_string(
	struct dwarf_image *image, enum dwarf_section_id id, uint64_t offset);
/* Unpack a little more.  False when there is no more. */
bool dwarf_image_idle(struct dwarf_image *image);
uint64_t dwarf_section_bytes(const struct dwarf_image *image);

/* --- abbreviations --- */

/* Attributes that are looked at. */
enum dwarf_slot {
	SLOT_LOW,
	SLOT_HIGH,
	SLOT_RANGES,
	SLOT_ORIGIN,
	SLOT_SPECIFICATION,
	SLOT_LINKAGE,
	SLOT_NAME,
	SLOT_DECL_FILE,
	SLOT_DECL_LINE,
	SLOT_CALL_FILE,
	SLOT_CALL_LINE,
	SLOT_CALL_COLUMN,
	SLOT_STMT_LIST,
	SLOT_COMP_DIR,
	SLOT_DWO_NAME,
	SLOT_DWO_ID,
	SLOT_ADDR_BASE,
	SLOT_STR_OFFSETS_BASE,
	SLOT_RNGLISTS_BASE,
	SLOT_RANGES_BASE,
	SLOTS
};

struct dwarf_step { /* one attribute */
	uint16_t form;
	uint8_t slot; /* SLOTS: not looked at */
	uint8_t skip; /* bytes; DWARF_SKIP_LEB, DWARF_SKIP_OTHER */
	int64_t constant; /* of DW_FORM_implicit_const */
};
#define DWARF_SKIP_LEB 0xfe
#define DWARF_SKIP_OTHER 0xff

struct dwarf_abbrev {
	uint32_t code;
	uint16_t tag;
	bool children, code_here; /* code_here: a function or inlined function with addresses */
	bool fixed; /* all entries are fixed_len bytes long, after the code */
	uint32_t fixed_len;
	uint32_t steps, n_steps;
};

struct dwarf_abbrevs {
	struct dwarf_abbrevs *next;
	uint64_t offset;
	uint8_t version, address_size, offset_size;
	struct dwarf_abbrev *abbrevs; /* by code */
	struct dwarf_step *steps;
	size_t n_abbrevs, n_steps;
	bool dense; /* codes are 1, 2, 3... */
};

/* Borrowed from the image.  0 or -errno. */
int dwarf_abbrevs_get(
	struct dwarf_image *image, const struct dwarf_unit *unit, const struct dwarf_abbrevs **out);
void dwarf_abbrevs_forget(struct dwarf_image *image); /* all */
/* How long a value of this form is in a unit: bytes or DWARF_SKIP_*. */
uint8_t dwarf_form_skip(uint64_t form, const struct dwarf_unit *unit);
const struct dwarf_abbrev *dwarf_abbrev_search(const struct dwarf_abbrevs *abbrevs, uint64_t code);

static inline const struct dwarf_abbrev *dwarf_abbrev_find(
	const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	if (abbrevs->dense)
		return code - 1 < abbrevs->n_abbrevs ? &abbrevs->abbrevs[code - 1] : NULL;
	return dwarf_abbrev_search(abbrevs, code);
}

/* --- ranges --- */

struct dwarf_range {
	uint64_t low, high; /* high: the first address behind */
	uint32_t owner; /* a number of the caller's */
	uint32_t order;
};

/* Of ranges that cover an address the one added last counts: an inner one comes after its outer
 * one. */
struct dwarf_ranges {
	struct dwarf_range *at;
	size_t n, cap;
};

int dwarf_ranges_add(struct dwarf_ranges *ranges, uint64_t low, uint64_t high, uint32_t owner);
/* Make them ascending and without overlaps. */
int dwarf_ranges_flatten(struct dwarf_ranges *ranges);
const struct dwarf_range *dwarf_ranges_find(const struct dwarf_ranges *ranges, uint64_t address);
void dwarf_ranges_fini(struct dwarf_ranges *ranges);

/* Can code be there, or is it a mark of a linker for what it left out? */
bool dwarf_is_code(const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t address);

/* --- units --- */

struct dwarf_path { /* a file or directory of a line table */
	const char *name;
	uint64_t dir;
	uint32_t pooled; /* file: its full path in the pool, in the question numbered asked */
	uint32_t asked;
};

struct dwarf_header { /* of a line table */
	struct dwarf_path *dirs, *files;
	size_t n_dirs, n_files, cap_files;
	size_t n_listed; /* files that it lists; the program defines those behind them */
	uint8_t version, min_length, line_range, opcode_base;
	int8_t line_base;
	uint8_t lengths[256]; /* of opcodes: how many operands */
	struct dwarf_cursor program;
};

struct dwarf_unit {
	struct dwarf_image *image;
	uint64_t offset, end, entries; /* in .debug_info: header, end, root entry */
	uint64_t abbrev_offset, id; /* id: of the split unit */
	uint8_t version, type, address_size, offset_size;
	bool rooted; /* the root entry was read; what follows is from it */
	bool partial, split_sought, no_header;
	bool line_only; /* neither it nor functions in it have addresses */
	const struct dwarf_abbrevs *abbrevs;
	const char *comp_dir, *dwo_name;
	uint64_t low, stmt_list; /* DWARF_NONE: none */
	uint64_t addr_base, str_offsets_base, rnglists_base, ranges_base;
	uint64_t str_offsets_at, rnglists_at; /* where a package (.dwp) has this unit's part */
	struct dwarf_unit *skeleton; /* of a split unit: the one that it belongs to */
	struct dwarf_unit *split;
	struct dwarf_header *header;
	/* Functions by address: owners are numbers of functions. */
	bool scanned;
	struct dwarf_ranges map;
	uint64_t *functions; /* their entries */
	size_t n_functions, cap_functions;
};

/* The unit that an offset is in; NULL in *out where there is none.  0 or -errno. */
int dwarf_unit_at(struct dwarf_image *image, uint64_t offset, struct dwarf_unit **out);
/* Read the root entry.  0 or -errno. */
int dwarf_unit_root(struct dwarf_unit *unit);
/* The unit that has the entries: unit itself, or its split part; its name is noted as missing. */
int dwarf_unit_entries(struct dwarf_unit *unit, struct dwarf_unit **out);
/* Add the ranges that the root entry tells. */
int dwarf_unit_ranges(struct dwarf_unit *unit, struct dwarf_ranges *ranges, uint32_t owner);
void dwarf_unit_forget(struct dwarf_unit *unit); /* what can be found again */
void dwarf_unit_free(struct dwarf_unit *unit);
/* All units up to the end of the section. */
int dwarf_units_scan(struct dwarf_image *image, uint64_t until);

/* --- entries (DIEs) --- */

struct dwarf_value {
	uint16_t form; /* 0: not there */
	uint64_t number; /* as it is in the file; a string's or block's place in the section */
};

struct dwarf_entry {
	const struct dwarf_abbrev *abbrev; /* NULL: the end of a list of children */
	struct dwarf_value values[SLOTS];
	uint64_t next; /* the entry that follows, be it a child or not */
};

/* Read the entry at an offset of .debug_info.  0 or -EBADMSG. */
int dwarf_entry_read(struct dwarf_unit *unit, uint64_t offset, struct dwarf_entry *out);
/* Move past the values of an entry. */
void dwarf_entry_skip(
	struct dwarf_unit *unit, const struct dwarf_abbrev *abbrev, struct dwarf_cursor *cursor);
void dwarf_value_read(struct dwarf_unit *unit, const struct dwarf_step *step,
	struct dwarf_cursor *cursor, struct dwarf_value *value);
const char *dwarf_value_string(struct dwarf_unit *unit, const struct dwarf_value *value);
bool dwarf_value_address(struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *out);
/* Number index of the table of addresses. */
bool dwarf_unit_address(struct dwarf_unit *unit, uint64_t index, uint64_t *out);
/* Where an entry refers to.  False where that is nowhere; then *ret may be an error. */
bool dwarf_value_entry(struct dwarf_unit *unit, const struct dwarf_value *value,
	struct dwarf_unit **to, uint64_t *offset, int *ret);
/* Ranges of an entry, to be added with this owner.  0 or -errno. */
int dwarf_entry_ranges(struct dwarf_unit *unit, const struct dwarf_entry *entry,
	struct dwarf_ranges *ranges, uint32_t owner);

/* --- functions --- */

struct dwarf_inlined { /* into a function, or itself */
	uint64_t entry;
	uint32_t parent; /* what it was inlined into; 0, the function, is its own */
	bool named; /* name and decl_line are known */
	const char *name;
	uint32_t decl_line;
	uint32_t call_line, call_column;
	uint64_t call_file;
};

struct dwarf_function {
	struct dwarf_inlined *inlined; /* the first one is the function */
	size_t n, cap;
	struct dwarf_ranges map; /* owners: numbers of inlined */
};

/* Find the functions of a unit with entries. */
int dwarf_tree_scan(struct dwarf_unit *unit);
/* Read what was inlined into a function. */
int dwarf_tree_function(struct dwarf_unit *unit, uint64_t entry, struct dwarf_function *out);
void dwarf_function_fini(struct dwarf_function *function);
int dwarf_tree_name(struct dwarf_unit *unit, struct dwarf_inlined *inlined);
/* Where a function was declared: the unit whose line table has the file. */
int dwarf_tree_declared(
	struct dwarf_unit *unit, uint64_t entry, struct dwarf_unit **file_unit, uint64_t *file);

/* --- line tables --- */

struct dwarf_row {
	uint64_t address;
	uint32_t file, line;
	uint16_t column;
};

struct dwarf_rows {
	struct dwarf_row *at;
	size_t n, cap;
	struct dwarf_sequence {
		size_t first, n;
	} * sequences;
	size_t n_sequences, cap_sequences;
	struct dwarf_ranges map; /* owners: numbers of sequences */
};

/* The header of a unit's line table; NULL where there is none. */
int dwarf_rows_header(struct dwarf_unit *unit, struct dwarf_header **out);
/* A file that a line program defines, for this run of it.  0 or -ENOMEM. */
int dwarf_header_define(struct dwarf_header *header, struct dwarf_cursor *cursor);
void dwarf_header_free(struct dwarf_header *header);
/* The rows of those sequences that cover one of n ascending addresses. */
int dwarf_rows_read(
	struct dwarf_unit *unit, const uint64_t *addresses, size_t n, struct dwarf_rows *out);
/* Add the ranges that have lines. */
int dwarf_rows_ranges(struct dwarf_unit *unit, struct dwarf_ranges *ranges, uint32_t owner);
const struct dwarf_row *dwarf_rows_find(const struct dwarf_rows *rows, uint64_t address);
void dwarf_rows_fini(struct dwarf_rows *rows);
/* The full path of a file of a line table, in the builder's pool; 0: not known. */
uint32_t dwarf_rows_path(
	struct dwarf_unit *unit, uint64_t file, struct codetab_builder *builder, uint32_t asked);

/* --- one program --- */

struct dwarf {
	uint64_t identity[3][5]; /* of the files that were given */
	struct dwarf_image main, alt;
	bool has_alt;
	struct dwarf_image **parts;
	size_t n_parts, cap_parts;
	/* Units by address; owners are numbers into offsets. */
	struct dwarf_ranges aranges, rest;
	bool aranges_read, rest_read;
	uint64_t *offsets; /* of units, by owner */
	size_t n_offsets, cap_offsets;
	size_t n_listed; /* of them, in .debug_aranges */
	char **missing;
	size_t n_missing, cap_missing;
	uint64_t work; /* left for this question */
	uint32_t asked; /* number of the question */
};

/* The unit that covers an address; NULL in *out: none. */
int dwarf_index_find(struct dwarf *dwarf, uint64_t address, struct dwarf_unit **out);
/* What .debug_aranges alone tells of an address: its unit's offset, as number of n that are listed
 * there.  False in *listed where it does not.  0 or -errno. */
int dwarf_index_listed(struct dwarf *dwarf, uint64_t address, bool *listed, uint64_t *unit,
	size_t *number, size_t *n);
void dwarf_index_fini(struct dwarf *dwarf);
void dwarf_begin(struct dwarf *dwarf); /* a question */
void dwarf_trim(struct dwarf_image *image); /* no more abbreviations than there is room for */
int dwarf_missing_add(struct dwarf *dwarf, const char *dir, const char *name);

extern uint64_t dwarf_work_max; /* steps of a question; tests set less */
/* What may be unpacked before an answer without inlined functions is better than none. */
extern uint64_t dwarf_quick_bytes;

/* Take n steps of work.  0, or -ELOOP when the question has had its share. */
static inline int dwarf_work(struct dwarf *dwarf, uint64_t n)
{
	if (dwarf->work < n) {
		dwarf->work = 0;
		return -ELOOP;
	}
	dwarf->work -= n;
	return 0;
}

/* Room for one more item in an array that grows by half.  0 or -ENOMEM. */
int dwarf_grow(void *array, size_t *cap, size_t n, size_t size);

#endif
