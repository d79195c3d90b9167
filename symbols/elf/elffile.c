/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elffile.c - ELF headers, bounds-checked.
 */
#include "symbols/elf/elffile.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_MAX_BYTES 65536u
#define DYNAMIC_MAX 1024u /* entries of PT_DYNAMIC */
#define DYNAMIC_SYMBOLS_MAX (1u << 20)
#define WORDS 1024u /* words of a hash table per read */

static _Thread_local int read_error;

int elffile_take_read_error(void)
{
	const int error = read_error;

	read_error = 0;
	return error;
}

int elffile_read(const struct elffile *elf, void *out, size_t len, uint64_t offset)
{
	char *to = out;

	if (offset > elf->len || len > elf->len - offset)
		return -EBADMSG;
	while (len > 0) {
		ssize_t n = pread(elf->fd, to, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			read_error = errno;
			return -errno;
		}
		if (n == 0)
			return -EBADMSG;
		to += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

uint16_t elffile_u16(const struct elffile *elf, const void *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return elf->swapped ? __builtin_bswap16(value) : value;
}

uint32_t elffile_u32(const struct elffile *elf, const void *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return elf->swapped ? __builtin_bswap32(value) : value;
}

uint64_t elffile_u64(const struct elffile *elf, const void *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return elf->swapped ? __builtin_bswap64(value) : value;
}

/* Read a field at its place in the structure of the file's class; FIELD also uses its width. */
#define FIELD16(elf, p, S, f) \
	elffile_u16(elf, (p) + ((elf)->is64 ? offsetof(Elf64_##S, f) : offsetof(Elf32_##S, f)))
#define FIELD32(elf, p, S, f) \
	elffile_u32(elf, (p) + ((elf)->is64 ? offsetof(Elf64_##S, f) : offsetof(Elf32_##S, f)))
#define FIELD(elf, p, S, f)                                           \
	((elf)->is64 ? elffile_u64(elf, (p) + offsetof(Elf64_##S, f)) \
		     : elffile_u32(elf, (p) + offsetof(Elf32_##S, f)))

static int read_segments(struct elffile *elf, uint64_t at, size_t each, size_t n)
{
	const size_t len = elf->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);

	if (n == 0)
		return 0;
	if (each < len || each > 1024 || at > elf->len || n > (elf->len - at) / each)
		return -EBADMSG;
	elf->segments = calloc(n, sizeof(*elf->segments));
	if (!elf->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint8_t raw[sizeof(Elf64_Phdr)];
		int ret = elffile_read(elf, raw, len, at + i * each);
		if (ret < 0)
			return ret;
		struct elffile_segment segment = {
			.type = FIELD32(elf, raw, Phdr, p_type),
			.offset = FIELD(elf, raw, Phdr, p_offset),
			.vaddr = FIELD(elf, raw, Phdr, p_vaddr),
			.filesz = FIELD(elf, raw, Phdr, p_filesz),
			.memsz = FIELD(elf, raw, Phdr, p_memsz),
			.exec = FIELD32(elf, raw, Phdr, p_flags) & PF_X,
		};
		elf->has_interpreter |= segment.type == PT_INTERP;
		if ((segment.type != PT_LOAD && segment.type != PT_NOTE &&
			    segment.type != PT_GNU_EH_FRAME && segment.type != PT_DYNAMIC) ||
			segment.offset > elf->len)
			continue;
		if (segment.filesz > elf->len - segment.offset)
			segment.filesz = elf->len - segment.offset;
		elf->segments[elf->n_segments++] = segment;
	}
	return 0;
}

/* Makes segments from sections: perf inject wrote files without segments before Linux 6.1.
 * Sections of object files have no addresses yet. */
static int make_segments(struct elffile *elf)
{
	elf->segments = calloc(elf->n_sections + 1, sizeof(*elf->segments));
	if (!elf->segments)
		return -ENOMEM;
	for (size_t i = 0; i < elf->n_sections; i++) {
		const struct elffile_section *section = &elf->sections[i];
		const bool has_bytes = section->type != SHT_NOBITS;

		if (!(section->flags & SHF_ALLOC) || section->type == SHT_NULL ||
			section->flags & SHF_TLS || section->offset > elf->len ||
			(has_bytes && section->size > elf->len - section->offset))
			continue;
		elf->segments[elf->n_segments++] = (struct elffile_segment){
			.type = PT_LOAD,
			.offset = section->offset,
			.vaddr = section->addr,
			.filesz = has_bytes ? section->size : 0,
			.memsz = section->size,
			.exec = section->flags & SHF_EXECINSTR,
		};
	}
	return 0;
}

static void parse_section(
	const struct elffile *elf, const uint8_t *raw, struct elffile_section *out)
{
	out->name = FIELD32(elf, raw, Shdr, sh_name);
	out->type = FIELD32(elf, raw, Shdr, sh_type);
	out->flags = FIELD(elf, raw, Shdr, sh_flags);
	out->addr = FIELD(elf, raw, Shdr, sh_addr);
	out->offset = FIELD(elf, raw, Shdr, sh_offset);
	out->size = FIELD(elf, raw, Shdr, sh_size);
	out->link = FIELD32(elf, raw, Shdr, sh_link);
	out->info = FIELD32(elf, raw, Shdr, sh_info);
	out->entsize = FIELD(elf, raw, Shdr, sh_entsize);
	out->align = FIELD(elf, raw, Shdr, sh_addralign);
}

static int read_sections(struct elffile *elf, uint64_t at, size_t each, size_t n)
{
	const size_t len = elf->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint8_t raw[sizeof(Elf64_Shdr)];
	struct elffile_section first;

	if (at == 0 || each < len || each > 1024)
		return 0;
	if (elffile_read(elf, raw, len, at) < 0)
		return 0;
	parse_section(elf, raw, &first);
	/* If the number of sections exceeds the header's 16 bits, it is in the first section. */
	if (n == 0)
		n = first.size < ELFFILE_SECTIONS_MAX ? (size_t)first.size : ELFFILE_SECTIONS_MAX;
	if (elf->names_section == SHN_XINDEX)
		elf->names_section = first.link;
	if (n > (elf->len - at) / each)
		n = (size_t)((elf->len - at) / each);
	if (n == 0)
		return 0;
	elf->sections = calloc(n, sizeof(*elf->sections));
	if (!elf->sections)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (elffile_read(elf, raw, len, at + i * each) < 0)
			break;
		parse_section(elf, raw, &elf->sections[elf->n_sections++]);
	}
	return 0;
}

/* --- the dynamic symbols of a file without section headers --- */

struct dynamic {
	uint64_t symbols, strings, strings_len, hash, gnu_hash; /* addresses; 0: none */
	uint64_t flags; /* DF_1_* */
};

static bool read_at(const struct elffile *elf, void *out, size_t len, uint64_t vaddr)
{
	uint64_t offset, rest;
	bool exec;

	return elffile_offset(elf, vaddr, &offset, &rest, &exec) && rest >= len &&
		elffile_read(elf, out, len, offset) == 0;
}

static bool read_word_at(const struct elffile *elf, uint64_t vaddr, uint32_t *word)
{
	uint8_t raw[4];

	if (!read_at(elf, raw, sizeof(raw), vaddr))
		return false;
	*word = elffile_u32(elf, raw);
	return true;
}

static bool read_dynamic(const struct elffile *elf, struct dynamic *dynamic)
{
	const size_t each = elf->is64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	const struct elffile_segment *segment;
	uint8_t raw[sizeof(Elf64_Dyn)];
	size_t at = 0;

	*dynamic = (struct dynamic){0};
	while (at < elf->n_segments && elf->segments[at].type != PT_DYNAMIC)
		at++;
	if (at == elf->n_segments)
		return false;
	segment = &elf->segments[at];
	for (size_t i = 0; i < DYNAMIC_MAX && i < segment->filesz / each; i++) {
		if (elffile_read(elf, raw, each, segment->offset + i * each) < 0)
			return false;
		const uint64_t tag = FIELD(elf, raw, Dyn, d_tag);
		const uint64_t value = FIELD(elf, raw, Dyn, d_un);
		if (tag == DT_NULL)
			break;
		if (tag == DT_SYMTAB)
			dynamic->symbols = value;
		else if (tag == DT_STRTAB)
			dynamic->strings = value;
		else if (tag == DT_STRSZ)
			dynamic->strings_len = value;
		else if (tag == DT_HASH)
			dynamic->hash = value;
		else if (tag == DT_GNU_HASH)
			dynamic->gnu_hash = value;
		else if (tag == DT_FLAGS_1)
			dynamic->flags = value;
	}
	return dynamic->symbols && dynamic->strings;
}

bool elffile_is_pie(const struct elffile *elf)
{
	struct dynamic dynamic;

	(void)read_dynamic(elf, &dynamic);
	return dynamic.flags & DF_1_PIE;
}

/* Reads the words of a table one by one. */
struct words {
	const struct elffile *elf;
	uint64_t at; /* address of the next */
	uint8_t raw[WORDS * 4];
	size_t n, next;
};

static bool next_word(struct words *words, uint32_t *word)
{
	uint64_t offset, rest;
	bool exec;

	if (words->next == words->n) {
		if (!elffile_offset(words->elf, words->at, &offset, &rest, &exec))
			return false;
		words->n = rest / 4 < WORDS ? (size_t)(rest / 4) : WORDS;
		words->next = 0;
		if (!words->n || elffile_read(words->elf, words->raw, words->n * 4, offset) < 0)
			return false;
		words->at += words->n * 4;
	}
	*word = elffile_u32(words->elf, words->raw + 4 * words->next++);
	return true;
}

/* Counts by DT_GNU_HASH: the last symbol ends the chain that begins last. */
static uint64_t count_by_gnu_hash(const struct elffile *elf, uint64_t at)
{
	uint32_t n_buckets, first, bloom, last = 0, word = 0;

	if (!read_word_at(elf, at, &n_buckets) || !read_word_at(elf, at + 4, &first) ||
		!read_word_at(elf, at + 8, &bloom) || n_buckets > DYNAMIC_SYMBOLS_MAX)
		return 0;
	at += 16 + (uint64_t)bloom * (elf->is64 ? 8 : 4);
	struct words buckets = {.elf = elf, .at = at};
	for (uint32_t i = 0; i < n_buckets; i++) {
		if (!next_word(&buckets, &word))
			return 0;
		if (word > last)
			last = word;
	}
	if (last < first)
		return first; /* no symbol is defined */
	at += ((uint64_t)n_buckets + last - first) * 4;
	struct words chain = {.elf = elf, .at = at};
	for (uint64_t i = last; i < DYNAMIC_SYMBOLS_MAX; i++) {
		if (!next_word(&chain, &word))
			return 0;
		if (word & 1)
			return i + 1;
	}
	return 0;
}

static uint64_t count_dynamic(const struct elffile *elf, const struct dynamic *dynamic)
{
	uint32_t n = 0;

	if (dynamic->gnu_hash)
		return count_by_gnu_hash(elf, dynamic->gnu_hash);
	/* The second word is the number of symbols.  s390 and alpha have 64-bit words there. */
	if (dynamic->hash && elf->machine != EM_S390 && elf->machine != EM_ALPHA)
		(void)read_word_at(elf, dynamic->hash + 4, &n);
	return n <= DYNAMIC_SYMBOLS_MAX ? n : 0;
}

/* Makes sections for a file without section headers (strip --strip-section-headers, sstrip).  They
 * are .dynsym and its names, from the table that the dynamic linker uses. */
static int make_sections(struct elffile *elf)
{
	const uint64_t each = elf->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t symbols, strings, rest, n;
	struct dynamic dynamic;
	bool exec;

	if (!read_dynamic(elf, &dynamic) || !(n = count_dynamic(elf, &dynamic)) ||
		!elffile_offset(elf, dynamic.symbols, &symbols, &rest, &exec) || rest / each < n ||
		!elffile_offset(elf, dynamic.strings, &strings, &rest, &exec))
		return 0;
	elf->sections = calloc(3, sizeof(*elf->sections));
	if (!elf->sections)
		return -ENOMEM;
	elf->n_sections = 3;
	elf->made_sections = true;
	elf->names_section = UINT32_MAX;
	elf->sections[1] = (struct elffile_section){.type = SHT_DYNSYM,
		.flags = SHF_ALLOC,
		.addr = dynamic.symbols,
		.offset = symbols,
		.size = n * each,
		.entsize = each,
		.link = 2};
	elf->sections[2] = (struct elffile_section){.type = SHT_STRTAB,
		.flags = SHF_ALLOC,
		.addr = dynamic.strings,
		.offset = strings,
		.size = dynamic.strings_len < rest ? dynamic.strings_len : rest};
	return 0;
}

int elffile_open(struct elffile *elf, int fd)
{
	const uint16_t one = 1;
	const bool little = *(const uint8_t *)&one == 1;
	uint8_t raw[sizeof(Elf64_Ehdr)] = {0};
	struct stat st;

	memset(elf, 0, sizeof(*elf));
	elf->fd = fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	elf->len = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	int ret = elffile_read(elf, raw, sizeof(Elf32_Ehdr), 0);
	if (ret < 0)
		return ret == -EBADMSG ? -ENOEXEC : ret;
	if (memcmp(raw, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	elf->is64 = raw[EI_CLASS] == ELFCLASS64;
	elf->swapped = (raw[EI_DATA] == ELFDATA2LSB) != little;
	if ((!elf->is64 && raw[EI_CLASS] != ELFCLASS32) ||
		(raw[EI_DATA] != ELFDATA2LSB && raw[EI_DATA] != ELFDATA2MSB))
		return -EBADMSG;
	if (elf->is64 && (ret = elffile_read(elf, raw, sizeof(raw), 0)) < 0)
		return ret;

	elf->type = FIELD16(elf, raw, Ehdr, e_type);
	elf->machine = FIELD16(elf, raw, Ehdr, e_machine);
	elf->entry = FIELD(elf, raw, Ehdr, e_entry);
	elf->names_section = FIELD16(elf, raw, Ehdr, e_shstrndx);
	ret = read_sections(elf, FIELD(elf, raw, Ehdr, e_shoff),
		FIELD16(elf, raw, Ehdr, e_shentsize), FIELD16(elf, raw, Ehdr, e_shnum));
	/* If the number of segments exceeds the header's 16 bits, it is in the first section. */
	size_t n_segments = FIELD16(elf, raw, Ehdr, e_phnum);
	if (n_segments == PN_XNUM && elf->n_sections)
		n_segments = elf->sections[0].info;
	if (ret == 0)
		ret = read_segments(elf, FIELD(elf, raw, Ehdr, e_phoff),
			FIELD16(elf, raw, Ehdr, e_phentsize), n_segments);
	if (ret == 0 && n_segments == 0 && (elf->type == ET_DYN || elf->type == ET_EXEC))
		ret = make_segments(elf);
	if (ret == 0 && elf->n_sections == 0)
		ret = make_sections(elf);
	if (ret < 0)
		elffile_close(elf);
	return ret;
}

void elffile_close(struct elffile *elf)
{
	free(elf->segments);
	free(elf->sections);
	memset(elf, 0, sizeof(*elf));
}

bool elffile_offset(
	const struct elffile *elf, uint64_t vaddr, uint64_t *offset, uint64_t *rest, bool *exec)
{
	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct elffile_segment *segment = &elf->segments[i];
		if (segment->type != PT_LOAD || vaddr < segment->vaddr ||
			vaddr - segment->vaddr >= segment->filesz)
			continue;
		*offset = segment->offset + (vaddr - segment->vaddr);
		*rest = segment->filesz - (vaddr - segment->vaddr);
		*exec = segment->exec;
		return true;
	}
	return false;
}

bool elffile_memory_offset(
	const struct elffile *elf, uint64_t vaddr, uint64_t *offset, uint64_t *rest)
{
	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct elffile_segment *segment = &elf->segments[i];
		if (segment->type != PT_LOAD || vaddr < segment->vaddr ||
			vaddr - segment->vaddr >= segment->memsz)
			continue;
		*offset = segment->offset + (vaddr - segment->vaddr);
		*rest = segment->memsz - (vaddr - segment->vaddr);
		return true;
	}
	return false;
}

bool elffile_find_note(const struct elffile *elf, const uint8_t *notes, size_t len, uint8_t *out,
	size_t max, size_t *out_len)
{
	size_t at = 0;

	while (len - at >= 12) {
		uint32_t name_len = elffile_u32(elf, notes + at);
		uint32_t desc_len = elffile_u32(elf, notes + at + 4);
		uint32_t type = elffile_u32(elf, notes + at + 8);
		at += 12;
		if (name_len > len - at)
			return false;
		const uint8_t *name = notes + at;
		at += ((size_t)name_len + 3) & ~(size_t)3;
		if (at > len || desc_len > len - at)
			return false;
		if (type == NT_GNU_BUILD_ID && name_len == 4 && memcmp(name, "GNU", 4) == 0 &&
			desc_len > 0) {
			*out_len = desc_len < max ? desc_len : max;
			memcpy(out, notes + at, *out_len);
			return true;
		}
		at += ((size_t)desc_len + 3) & ~(size_t)3;
		if (at > len)
			return false;
	}
	return false;
}

static int find_in_notes(const struct elffile *elf, uint64_t offset, uint64_t size, uint8_t *out,
	size_t max, size_t *out_len)
{
	size_t len = size < NOTES_MAX_BYTES ? (size_t)size : NOTES_MAX_BYTES;
	uint8_t *notes = malloc(len ? len : 1);

	if (!notes)
		return -ENOMEM;
	int ret = elffile_read(elf, notes, len, offset);
	if (ret == 0)
		elffile_find_note(elf, notes, len, out, max, out_len);
	free(notes);
	return ret == -EBADMSG ? 0 : ret;
}

int elffile_build_id(const struct elffile *elf, uint8_t *out, size_t max, size_t *len)
{
	int ret = 0;

	*len = 0;
	for (size_t i = 0; i < elf->n_segments && !*len && ret == 0; i++)
		if (elf->segments[i].type == PT_NOTE)
			ret = find_in_notes(elf, elf->segments[i].offset, elf->segments[i].filesz,
				out, max, len);
	for (size_t i = 0; i < elf->n_sections && !*len && ret == 0; i++)
		if (elf->sections[i].type == SHT_NOTE)
			ret = find_in_notes(
				elf, elf->sections[i].offset, elf->sections[i].size, out, max, len);
	return ret;
}

/* Reads the first len bytes of a section's name. */
static bool read_name(
	const struct elffile *elf, const struct elffile_section *section, char *out, size_t len)
{
	if (elf->names_section >= elf->n_sections)
		return false;
	const struct elffile_section *names = &elf->sections[elf->names_section];
	return names->offset <= elf->len && section->name <= elf->len - names->offset &&
		elffile_read(elf, out, len, names->offset + section->name) == 0;
}

bool elffile_section_begins(
	const struct elffile *elf, const struct elffile_section *section, const char *prefix)
{
	const size_t len = strlen(prefix);
	char buffer[32];

	return len <= sizeof(buffer) && read_name(elf, section, buffer, len) &&
		memcmp(buffer, prefix, len) == 0;
}

const struct elffile_section *elffile_find_section(const struct elffile *elf, const char *name)
{
	const size_t len = strlen(name) + 1;
	char buffer[32];

	for (size_t i = 0; len <= sizeof(buffer) && i < elf->n_sections; i++)
		if (read_name(elf, &elf->sections[i], buffer, len) &&
			memcmp(buffer, name, len) == 0)
			return &elf->sections[i];
	return NULL;
}

bool elffile_debug_link(const struct elffile *elf, char *name, size_t size, uint32_t *crc)
{
	const struct elffile_section *section = elffile_find_section(elf, ".gnu_debuglink");
	char bytes[1024];

	if (!section || section->type == SHT_NOBITS || section->flags & SHF_COMPRESSED ||
		section->size < 8 || section->size > sizeof(bytes))
		return false;
	const size_t len = (size_t)section->size;
	if (elffile_read(elf, bytes, len, section->offset) < 0)
		return false;
	const size_t name_len = strnlen(bytes, len);
	const size_t crc_at = (name_len + 1 + 3) & ~(size_t)3;
	if (name_len == 0 || name_len >= size || crc_at > len - 4 || memchr(bytes, '/', name_len))
		return false;
	memcpy(name, bytes, name_len + 1);
	*crc = elffile_u32(elf, bytes + crc_at);
	return true;
}

bool elffile_has_code_section(const struct elffile *elf, const char *name)
{
	const size_t len = strlen(name);
	char buffer[32];

	if (len + 1 > sizeof(buffer))
		return false;
	for (size_t i = 0; i < elf->n_sections; i++) {
		const struct elffile_section *section = &elf->sections[i];
		if (!(section->flags & SHF_EXECINSTR) || !read_name(elf, section, buffer, len + 1))
			continue;
		if (memcmp(buffer, name, len) == 0 && (buffer[len] == '\0' || buffer[len] == '.'))
			return true;
	}
	return false;
}
