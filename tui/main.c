/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main.c - strobe: the command line, and which command it means.
 *
 * The only place that decides the exit status: 0 success, 2 a wrong command line, 1 anything else.
 */
#include "symbols/symbols.h"
#include "tui/annotate_report.h"
#include "tui/archive.h"
#include "tui/args.h"
#include "tui/diff.h"
#include "tui/doctor.h"
#include "tui/export.h"
#include "tui/list_events.h"
#include "tui/live.h"
#include "tui/record.h"
#include "tui/report.h"
#include "tui/sentence.h"
#include "tui/settings.h"
#include "tui/stat.h"
#include "tui/term.h"
#include "tui/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPORT_DEFAULT_S 5.0

/* What is buffered may fail to be written as late as now. */
static int finish_output(int status)
{
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		if (errno != EPIPE) /* as head(1) leaves: no news */
			sentence_print(stderr, "cannot write to standard output: %s",
				strerror(errno ? errno : EIO));
		return 1;
	}
	return status;
}

static int run_doctor(void)
{
	struct doctor_facts facts;

	doctor_gather(&facts);
	doctor_print(stdout, &facts);
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
		status = live_snapshot(request, request->snapshot_width, request->snapshot_height);
	else
		status = live_run(request);
	settings_free(request->settings);
	request->settings = NULL;
	return status;
}

/* The screen where there is a terminal for it, else the text report. */
static int run_live(struct request *request)
{
	const char *term = getenv("TERM");
	int error = term_probe();

	if (request->snapshot_width || !error)
		return run_screen(request);
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
	switch (request->command) {
	case CMD_HELP:
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

/* Without this, what is opened first would take the number of a closed standard stream and be written to.
 * The wrong direction makes use of the stream the error that it would have been. */
static int fill_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* The lowest free number is this one. */
		if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
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
	/* Not LC_NUMERIC: reports have one decimal point everywhere. */
	setlocale(LC_CTYPE, "");
	/* A closed pipe is an error of the write, with a sentence of its own. */
	signal(SIGPIPE, SIG_IGN);
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
	waiting_begin(&waiting, &request);
	status = run(&request);
	waiting_end(&waiting);
	args_fini(&request);
	return status;
}
