/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.c - strobe report: waits for the end of the profile, then for the names, then prints.
 *
 * UI thread.  Everything that can end the wait is a descriptor of one poll(2).
 */
#include "tui/report.h"

#include "tui/clean.h"
#include "tui/explain.h"
#include "tui/hot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NAMES_TIMEOUT_MS 60000u
#define NAMES_STEP_MS 1000u
#define END_COMMAND_S 5

struct run {
	struct session session;
	const struct request *request;
	struct engine_status status; /* the last one read */
	struct hot *hot; /* asks for the newest symbols early, so that few are missing at the end */
	int signal_fd, timer_fd;
	bool timer_armed, interrupted, timed_out;
	bool told_command; /* to end */
};

static void complain(const char *sentence)
{
	fprintf(stderr, "strobe: %s\n", sentence);
}

static bool is_over(const struct run *run)
{
	return run->status.state != ENGINE_STARTING && run->status.state != ENGINE_RUNNING;
}

static int open_waits(struct run *run)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	/* Before any thread is made, so that none takes them. */
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return -errno;
	run->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signal_fd < 0)
		return -errno;
	run->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return run->timer_fd < 0 ? -errno : 0;
}

/* The duration begins when sampling does, not while thousands of threads are still being attached. */
static void arm_timer(struct run *run)
{
	double duration = run->request->duration_s;
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

static void take_signal(struct run *run)
{
	struct signalfd_siginfo info;

	if (read(run->signal_fd, &info, sizeof(info)) == sizeof(info))
		run->interrupted = true;
}

/* One wait for whatever comes first, and what follows from it. */
static void wait_once(struct run *run, bool sampling)
{
	struct pollfd fds[] = {
		{session_notify_fd(&run->session), POLLIN, 0},
		{symbols_fd(run->session.symbols), POLLIN, 0},
		{run->signal_fd, POLLIN, 0},
		{run->timer_fd, POLLIN, 0},
	};
	uint64_t count;

	if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0)
		return; /* EINTR: the caller comes again */
	if (fds[2].revents)
		take_signal(run);
	if (fds[3].revents && read(run->timer_fd, &count, sizeof(count)) == sizeof(count))
		run->timed_out = true;
	if (fds[1].revents)
		names_update(run->session.names);
	if (fds[0].revents) {
		(void)!read(fds[0].fd, &count, sizeof(count));
		session_status(&run->session, &run->status);
		/* Out of memory here only means that names are asked for later. */
		if (sampling && run->status.store.last_ns > 2 * STORE_SLICE_NS)
			hot_update(run->hot, run->status.store.last_ns - 2 * STORE_SLICE_NS,
				UINT64_MAX);
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
		wait_once(run, false);
}

static void sample(struct run *run)
{
	bool by_signal;

	session_status(&run->session, &run->status);
	arm_timer(run);
	while (!is_over(run) && !run->interrupted && !run->timed_out) {
		wait_once(run, true);
		arm_timer(run);
	}
	if (is_over(run))
		return;
	by_signal = run->interrupted;
	run->interrupted = false;
	session_stop(&run->session);
	session_status(&run->session, &run->status);
	while (!is_over(run) && !run->interrupted)
		wait_once(run, false);
	if (by_signal)
		end_command(run);
}

/* Names that are still on their way; a signal ends the wait, and addresses are printed. */
static void wait_for_names(struct run *run)
{
	bool terminal = isatty(STDERR_FILENO), told = false;
	struct symbols_status status;

	for (unsigned int waited = 0; waited < NAMES_TIMEOUT_MS; waited += NAMES_STEP_MS) {
		if (!names_wait(run->session.names, NAMES_STEP_MS))
			break;
		take_signal(run);
		if (run->interrupted)
			break;
		if (terminal) {
			symbols_status(run->session.symbols, &status);
			fprintf(stderr, "\rstrobe: reading symbols, %u files to go ... ",
				status.pending);
			told = true;
		}
	}
	if (told)
		fputs("\r\033[K", stderr);
}

/* Gathering asks for names, and names change what is gathered: until nothing is new. */
static int gather(struct run *run, struct report *report)
{
	for (int round = 0;; round++) {
		uint64_t epoch = names_epoch(run->session.names);
		int ret = report_gather(report, &run->session);

		if (ret || round == 3 || run->interrupted)
			return ret;
		wait_for_names(run);
		/* The first round asked for the files, the next for pretty names. */
		if (round && names_epoch(run->session.names) == epoch) {
			report_fini(report);
			return report_gather(report, &run->session);
		}
		report_fini(report);
	}
}

static void tell_command(const struct run *run)
{
	char how[64], sentence[512];

	if (!run->request->engine.target.command || run->status.state == ENGINE_FAILED)
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
	complain(sentence);
}

static unsigned int columns(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

static int print(struct run *run)
{
	struct report report;
	int ret = gather(run, &report);

	if (!ret) {
		ret = report_gather_notes(&report, &run->session);
		if (ret)
			report_fini(&report);
	}
	if (ret) {
		complain("out of memory");
		return 1;
	}
	if (run->request->format == REPORT_CSV)
		for (size_t i = 0; i < report.n_notes; i++)
			complain(report.notes[i]);
	errno = 0;
	ret = report_write(stdout, &report, run->request->format, columns());
	if (ret) {
		char sentence[256];

		snprintf(sentence, sizeof(sentence), "cannot write the report: %s",
			ret == -ENOMEM ? "out of memory" : strerror(errno ? errno : EIO));
		complain(sentence);
	}
	report_fini(&report);
	return ret ? 1 : 0;
}

static int take_profile(struct run *run)
{
	char message[1024];

	if (run->session.notice[0] && run->request->format != REPORT_CSV)
		complain(run->session.notice);
	if (run->request->duration_s <= 0 && !run->request->engine.target.command &&
		isatty(STDERR_FILENO))
		complain("sampling until Ctrl-C or the end of the target ...");
	sample(run);
	if (run->status.state == ENGINE_FAILED) {
		session_explain(&run->session, &run->status.failure, message, sizeof(message));
		complain(message);
		return 1;
	}
	tell_command(run);
	return print(run);
}

int report_run(const struct request *request)
{
	struct run *run = calloc(1, sizeof(*run));
	char message[1024];
	int error, status = 1;

	if (!run) {
		complain("out of memory");
		return 1;
	}
	run->request = request;
	run->signal_fd = run->timer_fd = -1;
	error = open_waits(run);
	if (error) {
		struct proc_limits limits;

		proc_limits(&limits);
		explain_error("cannot wait for signals", -error, &limits, message, sizeof(message));
		complain(message);
		goto out;
	}
	if (session_open(&run->session, request, message, sizeof(message))) {
		complain(message);
		goto out;
	}
	error = hot_new(&run->hot, session_store(&run->session), session_stacks(&run->session),
		run->session.names);
	if (error)
		complain("out of memory");
	else
		status = take_profile(run);
	hot_free(run->hot);
	session_close(&run->session);
out:
	if (run->signal_fd >= 0)
		close(run->signal_fd);
	if (run->timer_fd >= 0)
		close(run->timer_fd);
	free(run);
	return status;
}
