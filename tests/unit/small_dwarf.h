/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * small_dwarf.h - makes an ELF file with the debug information of this program, in DWARF 4 or 5:
 *
 *   0x1000..0x103f  outer, main.c:9; lines 10 (0x1000), 11 (0x1018), 12 (0x1024) of main.c
 *     0x1010..0x1017, 0x1020..0x1023  inner, called at main.c:15, column 7, inside a block;
 *                   lines 20 (0x1010), 21 (0x1020) of inc/inner.h
 *       0x1012..0x1013  deep, called at inner.h:300; line 30; its entry names itself as its origin
 *   0x1040..0x104f  second; line 40 of main.c up to 0x1047, then none
 *
 * A second sequence of lines goes from 0 to 0x2000, like that of code which the linker left out.
 */
#ifndef TESTS_SMALL_DWARF_H
#define TESTS_SMALL_DWARF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum small_pack { SMALL_PLAIN, SMALL_ZLIB, SMALL_ZDEBUG };

struct small_bytes {
	uint8_t at[4096];
	size_t n;
};

struct small_dwarf {
	unsigned int version;
	bool split; /* the program has a skeleton; the rest is in the other file */
	struct small_bytes info, abbrev, line, ranges, skeleton;
};

static inline void put(struct small_bytes *bytes, unsigned int width, uint64_t value)
{
	for (unsigned int i = 0; i < width; i++)
		bytes->at[bytes->n++] = (uint8_t)(value >> (8 * i));
}

static inline void put_bytes(struct small_bytes *bytes, const void *from, size_t n)
{
	memcpy(bytes->at + bytes->n, from, n);
	bytes->n += n;
}

static inline void put_string(struct small_bytes *bytes, const char *text)
{
	put_bytes(bytes, text, strlen(text) + 1);
}

/* Sets the length at an offset to the number of bytes after it. */
static inline void put_length(struct small_bytes *bytes, size_t at)
{
	uint32_t len = (uint32_t)(bytes->n - at - 4);

	memcpy(bytes->at + at, &len, 4);
}

enum {
	ADDR = 1,
	DATA2 = 5,
	DATA4 = 6,
	STRING = 8,
	DATA1 = 11,
	REF4 = 19,
	OFFSET = 23,
	PRESENT = 25
};

static inline void small_abbrevs(struct small_dwarf *dwarf)
{
	/* each: code, tag, children; pairs of attribute and form */
	static const uint8_t table[] = {1, 0x11, 1, 0x03, STRING, 0x1b, STRING, 0x10, OFFSET, 0x11,
		ADDR, 0x12, DATA4, 0, 0, 2, 0x2e, 0, 0x6e, STRING, 0x03, STRING, 0x3b, DATA1, 0x3c,
		PRESENT, 0, 0, 3, 0x2e, 0, 0x47, REF4, 0x20, DATA1, 0, 0, 4, 0x2e, 1, 0x03, STRING,
		0x3a, DATA1, 0x3b, DATA1, 0x11, ADDR, 0x12, DATA4, 0, 0, 5, 0x1d, 1, 0x31, REF4,
		0x55, OFFSET, 0x58, DATA1, 0x59, DATA1, 0x57, DATA1, 0, 0, 6, 0x1d, 0, 0x31, REF4,
		0x11, ADDR, 0x12, DATA4, 0x58, DATA1, 0x59, DATA2, 0, 0, 7, 0x0b, 1, 0, 0, 8, 0x2e,
		0, 0x31, REF4, 0x03, STRING, 0, 0,
		/* Skeletons: name of the other file, DW_AT_GNU_dwo_id. */
		9, 0x11, 0, 0x76, STRING, 0x1b, STRING, 0x10, OFFSET, 0x11, ADDR, 0x12, DATA4, 0, 0,
		10, 0x11, 0, 0xb0, 0x42, STRING, 0x1b, STRING, 0x10, OFFSET, 0x11, ADDR, 0x12,
		DATA4, 0xb1, 0x42, 7, 0, 0, 11, 0x11, 1, 0x03, STRING, 0x1b, STRING, 0xb1, 0x42, 7,
		0, 0, 12, 0x11, 1, 0x03, STRING, 0x1b, STRING, 0, 0, 0};

	put_bytes(&dwarf->abbrev, table, sizeof(table));
}

static inline void small_unit_header(
	struct small_dwarf *dwarf, struct small_bytes *info, unsigned int type)
{
	put(info, 4, 0);
	put(info, 2, dwarf->version);
	if (dwarf->version >= 5) {
		put(info, 1, type);
		put(info, 1, 8);
		put(info, 4, 0);
		if (type != 1)
			put(info, 8, 0x1234);
	} else {
		put(info, 4, 0);
		put(info, 1, 8);
	}
}

static inline void small_skeleton(struct small_dwarf *dwarf)
{
	struct small_bytes *info = &dwarf->skeleton;

	small_unit_header(dwarf, info, 4);
	put(info, 1, dwarf->version >= 5 ? 9 : 10);
	put_string(info, "main.dwo");
	put_string(info, "/src");
	put(info, 4, 0);
	put(info, 8, 0x1000);
	put(info, 4, 0x50);
	if (dwarf->version < 5)
		put(info, 8, 0x1234);
	put_length(info, 0);
}

static inline void small_info(struct small_dwarf *dwarf)
{
	struct small_bytes *info = &dwarf->info;

	small_unit_header(dwarf, info, dwarf->split ? 5 : 1);
	put(info, 1, !dwarf->split ? 1 : dwarf->version >= 5 ? 12 : 11);
	put_string(info, "main.c");
	put_string(info, "/src");
	if (!dwarf->split) {
		put(info, 4, 0);
		put(info, 8, 0x1000);
		put(info, 4, 0x50);
	} else if (dwarf->version < 5) {
		put(info, 8, 0x1234);
	}
	size_t declared = info->n;
	put(info, 1, 2);
	put_string(info, "_Z5innerv");
	put_string(info, "inner");
	put(info, 1, 19);
	size_t inner = info->n;
	put(info, 1, 3);
	put(info, 4, declared);
	put(info, 1, 1);
	size_t deep = info->n;
	put(info, 1, 8);
	put(info, 4, deep);
	put_string(info, "deep");

	put(info, 1, 4);
	put_string(info, "outer");
	put(info, 1, 1);
	put(info, 1, 9);
	put(info, 8, 0x1000);
	put(info, 4, 0x40);
	put(info, 1, 7);
	put(info, 1, 5);
	put(info, 4, inner);
	put(info, 4, dwarf->version >= 5 ? 12 : 0);
	put(info, 1, 1);
	put(info, 1, 15);
	put(info, 1, 7);
	put(info, 1, 6);
	put(info, 4, deep);
	put(info, 8, 0x1012);
	put(info, 4, 2);
	put(info, 1, 2);
	put(info, 2, 300);
	put(info, 3, 0); /* ends of inner, the block, outer */

	put(info, 1, 4);
	put_string(info, "second");
	put(info, 1, 1);
	put(info, 1, 39);
	put(info, 8, 0x1040);
	put(info, 4, 0x10);
	put(info, 2, 0);
	put_length(info, 0);
}

static inline void small_ranges(struct small_dwarf *dwarf)
{
	static const uint8_t list[] = {4, 0x10, 0x18, 4, 0x20, 0x24, 0};
	static const uint64_t pairs[] = {0x10, 0x18, 0x20, 0x24, 0, 0};

	if (dwarf->version < 5) {
		put_bytes(&dwarf->ranges, pairs, sizeof(pairs));
		return;
	}
	put(&dwarf->ranges, 4, 0);
	put(&dwarf->ranges, 2, 5);
	put(&dwarf->ranges, 2, 8);
	put(&dwarf->ranges, 4, 0);
	put_bytes(&dwarf->ranges, list, sizeof(list));
	put_length(&dwarf->ranges, 0);
}

static inline void small_sequence(struct small_bytes *line, uint64_t address)
{
	put(line, 3, 0x020900); /* set_address */
	put(line, 8, address);
}

/* Emits advance_pc, advance_line, set_file, set_column, copy. */
static inline void small_row(
	struct small_bytes *line, unsigned int pc, int step, unsigned int file, unsigned int column)
{
	put(line, 1, 2);
	put(line, 1, pc);
	put(line, 1, 3);
	put(line, 1, (unsigned int)step & 0x7f);
	put(line, 1, 4);
	put(line, 1, file);
	put(line, 1, 5);
	put(line, 1, column);
	put(line, 1, 1);
}

/* Before version 5: file names include the directory of the compilation. */
static bool small_whole_names;

static inline void small_lines(struct small_dwarf *dwarf)
{
	static const uint8_t lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	struct small_bytes *line = &dwarf->line;

	put(line, 4, 0);
	put(line, 2, dwarf->version);
	if (dwarf->version >= 5)
		put(line, 2, 8);
	size_t len_at = line->n;
	put(line, 4, 0);
	put(line, 2, 0x0101); /* instructions of one byte, of one operation */
	put(line, 4, 0x0d0efb01); /* is_stmt, line_base -5, line_range 14, opcode_base 13 */
	put_bytes(line, lengths, sizeof(lengths));
	if (dwarf->version >= 5) {
		put(line, 4, 0x02080101); /* directories: path, as a string; two entries */
		put_string(line, "/src");
		put_string(line, "inc");
		put(line, 6,
			0x030b02080102); /* files: path, and a directory in a byte; three entries */
	} else {
		put_string(line, small_whole_names ? "/src/inc" : "inc");
		put(line, 1, 0);
	}
	for (int i = dwarf->version >= 5 ? 0 : 1; i < 3; i++) {
		put_string(line,
			i == 2				 ? "inner.h"
				: small_whole_names && i ? "/src/main.c"
							 : "main.c");
		put(line, 1, i == 2);
		if (dwarf->version < 5)
			put(line, 2, 0);
	}
	if (dwarf->version < 5)
		put(line, 1, 0);
	put_length(line, len_at);
	small_sequence(line, 0x1000);
	small_row(line, 0, 9, 1, 1); /* line 10 */
	small_row(line, 0x10, 10, 2, 5); /* line 20 */
	small_row(line, 2, 10, 2, 6); /* line 30 */
	small_row(line, 2, -10, 2, 5); /* line 20 */
	small_row(line, 4, -9, 1, 1); /* line 11 */
	small_row(line, 8, 10, 2, 5); /* line 21 */
	small_row(line, 4, -9, 1, 1); /* line 12 */
	small_row(line, 0x1c, 28, 1, 1); /* line 40 */
	put(line, 5, 0x0101000802); /* up to 0x1048: end_sequence */
	small_sequence(line, 0);
	small_row(line, 0, 40, 1, 1);
	put(line, 6, 0x010100400002 | 0x8000); /* advance by 0x2000 bytes */
	put_length(line, 0);
}

static inline void small_dwarf_make(struct small_dwarf *dwarf, unsigned int version, bool split)
{
	memset(dwarf, 0, sizeof(*dwarf));
	dwarf->version = version;
	dwarf->split = split;
	small_abbrevs(dwarf);
	if (split)
		small_skeleton(dwarf);
	small_info(dwarf);
	small_ranges(dwarf);
	small_lines(dwarf);
}

struct small_file {
	uint8_t at[32768];
	size_t n, names_at;
	char names[1024];
	size_t names_len;
	Elf64_Shdr sections[16];
	unsigned int n_sections;
};

static inline void small_file_add(struct small_file *file, const char *name,
	const struct small_bytes *bytes, enum small_pack pack)
{
	Elf64_Shdr *section = &file->sections[file->n_sections++];
	uLongf len = sizeof(file->at) - file->n - 64;
	uint8_t *to = file->at + file->n;

	*section = (Elf64_Shdr){.sh_name = (Elf64_Word)file->names_len,
		.sh_type = SHT_PROGBITS,
		.sh_offset = file->n};
	file->names[file->names_len++] = '.';
	if (pack == SMALL_ZDEBUG)
		file->names[file->names_len++] = 'z';
	strcpy(file->names + file->names_len, name);
	file->names_len += strlen(name) + 1;
	if (pack == SMALL_PLAIN) {
		memcpy(to, bytes->at, bytes->n);
		section->sh_size = bytes->n;
	} else {
		Elf64_Chdr head = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = bytes->n};
		size_t skip = pack == SMALL_ZLIB ? sizeof(head) : 12;
		memset(to, 0, 12);
		memcpy(to, "ZLIB", 4);
		to[10] = (uint8_t)(bytes->n >> 8);
		to[11] = (uint8_t)bytes->n;
		if (pack == SMALL_ZLIB)
			memcpy(to, &head, sizeof(head));
		compress(to + skip, &len, bytes->at, bytes->n);
		section->sh_size = skip + len;
		section->sh_flags = pack == SMALL_ZLIB ? SHF_COMPRESSED : 0;
	}
	file->n += (section->sh_size + 7) & ~(size_t)7;
}

static inline void small_file_end(struct small_file *file, uint16_t type)
{
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = type,
		.e_machine = EM_X86_64,
		.e_phoff = 64,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr)};
	Elf64_Phdr code = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x1000, .p_filesz = 0x100};

	file->sections[file->n_sections] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = file->n, .sh_size = file->names_len};
	head.e_shstrndx = (uint16_t)file->n_sections++;
	memcpy(file->at + file->n, file->names, file->names_len);
	file->n = (file->n + file->names_len + 7) & ~(size_t)7;
	head.e_shoff = file->n;
	head.e_shnum = (uint16_t)file->n_sections;
	memcpy(file->at + file->n, file->sections, file->n_sections * sizeof(Elf64_Shdr));
	file->n += file->n_sections * sizeof(Elf64_Shdr);
	memcpy(file->at, &head, sizeof(head));
	memcpy(file->at + 64, &code, sizeof(code));
}

/* The program.  If it is split, this is the part that is linked into it. */
static inline void small_program(struct small_file *file, const struct small_dwarf *dwarf,
	enum small_pack pack, uint16_t type)
{
	memset(file, 0, sizeof(*file));
	file->n = 128;
	file->n_sections = 1;
	file->names_len = 1;
	small_file_add(file, "debug_info", dwarf->split ? &dwarf->skeleton : &dwarf->info, pack);
	small_file_add(file, "debug_abbrev", &dwarf->abbrev, pack);
	small_file_add(file, "debug_line", &dwarf->line, pack);
	if (dwarf->version < 5 || !dwarf->split)
		small_file_add(file, dwarf->version >= 5 ? "debug_rnglists" : "debug_ranges",
			&dwarf->ranges, pack);
	small_file_end(file, type);
}

static inline void small_part(struct small_file *file, const struct small_dwarf *dwarf)
{
	memset(file, 0, sizeof(*file));
	file->n = 128;
	file->n_sections = 1;
	file->names_len = 1;
	small_file_add(file, "debug_info.dwo", &dwarf->info, SMALL_PLAIN);
	small_file_add(file, "debug_abbrev.dwo", &dwarf->abbrev, SMALL_PLAIN);
	if (dwarf->version >= 5)
		small_file_add(file, "debug_rnglists.dwo", &dwarf->ranges, SMALL_PLAIN);
	small_file_end(file, ET_REL);
}

static inline int small_file_fd(const struct small_file *file)
{
	int fd = memfd_create("dwarf", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, file->at, file->n) != (ssize_t)file->n) {
		close(fd);
		return -1;
	}
	return fd;
}

#endif
