// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_self_counters.c - the seqlock on a fake page, and strobe's own counters on threads of this
 * program.
 */
#include "sampler/kernel/self_counters.h"

#include "sampler/kernel/sys.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* A fake kernel that changes the page while it is read. */
struct fake {
	struct perf_event_mmap_page *page;
	uint64_t pmc, tsc;
	unsigned int pmc_reads;
	unsigned int changes; /* number of next reads that meet a change */
	uint32_t counter;
};

static uint64_t fake_pmc(uint32_t counter, void *ctx)
{
	struct fake *fake = ctx;

	fake->counter = counter;
	fake->pmc_reads++;
	if (fake->changes) {
		fake->changes--;
		fake->page->lock += 2;
		fake->page->offset += 1000;
	}
	return fake->pmc;
}

static uint64_t fake_tsc(void *ctx)
{
	return ((struct fake *)ctx)->tsc;
}

static int read_page(struct fake *fake, struct self_value *value)
{
	const struct self_hardware hardware = {fake_pmc, fake_tsc, fake};

	return self_page_read(fake->page, &hardware, value);
}

#define PAGE                                                                                     \
	{                                                                                        \
		.lock = 4, .index = 3, .offset = 5000, .time_enabled = 100, .time_running = 100, \
		.cap_user_rdpmc = 1, .pmc_width = 48                                             \
	}

static void test_count(void **state)
{
	struct perf_event_mmap_page page = PAGE;
	struct fake fake = {.page = &page, .pmc = 42};
	struct self_value value;

	(void)state;
	assert_int_equal(read_page(&fake, &value), 0);
	assert_int_equal(value.count, 5042);
	assert_int_equal(value.scaled, 5042);
	assert_int_equal(value.enabled_ns, 100);
	assert_int_equal(fake.counter, 2);
	assert_int_equal(fake.pmc_reads, 1);
}

/* Hardware counters start below zero, and are pmc_width bits wide. */
static void test_sign_extension(void **state)
{
	static const struct {
		uint16_t width;
		uint64_t pmc;
		int64_t value;
	} cases[] = {
		{48, 0xffffffffff00, -256}, {48, 0x7fffffffff00, 0x7fffffffff00},
		{32, 0xffffffff, -1}, {32, 0x80000000, -0x80000000ll},
		{64, 0xffffffffffffff00, -256},
		{40, 0xabcdef00000000ff, 0xff}, /* bits above the width are ignored */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct perf_event_mmap_page page = PAGE;
		struct fake fake = {.page = &page, .pmc = cases[i].pmc};
		struct self_value value;

		page.pmc_width = cases[i].width;
		page.offset = 1000;
		assert_int_equal(read_page(&fake, &value), 0);
		assert_int_equal(value.count, (uint64_t)(1000 + cases[i].value));
	}
}

static void test_again_when_it_changed(void **state)
{
	struct perf_event_mmap_page page = PAGE;
	struct fake fake = {.page = &page, .pmc = 1, .changes = 3};
	struct self_value value;

	(void)state;
	assert_int_equal(read_page(&fake, &value), 0);
	assert_int_equal(fake.pmc_reads, 4);
	assert_int_equal(value.count, 5000 + 3000 + 1);
}

static void test_never_at_rest(void **state)
{
	struct perf_event_mmap_page page = PAGE;
	struct fake fake = {.page = &page, .pmc = 1, .changes = UINT32_MAX};
	struct self_value value;

	(void)state;
	assert_int_equal(read_page(&fake, &value), -EAGAIN);
	/* odd: the kernel is writing */
	fake.changes = 0;
	fake.pmc_reads = 0;
	page.lock = 7;
	assert_int_equal(read_page(&fake, &value), -EAGAIN);
	assert_int_equal(fake.pmc_reads, 0);
}

static void test_has_to_be_read(void **state)
{
	struct perf_event_mmap_page page = PAGE;
	struct fake fake = {.page = &page};
	struct self_value value;

	(void)state;
	page.index = 0;
	assert_int_equal(read_page(&fake, &value), -ENODATA);
	page.index = 3;
	page.cap_user_rdpmc = 0;
	assert_int_equal(read_page(&fake, &value), -ENODATA);
	assert_int_equal(fake.pmc_reads, 0);
}

/* A shared counter is scaled as in the manual page of perf_event_open(2). */
static void test_time_scaling(void **state)
{
	struct perf_event_mmap_page page = PAGE;
	struct fake fake = {.page = &page, .pmc = 0, .tsc = (5ull << 10) + 512};
	struct self_value value;

	(void)state;
	page.offset = 1000;
	page.time_enabled = 4000;
	page.time_running = 1000;
	assert_int_equal(read_page(&fake, &value), 0);
	assert_int_equal(value.scaled, 4000);
	/* plus the time since then: 7 + 5 * 2048 + (512 * 2048 >> 10) */
	page.cap_user_time = 1;
	page.time_shift = 10;
	page.time_mult = 2048;
	page.time_offset = 7;
	assert_int_equal(read_page(&fake, &value), 0);
	assert_int_equal(value.enabled_ns, 4000 + 7 + 10240 + 1024);
	assert_int_equal(value.running_ns, 1000 + 7 + 10240 + 1024);
	assert_int_equal(value.scaled, 1000 * value.enabled_ns / value.running_ns);
	/* The counter never ran: no division by 0. */
	page.cap_user_time = 0;
	page.time_running = 0;
	assert_int_equal(read_page(&fake, &value), 0);
	assert_int_equal(value.scaled, 1000);
}

/* --- real events --- */

static uint64_t used_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void burn(uint64_t ns)
{
	uint64_t end = used_ns() + ns;

	while (used_ns() < end)
		;
}

struct meeting {
	pthread_barrier_t barrier;
};

static void *second_thread(void *arg)
{
	struct meeting *meeting = arg;

	pthread_barrier_wait(&meeting->barrier);
	/* this thread's counter is open now */
	pthread_barrier_wait(&meeting->barrier);
	burn(50000000);
	pthread_barrier_wait(&meeting->barrier);
	pthread_barrier_wait(&meeting->barrier);
	return NULL;
}

static void test_own_threads(void **state)
{
	struct self_counters *counters;
	struct self_counts before, both, ended;
	struct meeting meeting;
	struct sys_features features;
	pthread_t thread;
	uint64_t begin_ns, burnt_ns;

	(void)state;
	if (sys_probe(&features)) {
		print_message("skipped: perf_event_open is refused here\n");
		skip();
	}
	assert_int_equal(self_counters_open(&counters), 0);
	pthread_barrier_init(&meeting.barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, second_thread, &meeting), 0);
	pthread_barrier_wait(&meeting.barrier);
	assert_int_equal(self_counters_read(counters, &before), 0);
	assert_in_range(before.threads, 2, 3); /* a sanitizer may add one */
	begin_ns = used_ns();
	pthread_barrier_wait(&meeting.barrier);
	pthread_barrier_wait(&meeting.barrier);
	burn(20000000);
	burnt_ns = used_ns() - begin_ns;
	assert_int_equal(self_counters_read(counters, &both), 0);
	assert_in_range(both.cpu_ns - before.cpu_ns, burnt_ns - burnt_ns / 10,
		burnt_ns + burnt_ns / 10 + 50000000);
	if (both.has_instructions)
		assert_true(both.instructions > before.instructions);
	pthread_barrier_wait(&meeting.barrier);
	pthread_join(thread, NULL);
	/* The count of an ended thread is kept. */
	assert_int_equal(self_counters_read(counters, &ended), 0);
	assert_true(ended.cpu_ns >= both.cpu_ns);
	self_counters_close(counters);
	self_counters_close(NULL);
	pthread_barrier_destroy(&meeting.barrier);
}

/* The other thread's events go on when this thread disables all of its own. */
static void *owner_thread(void *arg)
{
	struct meeting *meeting = arg;
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.size = sizeof(attr),
		.exclude_kernel = 1};
	int fd = sys_open(&attr, 0, -1);
	uint64_t before = 0, after = 0;

	pthread_barrier_wait(&meeting->barrier);
	pthread_barrier_wait(&meeting->barrier);
	if (fd < 0 || read(fd, &before, sizeof(before)) < 0)
		return "not opened";
	burn(5000000);
	if (read(fd, &after, sizeof(after)) < 0)
		return "not read";
	close(fd);
	return after > before ? NULL : "stands still";
}

static void test_others_go_on(void **state)
{
	struct self_counters *counters;
	struct meeting meeting;
	struct sys_features features;
	pthread_t thread;
	void *result;

	(void)state;
	if (sys_probe(&features)) {
		print_message("skipped: perf_event_open is refused here\n");
		skip();
	}
	pthread_barrier_init(&meeting.barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, owner_thread, &meeting), 0);
	pthread_barrier_wait(&meeting.barrier);
	assert_int_equal(self_counters_open(&counters), 0);
	self_counters_close(counters);
	pthread_barrier_wait(&meeting.barrier);
	pthread_join(thread, &result);
	assert_null(result);
	pthread_barrier_destroy(&meeting.barrier);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_sign_extension),
		cmocka_unit_test(test_again_when_it_changed),
		cmocka_unit_test(test_never_at_rest),
		cmocka_unit_test(test_has_to_be_read),
		cmocka_unit_test(test_time_scaling),
		cmocka_unit_test(test_own_threads),
		cmocka_unit_test(test_others_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
