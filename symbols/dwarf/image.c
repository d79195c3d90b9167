/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * image.c - the sections of one file with debug information.
 *
 * They are mapped, so no descriptor has to stay open.  Packed ones are unpacked in order into
 * memory of their own, and only as far as they are read.  On average an address needs only their
 * first half.
 */
#include "symbols/dwarf/private.h"
#include "symbols/elf/unlinked.h"

#include <elf.h>
#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define UNPACK_STEP (1u << 20)
#define FEED_MAX (1u << 30) /* packed bytes per call: isa-l counts them in 32 bits */
#define RATIO_MAX 1040u /* maximum ratio of deflate; zstd sections must not exceed it either */
#define NAME_BYTES 32
#define ZLIB_HEAD 2u /* bytes before the deflated ones */

static const char *const names[DWARF_SECTIONS] = {
	[DWARF_INFO] = "debug_info",
	[DWARF_ABBREV] = "debug_abbrev",
	[DWARF_LINE] = "debug_line",
	[DWARF_STR] = "debug_str",
	[DWARF_LINE_STR] = "debug_line_str",
	[DWARF_STR_OFFSETS] = "debug_str_offsets",
	[DWARF_ADDR] = "debug_addr",
	[DWARF_RANGES] = "debug_ranges",
	[DWARF_RNGLISTS] = "debug_rnglists",
	[DWARF_ARANGES] = "debug_aranges",
	[DWARF_CU_INDEX] = "debug_cu_index",
};

struct dwarf_unpacker {
	ZSTD_DStream *zstd; /* NULL: deflate */
	struct inflate_state deflate;
	const uint8_t *packed;
	size_t packed_len, used;
	void *map;
	size_t map_len;
	uint8_t *out;
};

static void unpacker_free(struct dwarf_unpacker *unpacker)
{
	if (!unpacker)
		return;
	if (unpacker->zstd)
		ZSTD_freeDStream(unpacker->zstd);
	if (unpacker->map)
		munmap(unpacker->map, unpacker->map_len);
	free(unpacker);
}

void dwarf_identify(int fd, uint64_t identity[5])
{
	struct stat st;

	memset(identity, 0, 5 * sizeof(identity[0]));
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	identity[0] = st.st_dev;
	identity[1] = st.st_ino;
	identity[2] = (uint64_t)st.st_size;
	identity[3] = (uint64_t)st.st_mtim.tv_sec;
	identity[4] = (uint64_t)st.st_mtim.tv_nsec;
}

/* Returns 1 if bytes came, 0 at the end or if the data is broken. */
static int unpack_deflate(struct dwarf_unpacker *unpacker, uint64_t *ready, uint64_t until)
{
	struct inflate_state *state = &unpacker->deflate;

	if (state->avail_in == 0) {
		size_t left = unpacker->packed_len - unpacker->used;
		state->avail_in = left < FEED_MAX ? (uint32_t)left : FEED_MAX;
		/* isa-l only reads it. */
		state->next_in = (uint8_t *)(uintptr_t)(unpacker->packed + unpacker->used);
		unpacker->used += state->avail_in;
	}
	state->next_out = unpacker->out + *ready;
	state->avail_out = until - *ready < UNPACK_STEP ? (uint32_t)(until - *ready) : UNPACK_STEP;
	uint32_t before = state->avail_out, before_in = state->avail_in;
	int ret = isal_inflate(state);
	*ready += before - state->avail_out;
	return ret == ISAL_DECOMP_OK &&
		(before != state->avail_out || before_in != state->avail_in);
}

static int unpack_zstd(struct dwarf_unpacker *unpacker, uint64_t *ready, uint64_t until)
{
	ZSTD_inBuffer in = {unpacker->packed, unpacker->packed_len, unpacker->used};
	ZSTD_outBuffer out = {unpacker->out, until, *ready};

	size_t ret = ZSTD_decompressStream(unpacker->zstd, &out, &in);
	bool moved = in.pos != unpacker->used || out.pos != *ready;
	unpacker->used = in.pos;
	*ready = out.pos;
	return !ZSTD_isError(ret) && moved;
}

int dwarf_section_need(struct dwarf_section *section, uint64_t end)
{
	struct dwarf_unpacker *unpacker = section->unpacker;

	if (end <= section->ready)
		return 0;
	if (!unpacker || end > section->len)
		return -EBADMSG;
	uint64_t until = end | (UNPACK_STEP - 1);
	if (until > section->len)
		until = section->len;
	while (section->ready < until)
		if (!(unpacker->zstd ? unpack_zstd : unpack_deflate)(
			    unpacker, &section->ready, until))
			break;
	if (section->ready < until || section->ready == section->len) {
		unpacker_free(unpacker);
		section->unpacker = NULL;
	}
	return end <= section->ready ? 0 : -EBADMSG;
}

/* Maps bytes of the file.  `protection` may permit changes, which stay in this process. */
static int map_bytes(int fd, int protection, uint64_t offset, uint64_t len, void **map,
	size_t *map_len, const uint8_t **bytes)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t lead = offset % page;

	void *at = mmap(NULL, len + lead, protection, MAP_PRIVATE, fd, (off_t)(offset - lead));
	if (at == MAP_FAILED)
		return -errno;
	*map = at;
	*map_len = len + lead;
	*bytes = (const uint8_t *)at + lead;
	return 0;
}

/* Begins to unpack a section into len bytes; its packed data follows after `skip` bytes. */
static int open_packed(struct dwarf_section *section, int fd, const struct elffile_section *header,
	uint64_t skip, uint64_t len, bool zstd)
{
	skip += zstd ? 0 : ZLIB_HEAD;
	if (skip >= header->size)
		return -EBADMSG;
	const uint64_t packed_len = header->size - skip;

	if (len / RATIO_MAX > packed_len + 1 || len > SIZE_MAX / 2)
		return -EBADMSG;
	struct dwarf_unpacker *unpacker = calloc(1, sizeof(*unpacker));
	if (!unpacker)
		return -ENOMEM;
	/* Raw: a checksum takes time, and proves nothing about a hostile file. */
	if (!zstd)
		isal_inflate_init(&unpacker->deflate);
	else if (!(unpacker->zstd = ZSTD_createDStream())) {
		free(unpacker);
		return -ENOMEM;
	}
	int ret = map_bytes(fd, PROT_READ, header->offset + skip, packed_len, &unpacker->map,
		&unpacker->map_len, &unpacker->packed);
	if (ret < 0) {
		unpacker_free(unpacker);
		return ret;
	}
	unpacker->packed_len = packed_len;
	madvise(unpacker->map, unpacker->map_len, MADV_SEQUENTIAL);
	void *out = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (out == MAP_FAILED) {
		unpacker_free(unpacker);
		return -errno;
	}
	madvise(out, len, MADV_HUGEPAGE);
	*section = (struct dwarf_section){
		.bytes = out, .len = len, .unpacker = unpacker, .map = out, .map_len = len};
	unpacker->out = out;
	return 0;
}

int dwarf_section_open(const struct elffile *elf, const struct elffile_section *header,
	bool old_packed, struct dwarf_section *section)
{
	uint8_t head[24];

	if (header->type == SHT_NOBITS || header->size == 0)
		return 0;
	if (header->offset > elf->len || header->size > elf->len - header->offset)
		return -EBADMSG;
	if (old_packed) {
		uint64_t len = 0;
		if (header->size < 12 || elffile_read(elf, head, 12, header->offset) < 0 ||
			memcmp(head, "ZLIB", 4) != 0)
			return -EBADMSG;
		for (int i = 4; i < 12; i++)
			len = len << 8 | head[i];
		return len ? open_packed(section, elf->fd, header, 12, len, false) : 0;
	}
	if (header->flags & SHF_COMPRESSED) {
		const size_t skip = elf->is64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
		if (header->size < skip || elffile_read(elf, head, skip, header->offset) < 0)
			return -EBADMSG;
		uint32_t type = elffile_u32(elf, head);
		uint64_t len = elf->is64 ? elffile_u64(elf, head + offsetof(Elf64_Chdr, ch_size))
					 : elffile_u32(elf, head + offsetof(Elf32_Chdr, ch_size));
		if (type != ELFCOMPRESS_ZLIB && type != 2 /* ELFCOMPRESS_ZSTD */)
			return -EBADMSG;
		return len ? open_packed(section, elf->fd, header, skip, len, type == 2) : 0;
	}
	const int protection = elf->type == ET_REL ? PROT_READ | PROT_WRITE : PROT_READ;
	int ret = map_bytes(elf->fd, protection, header->offset, header->size, &section->map,
		&section->map_len, &section->bytes);
	if (ret == 0)
		section->len = section->ready = header->size;
	return ret;
}

/* Returns the image's section for this name; NULL if none. */
static struct dwarf_section *section_named(
	struct dwarf_image *image, const char *name, bool *old_packed)
{
	*old_packed = name[1] == 'z';
	if (name[0] != '.')
		return NULL;
	name += *old_packed ? 2 : 1;
	for (size_t i = 0; i < DWARF_SECTIONS; i++) {
		size_t len = strlen(names[i]);
		if (strncmp(name, names[i], len) != 0)
			continue;
		/* The index of a package has no ".dwo" suffix. */
		if (strcmp(name + len, image->split && i != DWARF_CU_INDEX ? ".dwo" : "") == 0)
			return &image->sections[i];
	}
	return NULL;
}

void dwarf_section_close(struct dwarf_section *section)
{
	unpacker_free(section->unpacker);
	if (section->map)
		munmap(section->map, section->map_len);
	memset(section, 0, sizeof(*section));
}

static int open_sections(struct dwarf_image *image, const struct elffile *elf)
{
	if (elf->names_section >= elf->n_sections)
		return -ENODATA;
	const struct elffile_section *strings = &elf->sections[elf->names_section];
	for (size_t i = 0; i < elf->n_sections; i++) {
		const struct elffile_section *header = &elf->sections[i];
		char name[NAME_BYTES] = "";
		bool old_packed;
		if (header->name >= strings->size || strings->offset > elf->len ||
			header->name > elf->len - strings->offset)
			continue;
		uint64_t at = strings->offset + header->name, left = elf->len - at;
		if (elffile_read(elf, name, left < NAME_BYTES - 1 ? left : NAME_BYTES - 1, at) < 0)
			continue;
		struct dwarf_section *section = section_named(image, name, &old_packed);
		if (!section || section->map)
			continue;
		int ret = dwarf_section_open(elf, header, old_packed, section);
		section->number = i;
		if (ret < 0)
			return ret;
	}
	return image->sections[DWARF_INFO].len ? 0 : -ENODATA;
}

/* Relocates the sections of a file that is not linked yet. */
static int relocate(struct dwarf_image *image, const struct elffile *elf)
{
	struct unlinked unlinked;

	int ret = unlinked_open(&unlinked, elf);
	image->code_start = UNLINKED_BASE;
	for (size_t i = 0; i < DWARF_SECTIONS && ret == 0; i++) {
		struct dwarf_section *section = &image->sections[i];
		if (!section->len)
			continue;
		ret = dwarf_section_need(section, section->len);
		/* dwarf_section_open() mapped it writable for this. */
		if (ret == 0)
			ret = unlinked_relocate(&unlinked, section->number,
				(uint8_t *)(uintptr_t)section->bytes, 0, section->len);
	}
	unlinked_close(&unlinked);
	return ret;
}

int dwarf_image_open(struct dwarf_image *image, int fd, bool split)
{
	struct elffile elf;

	memset(image, 0, sizeof(*image));
	dwarf_identify(fd, image->identity);
	int ret = elffile_open(&elf, fd);
	if (ret < 0)
		goto out;
	image->is64 = elf.is64;
	image->swapped = elf.swapped;
	image->split = split;
	image->code_start = UINT64_MAX;
	for (size_t i = 0; i < elf.n_segments; i++) {
		const struct elffile_segment *segment = &elf.segments[i];
		if (!segment->exec || segment->type != PT_LOAD)
			continue;
		if (segment->vaddr < image->code_start)
			image->code_start = segment->vaddr;
		if (segment->filesz <= UINT64_MAX - segment->vaddr &&
			segment->vaddr + segment->filesz > image->code_end)
			image->code_end = segment->vaddr + segment->filesz;
	}
	if (image->code_start == UINT64_MAX || image->code_start == 0)
		image->code_start = 1;
	ret = open_sections(image, &elf);
	if (ret == 0 && elf.type == ET_REL && !split)
		ret = relocate(image, &elf);
out:
	elffile_close(&elf);
	if (ret < 0)
		dwarf_image_close(image);
	return ret;
}

void dwarf_image_close(struct dwarf_image *image)
{
	dwarf_abbrevs_forget(image);
	for (size_t i = 0; i < image->n_units; i++)
		dwarf_unit_free(image->units[i]);
	free(image->units);
	for (size_t i = 0; i < DWARF_SECTIONS; i++)
		dwarf_section_close(&image->sections[i]);
	memset(image, 0, sizeof(*image));
}

bool dwarf_image_idle(struct dwarf_image *image)
{
	for (size_t i = 0; i < DWARF_SECTIONS; i++) {
		struct dwarf_section *section = &image->sections[i];
		if (section->unpacker) {
			dwarf_section_need(section, section->ready + 1);
			return true;
		}
	}
	return false;
}

uint64_t dwarf_section_bytes(const struct dwarf_image *image)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < DWARF_SECTIONS; i++)
		sum += image->sections[i].len;
	return sum;
}

int dwarf_section_at(struct dwarf_image *image, enum dwarf_section_id id, uint64_t offset,
	bool whole, struct dwarf_cursor *out)
{
	struct dwarf_section *section = &image->sections[id];

	*out = (struct dwarf_cursor){.swapped = image->swapped};
	if (whole && section->unpacker) {
		int ret = dwarf_section_need(section, section->len);
		if (ret < 0 && ret != -EBADMSG)
			return ret;
	}
	if (offset > section->ready)
		return -EBADMSG;
	out->at = section->bytes ? section->bytes + offset : NULL;
	out->end = section->bytes ? section->bytes + section->ready : NULL;
	return section->bytes ? 0 : -EBADMSG;
}

const char *dwarf_section_string(
	struct dwarf_image *image, enum dwarf_section_id id, uint64_t offset)
{
	struct dwarf_section *section = &image->sections[id];

	if (offset >= section->len || dwarf_section_need(section, offset + 1) < 0)
		return "";
	for (;;) {
		uint64_t ready = section->ready;
		const char *text = (const char *)section->bytes + offset;
		if (memchr(text, 0, (size_t)(ready - offset)))
			return text;
		if (ready == section->len || dwarf_section_need(section, ready + 1) < 0)
			return "";
	}
}
