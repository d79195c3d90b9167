/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * command_output.h - what a launched command prints, cut into lines.  UI thread.
 */
#ifndef TUI_COMMAND_OUTPUT_H
#define TUI_COMMAND_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#define COMMAND_OUTPUT_LINE 1000

struct command_output {
	int read_fd, write_fd; /* of a pipe; -1: closed */
	char line[COMMAND_OUTPUT_LINE];
	size_t len;
	bool cut; /* parts of this line were passed already */
};

/* Sees one line, raw bytes without its newline; one that is too long comes in parts. */
typedef void command_output_fn(const char *line, size_t len, void *ctx);

int command_output_open(struct command_output *output); /* 0 or -errno */

/* The command has its end now (or never will): keep none, so that its end is seen. */
void command_output_started(struct command_output *output);

/* Pass on what can be read now, but no more than some 64 kB: a command that prints without end shall not hold
 * up the caller.  False when nothing more will come; the last line without a newline is then passed too. */
bool command_output_read(struct command_output *output, command_output_fn *fn, void *ctx);
void command_output_close(struct command_output *output);

#endif
