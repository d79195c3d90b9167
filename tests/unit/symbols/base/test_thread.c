/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_thread.c - threads that end in time, and one that is abandoned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbols/base/thread.h"

#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

static struct work {
	struct thread thread;
	sem_t go_on, dropped;
	atomic_int runs;
	char name[16];
	sigset_t blocked;
} work;

static void run(void *arg)
{
	struct work *mine = arg;

	sem_wait(&mine->go_on);
	pthread_sigmask(SIG_SETMASK, NULL, &mine->blocked);
	mine->runs++;
}

static void drop(void *arg)
{
	sem_post(&((struct work *)arg)->dropped);
}

static int setup(void **state)
{
	(void)state;
	memset(&work, 0, sizeof(work));
	sem_init(&work.go_on, 0, 0);
	sem_init(&work.dropped, 0, 0);
	return 0;
}

static void test_ends_in_time(void **state)
{
	int dropped;

	(void)state;
	assert_int_equal(thread_start(&work.thread, "in-time", run, drop, &work), 0);
	assert_int_equal(pthread_getname_np(work.thread.thread, work.name, sizeof(work.name)), 0);
	assert_string_equal(work.name, "in-time");
	sem_post(&work.go_on);
	assert_true(thread_wait(&work.thread, 60000));
	assert_int_equal(work.runs, 1);
	assert_true(sigismember(&work.blocked, SIGTERM));
	assert_int_equal(sem_getvalue(&work.dropped, &dropped), 0);
	assert_int_equal(dropped, 0);
}

static void test_left_behind(void **state)
{
	(void)state;
	assert_int_equal(thread_start(&work.thread, "hangs", run, drop, &work), 0);
	assert_false(thread_wait(&work.thread, 20));
	assert_int_equal(work.runs, 0);
	/* Only drop() frees the resources of an abandoned thread. */
	sem_post(&work.go_on);
	while (sem_wait(&work.dropped))
		;
	assert_int_equal(work.runs, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_ends_in_time, setup),
		cmocka_unit_test_setup(test_left_behind, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
