/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * command_output.c - the pipe from a launched command to the log.
 */
#include "tui/terminal/command_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define READS_AT_ONCE 16
#define READ_SIZE 4096

int command_output_open(struct command_output *output)
{
	int fds[2];

	output->read_fd = -1;
	output->write_fd = -1;
	output->len = 0;
	output->cut = false;
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	/* Only our end is nonblocking; the command's end blocks, as usual. */
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK)) {
		int error = errno;

		close(fds[0]);
		close(fds[1]);
		return -error;
	}
	output->read_fd = fds[0];
	output->write_fd = fds[1];
	return 0;
}

void command_output_started(struct command_output *output)
{
	if (output->write_fd >= 0)
		close(output->write_fd);
	output->write_fd = -1;
}

static void take(
	struct command_output *output, const char *data, size_t n, command_output_fn *fn, void *ctx)
{
	for (size_t i = 0; i < n; i++) {
		bool end = data[i] == '\n';

		if (!end)
			output->line[output->len++] = data[i];
		/* A newline right after a full part adds no empty line. */
		if (output->len == sizeof(output->line) ||
			(end && !(output->cut && !output->len))) {
			fn(output->line, output->len, ctx);
			output->len = 0;
		}
		output->cut = !end && (output->cut || !output->len);
	}
}

bool command_output_read(struct command_output *output, command_output_fn *fn, void *ctx)
{
	char data[READ_SIZE];

	for (int i = 0; i < READS_AT_ONCE; i++) {
		ssize_t n = read(output->read_fd, data, sizeof(data));

		if (n > 0) {
			take(output, data, (size_t)n, fn, ctx);
			continue;
		}
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (output->len)
			fn(output->line, output->len, ctx);
		output->len = 0;
		return false;
	}
	return true;
}

void command_output_close(struct command_output *output)
{
	command_output_started(output);
	if (output->read_fd >= 0)
		close(output->read_fd);
	output->read_fd = -1;
}
