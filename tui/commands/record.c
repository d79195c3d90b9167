/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record.c - strobe record: samples a target into a file until something ends it.
 *
 * UI thread.  taking.h waits for the end of sampling; this file adds the recording.
 */
#include "tui/commands/record.h"

#include "sampler/control/config.h"
#include "sampler/control/status.h"
#include "sampler/recording/recorder.h"
#include "tui/base/explain_errno.h"
#include "tui/commands/report.h"
#include "tui/explain/explain.h"
#include "tui/export/record_file.h"
#include "tui/session/request.h"
#include "tui/session/taking.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NAMES_TIMEOUT_MS 20000u
#define SETTLE_MS 2000u

enum { ALSO_TICK, ALSO_FAILURE };

struct run {
	struct taking taking;
	struct taking_also also;
	struct request request; /* copy with the tap */
	struct engine_tap tap;
	struct record_file file;
	struct recorder *recorder;
	struct record_asked asked;
	bool terminal, progress_shown;
};

static void clear_progress(struct run *run)
{
	if (run->progress_shown)
		fputs("\r\033[K", stderr);
	run->progress_shown = false;
}

static void complain(struct run *run, const char *sentence)
{
	clear_progress(run);
	taking_complain(sentence);
}

/* --- while sampling --- */

static void show_progress(struct run *run)
{
	struct taking *taking = &run->taking;
	char text[RECORD_TEXT_MAX];
	struct recorder_status recorded;

	session_status(&taking->session, &taking->status);
	session_describe(&taking->session);
	recorder_status(run->recorder, &recorded);
	record_progress(
		text, sizeof(text), taking->session.target_text, &taking->status, &recorded);
	fprintf(stderr, "\r%s\033[K", text);
	run->progress_shown = true;
}

static void ready(struct taking *taking, size_t i, void *ctx)
{
	struct run *run = ctx;
	uint64_t count;

	if (i == ALSO_FAILURE) {
		taking->failed = true;
		run->also.fds[ALSO_FAILURE] = -1;
	} else if (read(run->also.fds[ALSO_TICK], &count, sizeof(count)) == sizeof(count)) {
		show_progress(run);
	}
}

static void running(struct taking *taking, void *ctx)
{
	struct run *run = ctx;

	record_file_settle(&run->file);
	(void)record_ask_files(&run->asked, &taking->session);
}

static int watch(struct run *run)
{
	const struct itimerspec second = {.it_interval.tv_sec = 1, .it_value.tv_sec = 1};

	run->also.fds[ALSO_FAILURE] = recorder_fd(run->recorder);
	if (!run->terminal)
		return 0;
	run->also.fds[ALSO_TICK] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (run->also.fds[ALSO_TICK] < 0 ||
		timerfd_settime(run->also.fds[ALSO_TICK], 0, &second, NULL))
		return -errno;
	return 0;
}

static void sample(struct run *run)
{
	struct taking *taking = &run->taking;

	taking->also = &run->also;
	taking->without_names = true;
	taking_sample(taking);
	/* The sampling thread may be blocked by the disk. */
	if (taking->interrupted)
		recorder_give_up(run->recorder);
	while (!taking_is_over(taking))
		taking_wait(taking);
}

/* --- the end --- */

/* Prints notes on images and events, since a reader of the recording cannot get them later. */
static void tell_notes(struct run *run)
{
	struct report report = {0};

	(void)report_add_session_notes(&report, &run->taking.session, false);
	(void)report_add_chain_notes(&report, &run->taking.session);
	for (size_t i = 0; i < report.n_notes; i++)
		complain(run, report.notes[i]);
	report_fini(&report);
}

static int finish(struct run *run)
{
	struct taking *taking = &run->taking;
	struct record_build_ids ids = {0};
	struct record_kept kept = {0};
	struct recorder_status recorded;
	char text[RECORD_TEXT_MAX];
	int ret;

	/* Known origins of pieces of code go into the recording. */
	(void)record_ask_files(&run->asked, &taking->session);
	if (names_asks_pieces(taking->session.names))
		(void)names_wait(taking->session.names, NAMES_TIMEOUT_MS);
	session_settle(&taking->session, SETTLE_MS);
	/* An image without a build-id is found by its path. */
	(void)record_build_ids(&ids, &taking->session, NAMES_TIMEOUT_MS);
	/* Names that cannot be copied may still be found at their place. */
	if (!record_copy_kept(&kept, &taking->session))
		recorder_keep(run->recorder, kept.bytes, kept.len);
	tell_notes(run);
	if (record_explain_kept(&kept, text, sizeof(text)))
		complain(run, text);
	/* The disk may block. */
	taking_release_signals(taking);
	session_close(&taking->session);
	ret = recorder_finish(run->recorder, &taking->status, ids.list, ids.n);
	record_build_ids_fini(&ids);
	record_kept_fini(&kept);
	recorder_status(run->recorder, &recorded);
	if (ret) {
		record_explain(text, sizeof(text), run->file.path, ret, &recorded);
		complain(run, text);
		if (!recorded.begun)
			record_file_undo(&run->file);
		return 1;
	}
	record_summary(text, sizeof(text), run->file.path, &taking->status, &recorded);
	complain(run, text);
	return 0;
}

static int record(struct run *run)
{
	struct taking *taking = &run->taking;
	char message[1024];

	if (taking->session.notice[0])
		complain(run, taking->session.notice);
	sample(run);
	if (taking->status.state == ENGINE_FAILED) {
		session_explain(
			&taking->session, &taking->status.failure, message, sizeof(message));
		complain(run, message);
		record_file_undo(&run->file);
		return 1;
	}
	clear_progress(run);
	taking_tell_command(taking);
	return finish(run);
}

static int make_recorder(struct run *run)
{
	struct recorder_config config = {
		.fd = run->file.fd, .pipe = run->file.pipe, .compress = run->request.compress};
	char **words = NULL;
	int error = record_cmdline(&words, &config.n_cmdline);

	config.cmdline = words;
	if (!error)
		error = recorder_new(&run->recorder, &config);
	record_cmdline_free(words, config.n_cmdline);
	return error ? error : watch(run);
}

/* Returns 0, or nonzero after printing a message. */
static int set_up(struct run *run)
{
	struct engine_config *engine = &run->request.engine;
	char message[1024] = "";
	int error = record_file_open(&run->file, run->request.output, message, sizeof(message));

	if (!error) {
		error = make_recorder(run);
		if (error)
			snprintf(message, sizeof(message), "cannot record: %s",
				explain_errno(error));
	}
	if (error) {
		complain(run, message);
		return error;
	}
	recorder_tap(run->recorder, &run->tap);
	engine->tap = &run->tap;
	/* Standard output is the recording, so the command must not write there. */
	if (run->file.standard && engine->target.command)
		engine->target.command_output_fd = STDERR_FILENO;
	return taking_open(&run->taking, &run->request);
}

int record_run(const struct request *request)
{
	struct run *run = calloc(1, sizeof(*run));
	char message[1024] = "";
	int status = 1;

	if (!run) {
		taking_complain("out of memory");
		return 1;
	}
	run->request = *request;
	run->taking.signal_fd = run->taking.timer_fd = run->file.fd = run->file.place.dir_fd = -1;
	run->also = (struct taking_also){
		.fds = {-1, -1}, .ready = ready, .running = running, .ctx = run};
	run->terminal = isatty(STDERR_FILENO);
	if (set_up(run))
		record_file_undo(&run->file);
	else
		status = record(run);
	/* The sampling thread calls the tap until the session is closed. */
	taking_close(&run->taking);
	record_asked_fini(&run->asked);
	recorder_free(run->recorder);
	if (record_file_close(&run->file, message, sizeof(message))) {
		complain(run, message);
		status = 1;
	}
	status = taking_exit_status(&run->taking, status);
	if (run->also.fds[ALSO_TICK] >= 0)
		close(run->also.fds[ALSO_TICK]);
	free(run);
	return status;
}
