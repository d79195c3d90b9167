/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * taking.c - see taking.h.
 */
#include "tui/session/taking.h"

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/status.h"
#include "tui/base/clean.h"
#include "tui/base/exit_status.h"
#include "tui/base/giveup.h"
#include "tui/base/sentence.h"
#include "tui/explain/explain.h"
#include "tui/session/request.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NAMES_TIMEOUT_MS 60000u
#define NAMES_STEP_MS 1000u
#define END_COMMAND_S 5
#define OWN_FDS 4u
#define SENTENCE_MAX 512

void taking_complain(const char *sentence)
{
	sentence_print(stderr, "%s", sentence);
}

void taking_complainf(const char *format, ...)
{
	char raw[SENTENCE_MAX], clean[SENTENCE_MAX];
	va_list list;

	va_start(list, format);
	vsnprintf(raw, sizeof(raw), format, list);
	va_end(list);
	taking_complain(clean_string(clean, sizeof(clean), raw));
}

bool taking_is_over(const struct taking *taking)
{
	return taking->status.state != ENGINE_STARTING && taking->status.state != ENGINE_RUNNING;
}

static int open_waits(struct taking *taking)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	if (taking->request->engine.flight_s > 0)
		sigaddset(&signals, SIGUSR2);
	/* Before any thread starts, so that no thread handles them. */
	if (sigprocmask(SIG_BLOCK, &signals, &taking->old_signals))
		return -errno;
	taking->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (taking->signal_fd < 0)
		return -errno;
	taking->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return taking->timer_fd < 0 ? -errno : 0;
}

/* The duration begins when sampling runs, not while thousands of threads are still being
 * attached. */
static void arm_timer(struct taking *taking)
{
	double duration = taking->request->duration_s;
	struct itimerspec when = {0};

	if (taking->timer_armed || duration <= 0 || taking->status.state != ENGINE_RUNNING)
		return;
	when.it_value.tv_sec = (time_t)duration;
	when.it_value.tv_nsec = (long)((duration - (double)when.it_value.tv_sec) * 1e9);
	if (!when.it_value.tv_sec && !when.it_value.tv_nsec)
		when.it_value.tv_nsec = 1;
	timerfd_settime(taking->timer_fd, 0, &when, NULL);
	taking->timer_armed = true;
}

static void take_signal(struct taking *taking)
{
	struct signalfd_siginfo info;

	if (read(taking->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR2)
		taking->snapshot = true;
	else
		taking->interrupted = true;
}

/* Shows how far a recording is loaded, if standard error is a terminal. */
static void tell_progress(const struct taking *taking)
{
	const struct engine_status *status = &taking->status;

	if (!taking->session.recording || !isatty(STDERR_FILENO))
		return;
	if (taking_is_over(taking))
		fputs("\r\033[K", stderr);
	else if (status->attaching_total)
		fprintf(stderr, "\rstrobe: loading, %u%% ... ",
			(unsigned int)(100.0 * (double)status->attaching_done /
				(double)status->attaching_total));
	else
		fprintf(stderr, "\rstrobe: loading, %" PRIu64 " MB ... ",
			status->attaching_done / 1000000);
}

void taking_ask_names(struct taking *taking)
{
	const struct session *session = &taking->session;

	/* If memory runs out, names are asked for later. */
	(void)early_ask(
		&taking->early, session_store(session), session_stacks(session), session->names);
}

/* Waits once for any descriptor, and handles its event. */
static void wait_once(struct taking *taking, bool sampling)
{
	struct pollfd fds[OWN_FDS + TAKING_ALSO_MAX] = {
		{session_notify_fd(&taking->session), POLLIN, 0},
		{symbols_fd(taking->session.symbols), POLLIN, 0},
		{taking->signal_fd, POLLIN, 0},
		{taking->timer_fd, POLLIN, 0},
	};
	uint64_t count;

	for (size_t i = 0; i < TAKING_ALSO_MAX; i++)
		fds[OWN_FDS + i] =
			(struct pollfd){taking->also ? taking->also->fds[i] : -1, POLLIN, 0};
	if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0)
		return; /* EINTR: the caller waits again */
	if (fds[2].revents)
		take_signal(taking);
	if (fds[3].revents && read(taking->timer_fd, &count, sizeof(count)) == sizeof(count))
		taking->timed_out = true;
	/* The loading thread may have asked about changed code, which names answers. */
	if (fds[1].revents || fds[0].revents)
		names_update(taking->session.names);
	if (fds[0].revents) {
		(void)!read(fds[0].fd, &count, sizeof(count));
		session_status(&taking->session, &taking->status);
		tell_progress(taking);
		if (taking->status.state == ENGINE_RUNNING && taking->also && taking->also->running)
			taking->also->running(taking, taking->also->ctx);
		if (sampling && !taking->without_names)
			taking_ask_names(taking);
	}
	for (size_t i = 0; i < TAKING_ALSO_MAX; i++)
		if (fds[OWN_FDS + i].revents)
			taking->also->ready(taking, i, taking->also->ctx);
}

void taking_wait(struct taking *taking)
{
	wait_once(taking, false);
}

/* A signal that ends strobe also ends its command, like with perf record.  The command would
 * otherwise go on unnoticed. */
static void end_command(struct taking *taking)
{
	const struct itimerspec when = {.it_value.tv_sec = END_COMMAND_S};

	if (!session_end_command(&taking->session))
		return;
	taking->told_command = true;
	taking->timed_out = false;
	timerfd_settime(taking->timer_fd, 0, &when, NULL);
	/* The timer or a second signal ends the wait for a command that ignores SIGTERM. */
	while (!taking->status.command_ended && !taking->interrupted && !taking->timed_out)
		wait_once(taking, false);
}

/* False while per-CPU events still count: they go on after the target's end until they are
 * stopped. */
static bool is_settled(const struct taking *taking)
{
	const struct engine_status *status = &taking->status;

	return taking_is_over(taking) &&
		(taking->session.recording || status->state != ENGINE_ENDED ||
			status->scope != SCOPE_CPU);
}

void taking_sample(struct taking *taking)
{
	bool by_signal;

	session_status(&taking->session, &taking->status);
	arm_timer(taking);
	while (!taking_is_over(taking) && !taking->interrupted && !taking->timed_out &&
		!taking->failed && !taking->snapshot && !taking->status.triggered) {
		wait_once(taking, true);
		arm_timer(taking);
	}
	if (is_settled(taking))
		return;
	by_signal = taking->interrupted;
	taking->interrupted = false;
	session_stop(&taking->session);
	session_status(&taking->session, &taking->status);
	while (!is_settled(taking) && !taking->interrupted)
		wait_once(taking, false);
	if (by_signal || taking->failed)
		end_command(taking);
}

/* Waits for pending names.  After a signal, addresses are printed instead. */
void taking_wait_names(struct taking *taking)
{
	bool terminal = isatty(STDERR_FILENO), told = false;
	struct symbols_fetching fetching;
	struct symbols_status status;
	uint64_t received = 0;

	for (unsigned int waited = 0; waited < NAMES_TIMEOUT_MS; waited += NAMES_STEP_MS) {
		if (!names_wait(taking->session.names, NAMES_STEP_MS))
			break;
		take_signal(taking);
		if (taking->interrupted)
			break;
		symbols_fetch_status(taking->session.symbols, &fetching);
		/* Downloads have no limit of time while data arrives. */
		if (fetching.waiting && fetching.received != received)
			waited = 0;
		received = fetching.received;
		if (terminal && fetching.waiting) {
			fprintf(stderr,
				"\r\033[Kstrobe: fetching debug files, %zu to go, %.1f MB ... ",
				fetching.waiting, (double)fetching.received / 1e6);
		} else if (terminal) {
			symbols_status(taking->session.symbols, &status);
			fprintf(stderr, "\rstrobe: reading symbols, %u files to go ... ",
				status.pending);
		}
		told |= terminal;
	}
	if (told)
		fputs("\r\033[K", stderr);
	session_settle(&taking->session, NAMES_STEP_MS);
}

bool taking_explain_pending(const struct taking *taking, char *out, size_t size)
{
	struct symbols_fetching fetching;
	struct symbols_status status;

	symbols_status(taking->session.symbols, &status);
	symbols_fetch_status(taking->session.symbols, &fetching);
	const size_t n = status.pending + fetching.waiting;
	snprintf(out, size,
		"the wait for symbols ended before those of %zu file%s came: some functions may be "
		"shown as offsets",
		n, n == 1 ? "" : "s");
	return n > 0;
}

void taking_tell_pending(const struct taking *taking)
{
	char sentence[256];

	if (taking_explain_pending(taking, sentence, sizeof(sentence)))
		taking_complain(sentence);
}

void taking_tell_command(const struct taking *taking)
{
	char how[64], sentence[512];

	if (!taking->request->engine.target.command || taking->status.state == ENGINE_FAILED)
		return;
	if (taking->status.command_ended) {
		explain_wait_status(taking->status.command_status, how, sizeof(how));
		snprintf(sentence, sizeof(sentence), "'%s' ended %s", taking->session.command_text,
			how);
	} else {
		snprintf(sentence, sizeof(sentence), "'%s' (process %d) is still running%s",
			taking->session.command_text, (int)taking->status.command_pid,
			taking->told_command ? ": it was told to end (SIGTERM)" : "");
	}
	taking_complain(sentence);
}

bool taking_was_interrupted(struct taking *taking)
{
	take_signal(taking);
	taking->interrupted |= giveup_came();
	return taking->interrupted;
}

static void tell_end(const struct request *request)
{
	if (request->engine.flight_s > 0)
		taking_complainf("the flight recorder runs until %skill -USR2 %d, Ctrl-C or the "
				 "end of the target ...",
			request->engine.flight_trigger.percent > 0 ? "its trigger, " : "",
			(int)getpid());
	else
		taking_complain("sampling until Ctrl-C or the end of the target ...");
}

/* Checks that samples have the fields that --only names, and prints a message if not. */
static bool check_only(struct taking *taking)
{
	char sentence[600], clean[600];
	struct expr_error error;
	size_t which;

	if (taking->request->command == CMD_EXPORT &&
		taking->request->export_format == EXPORT_SCRIPT &&
		session_only_fields(taking->request)) {
		taking_complain("--only: a script cannot be of samples by one of their fields");
		return false;
	}
	if (session_check_only(&taking->session, &which, &error))
		return true;
	snprintf(sentence, sizeof(sentence), "--only: %s", error.what);
	taking_complain(clean_string(clean, sizeof(clean), sentence));
	return false;
}

int taking_run(struct taking *taking, bool quiet)
{
	const struct request *request = taking->request;
	char message[1024];

	if (taking->session.notice[0] && !quiet)
		taking_complain(taking->session.notice);
	if (!request->n_files && request->duration_s <= 0 && !request->engine.target.command &&
		isatty(STDERR_FILENO))
		tell_end(request);
	taking_sample(taking);
	/* A second signal came: the profile may still change, so it cannot be read. */
	if (!taking_is_over(taking)) {
		taking_complain("interrupted before all was taken in: nothing is printed");
		return -1;
	}
	if (taking->status.state == ENGINE_FAILED) {
		session_explain(
			&taking->session, &taking->status.failure, message, sizeof(message));
		taking_complain(message);
		return -1;
	}
	/* No profile at all, for example if nothing was ever written to a FIFO. */
	if (taking->session.recording && taking->status.state == ENGINE_STOPPED &&
		!taking->status.n_events) {
		taking_complainf(
			"interrupted: nothing was read of '%s'", request_file_name(request));
		return -1;
	}
	if (!check_only(taking))
		return -1;
	if (taking->session.recording)
		taking->session.limits.pid_namespace = taking->status.pid_namespace;
	session_describe(&taking->session);
	taking_tell_command(taking);
	return 0;
}

int taking_exit_status(const struct taking *taking, int own)
{
	const struct engine_status *status = &taking->status;

	if (status->state == ENGINE_FAILED && status->failure.what == FAIL_COMMAND)
		return exit_status_refused(status->failure.error);
	return exit_status_of(own, status->command_ended, status->command_status);
}

static void drain_signals(struct taking *taking)
{
	struct signalfd_siginfo info;

	while (read(taking->signal_fd, &info, sizeof(info)) == sizeof(info))
		taking->interrupted |= info.ssi_signo != SIGUSR2;
}

int taking_begin_output(struct taking *taking)
{
	drain_signals(taking);
	return giveup_begin();
}

void taking_release_signals(struct taking *taking)
{
	/* A late request for a snapshot must not kill strobe. */
	if (taking->request->engine.flight_s > 0)
		signal(SIGUSR2, SIG_IGN);
	drain_signals(taking);
	sigprocmask(SIG_SETMASK, &taking->old_signals, NULL);
}

int taking_open(struct taking *taking, const struct request *request)
{
	char message[1024];
	int error;

	*taking = (struct taking){.request = request, .signal_fd = -1, .timer_fd = -1};
	error = open_waits(taking);
	if (error) {
		struct proc_limits limits;

		proc_limits(&limits);
		explain_error("cannot wait for signals", -error, &limits, message, sizeof(message));
		taking_complain(message);
		return error;
	}
	error = session_open(&taking->session, request, message, sizeof(message));
	if (error)
		taking_complain(message);
	return error;
}

void taking_close(struct taking *taking)
{
	early_fini(&taking->early);
	/* If session_open() failed, the session is closed already, and this does nothing. */
	session_close(&taking->session);
	if (taking->signal_fd >= 0)
		close(taking->signal_fd);
	if (taking->timer_fd >= 0)
		close(taking->timer_fd);
	taking->signal_fd = taking->timer_fd = -1;
}
