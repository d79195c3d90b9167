/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main.c - strobe: parses the command line and runs its command.
 *
 * Exit status: 0 success, 2 a wrong command line, 1 anything else.  See exit_status.h for commands.
 */
#include "sampler/events/cgroup.h"
#include "sampler/kernel/launch.h"
#include "symbols/client/symbols.h"
#include "tui/base/explain_errno.h"
#include "tui/base/sentence.h"
#include "tui/commands/annotate_report.h"
#include "tui/commands/archive.h"
#include "tui/commands/diff.h"
#include "tui/commands/doctor.h"
#include "tui/commands/doctor_programs.h"
#include "tui/commands/export.h"
#include "tui/commands/list_events.h"
#include "tui/commands/record.h"
#include "tui/commands/report.h"
#include "tui/commands/stat.h"
#include "tui/options/args.h"
#include "tui/screen/live.h"
#include "tui/screen/settings.h"
#include "tui/session/memory.h"
#include "tui/session/request.h"
#include "tui/session/waiting.h"
#include "tui/terminal/charset.h"
#include "tui/terminal/term.h"
#include "tui/views/views.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPORT_DEFAULT_S 5.0

/* Flushes standard output, where buffered text may still fail to be written. */
static int finish_output(int status)
{
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		if (errno != EPIPE) /* a reader such as head(1) has closed the pipe: no message */
			sentence_print(stderr, "cannot write to standard output: %s",
				explain_errno(errno));
		return 1;
	}
	return status;
}

static int run_doctor(void)
{
	struct doctor_programs programs;
	struct doctor_facts facts;

	doctor_gather(&facts);
	doctor_programs_gather(&programs);
	doctor_print(stdout, &facts);
	doctor_programs_print(stdout, &programs);
	return finish_output(0);
}

static int run_screen(struct request *request)
{
	int status;

	if (settings_load(&request->settings, request)) {
		sentence_print(stderr, "out of memory");
		return 1;
	}
	settings_tell(request->settings, stderr);
	if (request->snapshot_width)
		status = live_snapshot(
			request, views_by_key, request->snapshot_width, request->snapshot_height);
	else
		status = live_run(request, views_by_key);
	settings_free(request->settings);
	request->settings = NULL;
	return status;
}

/* Runs the screen if the terminal can show it, else prints the text report. */
static int run_live(struct request *request)
{
	const char *term = getenv("TERM");
	int error = term_probe();

	if (request->snapshot_width || !error)
		return run_screen(request);
	if (error == -ENOMEM) {
		sentence_print(stderr, "out of memory");
		return 1;
	}
	if (error == -ENOTTY)
		sentence_print(stderr,
			"standard input and output are no terminal: printing the text report");
	else if (!term || !*term)
		sentence_print(stderr, "TERM is not set: printing the text report");
	else
		sentence_print(
			stderr, "this TERM has no screen to draw on: printing the text report");
	if (request->duration_s <= 0 && !request->engine.target.command && !request->n_files)
		request->duration_s = REPORT_DEFAULT_S;
	return report_run(request);
}

static int run(struct request *request)
{
	static char whole[1 << 15];

	switch (request->command) {
	case CMD_HELP:
		/* Buffer all, so that a single write() reports the reason of a failure. */
		setvbuf(stdout, whole, _IOFBF, sizeof(whole));
		args_help(stdout, request->help_command);
		return finish_output(0);
	case CMD_VERSION:
		printf("strobe %s\n", STROBE_VERSION);
		return finish_output(0);
	case CMD_DOCTOR:
		return run_doctor();
	case CMD_LIST:
		return finish_output(list_events_run(request));
	case CMD_REPORT:
		return report_run(request);
	case CMD_RECORD:
		return record_run(request);
	case CMD_EXPORT:
		return export_run(request);
	case CMD_DIFF:
		return diff_run(request);
	case CMD_ARCHIVE:
		return archive_run(request);
	case CMD_ANNOTATE:
		return annotate_run(request);
	case CMD_STAT:
		return stat_run(request);
	default:
		return run_live(request);
	}
}

/* Opens the standard descriptors that are closed.  Otherwise the next file to be opened would take
 * the number of a standard stream.  With O_PATH, use of the stream fails as before.  A started
 * command does not inherit these descriptors. */
static int fill_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* open() returns the lowest free number, which is fd. */
		if (open("/", O_PATH | O_CLOEXEC) != fd)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct request request;
	struct waiting waiting;
	char message[1024];
	int status;

	symbols_main(argc, argv);
	if (fill_standard_fds())
		return 1;
	charset_take();
	launch_take_signals();
	switch (args_parse(&request, argc, argv, message, sizeof(message))) {
	case 0:
		break;
	case -EINVAL:
		sentence_print(stderr, "%s", message);
		return 2;
	default:
		sentence_print(stderr, "%s", message);
		return 1;
	}
	if (!request.memory_given)
		request.engine.memory_bytes = memory_fit(request.engine.memory_bytes,
			cgroup_memory_limit(), &request.memory_limit_bytes);
	waiting_begin(&waiting, &request);
	status = run(&request);
	waiting_end(&waiting);
	args_fini(&request);
	return status;
}
