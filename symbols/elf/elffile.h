/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elffile.h - the headers of an ELF file, read with pread(2): segments, sections, build-id.
 *
 * Reads files of 32 and 64 bits and both byte orders.  libbfd does not export a symbol's size
 * (st_size is in a private structure), and takes 100 to 200 bytes per symbol.  A profiler needs 24,
 * so libbfd is used in binfile.h only.  Runs in the worker; every number in a file may be hostile.
 */
#ifndef SYMBOLS_ELF_ELFFILE_H
#define SYMBOLS_ELF_ELFFILE_H

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
	bool made_sections; /* symbols' section indexes do not refer to these sections */
	bool has_interpreter; /* PT_INTERP: a program that the dynamic linker loads */
	uint16_t type, machine;
	uint64_t entry; /* virtual address; 0: none */
	/* only PT_LOAD, PT_NOTE, PT_DYNAMIC and PT_GNU_EH_FRAME */
	struct elffile_segment *segments;
	size_t n_segments;
	struct elffile_section *sections;
	size_t n_sections;
	uint32_t names_section;
};

/* Reads the headers; fd is borrowed.  Returns 0 with *elf for elffile_close(); -ENOEXEC if it is no
 * ELF file; -EBADMSG if it is broken; or -errno.  Broken section headers count as none.  A file
 * without section headers gets sections for the dynamic symbols and their names, from the dynamic
 * linker's table. */
int elffile_open(struct elffile *elf, int fd);
void elffile_close(struct elffile *elf);

/* Reads len bytes at offset.  Returns 0; -EBADMSG if the file is shorter; or -errno. */
int elffile_read(const struct elffile *elf, void *out, size_t len, uint64_t offset);

/* Returns why a read in this thread failed since the last call, a positive errno; 0 if none did.  A
 * reader that skips the unread part of a file returns an incomplete answer. */
int elffile_take_read_error(void);

uint16_t elffile_u16(const struct elffile *elf, const void *at);
uint32_t elffile_u32(const struct elffile *elf, const void *at);
uint64_t elffile_u64(const struct elffile *elf, const void *at);

/* Gets the file offset of a virtual address in a loaded segment, if the file has its bytes.  *rest
 * is the number of bytes left in the segment, *exec is true if it is executable.  Returns false if
 * there is none. */
bool elffile_offset(
	const struct elffile *elf, uint64_t vaddr, uint64_t *offset, uint64_t *rest, bool *exec);

/* Like elffile_offset(), but for a segment in memory, where it may be longer than in the file:
 * offsets continue past its end. */
bool elffile_memory_offset(
	const struct elffile *elf, uint64_t vaddr, uint64_t *offset, uint64_t *rest);

/* Gets the GNU build-id, at most max bytes; *len is 0 if there is none.  Returns 0 or -errno. */
int elffile_build_id(const struct elffile *elf, uint8_t *out, size_t max, size_t *len);

/* Gets the GNU build-id from notes in memory.  A zeroed elf means this machine's byte order.
 * Returns false if there is none. */
bool elffile_find_note(const struct elffile *elf, const uint8_t *notes, size_t len, uint8_t *out,
	size_t max, size_t *out_len);

/* Returns true if the name of a section begins with these bytes (at most 32). */
bool elffile_section_begins(
	const struct elffile *elf, const struct elffile_section *section, const char *prefix);

/* Returns the section of that name (at most 31 bytes) of any type; NULL if none. */
const struct elffile_section *elffile_find_section(const struct elffile *elf, const char *name);

/* Returns true if the linker marked the file as a program (DF_1_PIE), even one without a dynamic
 * linker. */
bool elffile_is_pie(const struct elffile *elf);

/* Gets the contents of .gnu_debuglink: a file name (at most size - 1 bytes) and its CRC-32.
 * Returns false if there is none, or if the name contains a directory. */
bool elffile_debug_link(const struct elffile *elf, char *name, size_t size, uint32_t *crc);

/* Returns true if an executable section has this name, or this name and a dot as a prefix. */
bool elffile_has_code_section(const struct elffile *elf, const char *name);

#endif
