/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * syscalls.c - so many getppid(2) and nothing else: a tracepoint fires as often, as fast as it can.
 *
 * usage: syscalls COUNT [CHILDREN [SECONDS]]   (so many children make as many each, all at one time; then it sleeps)
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void flood(long count)
{
	for (long i = 0; i < count; i++)
		syscall(SYS_getppid);
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 0, children = argc > 2 ? atol(argv[2]) : 0;

	for (long i = 0; i < children; i++) {
		if (fork() == 0) {
			flood(count);
			_exit(0);
		}
	}
	flood(count);
	while (wait(NULL) > 0)
		continue;
	if (argc > 3)
		sleep((unsigned int)atoi(argv[3]));
	return 0;
}
