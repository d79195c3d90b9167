// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * pages.c - writes once to each page of the variable pages_table: page faults at known addresses.
 *
 * Prints the variable's address and size.
 */
#include <stdint.h>
#include <stdio.h>

#define PAGE 4096
#define PAGES 64

/* Not zero, so that the program's file backs it. */
uint8_t pages_table[PAGES * PAGE] __attribute__((aligned(PAGE))) = {1};

void pages_touch(volatile uint8_t *table);

__attribute__((noinline)) void pages_touch(volatile uint8_t *table)
{
	for (size_t i = 0; i < PAGES; i++)
		table[i * PAGE + 8] = 1;
}

int main(void)
{
	pages_touch(pages_table);
	printf("%p %zu\n", (void *)pages_table, sizeof(pages_table));
	return 0;
}
