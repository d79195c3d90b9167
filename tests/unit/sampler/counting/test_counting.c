/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_counting.c - counting: parsing a group's read, scaling, and cells of this process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/control/failure.h"
#include "sampler/counting/counting.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_scale(void **state)
{
	(void)state;
	assert_int_equal(counting_scale(1000, 100, 100), 1000);
	assert_int_equal(counting_scale(1000, 100, 50), 2000);
	assert_int_equal(counting_scale(1, 3, 2), 2); /* rounded */
	assert_int_equal(counting_scale(1000, 100, 0), 0);
	assert_int_equal(counting_scale(0, 100, 1), 0);
	/* A running time above the enabled time is a clock difference: nothing is scaled down. */
	assert_int_equal(counting_scale(1000, 99, 100), 1000);
	/* The multiplication does not overflow. The result is limited. */
	assert_int_equal(counting_scale(1ull << 60, 3000000000ull, 1500000000ull), 1ull << 61);
	assert_int_equal(counting_scale(UINT64_MAX, 1000, 1), UINT64_MAX);
}

static void test_group_read(void **state)
{
	struct counting_cell cells[3] = {{.id = 7}, {.id = 9}, {.id = 8}};
	const uint64_t words[] = {3, 100, 60, 70, 7, 80, 8, 90, 9};
	const uint64_t too_many[] = {4, 100, 60, 70, 7, 80, 8, 90, 9};

	(void)state;
	assert_int_equal(counting_parse_group(cells, 3, words, 9), 0);
	assert_int_equal(cells[0].value, 70);
	assert_int_equal(cells[1].value, 90);
	assert_int_equal(cells[2].value, 80);
	assert_int_equal(cells[2].enabled_ns, 100);
	assert_int_equal(cells[1].running_ns, 60);
	assert_int_equal(counting_parse_group(cells, 3, words, 0), -EIO);
	assert_int_equal(counting_parse_group(cells, 3, words, 2), -EBADMSG);
	assert_int_equal(counting_parse_group(cells, 3, too_many, 9), -EBADMSG);
	assert_int_equal(counting_parse_group(cells, 3, (const uint64_t[]){0, 1, 1}, 3), -EBADMSG);
	/* A group that was split: the other members still get their values. */
	cells[1].id = 10;
	cells[2].value = 0;
	assert_int_equal(counting_parse_group(cells, 3, words, 9), -ESTALE);
	assert_int_equal(cells[1].value, 90);
	assert_int_equal(cells[2].value, 80);
}

static void test_put_out(void **state)
{
	const uint64_t second = 1000000000;
	struct counting_cell cell = {.enabled_ns = second};

	(void)state;
	assert_false(counting_was_put_out(&cell, 0)); /* no clock */
	assert_false(counting_was_put_out(&cell, second + second / 200));
	assert_true(counting_was_put_out(&cell, 2 * second));
	cell.enabled_ns = 0;
	assert_false(counting_was_put_out(&cell, 500000)); /* too little time for a verdict */
	assert_true(counting_was_put_out(&cell, 5000000));
}

static struct event_spec software(uint64_t config)
{
	struct event_spec spec = {.attr = {.type = PERF_TYPE_SOFTWARE, .config = config}};

	spec.attr.exclude_kernel = spec.attr.exclude_hv = 1;
	snprintf(spec.name, sizeof(spec.name), "event-%u", (unsigned int)config);
	/* Counting ignores a frequency. */
	spec.attr.freq = 1;
	spec.attr.sample_freq = 997;
	return spec;
}

/* Counts these events on this thread. Returns NULL if the kernel refuses. */
static struct counting *count_self(const struct event_spec *specs, size_t n)
{
	const int32_t self = (int32_t)syscall(SYS_gettid);
	const struct counting_config config = {
		.target = {.tids = &self, .n_tids = 1, .command_output_fd = -1},
		.events = specs,
		.n_events = n,
	};
	struct engine_failure failure;
	struct counting *counting;
	int ret = counting_open(&counting, &config, &failure);

	if (ret == -EACCES || ret == -EPERM || ret == -ENOSYS) {
		print_message("perf events are refused here: %s\n", strerror(-ret));
		return NULL;
	}
	assert_int_equal(ret, 0);
	return counting;
}

#define PAGES 200u
/* Page faults from other sources: a sanitizer's own memory causes some. */
#ifdef __SANITIZE_THREAD__
#define OTHERS (2 * PAGES)
#define THREAD_TELLS false /* a new thread costs pages that count for the old one */
#else
#define OTHERS 40
#define THREAD_TELLS true
#endif

/* Not instrumented: a sanitizer's own memory would fault as well. */
__attribute__((no_sanitize("thread"))) static void touch_pages(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(
		NULL, PAGES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	madvise(pages, PAGES * size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)pages)[i * size] = 1;
	munmap(pages, PAGES * size);
}

static void test_group_of_this_thread(void **state)
{
	struct event_spec specs[3] = {software(PERF_COUNT_SW_PAGE_FAULTS),
		software(PERF_COUNT_SW_PAGE_FAULTS_MIN), software(PERF_COUNT_SW_TASK_CLOCK)};
	const struct counting_cell *cells;
	struct engine_failure failure;
	struct counting *counting;
	uint64_t before;
	bool told;
	size_t n;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		specs[i].group = 1;
	counting = count_self(specs, 3);
	if (!counting)
		skip();
	cells = counting_cells(counting, &n);
	assert_int_equal(n, 3);
	assert_int_equal(cells[0].members, 3);
	assert_int_equal(cells[1].members, 0);
	touch_pages(); /* before the start: not counted */
	assert_int_equal(counting_read(counting), 0);
	assert_int_equal(cells[0].value, 0);
	assert_int_equal(counting_start(counting, &failure), 0);
	touch_pages();
	assert_int_equal(counting_read(counting), 0);
	assert_in_range(cells[0].value, PAGES, PAGES + OTHERS);
	assert_int_equal(cells[0].value, cells[1].value);
	assert_true(cells[2].value > 0);
	assert_int_equal(cells[0].enabled_ns, cells[2].enabled_ns);
	assert_int_equal(cells[0].enabled_ns, cells[0].running_ns);
	before = counting_started_ns(counting);
	counting_stop(counting);
	assert_true(counting_ended_ns(counting) > before);
	assert_int_equal(counting_read(counting), 0);
	before = cells[0].value;
	touch_pages(); /* after the end: not counted */
	assert_int_equal(counting_read(counting), 0);
	assert_int_equal(cells[0].value, before);
	assert_true(counting_alive(counting, &told));
	counting_close(counting);
}

/* The kernel refuses all members of a group but one. */
static void test_group_of_one(void **state)
{
	struct event_spec specs[2] = {software(PERF_COUNT_SW_PAGE_FAULTS), software(9999)};
	const struct counting_cell *cells;
	struct engine_failure failure;
	struct counting *counting;
	size_t n;

	(void)state;
	specs[0].group = specs[1].group = 1;
	counting = count_self(specs, 2);
	if (!counting)
		skip();
	cells = counting_cells(counting, &n);
	assert_int_equal(n, 1);
	assert_int_equal(counting_start(counting, &failure), 0);
	touch_pages();
	counting_stop(counting);
	assert_int_equal(counting_read(counting), 0);
	assert_in_range(cells[0].value, PAGES, PAGES + OTHERS);
	assert_true(cells[0].enabled_ns > 0);
	assert_int_equal(cells[0].enabled_ns, cells[0].running_ns);
	counting_close(counting);
}

static void *touch_in_thread(void *arg)
{
	touch_pages();
	return arg;
}

/* Named threads count alone, without threads that they create. */
static void test_thread_does_not_inherit(void **state)
{
	struct event_spec spec = software(PERF_COUNT_SW_PAGE_FAULTS);
	struct counting *counting = count_self(&spec, 1);
	const struct counting_cell *cells;
	struct engine_failure failure;
	pthread_t thread;
	size_t n;

	(void)state;
	if (!counting)
		skip();
	cells = counting_cells(counting, &n);
	assert_int_equal(counting_start(counting, &failure), 0);
	assert_int_equal(pthread_create(&thread, NULL, touch_in_thread, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(counting_read(counting), 0);
	if (THREAD_TELLS)
		assert_true(cells[0].value < PAGES / 2);
	else
		print_message("part left out: ThreadSanitizer's own pages\n");
	counting_close(counting);
}

/* An event that this machine lacks gets an error. The others count. */
static void test_refused_event(void **state)
{
	struct event_spec specs[2] = {software(9999), software(PERF_COUNT_SW_TASK_CLOCK)};
	struct counting *counting = count_self(specs, 2);
	const struct counting_event *events;
	size_t n;

	(void)state;
	if (!counting)
		skip();
	events = counting_events(counting, &n);
	assert_int_equal(n, 2);
	assert_int_equal(events[0].opened, 0);
	assert_true(events[0].error != 0);
	assert_int_equal(events[1].opened, 1);
	assert_int_equal(events[1].error, 0);
	(void)counting_cells(counting, &n);
	assert_int_equal(n, 1);
	counting_close(counting);
}

/* The kernel refuses a filter on a task-clock. This is neither a lack of counters nor a task that
 * is gone. */
static void test_refused_filter(void **state)
{
	struct event_spec specs[2] = {
		software(PERF_COUNT_SW_TASK_CLOCK), software(PERF_COUNT_SW_TASK_CLOCK)};
	struct counting *counting;
	const struct counting_event *events;
	size_t n;

	(void)state;
	specs[0].group = specs[1].group = 1;
	specs[1].filter = "x != 0";
	counting = count_self(specs, 2);
	if (!counting)
		skip();
	events = counting_events(counting, &n);
	assert_int_equal(events[0].opened, 1);
	assert_int_equal(events[1].opened, 0);
	assert_int_equal(events[1].error, EINVAL);
	assert_false(events[1].no_room);
	assert_string_equal(events[1].asked.filter, "x != 0");
	counting_close(counting);
}

static void test_nothing_opens(void **state)
{
	const int32_t gone = 0x7ffffffe, self = (int32_t)getpid();
	struct event_spec spec = software(9999);
	struct counting_config config = {
		.target = {.pids = &self, .n_pids = 1, .command_output_fd = -1},
		.events = &spec,
		.n_events = 1,
	};
	struct engine_failure failure;
	struct counting *counting;

	(void)state;
	assert_true(counting_open(&counting, &config, &failure) < 0);
	assert_null(counting);
	assert_int_equal(failure.what, FAIL_OPEN);
	assert_string_equal(failure.event, spec.name);
	config.target.pids = &gone;
	assert_int_equal(counting_open(&counting, &config, &failure), -ESRCH);
	assert_int_equal(failure.what, FAIL_TARGET);
	assert_int_equal(failure.pid, gone);
	config.n_events = 0;
	assert_int_equal(counting_open(&counting, &config, &failure), -EINVAL);
}

static int run_command(char *const argv[], struct counting **out)
{
	struct event_spec spec = software(PERF_COUNT_SW_PAGE_FAULTS);
	const struct counting_config config = {
		.target = {.command = argv, .command_output_fd = -1},
		.events = &spec,
		.n_events = 1,
	};
	struct engine_failure failure;
	int ret = counting_open(out, &config, &failure);

	if (ret)
		return ret;
	ret = counting_start(*out, &failure);
	if (ret)
		assert_int_equal(failure.what, FAIL_COMMAND);
	return ret;
}

static void test_command(void **state)
{
	char *const argv[] = {"/bin/sh", "-c", "exit 3", NULL};
	const struct counting_cell *cells;
	struct counting *counting;
	int ret = run_command(argv, &counting), status;
	bool told;
	size_t n;

	(void)state;
	if (ret == -EACCES || ret == -EPERM || ret == -ENOSYS)
		skip();
	assert_int_equal(ret, 0);
	while (counting_alive(counting, &told)) {
		siginfo_t info;

		waitid(P_PID, (id_t)counting_command_pid(counting), &info, WEXITED | WNOWAIT);
	}
	assert_true(counting_command_ended(counting, &status));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_true(counting_ended_ns(counting) > counting_started_ns(counting));
	assert_int_equal(counting_read(counting), 0);
	cells = counting_cells(counting, &n);
	assert_int_equal(n, 1);
	assert_true(cells[0].value > 10);
	counting_close(counting);
}

/* An event of a hybrid machine's PMU is opened only on that PMU's CPUs. */
static void test_some_cpus(void **state)
{
	struct event_spec specs[2] = {
		software(PERF_COUNT_SW_PAGE_FAULTS), software(PERF_COUNT_SW_PAGE_FAULTS_MIN)};
	struct counting_config config = {
		.events = specs, .n_events = 2, .by_cpu = true, .target.command_output_fd = -1};
	const int32_t pid = getpid();
	struct engine_failure failure;
	struct counting *counting;
	size_t n, of_first = 0;

	(void)state;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		print_message("skipped: a single CPU\n");
		skip();
	}
	specs[0].core_cpus = "1-4095";
	config.target.pids = &pid;
	config.target.n_pids = 1;
	assert_int_equal(counting_open(&counting, &config, &failure), 0);
	const struct counting_cell *cells = counting_cells(counting, &n);
	for (size_t i = 0; i < n; i++) {
		of_first += cells[i].event == 0;
		assert_true(cells[i].event || cells[i].cpu >= 1);
	}
	assert_true(of_first > 0);
	assert_true(n - of_first > of_first);
	counting_close(counting);
}

static void test_no_such_command(void **state)
{
	char *const argv[] = {"/nonexistent/program", NULL};
	struct counting *counting;
	int ret = run_command(argv, &counting);

	(void)state;
	if (ret == -EACCES || ret == -EPERM || ret == -ENOSYS)
		skip();
	assert_int_equal(ret, -ENOENT);
	counting_close(counting);
	counting_close(NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_group_read),
		cmocka_unit_test(test_put_out),
		cmocka_unit_test(test_group_of_this_thread),
		cmocka_unit_test(test_group_of_one),
		cmocka_unit_test(test_thread_does_not_inherit),
		cmocka_unit_test(test_refused_event),
		cmocka_unit_test(test_refused_filter),
		cmocka_unit_test(test_nothing_opens),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_some_cpus),
		cmocka_unit_test(test_no_such_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
