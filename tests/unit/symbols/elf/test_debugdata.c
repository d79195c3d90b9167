/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_debugdata.c - .gnu_debugdata and .gnu_debuglink sections: valid, broken and too large.
 */
#include "symbols/elf/debugdata.h"
#include "symbols/elf/unpack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens an ELF file with one section of that name and content, and a section of names. */
static void open_with(
	struct elffile *elf, const char *name, const void *content, size_t len, uint64_t flags)
{
	const size_t at = sizeof(Elf64_Ehdr), names_at = at + len, headers = names_at + 64;
	const Elf64_Shdr sections[3] = {
		{0},
		{.sh_name = 1,
			.sh_type = SHT_PROGBITS,
			.sh_flags = flags,
			.sh_offset = at,
			.sh_size = len},
		{.sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = 64},
	};
	Elf64_Ehdr header = {.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_shoff = headers,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2};
	char names[64] = "";
	int fd = memfd_create("elf", MFD_CLOEXEC);

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	strcpy(names + 1, name);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(pwrite(fd, content, len, (off_t)at), len);
	assert_int_equal(pwrite(fd, names, sizeof(names), (off_t)names_at), sizeof(names));
	assert_int_equal(pwrite(fd, sections, sizeof(sections), (off_t)headers), sizeof(sections));
	assert_int_equal(elffile_open(elf, fd), 0);
}

static void close_it(struct elffile *elf)
{
	int fd = elf->fd;

	elffile_close(elf);
	close(fd);
}

static int unpack(const void *content, size_t len, uint64_t flags)
{
	struct elffile elf;

	open_with(&elf, ".gnu_debugdata", content, len, flags);
	int ret = debugdata_open(&elf);
	close_it(&elf);
	return ret;
}

static size_t pack(const void *plain, size_t len, uint8_t **out)
{
	const size_t most = lzma_stream_buffer_bound(len);
	size_t used = 0;

	*out = malloc(most);
	assert_non_null(*out);
	assert_int_equal(
		lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, plain, len, *out, &used, most),
		LZMA_OK);
	return used;
}

static void test_unpack(void **state)
{
	/* More than one buffer. */
	const size_t len = 300000;
	uint8_t *plain = malloc(len), *back = malloc(len), *packed;
	struct stat st;

	(void)state;
	for (size_t i = 0; i < len; i++)
		plain[i] = (uint8_t)(i * 2654435761u >> 13);
	size_t used = pack(plain, len, &packed);
	int fd = unpack(packed, used, 0);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, len);
	assert_int_equal(pread(fd, back, len, 0), len);
	assert_memory_equal(plain, back, len);
	close(fd);
	/* Cut, marked as compressed, changed, and not xz. */
	assert_int_equal(unpack(packed, used / 2, 0), -EBADMSG);
	assert_int_equal(unpack(packed, used, SHF_COMPRESSED), -EBADMSG);
	packed[used / 2] ^= 1;
	assert_int_equal(unpack(packed, used, 0), -EBADMSG);
	assert_int_equal(unpack("no xz at all", 12, 0), -EBADMSG);
	free(packed);
	free(plain);
	free(back);
}

static void test_bomb(void **state)
{
	const size_t len = UNPACK_BYTES_MAX + 1;
	uint8_t *plain = calloc(1, len), *packed;

	(void)state;
	assert_non_null(plain);
	size_t used = pack(plain, len, &packed);
	assert_true(used < 100000);
	assert_int_equal(unpack(packed, used, 0), -EFBIG);
	free(packed);
	used = pack(plain, len - 1, &packed);
	int fd = unpack(packed, used, 0);
	assert_true(fd >= 0);
	close(fd);
	free(packed);
	free(plain);
}

static void test_none(void **state)
{
	struct elffile elf;

	(void)state;
	open_with(&elf, ".gnu_debugdat", "x", 1, 0);
	assert_int_equal(debugdata_open(&elf), -ENODATA);
	close_it(&elf);
}

static bool read_link(const char *content, size_t len, char *name, size_t size, uint32_t *crc)
{
	struct elffile elf;

	open_with(&elf, ".gnu_debuglink", content, len, 0);
	bool found = elffile_debug_link(&elf, name, size, crc);
	close_it(&elf);
	return found;
}

static void test_link(void **state)
{
	char name[16];
	uint32_t crc;

	(void)state;
	assert_true(read_link("ab.debug\0\0\0\0\x78\x56\x34\x12", 16, name, sizeof(name), &crc));
	assert_string_equal(name, "ab.debug");
	assert_int_equal(crc, 0x12345678);
	assert_true(read_link("abc\0\x78\x56\x34\x12", 8, name, sizeof(name), &crc));
	assert_string_equal(name, "abc");
	/* No checksum, no NUL, no name, a name that is too long, a name with a path. */
	assert_false(read_link("abcdefg\0\x78\x56\x34", 11, name, sizeof(name), &crc));
	assert_false(read_link("abcdefghijkl", 12, name, sizeof(name), &crc));
	assert_false(read_link("\0\0\0\0\x78\x56\x34\x12", 8, name, sizeof(name), &crc));
	assert_false(read_link("abc\0\x78\x56\x34\x12", 8, name, 3, &crc));
	assert_false(read_link("a/b\0\x78\x56\x34\x12", 8, name, sizeof(name), &crc));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unpack),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
