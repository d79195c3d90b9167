/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live.c - the loop of the interactive screen: keys, signals, news from the engine and the symbols.
 *
 * One poll() waits for everything.  Keys are handled and drawn at once.  Data is refreshed at the
 * requested pace, faster in the first second.  Signals arrive through a signalfd; they are blocked
 * before any thread starts.
 */
#include "tui/screen/live.h"

#include "sampler/control/failure.h"
#include "sampler/control/status.h"
#include "sampler/engine/engine.h"
#include "sampler/machine/proc.h"
#include "symbols/base/clock.h"
#include "symbols/client/symbols.h"
#include "tui/base/exit_status.h"
#include "tui/base/explain_errno.h"
#include "tui/base/sentence.h"
#include "tui/explain/explain.h"
#include "tui/model/commands.h"
#include "tui/model/live.h"
#include "tui/names/names.h"
#include "tui/screen/screen.h"
#include "tui/screen/settings.h"
#include "tui/session/memory.h"
#include "tui/session/request.h"
#include "tui/terminal/command_output.h"
#include "tui/terminal/editor.h"
#include "tui/terminal/term.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull
#define EARLY_NS NS_PER_S /* time of faster refreshes after the first samples */
#define EARLY_EVERY_NS (100 * NS_PER_MS)
/* interval for new names, which do not wait for the next refresh */
#define NAMES_EVERY_NS (100 * NS_PER_MS)
#define NAMES_EARLY_NS (10 * NS_PER_MS)
#define REFRESH_SHARE 8 /* refreshing takes at most 1/8 of the time */
/* a refusal within this time is reported without opening the screen */
#define SETTLE_NS (200 * NS_PER_MS)
#define NO_MEMORY_MAX 3 /* consecutive refreshes that ran out of memory, then the loop ends */
#define STUCK_NS (50 * NS_PER_MS) /* interval of checks while the terminal takes no output */
#define SNAPSHOT_S 2.0
/* limit for the names of a recording, whose loading has no limit */
#define SNAPSHOT_NAMES_MS 10000u
#define SNAPSHOT_ROUNDS 3 /* tables of files, demangled names, and their results */
#define UI_NICE (-10)
#define KEYS_AT_ONCE 64
#define FOREGROUND_TRIES 100
#define OUTPUT_TAIL 20 /* lines of the command's output repeated at the end */

enum poll_index {
	POLL_SIGNALS,
	POLL_ENGINE,
	POLL_SYMBOLS,
	POLL_KEYS,
	POLL_OUTPUT,
	POLL_TERM,
	POLL_OFFERS,
	POLL_BASELINE,
	POLL_BASELINE_LAST = POLL_BASELINE + RECORDED_FDS - 1,
	POLL_COUNT
};

struct live {
	struct request request; /* with the command's output redirected */
	struct session session;
	struct model_live *model_live;
	struct model *model; /* borrowed from model_live */
	const struct view_entry *entries; /* borrowed */
	struct screen screen;
	bool has_screen;
	struct terminal *term; /* NULL for a snapshot */
	struct command_output output;
	sigset_t old_mask, mask;
	int signal_fd;

	uint64_t first_data_ns; /* time of the first samples; 0: none yet */
	uint64_t next_refresh_ns;
	bool symbols_news, baseline_news; /* pending until the next refresh */
	bool dirty; /* the screen differs from the terminal */
	bool waiting_for_term; /* the terminal has not taken the last frame yet */
	bool quit;
	int exit_status;
	unsigned int no_memory; /* consecutive refreshes that ran out of memory */
};

static void say(const char *text)
{
	fflush(stdout);
	sentence_print(stderr, "%s", text);
}

/* --- signals --- */

static int block_signals(struct live *live)
{
	static const int handled[] = {
		SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT, SIGTTIN, SIGTTOU};

	sigemptyset(&live->mask);
	for (size_t i = 0; i < sizeof(handled) / sizeof(*handled); i++)
		sigaddset(&live->mask, handled[i]);
	if (live->request.engine.flight_s > 0)
		sigaddset(&live->mask, SIGUSR2);
	if (sigprocmask(SIG_BLOCK, &live->mask, &live->old_mask))
		return -errno;
	live->signal_fd = signalfd(-1, &live->mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return live->signal_fd < 0 ? -errno : 0;
}

static void restore_signals(struct live *live)
{
	struct signalfd_siginfo info;

	if (live->signal_fd < 0)
		return;
	/* Pending signals were meant for this loop, which has ended. */
	while (read(live->signal_fd, &info, sizeof(info)) > 0)
		;
	close(live->signal_fd);
	live->signal_fd = -1;
	sigprocmask(SIG_SETMASK, &live->old_mask, NULL);
}

static bool in_background(void)
{
	pid_t group = tcgetpgrp(STDOUT_FILENO);

	return group >= 0 && group != getpgrp();
}

/* Stops until brought to the foreground, as any program that needs the terminal.  The kernel does
 * not stop a process that no shell could continue, so the number of tries is limited. */
static void wait_for_foreground(void)
{
	for (int i = 0; in_background() && i < FOREGROUND_TRIES; i++)
		raise(SIGTSTP);
}

/* Stops as the default action of SIGTSTP would: the shell takes over, with its own screen. */
static void stop_here(struct live *live)
{
	struct sigaction action = {.sa_handler = SIG_DFL}, old;
	sigset_t stop;

	term_suspend(live->term);
	sigemptyset(&action.sa_mask);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigaction(SIGTSTP, &action, &old);
	raise(SIGTSTP);
	/* The pending signal stops the process here, until SIGCONT. */
	pthread_sigmask(SIG_UNBLOCK, &stop, NULL);
	wait_for_foreground(); /* in case bg continued it */
	pthread_sigmask(SIG_BLOCK, &stop, NULL);
	sigaction(SIGTSTP, &old, NULL);
	term_resume(live->term);
}

static void fit_screen(struct live *live)
{
	int width, height;

	term_size(live->term, &width, &height);
	if (screen_resize(&live->screen, width, height)) {
		live->quit = true;
		live->exit_status = 1;
	}
	live->dirty = true;
}

/* Ends loading; the samples read so far are kept and shown. */
static void interrupt_loading(struct live *live)
{
	session_stop(&live->session);
	screen_message(&live->screen, STYLE_WARN,
		"Loading was interrupted: what was read of the recording is shown");
}

static void take_signals(struct live *live)
{
	struct signalfd_siginfo info;

	while (read(live->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		switch ((int)info.ssi_signo) {
		case SIGINT:
			if (live->term && model_is_loading(live->model))
				interrupt_loading(live);
			else
				live->quit = true;
			break;
		case SIGTERM:
		case SIGHUP:
			live->quit = true;
			break;
		case SIGTSTP:
			if (live->term) {
				stop_here(live);
				fit_screen(live);
			}
			break;
		case SIGCONT:
			if (live->term) {
				if (in_background())
					stop_here(live);
				else
					term_resume(live->term);
				fit_screen(live);
			}
			break;
		case SIGUSR2:
			(void)engine_snapshot(live->session.engine);
			break;
		case SIGWINCH:
			if (live->term)
				fit_screen(live);
			break;
		default:
			break;
		}
	}
}

/* --- data --- */

static void plan_refresh(struct live *live, uint64_t at_ns)
{
	if (at_ns < live->next_refresh_ns)
		live->next_refresh_ns = at_ns;
}

static void refresh(struct live *live)
{
	uint64_t delay_ns = live->request.delay_ms * NS_PER_MS, begin = clock_now_ns(), now;

	live->symbols_news = live->baseline_news = false;
	live->no_memory = screen_refresh(&live->screen) == -ENOMEM ? live->no_memory + 1 : 0;
	if (live->no_memory >= NO_MEMORY_MAX)
		live->quit = true;
	now = clock_now_ns();
	if (!live->first_data_ns && live->model->sums.samples)
		live->first_data_ns = now;
	if (live->first_data_ns && now - live->first_data_ns < EARLY_NS &&
		delay_ns > EARLY_EVERY_NS)
		delay_ns = EARLY_EVERY_NS;
	if (live->model->soon_ns && live->model->soon_ns < now + delay_ns)
		delay_ns = live->model->soon_ns > now ? live->model->soon_ns - now : 0;
	if (delay_ns < REFRESH_SHARE * (now - begin))
		delay_ns = REFRESH_SHARE * (now - begin);
	live->next_refresh_ns = now + delay_ns;
	if (live->model->status.state == ENGINE_FAILED) {
		live->quit = true;
		live->exit_status = 1;
	}
	if (live->model->status.state != ENGINE_STARTING)
		command_output_started(&live->output);
	live->dirty = true;
}

static bool is_early(const struct live *live)
{
	return !live->first_data_ns || clock_now_ns() - live->first_data_ns < EARLY_NS;
}

static void take_engine_news(struct live *live)
{
	enum engine_state state = live->model->status.state;
	struct engine_status status;
	uint64_t count;

	/* The value of the counter is not needed. */
	if (read(session_notify_fd(&live->session), &count, sizeof(count)) < 0)
		return;
	session_status(&live->session, &status);
	if (is_early(live) || status.state != state ||
		status.last_note > live->model->status.last_note)
		live->next_refresh_ns = 0;
	else
		model_live_digest(live->model_live);
}

/* Schedules a refresh, which takes in the news. */
static void take_symbols_news(struct live *live)
{
	uint64_t at_ns = clock_now_ns() + (is_early(live) ? NAMES_EARLY_NS : NAMES_EVERY_NS);
	uint64_t names_at_ns = model_live_names_at(live->model_live);

	live->symbols_news = true;
	plan_refresh(live, names_at_ns > at_ns ? names_at_ns : at_ns);
}

/* Refreshes at once: the user is looking at the list of events, which has grown. */
static void take_offers_news(struct live *live)
{
	uint64_t count;

	if (read(model_live_offers_fd(live->model_live), &count, sizeof(count)) < 0)
		return;
	plan_refresh(live, clock_now_ns());
}

static void take_line(const char *line, size_t len, void *ctx)
{
	struct live *live = ctx;

	model_live_output(live->model_live, line, len);
	live->dirty = true;
}

static bool interrupts_loading(struct live *live, const struct input *input)
{
	if (!model_is_loading(live->model) || input->kind != INPUT_KEY)
		return false;
	if (input->key != INPUT_ESCAPE && input->key != 'q' && input->key != INPUT_CTRL('c'))
		return false;
	interrupt_loading(live);
	live->dirty = true;
	return true;
}

/* Hands over the terminal and takes it back as for ^Z. */
static void edit(struct live *live)
{
	struct screen *screen = &live->screen;
	int ret;

	/* Otherwise an editor would create a new file. */
	if (access(screen->edit_path, R_OK) < 0) {
		screen_message(screen, STYLE_BAD, "The source file cannot be read: %s",
			explain_errno(errno));
		screen->edit_path[0] = '\0';
		return;
	}
	term_suspend(live->term);
	ret = editor_run(screen->edit_path, screen->edit_line, &live->old_mask);
	term_resume(live->term);
	fit_screen(live);
	live->model->now_ns = clock_now_ns();
	if (ret < 0 || ret == 126 || ret == 127)
		screen_message(screen, STYLE_BAD,
			"The editor could not be started: $VISUAL or $EDITOR name it%s%s",
			ret < 0 ? ": " : "", ret < 0 ? explain_errno(ret) : "");
	screen->edit_path[0] = '\0';
	live->next_refresh_ns = 0;
}

static void take_keys(struct live *live)
{
	struct input input;

	for (int i = 0; i < KEYS_AT_ONCE && term_read(live->term, &input); i++) {
		unsigned int result;

		live->model->now_ns = clock_now_ns();
		if (interrupts_loading(live, &input))
			continue;
		result = screen_input(&live->screen, &input);
		if (result & SCREEN_QUIT)
			live->quit = true;
		if (result & SCREEN_REDRAW)
			term_redraw(live->term);
		if (result & SCREEN_THEME)
			term_set_theme(live->term, &live->screen.theme);
		if (result & SCREEN_EDIT)
			edit(live);
		live->dirty = true;
	}
}

static void show(struct live *live)
{
	if (!live->term || !live->dirty)
		return;
	live->waiting_for_term = !term_ready(live->term);
	if (live->waiting_for_term)
		return;
	screen_draw(&live->screen);
	term_show(live->term, &live->screen.canvas);
	live->dirty = false;
}

/* --- the loop --- */

static int timeout_ms(const struct live *live, uint64_t end_ns)
{
	uint64_t now = clock_now_ns(), at = live->next_refresh_ns;

	if (end_ns && end_ns < at)
		at = end_ns;
	if (live->waiting_for_term && now + STUCK_NS < at)
		at = now + STUCK_NS;
	return at <= now ? 0 : (int)((at - now + NS_PER_MS - 1) / NS_PER_MS);
}

static void poll_once(struct live *live, uint64_t end_ns)
{
	struct pollfd fds[POLL_COUNT] = {
		[POLL_SIGNALS] = {.fd = live->signal_fd, .events = POLLIN},
		[POLL_ENGINE] = {.fd = session_notify_fd(&live->session), .events = POLLIN},
		[POLL_SYMBOLS] = {.fd = live->symbols_news ? -1 : symbols_fd(live->session.symbols),
			.events = POLLIN},
		[POLL_KEYS] = {.fd = live->term ? term_input_fd(live->term) : -1, .events = POLLIN},
		[POLL_OUTPUT] = {.fd = live->output.read_fd, .events = POLLIN},
		[POLL_TERM] = {.fd = live->waiting_for_term ? term_output_fd(live->term) : -1,
			.events = POLLOUT},
		[POLL_OFFERS] = {.fd = model_live_offers_fd(live->model_live), .events = POLLIN},
	};

	int baseline_fds[RECORDED_FDS];

	/* Pending news, like those of symbols_news, wait for the next refresh, without polling. */
	model_live_baseline_fds(live->model_live, baseline_fds);
	for (int i = 0; i < RECORDED_FDS; i++)
		fds[POLL_BASELINE + i] = (struct pollfd){
			.fd = live->baseline_news ? -1 : baseline_fds[i], .events = POLLIN};
	if (poll(fds, POLL_COUNT, timeout_ms(live, end_ns)) < 0)
		return;
	/* Keys first, since the user waits for them. */
	if (fds[POLL_KEYS].revents & (POLLHUP | POLLERR | POLLNVAL))
		live->quit = true; /* the terminal is gone, and poll() would never block */
	else if (fds[POLL_KEYS].revents)
		take_keys(live);
	if (fds[POLL_SIGNALS].revents)
		take_signals(live);
	show(live);
	if (fds[POLL_OUTPUT].revents && !command_output_read(&live->output, take_line, live))
		command_output_close(&live->output);
	if (fds[POLL_SYMBOLS].revents)
		take_symbols_news(live);
	if (fds[POLL_OFFERS].revents)
		take_offers_news(live);
	for (int i = 0; i < RECORDED_FDS; i++)
		if (fds[POLL_BASELINE + i].revents) {
			live->baseline_news = true;
			plan_refresh(live, clock_now_ns() + NAMES_EVERY_NS);
		}
	if (fds[POLL_ENGINE].revents)
		take_engine_news(live);
}

/* Waits for the names of a recording, which become known only after loading. */
static void complete_snapshot(struct live *live)
{
	if (live->term)
		return;
	for (int round = 0; round < SNAPSHOT_ROUNDS; round++) {
		if (live->model->recorded)
			names_wait(live->session.names, SNAPSHOT_NAMES_MS);
		else if (!live->model->base_recorded)
			return;
		model_live_baseline_wait(live->model_live, SNAPSHOT_NAMES_MS);
		screen_refresh(&live->screen);
	}
}

/* Whether a snapshot must wait until the baseline has been read. */
static bool awaits_baseline(const struct live *live)
{
	return !live->term && live->model->base_reading.active;
}

static void loop(struct live *live)
{
	uint64_t end_ns = 0;

	while (!live->quit) {
		/* The duration starts when sampling does. */
		if (!end_ns && live->request.duration_s > 0.0 &&
			live->model->status.state != ENGINE_STARTING)
			end_ns = clock_now_ns() + (uint64_t)(live->request.duration_s * 1e9);
		poll_once(live, end_ns);
		if (live->quit)
			break;
		if (end_ns && clock_now_ns() >= end_ns && !awaits_baseline(live)) {
			screen_refresh(&live->screen);
			complete_snapshot(live);
			break;
		}
		if (clock_now_ns() >= live->next_refresh_ns)
			refresh(live);
		if (!live->term && live->model->status.state == ENGINE_ENDED &&
			!awaits_baseline(live)) {
			complete_snapshot(live);
			break;
		}
		show(live);
	}
}

/* Waits up to SETTLE_NS for the engine to start.  Returns false if it failed in that time; the
 * error is then reported without opening the screen. */
static bool started(struct live *live)
{
	uint64_t end_ns = clock_now_ns() + SETTLE_NS;
	struct engine_status status;

	for (;;) {
		struct pollfd fd = {.fd = session_notify_fd(&live->session), .events = POLLIN};
		uint64_t now = clock_now_ns(), count;

		session_status(&live->session, &status);
		if (status.state != ENGINE_STARTING || now >= end_ns)
			break;
		if (poll(&fd, 1, (int)((end_ns - now) / NS_PER_MS) + 1) > 0 &&
			read(fd.fd, &count, sizeof(count)) < 0)
			break;
	}
	return status.state != ENGINE_FAILED;
}

static void tell_failure(struct live *live)
{
	struct engine_status status;
	char text[1024];

	session_status(&live->session, &status);
	session_explain(&live->session, &status.failure, text, sizeof(text));
	live->exit_status =
		status.failure.what == FAIL_COMMAND ? exit_status_refused(status.failure.error) : 1;
	say(text);
}

static void tell_error(struct live *live, const char *what, int error)
{
	char text[1024];

	explain_error(what, -error, &live->session.limits, text, sizeof(text));
	say(text);
}

/* Prints the last lines of the command's output, which only the log view has shown so far. */
static void repeat_output(struct live *live)
{
	const struct logbook *book = &live->model->log;
	size_t n = logbook_count(book), lines = 0, from = n;

	while (from > 0 && lines < OUTPUT_TAIL) {
		if (logbook_get(book, --from)->output)
			lines++;
	}
	for (size_t i = from; i < n; i++) {
		const struct log_line *line = logbook_get(book, i);

		if (line->output)
			printf("%s\n", line->text);
	}
	fflush(stdout);
}

/* Reports that the last screen was incomplete, if memory ran out. */
static void tell_no_memory(struct live *live)
{
	if (!live->no_memory)
		return;
	live->exit_status = 1;
	say("out of memory: what was shown last was not whole");
}

/* Ends a command started by strobe, since its output would have no reader. */
static void end_command(struct live *live)
{
	int32_t pid = session_end_command(&live->session);
	char text[128];

	if (!pid)
		return;
	snprintf(
		text, sizeof(text), "the command (pid %" PRId32 ") was told to end (SIGTERM)", pid);
	say(text);
}

static int open_live(struct live *live, const struct request *request)
{
	char message[1024];
	int ret;

	memset(live, 0, sizeof(*live));
	live->request = *request;
	live->signal_fd = -1;
	live->output.read_fd = -1;
	live->output.write_fd = -1;
	ret = block_signals(live);
	if (!ret && request->engine.target.command) {
		ret = command_output_open(&live->output);
		live->request.engine.target.command_output_fd = live->output.write_fd;
	}
	if (ret) {
		struct proc_limits limits;

		proc_limits(&limits);
		explain_error("cannot set up the screen", -ret, &limits, message, sizeof(message));
		say(message);
		return ret;
	}
	ret = session_open(&live->session, &live->request, message, sizeof(message));
	if (ret) {
		say(message);
		return ret;
	}
	ret = model_live_new(&live->model_live, &live->session);
	if (ret) {
		say("out of memory");
		return ret;
	}
	live->model = model_live_model(live->model_live);
	if (request->settings) {
		settings_apply(request->settings, live->model);
		settings_log(request->settings, &live->model->log, clock_now_ns());
	}
	if (live->session.notice[0])
		logbook_add(&live->model->log, clock_now_ns(), EXPLAIN_WARNING, false,
			live->session.notice);
	if (request->memory_limit_bytes) {
		memory_explain_limit(
			request->memory_limit_bytes, request->engine.memory_bytes, message);
		logbook_add(&live->model->log, clock_now_ns(), EXPLAIN_WARNING, false, message);
	}
	if (request->baseline &&
		live->model->commands->baseline_file(
			live->model, request->baseline, message, sizeof(message))) {
		say(message);
		return -EIO;
	}
	if (!started(live)) {
		tell_failure(live);
		return -EPERM;
	}
	return 0;
}

static void close_live(struct live *live)
{
	if (live->has_screen)
		screen_fini(&live->screen);
	if (model_live_free(live->model_live)) {
		session_close(&live->session);
	} else {
		sentence_print(stderr, "a file is not whole: its file system does not answer");
		session_stop(&live->session);
		live->exit_status = 1;
	}
	command_output_close(&live->output);
	restore_signals(live);
}

static int open_screen(struct live *live, int width, int height, bool ascii)
{
	int ret = screen_init(&live->screen, live->model, live->entries, width, height, ascii);

	if (ret)
		return ret;
	live->has_screen = true;
	if (live->request.settings)
		live->screen.theme = settings_theme(live->request.settings);
	refresh(live);
	if (live->session.notice[0])
		screen_message(&live->screen, STYLE_WARN, "%s", live->session.notice);
	return 0;
}

static bool wants_mono(const struct request *request)
{
	const char *no_color = getenv("NO_COLOR");

	if (request->mono || request->color == COLOR_NEVER)
		return true;
	return request->color == COLOR_AUTO && no_color && *no_color;
}

/* Raises the priority of this thread, if permitted, so that keys are handled quickly on a busy
 * machine.  The thread needs little CPU time. */
static void prefer_this_thread(void)
{
	if (setpriority(PRIO_PROCESS, (id_t)gettid(), UI_NICE))
		return;
}

/* The message of the session comes first: it is about the sampling itself. */
static void tell_stand_in(struct live *live)
{
	const char *type = term_stand_in(live->term);
	char text[256];

	if (!type)
		return;
	explain_stand_in(text, sizeof(text), getenv("TERM"), type);
	logbook_add(&live->model->log, clock_now_ns(), EXPLAIN_WARNING, false, text);
	if (!live->session.notice[0])
		screen_message(&live->screen, STYLE_WARN, "%s", text);
}

static int run_on_terminal(struct live *live)
{
	const struct term_options options = {
		.ascii = live->request.ascii,
		.mono = wants_mono(&live->request),
		.no_mouse = live->request.no_mouse,
		.theme = live->request.settings ? settings_theme(live->request.settings)
						: (struct theme){0},
	};
	int width, height, ret;

	ret = term_open(&live->term, &options);
	if (ret)
		return ret;
	prefer_this_thread();
	term_size(live->term, &width, &height);
	ret = open_screen(live, width, height, term_is_ascii(live->term));
	if (!ret) {
		tell_stand_in(live);
		show(live);
		loop(live);
		/* A failure is ignored: the next screen then starts with the same settings as this
		 * one. */
		if (live->request.settings)
			(void)settings_remember(
				live->request.settings, live->model, live->screen.theme.kind);
	}
	term_close(live->term);
	live->term = NULL;
	return ret;
}

int live_run(const struct request *request, const struct view_entry *entries)
{
	struct live live;
	int ret;

	wait_for_foreground();
	ret = open_live(&live, request);
	live.entries = entries;
	if (!ret) {
		ret = run_on_terminal(&live);
		if (ret) {
			tell_error(&live, "cannot use the terminal", ret);
		} else {
			if (live.model->status.state == ENGINE_FAILED)
				tell_failure(&live);
			tell_no_memory(&live);
			repeat_output(&live);
		}
		end_command(&live);
	}
	close_live(&live);
	return ret && !live.exit_status ? 1 : live.exit_status;
}

int live_snapshot(
	const struct request *request, const struct view_entry *entries, int width, int height)
{
	struct live live;
	int ret = open_live(&live, request);

	live.entries = entries;
	if (!ret) {
		if (live.request.duration_s <= 0.0 && !live.model->recorded)
			live.request.duration_s = SNAPSHOT_S;
		ret = open_screen(&live, width, height, live.request.ascii);
		if (ret)
			tell_error(&live, "cannot draw the screen", ret);
	}
	if (!ret) {
		char *text;

		loop(&live);
		screen_draw(&live.screen);
		text = canvas_dump(&live.screen.canvas);
		errno = 0;
		if (!text)
			ret = -ENOMEM;
		else if (fputs(text, stdout) < 0 || fflush(stdout))
			ret = errno ? -errno : -EIO;
		free(text);
		if (ret)
			tell_error(&live, "cannot write the screen", ret);
		end_command(&live);
		if (live.model->status.state == ENGINE_FAILED)
			tell_failure(&live);
		tell_no_memory(&live);
	}
	close_live(&live);
	return ret && !live.exit_status ? 1 : live.exit_status;
}
