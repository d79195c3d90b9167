// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * work.c - executes millions of instructions in user space, nearly all in one loop.
 *
 * All code outside the loop, including the C library, takes less than a few ten thousand.
 *
 * usage: work MILLIONS
 */
#include <stdlib.h>

#define TURN 4 /* instructions of one turn */

void work_loop(unsigned long turns);

__attribute__((noinline)) void work_loop(unsigned long turns)
{
#if defined(__aarch64__)
	__asm__ volatile("1: nop\n"
			 "   nop\n"
			 "   subs %0, %0, #1\n"
			 "   b.ne 1b\n"
			 : "+r"(turns)
			 :
			 : "cc");
#else
	__asm__ volatile("1: nop\n"
			 "   nop\n"
			 "   subq $1, %0\n"
			 "   jne 1b\n"
			 : "+r"(turns)
			 :
			 : "cc");
#endif
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	work_loop(strtoul(argv[1], NULL, 10) * 1000000 / TURN);
	return 0;
}
