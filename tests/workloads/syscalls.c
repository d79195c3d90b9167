/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * syscalls.c - COUNT calls of getppid(2) at full speed: a tracepoint fires as often.
 *
 * usage: syscalls COUNT [CHILDREN [SECONDS]]
 *
 * CHILDREN: this many children make COUNT calls each, at the same time.  SECONDS: it sleeps at the
 * end.
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
