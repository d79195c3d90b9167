/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * forks.c - a program without rights that starts processes and threads.
 *
 * Each process or thread calls forks_target() once.  Prints how many could not be started.  With
 * "wait" it prints "ready" and begins after its first line of input.
 *
 * usage: forks N [wait]
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

int forks_target(int n);
int forks_target(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

static void *run_thread(void *arg)
{
	forks_target(0);
	return arg;
}

static int start_process(void)
{
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (!pid) {
		forks_target(0);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

static int start_thread(void)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, run_thread, NULL);

	if (!error)
		pthread_join(thread, NULL);
	return error;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, failed = 0, error = 0;
	char line[16];

	if (!geteuid() && (setgid(NOBODY) || setuid(NOBODY)))
		return 1;
	if (argc > 2) {
		puts("ready");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	for (int i = 0; i < 2 * n; i++) {
		int ret = i % 2 ? start_thread() : start_process();

		failed += ret != 0;
		error = ret ? ret : error;
	}
	printf("%d of %d failed: %s\n", failed, 2 * n, error ? strerror(error) : "none");
	return 0;
}
