/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dump.c - print a table of the program, for the tests of its documents: "keys" or "events".
 */
#include "sampler/events/event.h"
#include "tui/controls/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int dump_keys(void)
{
	char *text = keys_dump();

	if (!text)
		return 1;
	fputs(text, stdout);
	free(text);
	return 0;
}

/* Prints a line for each event: its name, and its alias if it has one. */
static int dump_events(void)
{
	size_t n;
	const struct event_info *events = event_catalogue(&n);

	for (size_t i = 0; i < n; i++)
		printf("%s %s\n", events[i].name, events[i].alias ? events[i].alias : "");
	return 0;
}

int main(int argc, char **argv)
{
	return argc > 1 && !strcmp(argv[1], "events") ? dump_events() : dump_keys();
}
