/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * command_output.h - splits the output of a launched command into lines.  UI thread.
 */
#ifndef TUI_TERMINAL_COMMAND_OUTPUT_H
#define TUI_TERMINAL_COMMAND_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#define COMMAND_OUTPUT_LINE 1000

struct command_output {
	int read_fd, write_fd; /* ends of the pipe; -1: closed */
	char line[COMMAND_OUTPUT_LINE];
	size_t len;
	bool cut; /* a part of this line was passed already */
};

/* Takes one line of raw bytes without its newline; a long line comes in parts. */
typedef void command_output_fn(const char *line, size_t len, void *ctx);

int command_output_open(struct command_output *output); /* 0 or -errno */

/* Closes our write end once the command has its own (or never will), so that end of file is
 * seen. */
void command_output_started(struct command_output *output);

/* Passes the lines that can be read now, at most about 64 kB, so that endless output does not block
 * the caller.  Returns false at end of file, after passing an unfinished last line. */
bool command_output_read(struct command_output *output, command_output_fn *fn, void *ctx);
void command_output_close(struct command_output *output);

#endif
