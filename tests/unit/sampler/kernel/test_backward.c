// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_backward.c - rings that overwrite their old records, over plain memory and on a real event.
 *
 * put() acts as the kernel: the head counts down from 0, and a record begins at the new head.
 */
#include "sampler/kernel/backward.h"

#include "sampler/kernel/sys.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/page_faults.h"

#define DATA_LEN 4096u

struct fake {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	struct backward *ring;
	struct backward_copy copy;
};

static void fake_open(struct fake *fake)
{
	const size_t total = sizeof(*fake->page) + DATA_LEN;

	fake->page = aligned_alloc(64, (total + 63) / 64 * 64);
	assert_non_null(fake->page);
	memset(fake->page, 0, total);
	fake->data = (uint8_t *)(fake->page + 1);
	fake->copy = (struct backward_copy){0};
	assert_int_equal(backward_open_memory(&fake->ring, fake->page, DATA_LEN), 0);
}

static void fake_close(struct fake *fake)
{
	backward_close(fake->ring);
	free(fake->copy.bytes);
	free(fake->page);
}

/* Writes a record with this number as its type; its payload counts up from the number. */
static void put(struct fake *fake, uint32_t number, uint16_t size)
{
	struct perf_event_header header = {.type = number, .size = size};
	uint8_t bytes[UINT16_MAX];

	memcpy(bytes, &header, sizeof(header));
	for (size_t i = sizeof(header); i < size; i++)
		bytes[i] = (uint8_t)(number + i);
	fake->page->data_head -= size;
	for (size_t i = 0; i < size; i++)
		fake->data[(fake->page->data_head + i) % DATA_LEN] = bytes[i];
}

static void copy(struct fake *fake, uint64_t since)
{
	free(fake->copy.bytes);
	assert_int_equal(backward_copy(fake->ring, since, &fake->copy), 0);
}

/* Result of a walk: numbers from `first` down, all whole. */
struct seen {
	uint32_t n, first, last;
	uint64_t bytes;
};

static int see(const struct perf_event_header *record, void *ctx)
{
	struct seen *seen = ctx;
	const uint8_t *bytes = (const uint8_t *)record;

	assert_int_equal((uintptr_t)record % 8, 0);
	if (seen->n++)
		assert_int_equal(record->type, seen->last - 1);
	else
		seen->first = record->type;
	seen->last = record->type;
	seen->bytes += record->size;
	for (size_t i = sizeof(*record); i < record->size; i++)
		assert_int_equal(bytes[i], (uint8_t)(record->type + i));
	return 0;
}

static struct seen walk(struct fake *fake)
{
	struct seen seen = {0};

	assert_int_equal(backward_walk(&fake->copy, see, &seen), 0);
	return seen;
}

static void test_empty(void **state)
{
	struct fake fake;

	(void)state;
	fake_open(&fake);
	copy(&fake, 0);
	assert_int_equal(fake.copy.len, 0);
	assert_null(fake.copy.bytes);
	assert_false(fake.copy.overwritten);
	assert_int_equal(walk(&fake).n, 0);
	assert_int_equal(backward_size(fake.ring), DATA_LEN);
	assert_int_equal(backward_written(fake.ring), 0);
	fake_close(&fake);
}

static void test_newest_first(void **state)
{
	struct fake fake;
	struct seen seen;

	(void)state;
	fake_open(&fake);
	for (uint32_t i = 1; i <= 20; i++)
		put(&fake, i, (uint16_t)(8 + 8 * (i % 4)));
	copy(&fake, 0);
	seen = walk(&fake);
	assert_int_equal(seen.n, 20);
	assert_int_equal(seen.first, 20);
	assert_int_equal(seen.last, 1);
	assert_int_equal(seen.bytes, fake.copy.len);
	assert_int_equal(fake.copy.written, backward_written(fake.ring));
	assert_false(fake.copy.overwritten);
	fake_close(&fake);
}

/* The ring is full of whole records, and no record is overwritten yet. */
static void test_exactly_full(void **state)
{
	struct fake fake;
	struct seen seen;

	(void)state;
	fake_open(&fake);
	for (uint32_t i = 1; i <= DATA_LEN / 32; i++)
		put(&fake, i, 32);
	copy(&fake, 0);
	seen = walk(&fake);
	assert_int_equal(seen.n, DATA_LEN / 32);
	assert_int_equal(seen.last, 1);
	assert_false(fake.copy.overwritten);
	put(&fake, 1 + DATA_LEN / 32, 32);
	copy(&fake, 0);
	seen = walk(&fake);
	assert_int_equal(seen.n, DATA_LEN / 32);
	assert_int_equal(seen.last, 2);
	assert_true(fake.copy.overwritten);
	fake_close(&fake);
}

/* After each record of many rounds, the newest ones that fit are read, without the torn one. */
static void test_wraps_and_tears_anywhere(void **state)
{
	uint16_t sizes[3000];
	struct fake fake;

	(void)state;
	fake_open(&fake);
	for (uint32_t i = 0; i < 3000; i++) {
		uint64_t whole = 0;
		uint32_t fit = 0;
		struct seen seen;

		sizes[i] = (uint16_t)(8 * (1 + (i * 7919u) % 61));
		put(&fake, i, sizes[i]);
		while (fit <= i && whole + sizes[i - fit] <= DATA_LEN)
			whole += sizes[i - fit++];
		copy(&fake, 0);
		seen = walk(&fake);
		assert_int_equal(seen.n, fit);
		assert_int_equal(seen.first, i);
		assert_int_equal(seen.bytes, whole);
	}
	fake_close(&fake);
}

/* No record is seen twice, even if some were overwritten between two copies. */
static void test_since_a_position(void **state)
{
	const uint32_t steps[] = {5, 0, 1, 30, 200, 3, 128, 127};
	struct fake fake;
	uint64_t since = 0;
	uint32_t number = 0;

	(void)state;
	fake_open(&fake);
	for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		uint32_t expected = steps[s] < 128 ? steps[s] : 128;
		struct seen seen;

		for (uint32_t i = 0; i < steps[s]; i++)
			put(&fake, ++number, 32);
		copy(&fake, since);
		seen = walk(&fake);
		assert_int_equal(seen.n, expected);
		assert_int_equal(fake.copy.overwritten, steps[s] > 128);
		if (expected) {
			assert_int_equal(seen.first, number);
			assert_int_equal(seen.last, number - expected + 1);
		}
		since = fake.copy.written;
	}
	fake_close(&fake);
}

static int stop(const struct perf_event_header *record, void *ctx)
{
	++*(int *)ctx;
	return record->type == 3 ? -ECANCELED : 0;
}

static void test_bad_records(void **state)
{
	struct perf_event_header *header;
	struct fake fake;
	struct seen seen = {0};
	int calls = 0;

	(void)state;
	fake_open(&fake);
	for (uint32_t i = 1; i <= 5; i++)
		put(&fake, i, 32);
	copy(&fake, 0);
	assert_int_equal(backward_walk(&fake.copy, stop, &calls), -ECANCELED);
	assert_int_equal(calls, 3);
	/* Record 3; all records before it are good. */
	header = (void *)(fake.data + DATA_LEN - 3 * 32);
	for (size_t i = 0; i < 4; i++) {
		const uint16_t sizes[] = {0, 4, 12, 1024};

		header->size = sizes[i];
		copy(&fake, 0);
		seen = (struct seen){0};
		assert_int_equal(backward_walk(&fake.copy, see, &seen), -EBADMSG);
		assert_int_equal(seen.n, 2);
	}
	/* No position that the kernel would write. */
	fake.page->data_head = 3;
	copy(&fake, 0);
	assert_int_equal(fake.copy.len, 0);
	fake_close(&fake);
}

static void test_refuses(void **state)
{
	uint64_t memory[1024] = {0};
	struct backward *ring;

	(void)state;
	assert_int_equal(backward_open_memory(&ring, memory, 24), -EINVAL);
	assert_null(ring);
	assert_int_equal(backward_open_memory(&ring, memory, 4), -EINVAL);
	assert_int_equal(backward_open_memory(&ring, (uint8_t *)memory + 4, 64), -EINVAL);
	assert_int_equal(backward_open(&ring, -1, 0), -EBADF);
	assert_null(ring);
	assert_int_equal(backward_open(&ring, -1, 31), -EINVAL);
	backward_close(NULL);
}

static int count(const struct perf_event_header *record, void *ctx)
{
	unsigned int *n = ctx;

	if (record->type == PERF_RECORD_SAMPLE)
		(*n)++;
	return 0;
}

/* A ring of the kernel: page faults of this thread. */
static void test_real_event(void **state)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.exclude_kernel = 1};
	const struct sys_setup setup = {.backward = true};
	struct sys_features features;
	struct backward_copy first, second;
	struct backward *ring;
	unsigned int n = 0;
	int fd;

	(void)state;
	if (sys_probe(&features)) {
		print_message("skipped: perf_event_open is refused here\n");
		skip();
	}
	sys_setup(&attr, &features, &setup);
	fd = sys_open(&attr, 0, -1);
	assert_true(fd >= 0);
	assert_int_equal(backward_open(&ring, fd, 1), 0);
	assert_int_equal(sys_enable(fd), 0);
	touch(20);
	assert_int_equal(sys_pause(fd, true), 0);
	assert_int_equal(backward_copy(ring, 0, &first), 0);
	touch(20); /* not written */
	assert_int_equal(backward_written(ring), first.written);
	assert_int_equal(sys_pause(fd, false), 0);
	assert_int_equal(backward_walk(&first, count, &n), 0);
	assert_in_range(n, 20, 60); /* includes faults of the test itself */
	touch(4000);
	assert_int_equal(sys_disable(fd), 0);
	assert_int_equal(backward_copy(ring, first.written, &second), 0);
	assert_true(second.overwritten);
	assert_int_equal(second.len, backward_size(ring));
	n = 0;
	assert_int_equal(backward_walk(&second, count, &n), 0);
	/* The ring has 2 pages.  Header, id, ip, tid, time and cpu are 48 bytes. */
	assert_in_range(n, backward_size(ring) / 48 - 4, backward_size(ring) / 48);
	free(first.bytes);
	free(second.bytes);
	backward_close(ring);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_newest_first),
		cmocka_unit_test(test_exactly_full),
		cmocka_unit_test(test_wraps_and_tears_anywhere),
		cmocka_unit_test(test_since_a_position),
		cmocka_unit_test(test_bad_records),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_real_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
