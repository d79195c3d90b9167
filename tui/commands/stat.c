// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * stat.c - strobe stat: opens counters, waits for the end, and prints.
 *
 * Everything that can end a wait is a descriptor of one poll(2).
 */
#include "tui/commands/stat.h"

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "sampler/events/parse.h"
#include "sampler/events/silent.h"
#include "sampler/kernel/sys.h"
#include "tui/base/clean.h"
#include "tui/base/exit_status.h"
#include "tui/base/explain_errno.h"
#include "tui/base/giveup.h"
#include "tui/base/grow.h"
#include "tui/base/sentence.h"
#include "tui/commands/stat_private.h"
#include "tui/explain/explain.h"
#include "tui/export/outfile.h"
#include "tui/session/request.h"
#include "tui/session/resolve.h"
#include "tui/session/taking.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define SENTENCE_MAX 1024
#define LOOK_MS 1000u /* for new CPUs, and for ended tasks without a pidfd */
#define HEAD_LINES 24u
#define END_COMMAND_MS 5000u
#define NAMES_MAX 256

/* Same events as perf stat. */
#define DEFAULT_EVENTS \
	"context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses"
#define DEFAULT_OF_TASKS "task-clock," DEFAULT_EVENTS
#define DEFAULT_OF_CPUS "cpu-clock," DEFAULT_EVENTS

struct stat_run {
	const struct request *request;
	struct session session; /* only its target is used */
	struct counting_config config;
	struct event_spec *own_events;
	int32_t *pids;
	struct counting *counting;
	struct stat_gather gather;
	struct stat_means *means;
	struct outfile out;
	bool opened_out;
	unsigned int lines; /* number of interval lines since the last head */
	bool head_printed;
	sigset_t old_signals;
	int signal_fd, interval_fd, end_fd, look_fd;
	uint64_t taken_ns; /* end of the last interval */
	bool interrupted, timed_out, told_command;
	bool command_ended; /* from the last run */
	int command_status; /* from waitpid(2) */
	int refused; /* errno of execvp(3); 0 if it succeeded */
	struct rusage before; /* usage of children before the command */
};

/* --- notes --- */

static int add_note(struct stat_run *run, const char *sentence)
{
	return sentence_keep(&run->gather.table.notes, &run->gather.table.n_notes, sentence);
}

static int note_event(
	struct stat_run *run, enum engine_note_kind kind, const struct counting_event *event)
{
	struct engine_note note = {
		.kind = kind, .error = event->error, .pid = -1, .cpu = -1, .asked.counted = true};
	char sentence[SENTENCE_MAX];

	if (kind == NOTE_SILENT && !(note.value = silent_why(system_dirs(), &event->spec)))
		return 0;
	memcpy(note.text, event->spec.name, sizeof(note.text));
	explain_note(&note, &run->session.limits, sentence, sizeof(sentence));
	return add_note(run, sentence);
}

static int note_no_room(struct stat_run *run, const char *clean_name)
{
	char sentence[SENTENCE_MAX];

	snprintf(sentence, sizeof(sentence),
		"'%s' does not fit into its group: the processor has too few counters for all of "
		"it at one time. Make the group smaller, or let its members take turns with the "
		"modifier W of the group",
		clean_name);
	return add_note(run, sentence);
}

static int note_refusal(struct stat_run *run, const struct counting_event *event)
{
	struct engine_failure failure = {.what = FAIL_OPEN,
		.error = event->error,
		.attr = event->spec.attr,
		.pid = event->error_pid,
		.cpu = event->error_cpu,
		.asked = event->asked};
	char sentence[SENTENCE_MAX], name[2 * EVENT_NAME_MAX];

	if (event->no_room)
		return note_no_room(run, clean_string(name, sizeof(name), event->spec.name));
	memcpy(failure.event, event->spec.name, sizeof(failure.event));
	failure.attr.freq = 0;
	failure.attr.sample_period = 0;
	explain_failure(&failure, &run->session.limits, sentence, sizeof(sentence));
	return add_note(run, sentence);
}

/* True if an earlier cgroup lacks the same event, too. */
static bool is_repeated(const struct counting_event *events, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!events[i].opened && !strcmp(events[i].spec.name, events[at].spec.name))
			return true;
	return false;
}

/* Reports the default events that the machine lacks, or that are forbidden, in a single line. */
static int note_defaults(
	struct stat_run *run, const struct counting_event *events, size_t n, bool forbidden)
{
	const char *head = forbidden ? "not permitted (strobe stat -e EVENT tells why): "
				     : "not available here: ";
	char sentence[SENTENCE_MAX] = "", name[2 * EVENT_NAME_MAX];
	size_t len = 0;

	for (size_t i = 0; i < n && len < NAMES_MAX; i++) {
		if (!events[i].spec.by_default || events[i].opened || is_repeated(events, i) ||
			(events[i].error == EACCES || events[i].error == EPERM) != forbidden)
			continue;
		len += (size_t)snprintf(sentence + len, sizeof(sentence) - len, "%s%s",
			len ? ", " : head, clean_string(name, sizeof(name), events[i].spec.name));
	}
	return len ? add_note(run, sentence) : 0;
}

/* Notes tasks that have ended.  If all have, counting fails before. */
static int note_gone(struct stat_run *run)
{
	const struct engine_target *target = &run->request->engine.target;
	char sentence[SENTENCE_MAX];
	int ret = 0;

	for (size_t i = 0; i < target->n_pids + target->n_tids && !ret; i++) {
		struct engine_note note = {
			.kind = NOTE_ATTACH_FAILED, .error = ESRCH, .asked.counted = true};

		note.pid = i < target->n_pids ? target->pids[i] : target->tids[i - target->n_pids];
		if (!kill(note.pid, 0) || errno != ESRCH)
			continue;
		explain_note(&note, &run->session.limits, sentence, sizeof(sentence));
		ret = add_note(run, sentence);
	}
	return ret;
}

static int note_all(struct stat_run *run)
{
	size_t n;
	const struct counting_event *events = counting_events(run->counting, &n);
	int ret = run->session.notice[0] ? add_note(run, run->session.notice) : 0;

	if (!ret)
		ret = note_gone(run);
	for (size_t i = 0; i < n && !ret; i++) {
		if (events[i].user_only)
			ret = note_event(run, NOTE_USER_ONLY, &events[i]);
		if (!ret && events[i].opened)
			ret = note_event(run, NOTE_SILENT, &events[i]);
		if (!ret && events[i].ungrouped &&
			(!i || events[i - 1].spec.group != events[i].spec.group))
			ret = note_event(run, NOTE_UNGROUPED, &events[i]);
		if (!ret && events[i].error && !events[i].ungrouped &&
			(events[i].opened || !events[i].spec.by_default))
			ret = note_refusal(run, &events[i]);
	}
	if (!ret)
		ret = note_defaults(run, events, n, true);
	return ret ? ret : note_defaults(run, events, n, false);
}

static int note_pinned(struct stat_run *run)
{
	size_t n, n_events;
	const struct counting_cell *cells = counting_cells(run->counting, &n);
	const struct counting_event *events = counting_events(run->counting, &n_events);
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		if (cells[i].in_error && cells[i].members)
			ret = note_event(run, NOTE_PINNED_ERROR, &events[cells[i].event]);
	return ret;
}

/* Notes groups that the kernel opened but never scheduled. */
static int note_groups(struct stat_run *run)
{
	const struct stat_table *table = &run->gather.table;
	int ret = 0;

	for (size_t i = 0; i < table->n_rows; i++)
		for (size_t k = 0; k < table->n_events && !ret; k++)
			if (table->events[k].opened && table->events[k].group &&
				table->rows[i].counts[k].missing == STAT_NO_ROOM)
				ret = note_no_room(run, table->events[k].name);
	return ret;
}

/* --- output --- */

static int open_output(struct stat_run *run)
{
	char sentence[SENTENCE_MAX];
	int ret;

	if (run->opened_out)
		return 0;
	ret = outfile_open(&run->out, run->request->output, OUTFILE_PUBLIC);
	/* Readers of intervals must see each line at once. */
	if (!ret && run->request->interval_ms)
		ret = outfile_show(&run->out);
	if (ret) {
		snprintf(sentence, sizeof(sentence), "cannot write '%.200s': %s",
			run->request->output ? run->request->output : "standard output",
			explain_errno(ret));
		taking_complainf("%s", sentence);
		outfile_abandon(&run->out);
		return ret;
	}
	run->opened_out = true;
	return 0;
}

/* A bad output directory must be found before hours of counting, not after.  A FIFO is opened late,
 * because its reader may come until the end. */
static bool opens_early(const struct request *request)
{
	struct stat info;

	return request->output && !request->interval_ms &&
		(stat(request->output, &info) || !S_ISFIFO(info.st_mode));
}

static void put_table(struct stat_run *run, bool interval)
{
	const struct stat_table *table = &run->gather.table;
	FILE *out = run->out.file;
	bool again = isatty(run->out.fd) && run->lines >= HEAD_LINES;

	switch (run->request->format) {
	case REPORT_CSV:
		stat_put_csv(out, table, !run->head_printed, run->request->csv);
		break;
	case REPORT_JSON:
		stat_put_json(out, table, interval);
		break;
	default:
		if (interval)
			stat_put_line(out, table, !run->head_printed || again);
		else
			stat_put_text(out, table);
		break;
	}
	run->lines = again ? 0 : run->lines + (unsigned int)table->n_rows;
	run->head_printed = true;
}

/* Returns 0, or -1 after a message. */
static int print(struct stat_run *run, bool interval)
{
	struct signalfd_siginfo info;
	bool came;
	int ret;

	while (read(run->signal_fd, &info, sizeof(info)) == sizeof(info))
		run->interrupted = true;
	ret = giveup_begin();
	if (open_output(run)) { /* a FIFO blocks until a reader or a signal comes */
		giveup_end();
		return -1;
	}
	giveup_watch(run->out.fd);
	put_table(run, interval);
	fflush(run->out.file);
	if (run->out.error)
		ret = run->out.error;
	came = giveup_came();
	giveup_end();
	if (!ret)
		return 0;
	if (came)
		taking_complain("interrupted: what was printed is not whole");
	else if (ret != -EPIPE) /* the reader left, like head(1): no message */
		taking_complainf("cannot write the counts: %s", explain_errno(ret));
	return -1;
}

/* --- one run --- */

static int arm(int fd, double first_s, double every_s)
{
	struct itimerspec when = {0};

	when.it_value.tv_sec = (time_t)first_s;
	when.it_value.tv_nsec = (long)((first_s - floor(first_s)) * 1e9);
	when.it_interval.tv_sec = (time_t)every_s;
	when.it_interval.tv_nsec = (long)((every_s - floor(every_s)) * 1e9);
	return timerfd_settime(fd, 0, &when, NULL) ? -errno : 0;
}

static bool expired(int fd)
{
	uint64_t times;

	return read(fd, &times, sizeof(times)) == sizeof(times);
}

static double seconds(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}

/* Reads counts since the start, or since the last interval.  until_ns: time of the reading. */
static int take(struct stat_run *run, bool interval, uint64_t until_ns)
{
	struct stat_table *table = &run->gather.table;
	uint64_t started_ns = counting_started_ns(run->counting);
	char sentence[SENTENCE_MAX];
	int ret = counting_read(run->counting);

	if (ret) {
		explain_error("cannot read a counter", -ret, &run->session.limits, sentence,
			sizeof(sentence));
		if (add_note(run, sentence))
			return -ENOMEM;
	}
	stat_gather_rename(&run->gather);
	session_describe(&run->session);
	table->time_s = seconds(started_ns, until_ns);
	table->elapsed_s = interval ? seconds(run->taken_ns, until_ns) : table->time_s;
	run->taken_ns = until_ns;
	ret = stat_gather_take(&run->gather, run->counting, interval);
	if (!ret)
		ret = note_groups(run);
	return ret ? ret : note_pinned(run);
}

/* Waits once for any descriptor.  Returns whether the counts of an interval are due. */
static bool wait_once(struct stat_run *run)
{
	struct pollfd fds[] = {
		{counting_fd(run->counting), POLLIN, 0},
		{run->signal_fd, POLLIN, 0},
		{run->interval_fd, POLLIN, 0},
		{run->end_fd, POLLIN, 0},
		{run->look_fd, POLLIN, 0},
	};
	struct signalfd_siginfo info;

	if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0)
		return false; /* EINTR: the caller waits again */
	/* Must come before counting_alive() reaps a command that has ended: it removes the name. */
	if (run->gather.command)
		stat_gather_rename(&run->gather);
	if (fds[1].revents && read(run->signal_fd, &info, sizeof(info)) == sizeof(info))
		run->interrupted = true;
	if (fds[3].revents && expired(run->end_fd))
		run->timed_out = true;
	if (fds[4].revents && expired(run->look_fd))
		(void)counting_take_cpus(run->counting); /* CPUs that fail are left out */
	return fds[2].revents && expired(run->interval_fd);
}

/* A signal that ends strobe also ends its command, which would otherwise go on unnoticed. */
static void end_command(struct stat_run *run)
{
	bool told;

	if (!counting_alive(run->counting, &told) ||
		counting_signal_command(run->counting, SIGTERM))
		return;
	run->told_command = true;
	run->timed_out = run->interrupted = false;
	arm(run->end_fd, END_COMMAND_MS / 1000.0, 0);
	while (counting_alive(run->counting, &told) && !run->timed_out && !run->interrupted)
		wait_once(run);
	run->interrupted = true;
}

/* Waits for the end and prints intervals.  Returns 0, or -1 after a message. */
static int wait_for_end(struct stat_run *run)
{
	bool told;

	while (counting_alive(run->counting, &told) && !run->interrupted && !run->timed_out) {
		if (!wait_once(run))
			continue;
		if (take(run, true, sys_now_ns())) {
			taking_complain("out of memory");
			return -1;
		}
		if (print(run, true))
			return -1;
	}
	if (run->interrupted && run->request->engine.target.command)
		end_command(run);
	return 0;
}

static int begin_waits(struct stat_run *run)
{
	const struct request *request = run->request;
	double interval_s = request->interval_ms / 1000.0;
	bool told;
	int ret = 0;

	if (interval_s > 0)
		ret = arm(run->interval_fd, interval_s, interval_s);
	if (!ret && request->duration_s > 0)
		ret = arm(run->end_fd, request->duration_s, 0);
	(void)counting_alive(run->counting, &told);
	if (!ret && (run->session.system_wide || !told))
		ret = arm(run->look_fd, LOOK_MS / 1000.0, LOOK_MS / 1000.0);
	return ret;
}

static double time_s(const struct timeval *before, const struct timeval *now)
{
	return (double)(now->tv_sec - before->tv_sec) +
		(double)(now->tv_usec - before->tv_usec) / 1e6;
}

static void tell_command(const struct stat_run *run)
{
	char how[64];
	int status;

	if (!run->request->engine.target.command)
		return;
	if (counting_command_ended(run->counting, &status)) {
		explain_wait_status(status, how, sizeof(how));
		taking_complainf("'%s' ended %s", run->session.command_text, how);
	} else {
		taking_complainf("'%s' (process %d) is still running%s", run->session.command_text,
			(int)counting_command_pid(run->counting),
			run->told_command ? ": it was told to end (SIGTERM)" : "");
	}
}

static void tell_failure(struct stat_run *run, struct engine_failure *failure)
{
	char sentence[SENTENCE_MAX];

	if (failure->what == FAIL_COMMAND && !failure->event[0])
		snprintf(failure->event, sizeof(failure->event), "%s",
			run->request->engine.target.command[0]);
	explain_failure(failure, &run->session.limits, sentence, sizeof(sentence));
	taking_complain(sentence);
}

static int begin(struct stat_run *run)
{
	struct engine_failure failure;
	int ret;

	run->timed_out = run->told_command = false;
	getrusage(RUSAGE_CHILDREN, &run->before);
	ret = counting_open(&run->counting, &run->config, &failure);
	if (ret) {
		tell_failure(run, &failure);
		return ret;
	}
	ret = stat_gather_begin(&run->gather, run->counting);
	if (!ret)
		ret = note_all(run);
	if (ret) {
		taking_complain("out of memory");
		return ret;
	}
	ret = counting_start(run->counting, &failure);
	if (ret) {
		run->refused = failure.what == FAIL_COMMAND ? failure.error : 0;
		tell_failure(run, &failure);
		return ret;
	}
	run->taken_ns = counting_started_ns(run->counting);
	(void)begin_waits(run); /* without timers, counting goes on until a signal */
	return 0;
}

/* Takes the counts since the last interval, or all of them. */
static int finish(struct stat_run *run, bool last)
{
	struct stat_table *table = &run->gather.table;
	bool interval = run->request->interval_ms > 0, told;
	struct rusage now;
	int status;

	counting_stop(run->counting);
	if (run->session.n_cgroups && !counting_alive(run->counting, &told) &&
		add_note(run,
			run->session.n_cgroups == 1
				? "the cgroup is gone: what was counted in it stays"
				: "all of the cgroups are gone: what was counted in them stays")) {
		taking_complain("out of memory");
		return -1;
	}
	if (take(run, interval, counting_ended_ns(run->counting))) {
		taking_complain("out of memory");
		return -1;
	}
	table->user_s = table->system_s = -1;
	if (engine_target_is_command(&run->config.target) &&
		counting_command_ended(run->counting, &status) &&
		!getrusage(RUSAGE_CHILDREN, &now)) {
		table->user_s = time_s(&run->before.ru_utime, &now.ru_utime);
		table->system_s = time_s(&run->before.ru_stime, &now.ru_stime);
	}
	if (last)
		tell_command(run);
	return 0;
}

static void forget_notes(struct stat_run *run)
{
	struct stat_table *table = &run->gather.table;

	for (size_t i = 0; i < table->n_notes; i++)
		free(table->notes[i]);
	free(table->notes);
	table->notes = NULL;
	table->n_notes = 0;
}

static void end(struct stat_run *run)
{
	if (run->counting)
		run->command_ended = counting_command_ended(run->counting, &run->command_status);
	counting_close(run->counting);
	run->counting = NULL;
	forget_notes(run);
	stat_gather_fini(&run->gather);
}

static void tell_notes(const struct stat_run *run)
{
	const struct stat_table *table = &run->gather.table;

	for (size_t i = 0; i < table->n_notes; i++)
		taking_complain(table->notes[i]);
}

/* Opens, counts and prints; with --repeat only the last run prints. */
static int run_once(struct stat_run *run, bool last)
{
	const struct request *request = run->request;
	struct stat_table *table = &run->gather.table;
	bool interval = request->interval_ms > 0;
	int ret;

	*table = (struct stat_table){
		.target = run->session.target_text,
		.per = request->per,
		.user_s = -1,
		.system_s = -1,
	};
	run->gather.command = engine_target_is_command(&request->engine.target)
		? request->engine.target.command[0]
		: NULL;
	ret = begin(run);
	if (ret)
		return ret;
	if (!request->interval_ms && request->duration_s <= 0 && !request->engine.target.command &&
		isatty(STDERR_FILENO))
		taking_complain("counting until Ctrl-C or the end of the target ...");
	ret = wait_for_end(run);
	if (!ret)
		ret = finish(run, last);
	if (ret)
		return ret;
	if (request->repeat) {
		if (stat_means_add(&run->means, table)) {
			taking_complain("out of memory");
			return -1;
		}
		if (!last && !run->interrupted)
			return 0;
		stat_means_take(run->means, table);
	}
	if (interval || request->format == REPORT_CSV)
		tell_notes(run);
	/* The end may have come together with the last interval. */
	if (interval && table->elapsed_s < 0.001 && run->head_printed)
		return 0;
	return print(run, interval);
}

/* --- all of it --- */

static int open_timer(int *fd)
{
	*fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return *fd < 0 ? -errno : 0;
}

static int open_waits(struct stat_run *run)
{
	sigset_t signals;
	int ret;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &signals, &run->old_signals))
		return -errno;
	run->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signal_fd < 0)
		return -errno;
	ret = open_timer(&run->interval_fd);
	if (!ret)
		ret = open_timer(&run->end_fd);
	if (!ret)
		ret = open_timer(&run->look_fd);
	return ret;
}

/* Per thread or process, the whole machine is counted as a list of all processes. */
static int take_all_processes(struct stat_run *run)
{
	struct engine_target *target = &run->config.target;
	struct proc_process *all;
	size_t n, kept = 0;
	int ret = proc_list(&all, &n);

	if (ret)
		return ret;
	free(run->pids);
	run->pids = calloc(n ? n : 1, sizeof(*run->pids));
	for (size_t i = 0; run->pids && i < n; i++)
		if (all[i].pid != (int32_t)getpid())
			run->pids[kept++] = all[i].pid;
	free(all);
	if (!run->pids)
		return -ENOMEM;
	target->system_wide = false;
	target->pids = run->pids;
	target->n_pids = kept;
	return 0;
}

/* Resolves events that are named by a symbol.  Returns 0, or -ENOENT after a message. */
static int look_up(struct stat_run *run)
{
	const struct symbols_config config = {.cache_dir = run->request->cache_dir};
	size_t n = run->config.n_events;
	char sentence[SENTENCE_MAX];
	int ret;

	run->own_events = calloc(n, sizeof(*run->own_events));
	if (!run->own_events)
		return -ENOMEM;
	memcpy(run->own_events, run->config.events, n * sizeof(*run->own_events));
	run->config.events = run->own_events;
	ret = symbols_new(&run->session.symbols, &config);
	if (ret)
		return ret == -ENOENT ? -EIO : ret;
	ret = session_resolve(
		&run->session, &run->config.target, run->own_events, n, sentence, sizeof(sentence));
	symbols_free(run->session.symbols);
	run->session.symbols = NULL;
	if (ret)
		taking_complain(sentence);
	return ret ? -ENOENT : 0;
}

static int choose_events(struct stat_run *run)
{
	struct event_error bad;
	int ret;

	run->config.events = run->request->engine.events;
	run->config.n_events = run->request->engine.n_events;
	if (resolve_is_needed(run->config.events, run->config.n_events))
		return look_up(run);
	if (run->config.n_events)
		return 0;
	ret = event_parse_list(run->config.target.system_wide ? DEFAULT_OF_CPUS : DEFAULT_OF_TASKS,
		&run->own_events, &run->config.n_events, &bad);
	for (size_t i = 0; !ret && i < run->config.n_events; i++)
		run->own_events[i].by_default = true;
	run->config.events = run->own_events;
	return ret;
}

/* Chooses target and events, and opens the waits.  Returns 0, or nonzero after a message. */
static int prepare(struct stat_run *run)
{
	const struct request *request = run->request;
	char sentence[SENTENCE_MAX];
	int ret = session_target(&run->session, request, &run->config.target, &run->pids, sentence,
		sizeof(sentence));

	if (ret) {
		taking_complain(sentence);
		return ret;
	}
	run->config.by_cpu = request->per >= STAT_PER_CPU;
	run->config.no_inherit = request->no_inherit;
	run->config.own_threads = request->engine.own_threads;
	run->config.until_exec = request->engine.until_exec;
	ret = open_waits(run);
	if (!ret && run->session.system_wide &&
		(request->per == STAT_PER_THREAD || request->per == STAT_PER_PROCESS))
		ret = take_all_processes(run);
	if (!ret) {
		ret = choose_events(run);
		if (ret == -ENOENT) /* message printed already */
			return ret;
	}
	if (ret) {
		explain_error("cannot begin counting", -ret, &run->session.limits, sentence,
			sizeof(sentence));
		taking_complain(sentence);
	}
	return ret;
}

static int close_output(struct stat_run *run, int status)
{
	int ret = 0;

	if (!run->opened_out)
		return status;
	if (status) {
		outfile_abandon(&run->out);
		return status;
	}
	ret = outfile_commit(&run->out);
	if (!ret)
		return 0;
	taking_complainf("cannot write the counts: %s", explain_errno(ret));
	return 1;
}

static void close_all(struct stat_run *run)
{
	const int fds[] = {run->signal_fd, run->interval_fd, run->end_fd, run->look_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	stat_means_free(run->means);
	free(run->own_events);
	free(run->pids);
}

int stat_run(const struct request *request)
{
	struct stat_run run = {.request = request,
		.signal_fd = -1,
		.interval_fd = -1,
		.end_fd = -1,
		.look_fd = -1};
	unsigned int runs = request->repeat ? request->repeat : 1;
	int ret = prepare(&run), status;

	if (!ret && opens_early(request))
		ret = open_output(&run);
	for (unsigned int i = 0; i < runs && !ret && !run.interrupted; i++) {
		ret = run_once(&run, i + 1 == runs);
		end(&run);
	}
	status = close_output(&run, ret ? 1 : 0);
	close_all(&run);
	if (run.refused)
		return exit_status_refused(run.refused);
	return exit_status_of(status, run.command_ended, run.command_status);
}
