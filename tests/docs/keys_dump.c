/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys_dump.c - print the table of key bindings, for the test of the manual page.
 */
#include "tui/keys.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	char *text = keys_dump();

	if (!text)
		return 1;
	fputs(text, stdout);
	free(text);
	return 0;
}
