/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_elffile.c - ELF headers of both classes and byte orders, whole and broken.
 */
#include "symbols/elf/elffile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "small_elf.h"

static void test_headers(void **state)
{
	uint64_t offset, rest;
	uint8_t id[20];
	size_t len;
	bool exec;

	(void)state;
	for (int variant = 0; variant < 4; variant++) {
		struct small_elf small;
		struct elffile elf;
		small_elf_make(&small, variant & 1, variant & 2, NULL, 0);
		int fd = small_elf_file(&small, small.len);
		assert_int_equal(elffile_open(&elf, fd), 0);
		assert_int_equal(elf.type, ET_DYN);
		assert_int_equal(elf.n_segments, 3);
		assert_int_equal(elf.n_sections, 6);
		assert_int_equal(elf.sections[1].addr, SMALL_TEXT_ADDR);
		assert_true(elffile_has_code_section(&elf, ".text"));
		assert_false(elffile_has_code_section(&elf, ".tex"));
		assert_false(elffile_has_code_section(&elf, ".data"));
		assert_true(elffile_offset(&elf, SMALL_TEXT_ADDR + 0x3ff, &offset, &rest, &exec));
		assert_int_equal(offset, SMALL_TEXT_AT + 0x3ff);
		assert_int_equal(rest, 1);
		assert_true(exec);
		assert_true(elffile_offset(&elf, 0x20610, &offset, &rest, &exec));
		assert_int_equal(offset, 0x610);
		assert_false(exec);
		assert_false(elffile_offset(&elf, SMALL_TEXT_ADDR + 0x400, &offset, &rest, &exec));
		assert_false(elffile_offset(&elf, 0, &offset, &rest, &exec));
		assert_int_equal(elffile_build_id(&elf, id, sizeof(id), &len), 0);
		assert_int_equal(len, 20);
		assert_int_equal(id[0], 1);
		assert_int_equal(id[19], 20);
		elffile_close(&elf);
		close(fd);
	}
}

static void test_no_elf(void **state)
{
	struct elffile elf;
	struct small_elf small;

	(void)state;
	small_elf_make(&small, true, false, NULL, 0);
	int fd = small_elf_file(&small, 0);
	assert_int_equal(elffile_open(&elf, fd), -ENOEXEC);
	elffile_close(&elf);
	close(fd);

	small.bytes[0] = 'M';
	fd = small_elf_file(&small, small.len);
	assert_int_equal(elffile_open(&elf, fd), -ENOEXEC);
	elffile_close(&elf);
	close(fd);

	small.bytes[0] = 0x7f;
	small.bytes[EI_CLASS] = 7;
	fd = small_elf_file(&small, small.len);
	assert_int_equal(elffile_open(&elf, fd), -EBADMSG);
	elffile_close(&elf);
	close(fd);
}

/* Any number of segments is read, also if the 16 bits in the header do not suffice. */
static void test_many_segments(void **state)
{
	enum { SEGMENTS = 150 };
	uint64_t offset, rest;
	bool exec;

	(void)state;
	for (int is_far = 0; is_far < 2; is_far++) {
		struct small_elf small;
		struct elffile elf;
		small_elf_make(&small, false, false, NULL, 0);
		const size_t headers = small.len - 6 * sizeof(Elf32_Shdr);
		const size_t at = (small.len + 7) & ~(size_t)7;
		for (size_t i = 0; i < SEGMENTS; i++)
			small_segment(&small, i + (at - 0x40) / sizeof(Elf32_Phdr), PT_LOAD,
				PF_R | PF_X, SMALL_TEXT_AT, 0x100000 + i * 0x1000, 0x400);
		small.len = at + SEGMENTS * sizeof(Elf32_Phdr);
		SMALL_PUT(&small, 0, Ehdr, e_phoff,
			0x40 + (at - 0x40) / sizeof(Elf32_Phdr) * sizeof(Elf32_Phdr));
		SMALL_PUT(&small, 0, Ehdr, e_phnum, is_far ? PN_XNUM : SEGMENTS);
		SMALL_PUT(&small, headers, Shdr, sh_info, SEGMENTS);
		int fd = small_elf_file(&small, small.len);
		assert_int_equal(elffile_open(&elf, fd), 0);
		assert_int_equal(elf.n_segments, SEGMENTS);
		assert_true(elffile_offset(
			&elf, 0x100000 + (SEGMENTS - 1) * 0x1000 + 5, &offset, &rest, &exec));
		assert_int_equal(offset, SMALL_TEXT_AT + 5);
		elffile_close(&elf);
		close(fd);
	}
}

/* Without segments, sections give the place of code. Sections of an object file have no address. */
static void test_no_segments(void **state)
{
	uint64_t offset, rest;
	bool exec;

	(void)state;
	for (int is64 = 0; is64 < 2; is64++)
		for (int is_object = 0; is_object < 2; is_object++) {
			struct small_elf small;
			struct elffile elf;
			uint8_t id[20];
			size_t len;
			small_elf_make(&small, is64, false, NULL, 0);
			SMALL_PUT(&small, 0, Ehdr, e_type, is_object ? ET_REL : ET_DYN);
			SMALL_PUT(&small, 0, Ehdr, e_phoff, 0);
			SMALL_PUT(&small, 0, Ehdr, e_phnum, 0);
			int fd = small_elf_file(&small, small.len);
			assert_int_equal(elffile_open(&elf, fd), 0);
			assert_int_equal(
				elffile_offset(&elf, SMALL_TEXT_ADDR + 5, &offset, &rest, &exec),
				!is_object);
			if (!is_object) {
				assert_int_equal(offset, SMALL_TEXT_AT + 5);
				assert_true(exec);
			}
			assert_int_equal(elffile_build_id(&elf, id, sizeof(id), &len), 0);
			elffile_close(&elf);
			close(fd);
		}
}

/* Extreme values for each header byte, and any length: no read out of bounds, no endless loop. */
static void test_hostile(void **state)
{
	static const uint8_t worst[] = {0x00, 0x7f, 0x80, 0xff};
	uint64_t offset, rest;
	uint8_t id[20];
	size_t len;
	bool exec;

	(void)state;
	for (int is64 = 0; is64 < 2; is64++) {
		struct small_elf good;
		small_elf_make(&good, is64, false, NULL, 0);
		for (size_t i = 0; i < good.len; i++) {
			if (i == SMALL_TEXT_AT)
				i = 0x700;
			for (size_t w = 0; w < sizeof(worst); w++) {
				struct small_elf bad = good;
				struct elffile elf;
				bad.bytes[i] = worst[w];
				int fd = small_elf_file(&bad, bad.len);
				if (elffile_open(&elf, fd) == 0) {
					assert_int_equal(
						elffile_build_id(&elf, id, sizeof(id), &len), 0);
					assert_true(len <= sizeof(id));
					elffile_has_code_section(&elf, ".text");
					if (elffile_offset(
						    &elf, SMALL_TEXT_ADDR, &offset, &rest, &exec))
						assert_true(rest <= elf.len);
				}
				elffile_close(&elf);
				close(fd);
			}
		}
		for (size_t cut = 0; cut < good.len; cut += 3) {
			struct elffile elf;
			int fd = small_elf_file(&good, cut);
			if (elffile_open(&elf, fd) == 0)
				assert_true(elf.n_sections < 6);
			elffile_close(&elf);
			close(fd);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_many_segments),
		cmocka_unit_test(test_no_elf),
		cmocka_unit_test(test_no_segments),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
