/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elffile.h - the headers of an ELF file, read with pread(2): segments, sections, build-id.
 *
 * 32 and 64 bits, both byte orders.  Why not libbfd: it does not export a symbol's size (st_size is in
 * a private structure), and takes 100 to 200 bytes a symbol where a profiler needs 24.  It is used for what it
 * does well, in binfile.h.  Runs in the worker; every number in a file is taken for hostile.
 */
#ifndef SYMBOLS_ELFFILE_H
#define SYMBOLS_ELFFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELFFILE_SECTIONS_MAX 65536

struct elffile_segment {
	uint64_t offset, vaddr, filesz, memsz;
	uint32_t type;
	bool exec;
};

struct elffile_section {
	uint64_t flags, addr, offset, size, entsize, align;
	uint32_t type, link, info, name;
};

struct elffile {
	int fd; /* borrowed */
	uint64_t len;
	bool is64, swapped;
	bool made_sections; /* the sections are not those that symbols count by */
	bool has_interpreter; /* of a program that the dynamic linker loads */
	uint16_t type, machine;
	uint64_t entry; /* virtual address; 0: none */
	struct elffile_segment *segments; /* of PT_LOAD, PT_NOTE, PT_DYNAMIC and PT_GNU_EH_FRAME */
	size_t n_segments;
	struct elffile_section *sections;
	size_t n_sections;
	uint32_t names_section;
};

/* Read the headers.  0 with elf to be passed to elffile_close(); -ENOEXEC for what is no ELF file,
 * -EBADMSG for a broken one, or -errno.  Broken section headers are as good as none.  A file without
 * any gets sections for the dynamic symbols and their names, from the dynamic linker's table. */
int elffile_open(struct elffile *elf, int fd);
void elffile_close(struct elffile *elf);

/* Read len bytes at offset.  0; -EBADMSG where the file is shorter; -errno. */
int elffile_read(const struct elffile *elf, void *out, size_t len, uint64_t offset);

/* Why a read(2) failed in this thread since the last call, a positive errno; 0: none did.  A reader
 * that goes on without that part of a file gives an answer that lacks something. */
int elffile_take_read_error(void);

uint16_t elffile_u16(const struct elffile *elf, const void *at);
uint32_t elffile_u32(const struct elffile *elf, const void *at);
uint64_t elffile_u64(const struct elffile *elf, const void *at);

/* File offset of a virtual address that a loaded segment has in the file, and how many bytes of the
 * segment follow. */
bool elffile_offset(
	const struct elffile *elf, uint64_t vaddr, uint64_t *offset, uint64_t *rest, bool *exec);

/* The same in memory, where a segment may be longer than in the file: offsets go on behind it. */
bool elffile_memory_offset(
	const struct elffile *elf, uint64_t vaddr, uint64_t *offset, uint64_t *rest);

/* The GNU build-id, at most max bytes of it; *len 0 when there is none.  0 or -errno. */
int elffile_build_id(const struct elffile *elf, uint8_t *out, size_t max, size_t *len);

/* The same among notes in memory: of this machine's order with a zeroed elf. */
bool elffile_find_note(const struct elffile *elf, const uint8_t *notes, size_t len, uint8_t *out,
	size_t max, size_t *out_len);

/* Does the name of a section begin with these bytes? */
bool elffile_section_begins(
	const struct elffile *elf, const struct elffile_section *section, const char *prefix);

/* The section of that name (at most 31 bytes), whatever its type; NULL: none. */
const struct elffile_section *elffile_find_section(const struct elffile *elf, const char *name);

/* Whether the linker says that it is a program (DF_1_PIE), as of those that need no dynamic
 * linker. */
bool elffile_is_pie(const struct elffile *elf);

/* What .gnu_debuglink names: a file's name (at most size - 1 bytes) and its CRC-32.  False where there is none, or one
 * that is no mere name. */
bool elffile_debug_link(const struct elffile *elf, char *name, size_t size, uint32_t *crc);

/* Is there an executable section with this name or one that begins with it and a dot? */
bool elffile_has_code_section(const struct elffile *elf, const char *name);

#endif
