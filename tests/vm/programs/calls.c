// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * calls.c - calls calls_target() and getppid(2), TIMES times each.
 *
 * usage: calls TIMES
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

unsigned long calls_target(unsigned long x);

__attribute__((noinline)) unsigned long calls_target(unsigned long x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

int main(int argc, char **argv)
{
	unsigned long times = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long x = 0;

	for (unsigned long i = 0; i < times; i++) {
		x = calls_target(x);
		syscall(SYS_getppid);
	}
	return x == times ? 0 : 1;
}
