/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private.h - shared by the files of dwarf.h.
 *
 *   dwarf.c         questions; the open files
 *   bytes.c   numbers and strings
 *   image.c   sections of one file, unpacked as far as needed; strings
 *   abbrev.c  abbreviations, with precomputed lengths of entries
 *   unit.c    units: headers, root entries, their split parts
 *   index.c   the unit that covers an address
 *   form.c    values of attributes
 *   range.c   address ranges, and the search among them
 *   tree.c    functions and functions inlined into them; names
 *   header.c  headers of line number programs
 *   rows.c    line number programs
 *   quick.c   lines alone, without units
 *
 * Data found in a file that outlives a call is an offset or a pointer into its sections.  They stay
 * in place until the file is closed.
 */
#ifndef SYMBOLS_DWARF_PRIVATE_H
#define SYMBOLS_DWARF_PRIVATE_H

#include "symbols/dwarf/dwarf.h"
#include "symbols/elf/elffile.h"

#include <errno.h>
#include <string.h>

#define DWARF_ORIGINS_MAX 16 /* entries in a chain of references that are searched for a name */
#define DWARF_NONE UINT64_MAX

/* --- bytes --- */

struct dwarf_cursor {
	const uint8_t *at, *end;
	bool swapped, bad; /* bad: a read went beyond end and returned 0 */
};

uint64_t dwarf_get_uleb(struct dwarf_cursor *cursor);
int64_t dwarf_get_sleb(struct dwarf_cursor *cursor);
const char *dwarf_get_string(struct dwarf_cursor *cursor); /* "" if it is not terminated */
/* width: 1, 2, 3, 4 or 8 bytes */
uint64_t dwarf_get(struct dwarf_cursor *cursor, unsigned int width);
void dwarf_skip(struct dwarf_cursor *cursor, uint64_t len);
/* Reads the length at the beginning of a unit or table and cuts the cursor to it.  Returns the
 * width of its offsets, 4 or 8; or 0 if it is broken. */
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
	uint64_t len, ready; /* ready: number of bytes that can be read */
	struct dwarf_unpacker *unpacker; /* for the bytes after ready; NULL: none */
	void *map;
	size_t map_len;
	size_t number; /* index of the section in the file */
};

struct dwarf_unit;

#define DWARF_BUCKETS 1024

struct dwarf_image {
	struct dwarf_section sections[DWARF_SECTIONS];
	uint64_t identity[5]; /* device, inode, size, time (s, ns) */
	bool is64, swapped, split;
	/* addresses below are no code, but a linker's mark for dropped code */
	uint64_t code_start;
	uint64_t code_end; /* 0: unknown */
	/* Units by offset, as far as they were scanned. */
	struct dwarf_unit **units;
	size_t n_units, cap_units;
	uint64_t scanned;
	struct dwarf_abbrevs *abbrevs[DWARF_BUCKETS]; /* hash buckets, by offset */
	size_t abbrev_bytes;
	struct dwarf *dwarf;
};

/* Maps a section of elf into a zeroed structure, or begins to unpack it.  old_packed: it is a
 * .zdebug section.  Returns 0 (without bytes if it has none) or -errno.  dwarf_section_close()
 * releases it; a zeroed structure is legal there. */
int dwarf_section_open(const struct elffile *elf, const struct elffile_section *header,
	bool old_packed, struct dwarf_section *section);
void dwarf_section_close(struct dwarf_section *section);

void dwarf_identify(int fd, uint64_t identity[5]);
/* Opens the sections of a file.  Returns 0; -ENODATA if it has no .debug_info; or -errno. */
int dwarf_image_open(struct dwarf_image *image, int fd, bool split);
void dwarf_image_close(struct dwarf_image *image);
/* Makes bytes [0, end) of a section readable.  Returns 0 or -EBADMSG. */
int dwarf_section_need(struct dwarf_section *section, uint64_t end);
/* Sets a cursor at an offset of a section.  whole: unpacks the section first; else the cursor ends
 * after the ready bytes.  Returns 0 or -EBADMSG. */
int dwarf_section_at(struct dwarf_image *image, enum dwarf_section_id id, uint64_t offset,
	bool whole, struct dwarf_cursor *out);
/* Returns the string at an offset; "" if there is none. */
const char *dwarf_section_string(
	struct dwarf_image *image, enum dwarf_section_id id, uint64_t offset);
/* Unpacks a little more.  Returns false if no more is left. */
bool dwarf_image_idle(struct dwarf_image *image);
uint64_t dwarf_section_bytes(const struct dwarf_image *image);

/* --- abbreviations --- */

/* Attributes that are read. */
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
	uint8_t slot; /* SLOTS: not read */
	uint8_t skip; /* bytes; or DWARF_SKIP_LEB, DWARF_SKIP_OTHER */
	int64_t constant; /* value of DW_FORM_implicit_const */
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
	struct dwarf_abbrev *abbrevs; /* sorted by code */
	struct dwarf_step *steps;
	size_t n_abbrevs, n_steps;
	bool dense; /* codes are 1, 2, 3... */
};

/* Gets the abbreviations of a unit, borrowed from the image.  Returns 0 or -errno. */
int dwarf_abbrevs_get(
	struct dwarf_image *image, const struct dwarf_unit *unit, const struct dwarf_abbrevs **out);
void dwarf_abbrevs_forget(struct dwarf_image *image); /* frees all */
/* Returns the length of a value of this form in a unit: bytes or DWARF_SKIP_*. */
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
	uint64_t low, high; /* high: first address after the range */
	uint32_t owner; /* number chosen by the caller */
	uint32_t order;
};

/* If several ranges cover an address, the one added last counts: inner ones are added after outer
 * ones. */
struct dwarf_ranges {
	struct dwarf_range *at;
	size_t n, cap;
};

int dwarf_ranges_add(struct dwarf_ranges *ranges, uint64_t low, uint64_t high, uint32_t owner);
/* Makes the ranges ascending and without overlaps.  Returns 0 or -errno. */
int dwarf_ranges_flatten(struct dwarf_ranges *ranges);
const struct dwarf_range *dwarf_ranges_find(const struct dwarf_ranges *ranges, uint64_t address);
void dwarf_ranges_fini(struct dwarf_ranges *ranges);

/* Returns true if code can be at this address; false if it is a linker's mark for dropped code. */
bool dwarf_is_code(const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t address);

/* --- units --- */

struct dwarf_path { /* a file or directory of a line table */
	const char *name;
	uint64_t dir;
	uint32_t pooled; /* file: offset of its full path in the pool, for question `asked` */
	uint32_t asked;
};

struct dwarf_header { /* header of a line table */
	struct dwarf_path *dirs, *files;
	size_t n_dirs, n_files, cap_files;
	size_t n_listed; /* files listed in the header; later ones are defined by the program */
	uint8_t version, min_length, line_range, opcode_base;
	int8_t line_base;
	uint8_t lengths[256]; /* number of operands, by opcode */
	struct dwarf_cursor program;
};

struct dwarf_unit {
	struct dwarf_image *image;
	uint64_t offset, end, entries; /* offsets in .debug_info: header, end, root entry */
	uint64_t abbrev_offset, id; /* id: links a skeleton and its split unit */
	uint8_t version, type, address_size, offset_size;
	bool rooted; /* the root entry was read; later fields come from it */
	bool partial, split_sought, no_header;
	bool line_only; /* neither the root nor functions have addresses */
	const struct dwarf_abbrevs *abbrevs;
	const char *comp_dir, *dwo_name;
	uint64_t low, stmt_list; /* DWARF_NONE: none */
	uint64_t addr_base, str_offsets_base, rnglists_base, ranges_base;
	uint64_t str_offsets_at, rnglists_at; /* offsets of this unit's part in a package (.dwp) */
	struct dwarf_unit *skeleton; /* in a split unit: the unit that refers to it */
	struct dwarf_unit *split;
	struct dwarf_header *header;
	/* Functions by address: an owner is an index into functions. */
	bool scanned;
	struct dwarf_ranges map;
	uint64_t *functions; /* offsets of their entries */
	size_t n_functions, cap_functions;
};

/* Finds the unit that contains an offset; *out is NULL if there is none.  Returns 0 or -errno. */
int dwarf_unit_at(struct dwarf_image *image, uint64_t offset, struct dwarf_unit **out);
/* Reads the root entry.  Returns 0 or -errno. */
int dwarf_unit_root(struct dwarf_unit *unit);
/* Finds the unit with the entries: unit itself, or its split part.  If the part was not given, *out
 * is unit, and the part's name is added to the missing ones.  Returns 0 or -errno. */
int dwarf_unit_entries(struct dwarf_unit *unit, struct dwarf_unit **out);
/* Adds the ranges of the root entry.  Returns 0 or -errno. */
int dwarf_unit_ranges(struct dwarf_unit *unit, struct dwarf_ranges *ranges, uint32_t owner);
void dwarf_unit_forget(struct dwarf_unit *unit); /* frees data that can be read again */
void dwarf_unit_free(struct dwarf_unit *unit);
/* Reads the headers of all units up to offset `until`.  Returns 0 or -errno. */
int dwarf_units_scan(struct dwarf_image *image, uint64_t until);

/* --- entries (DIEs) --- */

struct dwarf_value {
	uint16_t form; /* 0: missing */
	uint64_t number; /* number in the file; or the section offset of a string or block */
};

struct dwarf_entry {
	const struct dwarf_abbrev *abbrev; /* NULL: end of a list of children */
	struct dwarf_value values[SLOTS];
	uint64_t next; /* offset of the entry after it, child or not */
};

/* Reads the entry at an offset of .debug_info.  Returns 0 or -EBADMSG. */
int dwarf_entry_read(struct dwarf_unit *unit, uint64_t offset, struct dwarf_entry *out);
/* Moves past the values of an entry. */
void dwarf_entry_skip(
	struct dwarf_unit *unit, const struct dwarf_abbrev *abbrev, struct dwarf_cursor *cursor);
void dwarf_value_read(struct dwarf_unit *unit, const struct dwarf_step *step,
	struct dwarf_cursor *cursor, struct dwarf_value *value);
const char *dwarf_value_string(struct dwarf_unit *unit, const struct dwarf_value *value);
bool dwarf_value_address(struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *out);
/* Gets address `index` of the address table. */
bool dwarf_unit_address(struct dwarf_unit *unit, uint64_t index, uint64_t *out);
/* Finds the entry that a value refers to.  Returns false if there is none; *ret is then 0 or
 * -errno. */
bool dwarf_value_entry(struct dwarf_unit *unit, const struct dwarf_value *value,
	struct dwarf_unit **to, uint64_t *offset, int *ret);
/* Adds the ranges of an entry with this owner.  Returns 0 or -errno. */
int dwarf_entry_ranges(struct dwarf_unit *unit, const struct dwarf_entry *entry,
	struct dwarf_ranges *ranges, uint32_t owner);

/* --- functions --- */

struct dwarf_inlined { /* an inlined function, or the function itself */
	uint64_t entry;
	uint32_t parent; /* index of the one around it; 0 is the function, its own parent */
	bool named; /* name and decl_line are set */
	const char *name;
	uint32_t decl_line;
	uint32_t call_line, call_column;
	uint64_t call_file;
};

struct dwarf_function {
	struct dwarf_inlined *inlined; /* the first one is the function */
	size_t n, cap;
	struct dwarf_ranges map; /* owners: indexes of inlined */
};

/* Finds the functions of a unit with entries.  Returns 0 or -errno. */
int dwarf_tree_scan(struct dwarf_unit *unit);
/* Reads the functions inlined into a function.  Returns 0 or -errno. */
int dwarf_tree_function(struct dwarf_unit *unit, uint64_t entry, struct dwarf_function *out);
void dwarf_function_fini(struct dwarf_function *function);
int dwarf_tree_name(struct dwarf_unit *unit, struct dwarf_inlined *inlined);
/* Finds the declaration of a function: *file_unit has the line table with *file; NULL: unknown. */
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
	struct dwarf_ranges map; /* owners: indexes of sequences */
};

/* Gets the header of a unit's line table; NULL if none.  Returns 0 or -errno. */
int dwarf_rows_header(struct dwarf_unit *unit, struct dwarf_header **out);
/* Adds a file that a line program defines, for this run of it.  Returns 0 or -ENOMEM. */
int dwarf_header_define(struct dwarf_header *header, struct dwarf_cursor *cursor);
void dwarf_header_free(struct dwarf_header *header);
/* Reads the rows of the sequences that cover one of n ascending addresses.  Returns 0 or -errno. */
int dwarf_rows_read(
	struct dwarf_unit *unit, const uint64_t *addresses, size_t n, struct dwarf_rows *out);
/* Adds the ranges that have lines.  Returns 0 or -errno. */
int dwarf_rows_ranges(struct dwarf_unit *unit, struct dwarf_ranges *ranges, uint32_t owner);
const struct dwarf_row *dwarf_rows_find(const struct dwarf_rows *rows, uint64_t address);
void dwarf_rows_fini(struct dwarf_rows *rows);
/* Returns the full path of a line table's file as an offset in the builder's pool; 0 if unknown. */
uint32_t dwarf_rows_path(
	struct dwarf_unit *unit, uint64_t file, struct codetab_builder *builder, uint32_t asked);

/* --- one program --- */

struct dwarf {
	uint64_t identity[3][5]; /* identities of the given files */
	struct dwarf_image main, alt;
	bool has_alt;
	struct dwarf_image **parts;
	size_t n_parts, cap_parts;
	/* Units by address; an owner is an index into offsets. */
	struct dwarf_ranges aranges, rest;
	bool aranges_read, rest_read;
	uint64_t *offsets; /* offsets of units, by owner */
	size_t n_offsets, cap_offsets;
	size_t n_listed; /* number of offsets from .debug_aranges */
	char **missing;
	size_t n_missing, cap_missing;
	uint64_t work; /* steps left for this question */
	uint32_t asked; /* number of this question */
};

/* Finds the unit that covers an address; *out is NULL if none.  Returns 0 or -errno. */
int dwarf_index_find(struct dwarf *dwarf, uint64_t address, struct dwarf_unit **out);
/* Looks an address up in .debug_aranges alone.  *unit is the offset of its unit, number *number of
 * the *n units listed there.  *listed is false if no unit there has it.  Returns 0 or -errno. */
int dwarf_index_listed(struct dwarf *dwarf, uint64_t address, bool *listed, uint64_t *unit,
	size_t *number, size_t *n);
void dwarf_index_fini(struct dwarf *dwarf);
void dwarf_begin(struct dwarf *dwarf); /* begins a question */
/* frees the abbreviations if they take too much memory */
void dwarf_trim(struct dwarf_image *image);
int dwarf_missing_add(struct dwarf *dwarf, const char *dir, const char *name);

extern uint64_t dwarf_work_max; /* steps of a question; tests set less */
/* Bytes to unpack from which an answer without inlined functions is worthwhile. */
extern uint64_t dwarf_quick_bytes;

/* Takes n steps of work.  Returns 0, or -ELOOP if the question has used up its steps. */
static inline int dwarf_work(struct dwarf *dwarf, uint64_t n)
{
	if (dwarf->work < n) {
		dwarf->work = 0;
		return -ELOOP;
	}
	dwarf->work -= n;
	return 0;
}

#endif
