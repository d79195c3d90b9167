// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_signals.c - overflows reported by signals, the alternative to epoll in doc/decisions/001-*.
 *
 * Checks the statements there on F_SETSIG, F_SETOWN_EX, POLL_IN and POLL_HUP.
 */
#include "sampler/kernel/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/page_faults.h"

#define CREDIT 3u

static int open_faults(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.size = sizeof(attr),
		.sample_period = 1,
		.wakeup_events = 1,
		.disabled = 1,
		.exclude_kernel = 1};

	return sys_open(&attr, 0, -1);
}

static void test_signals(void **state)
{
	const struct f_owner_ex owner = {F_OWNER_TID, gettid()};
	const struct timespec soon = {.tv_sec = 60}, now = {0};
	unsigned int in = 0, hup = 0;
	siginfo_t info;
	sigset_t set;
	int fd = open_faults();

	(void)state;
	if (fd < 0) {
		print_message("skipped: perf_event_open is refused here\n");
		skip();
	}
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 3);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	assert_int_equal(fcntl(fd, F_SETOWN_EX, &owner), 0);
	assert_int_equal(fcntl(fd, F_SETSIG, SIGRTMIN + 3), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK), 0);
	assert_int_equal(sys_refresh(fd, CREDIT), 0);
	touch(50);
	/* POLL_HUP comes at the end of the credit, which disables the event.  No signal follows
	 * it. */
	while (!hup && sigtimedwait(&set, &info, &soon) > 0) {
		assert_int_equal(info.si_fd, fd);
		in += info.si_code == POLL_IN;
		hup += info.si_code == POLL_HUP;
		if (info.si_code != POLL_IN && info.si_code != POLL_HUP)
			fail();
	}
	assert_int_equal(hup, 1);
	assert_in_range(in, 0, CREDIT - 1);
	touch(50);
	assert_int_equal(sigtimedwait(&set, &info, &now), -1);
	assert_int_equal(errno, EAGAIN);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
