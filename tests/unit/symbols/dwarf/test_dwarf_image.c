/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_dwarf_image.c - compressed sections, unpacked as far as needed, whole and damaged.
 *
 * The section has a length of several steps and contains repeated numbers and noise. Tests also cut
 * it.
 */
#include "symbols/dwarf/private.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define LEN ((size_t)3 << 20)
#define STEP ((size_t)1 << 20)
#define HEAD 2 /* bytes of the zlib header, which is not checked */

enum pack { DEFLATE, OLD_DEFLATE, ZSTD, PACKS };

static uint8_t plain[LEN];

static void put_section(int fd, const uint8_t *bytes, size_t len, bool old)
{
	static const char names[] = "\0.debug_info\0.zdebug_info\0.names";
	const Elf64_Ehdr head = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shoff = sizeof(head),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	const size_t start = sizeof(head) + 3 * sizeof(Elf64_Shdr);
	const Elf64_Shdr sections[3] = {
		[1] = {.sh_name = old ? 13 : 1,
			.sh_type = SHT_PROGBITS,
			.sh_flags = old ? 0 : SHF_COMPRESSED,
			.sh_offset = start + sizeof(names),
			.sh_size = len},
		[2] = {.sh_name = 26,
			.sh_type = SHT_STRTAB,
			.sh_offset = start,
			.sh_size = sizeof(names)},
	};

	assert_int_equal(write(fd, &head, sizeof(head)), sizeof(head));
	assert_int_equal(write(fd, sections, sizeof(sections)), sizeof(sections));
	assert_int_equal(write(fd, names, sizeof(names)), sizeof(names));
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
}

/* Compresses plain. Returns the section's bytes, after a header that claims `said` bytes. The
 * caller frees them. */
static uint8_t *pack(enum pack how, size_t said, size_t *len, size_t *skip)
{
	const Elf64_Chdr head = {.ch_type = how == ZSTD ? 2 : ELFCOMPRESS_ZLIB, .ch_size = said};
	const size_t room = compressBound(LEN) + ZSTD_compressBound(LEN);

	uint8_t *bytes = calloc(1, sizeof(head) + room);
	assert_non_null(bytes);
	*skip = how == OLD_DEFLATE ? 12 : sizeof(head);
	if (how == OLD_DEFLATE) {
		memcpy(bytes, "ZLIB", 4);
		for (size_t i = 0; i < 8; i++)
			bytes[11 - i] = (uint8_t)(said >> 8 * i);
	} else {
		memcpy(bytes, &head, sizeof(head));
	}
	if (how == ZSTD) {
		*len = *skip + ZSTD_compress(bytes + *skip, room, plain, LEN, 1);
		return bytes;
	}
	uLongf packed = room;
	assert_int_equal(compress2(bytes + *skip, &packed, plain, LEN, 6), Z_OK);
	*len = *skip + packed;
	*skip += HEAD;
	return bytes;
}

static void open_image(struct dwarf_image *image, const uint8_t *bytes, size_t len, bool old)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	put_section(fd, bytes, len, old);
	assert_int_equal(dwarf_image_open(image, fd, false), 0);
	close(fd);
}

static void make_plain(void)
{
	uint32_t noise = 1;

	for (size_t i = 0; i < LEN; i++) {
		noise = noise * 1664525 + 1013904223;
		plain[i] = i % 4096 < 1024 ? (uint8_t)(noise >> 24) : (uint8_t)(i % 7 + i / 65536);
	}
}

static void test_in_steps(void **state)
{
	struct dwarf_image image;
	size_t len, skip;

	(void)state;
	for (enum pack how = 0; how < PACKS; how++) {
		uint8_t *bytes = pack(how, LEN, &len, &skip);
		open_image(&image, bytes, len, how == OLD_DEFLATE);
		struct dwarf_section *info = &image.sections[DWARF_INFO];
		assert_int_equal(info->len, LEN);
		assert_int_equal(info->ready, 0);
		assert_int_equal(dwarf_section_need(info, 1), 0);
		assert_in_range(info->ready, 1, STEP);
		assert_memory_equal(info->bytes, plain, info->ready);
		assert_int_equal(dwarf_section_need(info, STEP + 5), 0);
		assert_in_range(info->ready, STEP + 5, 2 * STEP);
		while (dwarf_image_idle(&image))
			;
		assert_int_equal(info->ready, LEN);
		assert_false(dwarf_image_idle(&image));
		assert_memory_equal(info->bytes, plain, LEN);
		assert_int_equal(dwarf_section_need(info, LEN + 1), -EBADMSG);
		dwarf_image_close(&image);
		free(bytes);
	}
}

/* With fewer bytes than the header claims, those before the end can be read. */
static void test_too_short(void **state)
{
	struct dwarf_image image;
	size_t len, skip;

	(void)state;
	for (enum pack how = 0; how < PACKS; how++)
		for (int cut = 0; cut < 2; cut++) {
			uint8_t *bytes = pack(how, cut ? LEN : LEN + 100, &len, &skip);
			open_image(&image, bytes, cut ? len / 2 : len, how == OLD_DEFLATE);
			struct dwarf_section *info = &image.sections[DWARF_INFO];
			assert_int_equal(dwarf_section_need(info, info->len), -EBADMSG);
			assert_true(info->ready >= (cut ? LEN / 4 : LEN));
			assert_true(info->ready <= LEN);
			assert_memory_equal(info->bytes, plain, info->ready);
			assert_null(info->unpacker);
			assert_int_equal(dwarf_section_need(info, info->len), -EBADMSG);
			assert_false(dwarf_image_idle(&image));
			dwarf_image_close(&image);
			free(bytes);
		}
}

/* An invalid deflate block, and noise from a byte on: no bytes are invented, and those before the
 * damage are right. */
static void test_damaged(void **state)
{
	struct dwarf_image image;
	size_t len, skip;

	(void)state;
	uint8_t *bytes = pack(DEFLATE, LEN, &len, &skip);
	const uint8_t first = bytes[skip];
	bytes[skip] |= 6;
	open_image(&image, bytes, len, false);
	assert_int_equal(dwarf_section_need(&image.sections[DWARF_INFO], 1), -EBADMSG);
	assert_int_equal(image.sections[DWARF_INFO].ready, 0);
	dwarf_image_close(&image);
	bytes[skip] = first;
	for (size_t i = 1; i < 8; i++) {
		uint8_t *copy = malloc(len);
		assert_non_null(copy);
		memcpy(copy, bytes, len);
		for (size_t at = len / 8 * i; at < len; at++)
			copy[at] = (uint8_t)(copy[at] * 181 + at);
		open_image(&image, copy, len, false);
		struct dwarf_section *info = &image.sections[DWARF_INFO];
		int ret = dwarf_section_need(info, LEN);
		assert_true(ret == 0 ? info->ready == LEN : info->ready < LEN);
		assert_null(info->unpacker);
		if (info->ready >= LEN / 16 * i)
			assert_memory_equal(info->bytes, plain, LEN / 16 * i);
		dwarf_image_close(&image);
		free(copy);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_steps),
		cmocka_unit_test(test_too_short),
		cmocka_unit_test(test_damaged),
	};

	make_plain();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
