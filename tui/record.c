/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record.c - strobe record: samples a target into a file until something ends it.
 *
 * UI thread.  Everything that can end the wait is a descriptor of one poll(2).
 */
#include "tui/record.h"

#include "sampler/recording/recorder.h"
#include "tui/clean.h"
#include "tui/explain.h"
#include "tui/format.h"
#include "tui/record_file.h"
#include "tui/session.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define END_COMMAND_S 5
#define NAMES_TIMEOUT_MS 20000u

struct run {
	struct session session;
	struct request request; /* with the tap */
	struct engine_tap tap;
	struct engine_status status; /* the last one read */
	struct record_file file;
	struct recorder *recorder;
	sigset_t old_signals;
	int signal_fd, timer_fd, tick_fd;
	bool signals_blocked, timer_armed, interrupted, timed_out, failed;
	bool told_command; /* to end */
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
	fprintf(stderr, "strobe: %s\n", sentence);
}

static bool is_over(const struct run *run)
{
	return run->status.state != ENGINE_STARTING && run->status.state != ENGINE_RUNNING;
}

/* --- waiting --- */

static int open_waits(struct run *run)
{
	const struct itimerspec second = {.it_interval.tv_sec = 1, .it_value.tv_sec = 1};
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	/* Before any thread is made, so that none takes them. */
	if (sigprocmask(SIG_BLOCK, &signals, &run->old_signals))
		return -errno;
	run->signals_blocked = true;
	run->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	run->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	run->tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (run->signal_fd < 0 || run->timer_fd < 0 || run->tick_fd < 0)
		return -errno;
	if (run->terminal && timerfd_settime(run->tick_fd, 0, &second, NULL))
		return -errno;
	return 0;
}

static void close_waits(struct run *run)
{
	const int fds[] = {run->signal_fd, run->timer_fd, run->tick_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* The duration begins when sampling does, not while thousands of threads are still being attached. */
static void arm_timer(struct run *run)
{
	double duration = run->request.duration_s;
	struct itimerspec when = {0};

	if (run->timer_armed || duration <= 0 || run->status.state != ENGINE_RUNNING)
		return;
	when.it_value.tv_sec = (time_t)duration;
	when.it_value.tv_nsec = (long)((duration - (double)when.it_value.tv_sec) * 1e9);
	if (!when.it_value.tv_sec && !when.it_value.tv_nsec)
		when.it_value.tv_nsec = 1;
	timerfd_settime(run->timer_fd, 0, &when, NULL);
	run->timer_armed = true;
}

static void wait_once(struct run *run)
{
	struct pollfd fds[] = {
		{session_notify_fd(&run->session), POLLIN, 0},
		{run->signal_fd, POLLIN, 0},
		{run->timer_fd, POLLIN, 0},
		{run->tick_fd, POLLIN, 0},
		{run->failed ? -1 : recorder_fd(run->recorder), POLLIN, 0},
	};
	struct signalfd_siginfo info;
	char text[RECORD_TEXT_MAX];
	struct recorder_status recorded;
	uint64_t count;

	if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0)
		return; /* EINTR: the caller comes again */
	if (fds[1].revents && read(run->signal_fd, &info, sizeof(info)) == sizeof(info))
		run->interrupted = true;
	if (fds[2].revents && read(run->timer_fd, &count, sizeof(count)) == sizeof(count))
		run->timed_out = true;
	if (fds[4].revents)
		run->failed = true;
	if (fds[0].revents) {
		(void)!read(fds[0].fd, &count, sizeof(count));
		session_status(&run->session, &run->status);
	}
	if (fds[3].revents && read(run->tick_fd, &count, sizeof(count)) == sizeof(count)) {
		session_status(&run->session, &run->status);
		recorder_status(run->recorder, &recorded);
		record_progress(
			text, sizeof(text), run->session.target_text, &run->status, &recorded);
		fprintf(stderr, "\r%s\033[K", text);
		run->progress_shown = true;
	}
}

/* Who ends strobe ends what it started, as with perf record: nobody would know of it any more. */
static void end_command(struct run *run)
{
	const struct itimerspec when = {.it_value.tv_sec = END_COMMAND_S};

	if (!session_end_command(&run->session))
		return;
	run->told_command = true;
	run->timed_out = false;
	timerfd_settime(run->timer_fd, 0, &when, NULL);
	/* One that does not listen, or a second signal, ends the wait. */
	while (!run->status.command_ended && !run->interrupted && !run->timed_out)
		wait_once(run);
}

static void sample(struct run *run)
{
	bool by_signal;

	session_status(&run->session, &run->status);
	arm_timer(run);
	while (!is_over(run) && !run->interrupted && !run->timed_out && !run->failed) {
		wait_once(run);
		arm_timer(run);
	}
	if (is_over(run))
		return;
	by_signal = run->interrupted;
	run->interrupted = false;
	session_stop(&run->session);
	session_status(&run->session, &run->status);
	while (!is_over(run) && !run->interrupted)
		wait_once(run);
	if (by_signal || run->failed)
		end_command(run);
	/* The sampling thread may be waiting for the disk. */
	if (run->interrupted)
		recorder_give_up(run->recorder);
	while (!is_over(run))
		wait_once(run);
}

/* --- the end --- */

static void tell_command(struct run *run)
{
	char how[64], sentence[512];

	if (!run->request.engine.target.command || run->status.state == ENGINE_FAILED)
		return;
	if (run->status.command_ended) {
		explain_wait_status(run->status.command_status, how, sizeof(how));
		snprintf(sentence, sizeof(sentence), "'%s' ended %s", run->session.command_text,
			how);
	} else {
		snprintf(sentence, sizeof(sentence), "'%s' (process %d) is still running%s",
			run->session.command_text, (int)run->status.command_pid,
			run->told_command ? ": it was told to end (SIGTERM)" : "");
	}
	complain(run, sentence);
}

static int finish(struct run *run)
{
	struct record_build_ids ids = {0};
	struct signalfd_siginfo info;
	struct recorder_status recorded;
	char text[RECORD_TEXT_MAX];
	int ret;

	/* What has no build-id is found by its path. */
	(void)record_build_ids(&ids, &run->session, NAMES_TIMEOUT_MS);
	/* From here on a signal does what it does to any program, since the disk may hang; but not one that came
	 * together with the first, as timeout(1) sends them. */
	while (read(run->signal_fd, &info, sizeof(info)) == sizeof(info))
		run->interrupted = true;
	sigprocmask(SIG_SETMASK, &run->old_signals, NULL);
	run->signals_blocked = false;
	session_close(&run->session);
	ret = recorder_finish(run->recorder, &run->status, ids.list, ids.n);
	record_build_ids_fini(&ids);
	recorder_status(run->recorder, &recorded);
	if (ret) {
		record_explain(text, sizeof(text), run->file.path, ret, &recorded);
		complain(run, text);
		if (!recorded.begun)
			record_file_undo(&run->file);
		return 1;
	}
	record_summary(text, sizeof(text), run->file.path, &run->status, &recorded);
	complain(run, text);
	return 0;
}

static int record(struct run *run)
{
	char message[1024];

	if (run->session.notice[0])
		complain(run, run->session.notice);
	sample(run);
	if (run->status.state == ENGINE_FAILED) {
		session_explain(&run->session, &run->status.failure, message, sizeof(message));
		complain(run, message);
		record_file_undo(&run->file);
		session_close(&run->session);
		return 1;
	}
	tell_command(run);
	return finish(run);
}

static int set_up(struct run *run, char *message, size_t size)
{
	struct engine_config *engine = &run->request.engine;
	struct recorder_config config = {.compress = run->request.compress};
	char **words = NULL;
	int error = record_file_open(&run->file, run->request.output, message, size);

	if (error)
		return error;
	error = open_waits(run);
	if (!error)
		error = record_cmdline(&words, &config.n_cmdline);
	config.fd = run->file.fd;
	config.pipe = run->file.pipe;
	config.cmdline = words;
	if (!error)
		error = recorder_new(&run->recorder, &config);
	record_cmdline_free(words, config.n_cmdline);
	if (error) {
		snprintf(message, size, "cannot record: %s", strerror(-error));
		return error;
	}
	recorder_tap(run->recorder, &run->tap);
	engine->tap = &run->tap;
	/* Standard output is the recording. */
	if (run->file.standard && engine->target.command)
		engine->target.command_output_fd = STDERR_FILENO;
	return session_open(&run->session, &run->request, message, size);
}

int record_run(const struct request *request)
{
	struct run *run = calloc(1, sizeof(*run));
	char message[1024] = "";
	int status = 1;

	if (!run) {
		fputs("strobe: out of memory\n", stderr);
		return 1;
	}
	run->request = *request;
	run->signal_fd = run->timer_fd = run->tick_fd = run->file.fd = -1;
	run->terminal = isatty(STDERR_FILENO);
	if (set_up(run, message, sizeof(message))) {
		complain(run, message);
		record_file_undo(&run->file);
	} else {
		status = record(run);
	}
	recorder_free(run->recorder);
	if (record_file_close(&run->file, message, sizeof(message))) {
		complain(run, message);
		status = 1;
	}
	if (run->signals_blocked)
		sigprocmask(SIG_SETMASK, &run->old_signals, NULL);
	close_waits(run);
	free(run);
	return status;
}
