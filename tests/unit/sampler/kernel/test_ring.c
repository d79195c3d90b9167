// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_ring.c - rings over plain memory, over a memfd, and on a real dummy event.
 *
 * The tests over memory play the kernel's part: put() writes a record at the head, and wraps its
 * bytes.
 */
#include "sampler/kernel/ring.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA_LEN 4096u

struct fake {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	size_t len;
	struct ring *ring;
};

static void fake_open(struct fake *fake, size_t len, uint64_t start)
{
	size_t total = sizeof(*fake->page) + len;

	fake->page = aligned_alloc(64, (total + 63) / 64 * 64);
	assert_non_null(fake->page);
	memset(fake->page, 0, total);
	fake->data = (uint8_t *)(fake->page + 1);
	fake->len = len;
	fake->page->data_head = start;
	fake->page->data_tail = start;
	assert_int_equal(ring_open_memory(&fake->ring, fake->page, len), 0);
}

static void fake_close(struct fake *fake)
{
	ring_close(fake->ring);
	free(fake->page);
}

/* Writes a record whose payload bytes count up from `first`. */
static void put(struct fake *fake, uint32_t type, uint16_t size, uint8_t first)
{
	struct perf_event_header header = {.type = type, .size = size};
	uint8_t bytes[UINT16_MAX];

	memcpy(bytes, &header, sizeof(header));
	for (size_t i = sizeof(header); i < size; i++)
		bytes[i] = (uint8_t)(first + i);
	for (size_t i = 0; i < size; i++)
		fake->data[(fake->page->data_head + i) % fake->len] = bytes[i];
	fake->page->data_head += size;
}

static void check(
	const struct perf_event_header *record, uint32_t type, uint16_t size, uint8_t first)
{
	const uint8_t *bytes = (const uint8_t *)record;

	assert_non_null(record);
	assert_int_equal(record->type, type);
	assert_int_equal(record->size, size);
	assert_int_equal((uintptr_t)record % 8, 0);
	for (size_t i = sizeof(*record); i < size; i++)
		assert_int_equal(bytes[i], (uint8_t)(first + i));
}

static void reads_in_order_and_gives_back(void **state)
{
	struct fake fake;

	(void)state;
	fake_open(&fake, DATA_LEN, 0);
	assert_null(ring_peek(fake.ring));
	put(&fake, 1, 24, 10);
	put(&fake, 2, 8, 0);
	assert_null(ring_peek(fake.ring)); /* not refreshed yet */
	ring_refresh(fake.ring);
	assert_int_equal(ring_pending(fake.ring), 32);
	put(&fake, 3, 16, 0); /* after the refresh: not part of this drain */
	check(ring_peek(fake.ring), 1, 24, 10);
	check(ring_peek(fake.ring), 1, 24, 10);
	ring_consume(fake.ring);
	ring_consume(fake.ring); /* without a peek: no effect */
	check(ring_peek(fake.ring), 2, 8, 0);
	ring_consume(fake.ring);
	assert_null(ring_peek(fake.ring));
	assert_int_equal(fake.page->data_tail, 0);
	ring_release(fake.ring);
	assert_int_equal(fake.page->data_tail, 32);
	ring_refresh(fake.ring);
	check(ring_peek(fake.ring), 3, 16, 0);
	ring_release(fake.ring);
	assert_int_equal(fake.page->data_tail, 32); /* a peeked record is not consumed */
	assert_int_equal(ring_corrupt(fake.ring), 0);
	assert_int_equal(ring_size(fake.ring), DATA_LEN);
	assert_ptr_equal(ring_page(fake.ring), fake.page);
	fake_close(&fake);
}

/* Records split at every position over the end of the data, at positions up to 2^64. */
static void wraps_anywhere(void **state)
{
	const uint64_t starts[] = {0, UINT64_MAX - DATA_LEN * 3 + 1, UINT64_MAX - 63};
	struct fake fake;

	(void)state;
	for (size_t s = 0; s < sizeof(starts) / sizeof(*starts); s++) {
		fake_open(&fake, DATA_LEN, starts[s]);
		for (unsigned int i = 0; i < 3000; i++) {
			uint16_t size = (uint16_t)(8 + i * 8 % 1000);

			put(&fake, 5, size, (uint8_t)i);
			ring_refresh(fake.ring);
			check(ring_peek(fake.ring), 5, size, (uint8_t)i);
			ring_consume(fake.ring);
			ring_release(fake.ring);
			assert_int_equal(ring_pending(fake.ring), 0);
		}
		assert_int_equal(ring_corrupt(fake.ring), 0);
		fake_close(&fake);
	}
}

static void one_record_fills_the_ring(void **state)
{
	struct fake fake;

	(void)state;
	fake_open(&fake, DATA_LEN, 1024);
	put(&fake, 7, DATA_LEN, 3);
	ring_refresh(fake.ring);
	assert_int_equal(ring_pending(fake.ring), DATA_LEN);
	check(ring_peek(fake.ring), 7, DATA_LEN, 3);
	fake_close(&fake);
}

static void largest_record_wraps(void **state)
{
	struct fake fake;

	(void)state;
	fake_open(&fake, 1u << 17, (1u << 17) - 8);
	put(&fake, 7, 65528, 9);
	ring_refresh(fake.ring);
	check(ring_peek(fake.ring), 7, 65528, 9);
	fake_close(&fake);
}

static void corrupt_headers_skip_to_the_head(void **state)
{
	const uint16_t sizes[] = {0, 7, 12, 40, 65535};
	struct fake fake;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct perf_event_header *bad;

		fake_open(&fake, DATA_LEN, 0);
		put(&fake, 1, 16, 0);
		bad = (struct perf_event_header *)(void *)(fake.data + 16);
		put(&fake, 1, 16, 0);
		put(&fake, 1, 16, 0);
		bad->size = sizes[i]; /* 40 reaches past the head */
		ring_refresh(fake.ring);
		check(ring_peek(fake.ring), 1, 16, 0);
		ring_consume(fake.ring);
		assert_null(ring_peek(fake.ring));
		assert_int_equal(ring_corrupt(fake.ring), 1);
		assert_null(ring_peek(fake.ring));
		assert_int_equal(ring_corrupt(fake.ring), 1);
		ring_release(fake.ring);
		assert_int_equal(fake.page->data_tail, 48);
		put(&fake, 2, 32, 1); /* the ring goes on */
		ring_refresh(fake.ring);
		check(ring_peek(fake.ring), 2, 32, 1);
		fake_close(&fake);
	}
}

static void corrupt_head(void **state)
{
	const uint64_t jumps[] = {DATA_LEN + 8, UINT64_MAX - 7, 4, 1, DATA_LEN * 1000};
	struct fake fake;

	(void)state;
	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
		fake_open(&fake, DATA_LEN, 0);
		for (unsigned int n = 0; n < DATA_LEN / 8; n++)
			put(&fake, 1, 8, 0); /* the records themselves are good */
		fake.page->data_head = jumps[i];
		ring_refresh(fake.ring);
		assert_true(ring_pending(fake.ring) <= DATA_LEN);
		assert_null(ring_peek(fake.ring));
		assert_int_equal(ring_corrupt(fake.ring), 1);
		ring_release(fake.ring);
		assert_int_equal(fake.page->data_tail, jumps[i]);
		fake_close(&fake);
	}
}

static void refuses_bad_sizes(void **state)
{
	struct ring *ring = (struct ring *)8;
	uint64_t memory[4] = {0};

	(void)state;
	assert_int_equal(ring_open_memory(&ring, memory, 0), -EINVAL);
	assert_null(ring);
	assert_int_equal(ring_open_memory(&ring, memory, 24), -EINVAL);
	assert_int_equal(ring_open_memory(&ring, memory, 4), -EINVAL);
	assert_int_equal(ring_open_memory(&ring, (char *)memory + 1, 64), -EINVAL);
	assert_int_equal(ring_open(&ring, -1, 0), -EBADF);
	assert_int_equal(ring_open(&ring, -1, 60), -EINVAL);
	assert_null(ring);
	ring_close(NULL);
}

/* A file represents the kernel's mapping, with and without data_offset and data_size. */
static void maps_a_file(void **state)
{
	size_t page_len = (size_t)sysconf(_SC_PAGESIZE);
	const struct {
		uint64_t offset, size;
		int err;
		size_t want;
	} cases[] = {
		{0, 0, 0, page_len * 4},
		{page_len, page_len * 4, 0, page_len * 4},
		{page_len * 2, page_len * 2, 0, page_len * 2},
		{page_len * 2, page_len * 4, -EINVAL, 0},
		{UINT64_MAX - 7, page_len, -EINVAL, 0},
		{page_len, page_len * 3, -EINVAL, 0},
		{page_len + 1, page_len, -EINVAL, 0},
		{page_len, UINT64_MAX, -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int fd = memfd_create("ring", MFD_CLOEXEC);
		struct perf_event_mmap_page page = {.data_offset = cases[i].offset,
			.data_size = cases[i].size,
			.data_head = 16};
		struct perf_event_header header = {.type = 3, .size = 16};
		uint64_t offset = cases[i].offset ? cases[i].offset : page_len;
		struct ring *ring;

		assert_true(fd >= 0);
		assert_int_equal(ftruncate(fd, (off_t)(page_len * 5)), 0);
		assert_int_equal(pwrite(fd, &page, sizeof(page), 0), sizeof(page));
		if (!cases[i].err)
			assert_int_equal(
				pwrite(fd, &header, sizeof(header), (off_t)offset), sizeof(header));
		assert_int_equal(ring_open(&ring, fd, 2), cases[i].err);
		if (!cases[i].err) {
			assert_int_equal(ring_size(ring), cases[i].want);
			ring_refresh(ring);
			assert_non_null(ring_peek(ring));
			assert_int_equal(ring_peek(ring)->type, 3);
		}
		ring_close(ring);
		close(fd);
	}
}

/* On a real kernel: a dummy event records the renaming of this thread. */
static void dummy_event(void **state)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.comm = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct ring *ring;
	unsigned int seen = 0;
	char before[16];

	(void)state;
	if (fd < 0) {
		print_message("skipped: perf_event_open of a dummy event: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(ring_open(&ring, fd, 0), 0);
	assert_int_equal(ring_size(ring), (size_t)sysconf(_SC_PAGESIZE));
	prctl(PR_GET_NAME, before);
	for (unsigned int i = 0; i < 1000; i++) { /* ten times around the ring */
		char name[16];
		const struct perf_event_header *record;

		snprintf(name, sizeof(name), "ring-%u", i);
		prctl(PR_SET_NAME, name);
		ring_refresh(ring);
		while ((record = ring_peek(ring))) {
			assert_int_equal(record->type, PERF_RECORD_COMM);
			assert_string_equal((const char *)(record + 1) + 8, name);
			seen++;
			ring_consume(ring);
		}
		ring_release(ring);
	}
	prctl(PR_SET_NAME, before);
	assert_int_equal(seen, 1000);
	assert_int_equal(ring_corrupt(ring), 0);
	ring_close(ring);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_in_order_and_gives_back),
		cmocka_unit_test(wraps_anywhere),
		cmocka_unit_test(one_record_fills_the_ring),
		cmocka_unit_test(largest_record_wraps),
		cmocka_unit_test(corrupt_headers_skip_to_the_head),
		cmocka_unit_test(corrupt_head),
		cmocka_unit_test(refuses_bad_sizes),
		cmocka_unit_test(maps_a_file),
		cmocka_unit_test(dummy_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
