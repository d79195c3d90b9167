// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * stacks_lib.c - the library that stacks.c opens: a function between two functions of its caller.
 */
void stacks_between(void (*callback)(void));

__attribute__((noinline)) static void call_back(void (*callback)(void))
{
	callback();
	__asm__ volatile("");
}

void stacks_between(void (*callback)(void))
{
	call_back(callback);
	__asm__ volatile("");
}
