/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_follow.c - forks, ends, and process numbers that are used again.
 */
#include "sampler/accounting/follow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct follow follow;

static int set_up(void **state)
{
	struct follow_process *process;

	(void)state;
	follow_init(&follow);
	process = follow_add_process(&follow, 100, true);
	assert_non_null(process);
	assert_non_null(follow_add_task(&follow, process, 100));
	assert_non_null(follow_add_task(&follow, process, 101));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	follow_fini(&follow);
	return 0;
}

static struct follow_task *fork_of(uint32_t ppid, uint32_t pid, uint32_t tid)
{
	const struct record_task fork = {.pid = pid, .ppid = ppid, .tid = tid, .time_ns = 5};
	struct follow_task *born;
	struct point *stale;

	assert_int_equal(follow_fork(&follow, &fork, &born, &stale), 0);
	assert_null(stale);
	return born;
}

static void test_wants(void **state)
{
	struct follow_process *single;

	(void)state;
	assert_true(follow_wants(&follow, 100, 100));
	assert_true(follow_wants(&follow, 100, 555));
	assert_false(follow_wants(&follow, 200, 200));
	assert_false(follow_wants(&follow, 0, 0));
	single = follow_add_process(&follow, 200, false);
	assert_non_null(follow_add_task(&follow, single, 201));
	assert_true(follow_wants(&follow, 200, 201));
	assert_false(follow_wants(&follow, 200, 200));
	/* Children of a single thread are not followed. */
	assert_null(fork_of(200, 200, 203));
	assert_null(fork_of(200, 300, 300));
	/* They are followed after the whole process is added. */
	assert_ptr_equal(follow_add_process(&follow, 200, true), single);
	assert_true(follow_wants(&follow, 200, 200));
	assert_int_equal(fork_of(200, 300, 300)->born_ns, 5);
}

static void test_tree(void **state)
{
	(void)state;
	assert_non_null(fork_of(100, 110, 110));
	assert_non_null(fork_of(110, 120, 120));
	assert_non_null(fork_of(120, 120, 121));
	assert_null(fork_of(1, 130, 130));
	assert_int_equal(follow.alive, 3);
	assert_int_equal(follow.forks, 3);
	assert_int_equal(follow_process(&follow, 120)->tasks, 2);
	/* A scan has already found the thread. */
	assert_ptr_equal(fork_of(100, 100, 101), follow_task(&follow, 101));
	assert_int_equal(follow.forks, 3);
}

static void test_end(void **state)
{
	struct follow_process *process = follow_process(&follow, 100);
	int32_t *pids;
	size_t n;

	(void)state;
	assert_null(follow_exit(&follow, follow_task(&follow, 100), 10));
	assert_int_equal(process->tasks, 1);
	assert_ptr_equal(follow_exit(&follow, follow_task(&follow, 101), 10), process);
	assert_int_equal(follow.alive, 0);
	assert_null(follow_task(&follow, 101));
	/* Samples of the last moments may still come. */
	assert_true(follow_wants(&follow, 100, 100));
	follow_expire(&follow, 10);
	assert_true(follow_wants(&follow, 100, 100));
	assert_int_equal(follow_pids(&follow, &pids, &n), 0);
	assert_int_equal(n, 0);
	assert_null(pids);
	follow_expire(&follow, 11);
	assert_false(follow_wants(&follow, 100, 100));
}

static void test_number_given_out_again(void **state)
{
	struct follow_process *process;

	(void)state;
	assert_non_null(fork_of(100, 110, 110));
	assert_non_null(follow_exit(&follow, follow_task(&follow, 110), 10));
	/* The number goes to an unrelated process. */
	assert_null(fork_of(1, 110, 110));
	assert_false(follow_wants(&follow, 110, 110));
	/* The number goes to a child, before and after the old process expires. */
	assert_non_null(fork_of(100, 110, 110));
	assert_non_null(follow_exit(&follow, follow_task(&follow, 110), 20));
	assert_non_null(fork_of(100, 110, 110));
	follow_expire(&follow, 1000);
	assert_true(follow_wants(&follow, 110, 110));
	assert_non_null(follow_exit(&follow, follow_task(&follow, 110), 30));
	follow_expire(&follow, 1000);
	assert_null(follow_process(&follow, 110));
	/* The end of the old thread was not reported: its point must go. */
	process = follow_process(&follow, 100);
	follow_task(&follow, 101)->point = (struct point *)process;
	{
		const struct record_task fork = {.pid = 101, .ppid = 1, .tid = 101};
		struct follow_task *born;
		struct point *stale;

		assert_int_equal(follow_fork(&follow, &fork, &born, &stale), 0);
		assert_null(born);
		assert_ptr_equal(stale, process);
	}
	assert_int_equal(process->tasks, 1);
}

static void test_left_out(void **state)
{
	(void)state;
	follow_leave_out(&follow, follow_task(&follow, 100), true);
	follow_leave_out(&follow, follow_task(&follow, 101), true);
	follow_leave_out(&follow, follow_task(&follow, 101), true);
	assert_int_equal(follow.left_out, 2);
	follow_leave_out(&follow, follow_task(&follow, 100), false);
	assert_int_equal(follow.left_out, 1);
	assert_null(follow_exit(&follow, follow_task(&follow, 101), 10));
	assert_int_equal(follow.left_out, 0);
}

static void test_remove(void **state)
{
	int32_t *pids;
	size_t n;

	(void)state;
	for (uint32_t tid = 1000; tid < 2000; tid++)
		assert_non_null(fork_of(100, 100, tid));
	assert_non_null(fork_of(100, 90, 90));
	assert_int_equal(follow_pids(&follow, &pids, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(pids[0], 90);
	assert_int_equal(pids[1], 100);
	free(pids);
	follow_remove(&follow, follow_process(&follow, 100));
	assert_int_equal(follow.tasks.n, 1);
	assert_int_equal(follow.alive, 1);
	/* A process that has ended and waits for its expiry. */
	assert_non_null(follow_exit(&follow, follow_task(&follow, 90), 5));
	follow_remove(&follow, follow_process(&follow, 90));
	assert_int_equal(follow.alive, 0);
	follow_expire(&follow, 1000);
}

static void test_thread_that_changed_process(void **state)
{
	struct follow_process *other = follow_add_process(&follow, 200, true);
	struct follow_task *task = follow_add_task(&follow, other, 101);

	(void)state;
	assert_ptr_equal(task->process, other);
	assert_int_equal(follow_process(&follow, 100)->tasks, 1);
	assert_int_equal(other->tasks, 1);
}

static struct point *mark(int32_t tid)
{
	/* Only compared, never used as a point. */
	return follow_task(&follow, tid)->point = (struct point *)follow_task(&follow, tid);
}

/* Another thread than the leader calls exec. The leader's end was reported, and the thread takes
 * its number. */
static void test_exec_by_another_thread(void **state)
{
	struct follow_process *process = follow_process(&follow, 100);
	struct point *point = mark(101);
	struct follow_task *left;

	(void)state;
	assert_null(follow_exit(&follow, follow_task(&follow, 100), 10));
	left = follow_exec(&follow, process);
	assert_non_null(left);
	assert_int_equal(left->tid, 100);
	assert_ptr_equal(left->point, point);
	assert_ptr_equal(follow_task(&follow, 100), left);
	assert_null(follow_task(&follow, 101));
	assert_int_equal(process->tasks, 1);
	/* Its end is therefore the end of the process. */
	assert_ptr_equal(follow_exit(&follow, left, 20), process);
	assert_int_equal(follow.alive, 0);
}

static void test_exec_of_one_or_of_many(void **state)
{
	struct follow_process *process = follow_process(&follow, 100);
	struct point *point = mark(100);

	(void)state;
	/* Ends that were not reported. */
	assert_non_null(fork_of(100, 100, 102));
	assert_ptr_equal(follow_exec(&follow, process), follow_task(&follow, 100));
	assert_ptr_equal(follow_task(&follow, 100)->point, point);
	assert_int_equal(follow.tasks.n, 1);
	assert_int_equal(process->tasks, 1);
	assert_ptr_equal(follow_exec(&follow, process), follow_task(&follow, 100));
	assert_int_equal(process->tasks, 1);
	/* Unreported ends of all but the leader. The thread that called exec gets no point. */
	assert_non_null(fork_of(100, 100, 103));
	assert_non_null(fork_of(100, 100, 104));
	follow_exit(&follow, follow_task(&follow, 100), 10);
	assert_null(follow_exec(&follow, process)->point);
	assert_int_equal(follow.tasks.n, 1);
	assert_non_null(follow_task(&follow, 100));
}

/* The only known thread was another one, and it has ended. */
static void test_exec_of_one_thought_dead(void **state)
{
	struct follow_process *process = follow_process(&follow, 100);

	(void)state;
	follow_exit(&follow, follow_task(&follow, 100), 10);
	assert_non_null(follow_exit(&follow, follow_task(&follow, 101), 10));
	assert_int_equal(follow.alive, 0);
	assert_non_null(follow_exec(&follow, process));
	assert_int_equal(follow.alive, 1);
	follow_expire(&follow, 1000);
	assert_ptr_equal(follow_process(&follow, 100), process);
	assert_non_null(follow_exit(&follow, follow_task(&follow, 100), 2000));
	follow_expire(&follow, 3000);
	assert_null(follow_process(&follow, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_wants, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tree, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_number_given_out_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_remove, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_exec_by_another_thread, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_exec_of_one_or_of_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_exec_of_one_thought_dead, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_thread_that_changed_process, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
