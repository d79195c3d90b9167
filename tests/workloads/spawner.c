// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * spawner.c - creates short-lived threads or processes without a pause.
 *
 * Each computes in spawner_work() for about MICROSECONDS and ends; two live at any time.  Prints
 * "ready" first, and at the end the number that it made.
 *
 * usage: spawner threads|processes|exec|tree [COUNT [MICROSECONDS]]
 *        COUNT 0, the default: no end.  tree: a child's child does the work.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS_PER_US 250u

static unsigned long work_us = 200;
static const char *self;

void spawner_work(void);

__attribute__((noinline)) void spawner_work(void)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < work_us * (uint64_t)TURNS_PER_US; i++) {
		x = x * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(x));
	}
}

static void *thread_main(void *arg)
{
	spawner_work();
	return arg;
}

static bool make_threads(void)
{
	pthread_t thread[2];

	for (unsigned int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, thread_main, NULL))
			return false;
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return true;
}

static void child_main(const char *mode)
{
	char us[24];

	if (!strcmp(mode, "exec")) {
		snprintf(us, sizeof(us), "%lu", work_us);
		execl(self, self, "work", "1", us, NULL);
		_exit(127);
	}
	if (!strcmp(mode, "tree")) {
		pid_t pid = fork();

		if (pid > 0)
			waitpid(pid, NULL, 0);
		if (pid)
			_exit(pid < 0);
	}
	spawner_work();
	_exit(0);
}

static bool make_processes(const char *mode)
{
	bool good = true;

	for (unsigned int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid)
			child_main(mode);
		good = good && pid > 0;
	}
	for (;;) {
		int status;

		if (wait(&status) > 0)
			good = good && !status;
		else if (errno != EINTR)
			return good;
	}
}

int main(int argc, char **argv)
{
	static const char *const modes[] = {"threads", "processes", "exec", "tree", "work"};
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0, made = 0;
	const char *mode = NULL;

	self = "/proc/self/exe";
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i]))
			mode = modes[i];
	if (!mode) {
		fprintf(stderr, "usage: spawner threads|processes|exec|tree [COUNT [US]]\n");
		return 2;
	}
	if (argc > 3)
		work_us = strtoul(argv[3], NULL, 10);
	if (!strcmp(mode, "work")) {
		spawner_work();
		return 0;
	}
	printf("ready\n");
	fflush(stdout);
	while (!count || made < count) {
		if (!(strcmp(mode, "threads") ? make_processes(mode) : make_threads())) {
			fprintf(stderr, "spawner: %s\n", strerror(errno));
			return 1;
		}
		made += 2;
	}
	printf("%lu\n", made);
	return 0;
}
