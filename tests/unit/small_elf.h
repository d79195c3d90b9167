/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * small_elf.h - makes ELF files of a few hundred bytes, of either class and byte order, for tests.
 *
 *   file offset   address    what
 *   0x200..0x5ff  0x10200    .text, section 1, executable
 *   0x600..0x6ff  0x20600    .data, section 2
 *   0x1c0                    build-id note: 01 02 ... 14
 */
#ifndef TESTS_SMALL_ELF_H
#define TESTS_SMALL_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALL_ELF_BYTES 8192
#define SMALL_TEXT_ADDR 0x10200u
#define SMALL_TEXT_AT 0x200u

struct small_symbol {
	const char *name;
	uint64_t value, size;
	uint8_t info;
	uint16_t section;
};

struct small_elf {
	uint8_t bytes[SMALL_ELF_BYTES];
	size_t len;
	bool is64, big;
};

static inline void small_put(struct small_elf *elf, size_t at, unsigned int width, uint64_t value)
{
	for (unsigned int i = 0; i < width; i++)
		elf->bytes[at + (elf->big ? width - 1 - i : i)] = (uint8_t)(value >> (8 * i));
}

#define SMALL_PUT(elf, at, S, f, value)                                \
	((elf)->is64 ? small_put((elf), (at) + offsetof(Elf64_##S, f), \
			       sizeof(((Elf64_##S *)0)->f), (value))   \
		     : small_put((elf), (at) + offsetof(Elf32_##S, f), \
			       sizeof(((Elf32_##S *)0)->f), (value)))

static inline void small_segment(struct small_elf *elf, size_t i, uint32_t type, uint32_t flags,
	uint64_t offset, uint64_t addr, uint64_t len)
{
	size_t at = 0x40 + i * (elf->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));

	SMALL_PUT(elf, at, Phdr, p_type, type);
	SMALL_PUT(elf, at, Phdr, p_flags, flags);
	SMALL_PUT(elf, at, Phdr, p_offset, offset);
	SMALL_PUT(elf, at, Phdr, p_vaddr, addr);
	SMALL_PUT(elf, at, Phdr, p_filesz, len);
	SMALL_PUT(elf, at, Phdr, p_memsz, len);
}

static inline void small_section(struct small_elf *elf, size_t headers, size_t i, uint32_t name,
	uint32_t type, uint64_t flags, uint64_t addr, uint64_t offset, uint64_t len, uint32_t link)
{
	size_t at = headers + i * (elf->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));

	SMALL_PUT(elf, at, Shdr, sh_name, name);
	SMALL_PUT(elf, at, Shdr, sh_type, type);
	SMALL_PUT(elf, at, Shdr, sh_flags, flags);
	SMALL_PUT(elf, at, Shdr, sh_addr, addr);
	SMALL_PUT(elf, at, Shdr, sh_offset, offset);
	SMALL_PUT(elf, at, Shdr, sh_size, len);
	SMALL_PUT(elf, at, Shdr, sh_link, link);
}

/* symbols and their names together must fit in about 5 KB. */
static inline void small_elf_make(
	struct small_elf *elf, bool is64, bool big, const struct small_symbol *symbols, size_t n)
{
	static const char names[] = "\0.text\0.data\0.symtab\0.strtab\0.shstrtab";
	const size_t each = is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	const size_t syms_at = 0x700, strings_at = syms_at + (n + 1) * each;
	size_t strings = 1;

	memset(elf, 0, sizeof(*elf));
	elf->is64 = is64;
	elf->big = big;
	memcpy(elf->bytes, ELFMAG, SELFMAG);
	elf->bytes[EI_CLASS] = is64 ? ELFCLASS64 : ELFCLASS32;
	elf->bytes[EI_DATA] = big ? ELFDATA2MSB : ELFDATA2LSB;
	elf->bytes[EI_VERSION] = EV_CURRENT;

	for (size_t i = 0; i < n; i++) {
		size_t at = syms_at + (i + 1) * each;
		size_t len = strlen(symbols[i].name) + 1;
		SMALL_PUT(elf, at, Sym, st_name, strings);
		SMALL_PUT(elf, at, Sym, st_value, symbols[i].value);
		SMALL_PUT(elf, at, Sym, st_size, symbols[i].size);
		SMALL_PUT(elf, at, Sym, st_info, symbols[i].info);
		SMALL_PUT(elf, at, Sym, st_shndx, symbols[i].section);
		memcpy(elf->bytes + strings_at + strings, symbols[i].name, len);
		strings += len;
	}
	size_t names_at = strings_at + strings;
	memcpy(elf->bytes + names_at, names, sizeof(names));
	size_t headers = (names_at + sizeof(names) + 7) & ~(size_t)7;

	small_section(elf, headers, 1, 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, SMALL_TEXT_ADDR,
		SMALL_TEXT_AT, 0x400, 0);
	small_section(
		elf, headers, 2, 7, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x20600, 0x600, 0x100, 0);
	small_section(elf, headers, 3, 13, SHT_SYMTAB, 0, 0, syms_at, (n + 1) * each, 4);
	small_section(elf, headers, 4, 21, SHT_STRTAB, 0, 0, strings_at, strings, 0);
	small_section(elf, headers, 5, 29, SHT_STRTAB, 0, 0, names_at, sizeof(names), 0);
	size_t section_bytes = is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	elf->len = headers + 6 * section_bytes;

	small_segment(elf, 0, PT_LOAD, PF_R | PF_X, SMALL_TEXT_AT, SMALL_TEXT_ADDR, 0x400);
	small_segment(elf, 1, PT_LOAD, PF_R | PF_W, 0x600, 0x20600, 0x100);
	small_segment(elf, 2, PT_NOTE, PF_R, 0x1c0, 0, 36);
	small_put(elf, 0x1c0, 4, 4);
	small_put(elf, 0x1c4, 4, 20);
	small_put(elf, 0x1c8, 4, NT_GNU_BUILD_ID);
	memcpy(elf->bytes + 0x1cc, "GNU", 4);
	for (unsigned int i = 0; i < 20; i++)
		elf->bytes[0x1d0 + i] = (uint8_t)(i + 1);

	SMALL_PUT(elf, 0, Ehdr, e_type, ET_DYN);
	SMALL_PUT(elf, 0, Ehdr, e_machine,
		is64 ? (big ? EM_PPC64 : EM_X86_64) : (big ? EM_MIPS : EM_386));
	SMALL_PUT(elf, 0, Ehdr, e_version, EV_CURRENT);
	SMALL_PUT(elf, 0, Ehdr, e_phoff, 0x40);
	SMALL_PUT(elf, 0, Ehdr, e_shoff, headers);
	SMALL_PUT(elf, 0, Ehdr, e_ehsize, is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
	SMALL_PUT(elf, 0, Ehdr, e_phentsize, is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	SMALL_PUT(elf, 0, Ehdr, e_phnum, 3);
	SMALL_PUT(elf, 0, Ehdr, e_shentsize, section_bytes);
	SMALL_PUT(elf, 0, Ehdr, e_shnum, 6);
	SMALL_PUT(elf, 0, Ehdr, e_shstrndx, 5);
}

/* Returns an fd of a file with the first len bytes, or -1. */
static inline int small_elf_file(const struct small_elf *elf, size_t len)
{
	int fd = memfd_create("small-elf", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, elf->bytes, len) != (ssize_t)len) {
		close(fd);
		return -1;
	}
	return fd;
}

#endif
