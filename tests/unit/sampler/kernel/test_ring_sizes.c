/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_ring_sizes.c - size of the threads' rings, by the number of threads and the limit of locked
 * memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/control/config.h"
#include "sampler/engine/internal.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PAGE 4096u

static int setup(void **state)
{
	struct engine *engine = calloc(1, sizeof(*engine));

	assert_non_null(engine);
	engine->limits.cap_ipc_lock = true;
	*state = engine;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static unsigned int pages(struct engine *engine, size_t before, size_t n)
{
	engine->n_points = before;
	return 1u << order_for_tasks(engine, n);
}

/* Few threads get large rings, many get small ones, whether they come at once or one by one.  Up to
 * 63 threads together get 1,024 pages at most. */
static void test_tasks(void **state)
{
	struct engine *engine = *state;

	assert_int_equal(pages(engine, 0, 1), 64);
	assert_int_equal(pages(engine, 0, 15), 64);
	assert_int_equal(pages(engine, 0, 16), 32);
	assert_int_equal(pages(engine, 15, 1), 32);
	assert_int_equal(pages(engine, 0, 100), 16);
	assert_int_equal(pages(engine, 5000, 1), 16);
	assert_int_equal(pages(engine, 0, 3000), 4);
	for (size_t n = 1; n < 64; n++)
		assert_true(n * pages(engine, 0, n) <= 1024);
}

static void test_limits(void **state)
{
	struct engine *engine = *state;

	engine->config.ring_pages = 8;
	assert_int_equal(pages(engine, 0, 1), 8);
	engine->config.ring_pages = 0;
	/* Each ring also has a control page. */
	engine->limits.cap_ipc_lock = false;
	engine->limits.paranoid = 2;
	engine->limits.memlock_soft = 36 * PAGE;
	assert_int_equal(pages(engine, 0, 1), 16);
	assert_int_equal(pages(engine, 0, 4), 8);
	/* The kernel's default for each user plus 8 MiB. One thread gets a large ring, a few
	 * threads do not take all of it. */
	engine->limits.memlock_soft = 2560 * PAGE;
	assert_int_equal(pages(engine, 0, 1), 64);
	assert_int_equal(pages(engine, 0, 4), 64);
	assert_int_equal(pages(engine, 0, 10), 16);
	/* Pages that are locked already make no difference. */
	engine->budget.locked_pages = 2000;
	assert_int_equal(pages(engine, 0, 1), 64);
}

struct sleepers {
	sem_t begun, end;
	pthread_t threads[64];
	int32_t tids[64];
	atomic_uint n;
};

static void *sleep_on(void *arg)
{
	struct sleepers *sleepers = arg;

	sleepers->tids[atomic_fetch_add(&sleepers->n, 1)] = gettid();
	sem_post(&sleepers->begun);
	while (sem_wait(&sleepers->end))
		;
	return NULL;
}

static void begin(struct sleepers *sleepers)
{
	assert_int_equal(sem_init(&sleepers->begun, 0, 0) | sem_init(&sleepers->end, 0, 0), 0);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(
			pthread_create(&sleepers->threads[i], NULL, sleep_on, sleepers), 0);
	for (size_t i = 0; i < 64; i++)
		while (sem_wait(&sleepers->begun))
			;
}

static void end(struct sleepers *sleepers)
{
	for (size_t i = 0; i < 64; i++)
		sem_post(&sleepers->end);
	for (size_t i = 0; i < 64; i++)
		pthread_join(sleepers->threads[i], NULL);
}

static void enqueue(struct engine *engine, struct follow_process *process, int32_t tid)
{
	struct follow_task *task = follow_add_task(&engine->follow, process, tid);

	assert_non_null(task);
	attach_enqueue(engine, &engine->attach.born, task);
}

/* A launched program is planned for as one thread, and then has 64 more at once. */
static void test_births(void **state)
{
	static struct sleepers sleepers;
	struct engine *engine = *state;
	struct follow_process *process;
	unsigned int opened;

	/* The kernel has other limits for other users. */
	if (geteuid() || sys_probe(&engine->features)) {
		print_message("Not root, or no events here.\n");
		skip();
	}
	engine->loop.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	assert_true(engine->loop.epoll_fd >= 0);
	engine->limits.cap_ipc_lock = false;
	engine->limits.paranoid = 2;
	/* Enough for all rings at the size for many threads. */
	engine->limits.memlock_soft = (64 * 17 + 65) * PAGE;
	engine->budget.fd_limit = 1024;
	engine->scope.trackers = engine->scope.side_by_cpu = true;
	engine->status.scope = engine->config.scope = SCOPE_TASK;
	follow_init(&engine->follow);
	process = follow_add_process(&engine->follow, getpid(), true);
	assert_non_null(process);
	attach_plan(engine, 1);
	assert_int_equal(engine->budget.order, 6);
	enqueue(engine, process, getpid());
	while (target_work(engine))
		;
	begin(&sleepers);
	for (size_t i = 0; i < 64; i++)
		enqueue(engine, process, sleepers.tids[i]);
	while (target_work(engine))
		;
	opened = (unsigned int)engine->n_points;
	if (opened) {
		assert_int_equal(opened, 65);
		assert_int_equal(engine->follow.left_out, 0);
		assert_int_equal(engine->budget.locked_pages, 65 + 64 * 17);
		assert_int_equal(ring_size(engine->points[64]->channel->ring), 16 * PAGE);
	}
	while (engine->n_points)
		point_close(engine, engine->points[0]);
	end(&sleepers);
	follow_fini(&engine->follow);
	free(engine->points);
	free(engine->channels);
	free(engine->round.sources);
	free(engine->attach.born.tids);
	close(engine->loop.epoll_fd);
	if (!opened) {
		print_message("The events of threads are refused.\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tasks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_births, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
