// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * undefined.c - provokes a sanitizer's report: a sum that overflows.
 */
#include <limits.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int sum = INT_MAX;

	(void)argv;
	sum += argc;
	printf("%d\n", sum);
	return 0;
}
