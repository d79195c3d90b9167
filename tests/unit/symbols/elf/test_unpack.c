/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_unpack.c - files packed by xz, zstd and gzip: whole, in pieces, truncated, damaged, too
 * large.
 */
#include "symbols/elf/unpack.h"

#include <errno.h>
#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define LEN ((size_t)300000) /* several buffers */

enum how { XZ, ZSTD, GZIP, HOWS };

static uint8_t plain[LEN];

static size_t pack(enum how how, const uint8_t *bytes, size_t len, uint8_t **out)
{
	const size_t most = len + len / 10 + 1000;
	z_stream gzip = {0};
	size_t used = 0;

	*out = malloc(most);
	assert_non_null(*out);
	if (how == XZ) {
		assert_int_equal(lzma_easy_buffer_encode(
					 0, LZMA_CHECK_CRC32, NULL, bytes, len, *out, &used, most),
			LZMA_OK);
	} else if (how == ZSTD) {
		used = ZSTD_compress(*out, most, bytes, len, 3);
		assert_false(ZSTD_isError(used));
	} else {
		assert_int_equal(
			deflateInit2(&gzip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
		gzip.next_in = (Bytef *)(uintptr_t)bytes;
		gzip.avail_in = (uInt)len;
		gzip.next_out = *out;
		gzip.avail_out = (uInt)most;
		assert_int_equal(deflate(&gzip, Z_FINISH), Z_STREAM_END);
		used = gzip.total_out;
		deflateEnd(&gzip);
	}
	return used;
}

static int unpack(const uint8_t *bytes, size_t len)
{
	int fd = memfd_create("packed", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	int ret = unpack_file(fd);
	close(fd);
	return ret;
}

static void check(int fd, size_t times)
{
	uint8_t *back = malloc(LEN);
	struct stat st;

	assert_non_null(back);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, LEN * times);
	for (size_t i = 0; i < times; i++) {
		assert_int_equal(pread(fd, back, LEN, (off_t)(i * LEN)), LEN);
		assert_memory_equal(back, plain, LEN);
	}
	close(fd);
	free(back);
}

static void test_whole(void **state)
{
	uint8_t *packed, *twice;

	(void)state;
	for (enum how how = 0; how < HOWS; how++) {
		const size_t len = pack(how, plain, LEN, &packed);
		check(unpack(packed, len), 1);
		free(packed);
	}
	/* Streams that follow each other are one file. */
	for (enum how how = 0; how < GZIP; how++) {
		const size_t len = pack(how, plain, LEN, &packed);
		twice = malloc(2 * len);
		assert_non_null(twice);
		memcpy(twice, packed, len);
		memcpy(twice + len, packed, len);
		check(unpack(twice, 2 * len), 2);
		free(packed);
		free(twice);
	}
}

static void test_broken(void **state)
{
	uint8_t *packed;

	(void)state;
	for (enum how how = 0; how < HOWS; how++) {
		const size_t len = pack(how, plain, LEN, &packed);
		for (size_t i = 1; i < 8; i++)
			assert_int_equal(unpack(packed, 16 + (len - 17) / 8 * i), -EBADMSG);
		assert_int_equal(unpack(packed, len - 1), -EBADMSG);
		/* A checksum of the contents ends each block of xz and each file of gzip. */
		packed[len / 2] ^= 0x55;
		int fd = unpack(packed, len);
		assert_true(fd == -EBADMSG || how == ZSTD);
		if (fd >= 0)
			close(fd);
		free(packed);
	}
}

static void test_too_large(void **state)
{
	uint8_t *zeros = calloc(1, UNPACK_BYTES_MAX + 1), *packed;

	(void)state;
	assert_non_null(zeros);
	for (enum how how = 0; how < HOWS; how++) {
		const size_t len = pack(how, zeros, UNPACK_BYTES_MAX + 1, &packed);
		assert_int_equal(unpack(packed, len), -EFBIG);
		free(packed);
	}
	free(zeros);
}

static void test_not_packed(void **state)
{
	(void)state;
	assert_int_equal(unpack((const uint8_t *)"\177ELF and more", 13), -ENODATA);
	assert_int_equal(unpack((const uint8_t *)"\xfd", 1), -ENODATA);
	assert_int_equal(unpack(NULL, 0), -ENODATA);
	assert_int_equal(unpack_file(-1), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_not_packed),
	};

	for (size_t i = 0; i < LEN; i++)
		plain[i] = (uint8_t)(i % 3000 < 700 ? i * 2654435761u >> 13 : i / 1000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
