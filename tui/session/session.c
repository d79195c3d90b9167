/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.c - see session.h.
 *
 * The order matters: the symbol spawner is forked before any thread exists, and the engine starts
 * last.
 */
#include "tui/session/session.h"

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/status.h"
#include "sampler/engine/engine.h"
#include "sampler/store/tasks.h"
#include "sampler/store/unwind.h"
#include "tui/base/clean.h"
#include "tui/base/grow.h"
#include "tui/explain/explain.h"
#include "tui/session/request.h"
#include "tui/session/resolve.h"
#include "tui/session/times.h"
#include "tui/session/unpacked.h"
#include "tui/session/unwinding.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PID_NAMESPACE                                                                              \
	"strobe runs in a pid namespace (a container): processes outside of it have no pid here, " \
	"are all one task, " TASK_OUTSIDE ", and their functions are [unknown]. Run it outside, "  \
	"or with the host's pids (docker run --pid=host)"

#define TIMES_SHARE 8 /* samples' times may use 1/8 of the memory for samples */
#define FOREIGN_PROC_LEFT                                                                       \
	EXPLAIN_FOREIGN_PROC ". Until then, processes that run already have neither names nor " \
			     "mappings here"

/* Processes chosen by name or user. */
struct chosen {
	int32_t *pids;
	size_t n;
	char what[160]; /* "postgres", "user bob"; raw bytes */
};

struct sentence {
	char *out;
	size_t size;
};

__attribute__((format(printf, 3, 4))) static int refuse(
	struct sentence *sentence, int error, const char *format, ...)
{
	char raw[512];
	va_list list;

	va_start(list, format);
	vsnprintf(raw, sizeof(raw), format, list);
	va_end(list);
	clean_string(sentence->out, sentence->size, raw);
	return error;
}

/* Refuses after a call that returned an errno. */
static int refuse_call(
	struct sentence *sentence, int error, const char *what, const struct proc_limits *limits)
{
	explain_error(what, -error, limits, sentence->out, sentence->size);
	return error;
}

static int choose(struct chosen *chosen, int32_t pid)
{
	for (size_t i = 0; i < chosen->n; i++)
		if (chosen->pids[i] == pid)
			return 0;
	if (grow_exact(&chosen->pids, chosen->n + 1, sizeof(*chosen->pids)))
		return -ENOMEM;
	chosen->pids[chosen->n++] = pid;
	return 0;
}

/* Excludes dead processes, strobe itself and its helpers. */
static bool is_eligible(const struct proc_process *process)
{
	int32_t self = (int32_t)getpid();

	return process->pid != self && process->ppid != self &&
		(process->state != 'Z' || process->threads > 1) && process->state != 'X';
}

/* Compares a name with the command name, which the kernel cuts at 15 bytes, and with the file name
 * of the first argument. */
static bool has_name(const struct proc_process *process, const char *name)
{
	const char *first = process->cmdline, *slash;
	size_t len = strcspn(first, " ");

	if (!strcmp(process->comm, name))
		return true;
	if (strlen(name) > 15 && !strncmp(process->comm, name, 15) && strlen(process->comm) == 15)
		return true;
	slash = memrchr(first, '/', len);
	if (slash) {
		len -= (size_t)(slash + 1 - first);
		first = slash + 1;
	}
	return len && len == strlen(name) && !memcmp(first, name, len);
}

int session_find_user(const char *text, uid_t *uid)
{
	const struct passwd *user = getpwnam(text);
	unsigned long long number = 0;

	if (user) {
		*uid = user->pw_uid;
		return 0;
	}
	if (!*text)
		return -ENOENT;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || number > UINT32_MAX)
			return -ENOENT;
		number = number * 10 + (unsigned long long)(*text - '0');
	}
	if (number >= UINT32_MAX)
		return -ENOENT;
	*uid = (uid_t)number;
	return 0;
}

static int choose_named(struct chosen *chosen, const struct request *request,
	const struct proc_process *all, size_t n_all, struct sentence *sentence)
{
	for (size_t i = 0; i < request->n_names; i++) {
		size_t before = chosen->n;

		for (size_t j = 0; j < n_all; j++)
			if (is_eligible(&all[j]) && has_name(&all[j], request->names[i]) &&
				choose(chosen, all[j].pid))
				return refuse(sentence, -ENOMEM, "out of memory");
		if (chosen->n == before)
			return refuse(
				sentence, -ESRCH, "no process is called '%s'", request->names[i]);
		snprintf(chosen->what, sizeof(chosen->what), "%s", request->names[i]);
	}
	return 0;
}

static int choose_of_user(struct chosen *chosen, uid_t uid, const struct proc_process *all,
	size_t n_all, struct sentence *sentence)
{
	for (size_t j = 0; j < n_all; j++)
		if (all[j].uid == uid && !all[j].kernel_thread && is_eligible(&all[j]) &&
			choose(chosen, all[j].pid))
			return refuse(sentence, -ENOMEM, "out of memory");
	return 0;
}

static int choose_users(struct chosen *chosen, const struct request *request,
	const struct proc_process *all, size_t n_all, struct sentence *sentence)
{
	for (size_t i = 0; i < request->n_users; i++) {
		size_t before = chosen->n;
		uid_t uid;
		int ret;

		if (session_find_user(request->users[i], &uid))
			return refuse(
				sentence, -EINVAL, "there is no user '%s'", request->users[i]);
		ret = choose_of_user(chosen, uid, all, n_all, sentence);
		if (ret)
			return ret;
		if (chosen->n == before)
			return refuse(
				sentence, -ESRCH, "user '%s' has no processes", request->users[i]);
		snprintf(chosen->what, sizeof(chosen->what), "user %s", request->users[i]);
	}
	return 0;
}

static bool may_sample_machine(const struct proc_limits *limits)
{
	return limits->cap_perfmon || limits->cap_sys_admin || limits->paranoid <= 0;
}

/* The default target: the whole machine if permitted, else the user's own processes. */
static int choose_default(struct session *session, struct engine_target *target,
	struct chosen *chosen, const struct proc_process *all, size_t n_all,
	struct sentence *sentence)
{
	char raw[sizeof(session->notice)];
	int ret;

	if (may_sample_machine(&session->limits)) {
		target->system_wide = true;
		return 0;
	}
	ret = choose_of_user(chosen, geteuid(), all, n_all, sentence);
	if (ret)
		return ret;
	if (!chosen->n)
		return refuse(sentence, -ESRCH,
			"nothing was named, the whole machine is not permitted to this user "
			"(kernel.perf_event_paranoid is %d), and there are no other processes of "
			"yours: "
			"name a COMMAND, or see strobe doctor",
			session->limits.paranoid);
	snprintf(chosen->what, sizeof(chosen->what), "your own processes");
	snprintf(raw, sizeof(raw),
		"the whole machine is not permitted (kernel.perf_event_paranoid is %d): your own "
		"%zu process%s instead; strobe doctor tells how to get more",
		session->limits.paranoid, chosen->n, chosen->n == 1 ? "" : "es");
	clean_string(session->notice, sizeof(session->notice), raw);
	return 0;
}

/* Without permission to sample whole CPUs, takes the user's own processes that are in the cgroup
 * now. */
static int choose_their_processes(struct session *session, struct engine_target *target,
	struct chosen *chosen, struct sentence *sentence)
{
	char raw[sizeof(session->notice)];
	size_t n = session->n_cgroups;

	if (n > 1)
		return refuse(sentence, -EACCES,
			"several cgroups are told apart by events on whole CPUs, which are not "
			"permitted to this user (kernel.perf_event_paranoid is %d). Name one "
			"cgroup, or allow it with: sudo sysctl kernel.perf_event_paranoid=0",
			session->limits.paranoid);
	if (cgroups_pids(session->cgroups, n, &chosen->pids, &chosen->n))
		return refuse(sentence, -ENOMEM, "out of memory");
	if (!chosen->n)
		return refuse(sentence, -ESRCH,
			"the cgroup '%s' has no task now, and waiting for one needs events on "
			"whole "
			"CPUs, which are not permitted to this user (kernel.perf_event_paranoid is "
			"%d)",
			session->cgroups[0].label, session->limits.paranoid);
	target->system_wide = false;
	snprintf(chosen->what, sizeof(chosen->what), "cgroup %s", session->cgroups[0].label);
	snprintf(raw, sizeof(raw),
		"whole CPUs are not permitted to this user (kernel.perf_event_paranoid is %d): "
		"instead of the cgroup, its %zu process%s of now %s taken, and what they start",
		session->limits.paranoid, chosen->n, chosen->n == 1 ? "" : "es",
		chosen->n == 1 ? "is" : "are");
	clean_string(session->notice, sizeof(session->notice), raw);
	return 0;
}

static int choose_cgroups(struct session *session, struct engine_target *target,
	struct chosen *chosen, struct sentence *sentence)
{
	const struct request *request = session->request;
	struct cgroup_mounts mounts;
	int ret = cgroup_mounts(&mounts);

	if (ret)
		return refuse_call(
			sentence, ret, "cannot read /proc/self/mounts", &session->limits);
	ret = cgroups_find(&mounts, request->cgroups, request->n_cgroups, session->cgroups,
		&session->n_cgroups, sentence->out, sentence->size);
	if (ret)
		return ret;
	if (!may_sample_machine(&session->limits))
		return choose_their_processes(session, target, chosen, sentence);
	target->cgroups = session->cgroups;
	target->n_cgroups = session->n_cgroups;
	cgroups_empty(
		session->cgroups, session->n_cgroups, session->notice, sizeof(session->notice));
	return 0;
}

static int choose_processes(struct session *session, struct engine_target *target,
	struct chosen *chosen, struct sentence *sentence)
{
	const struct request *request = session->request;
	struct proc_process *all = NULL;
	size_t n_all = 0;
	int ret = request->n_cgroups ? choose_cgroups(session, target, chosen, sentence) : 0;

	if (ret)
		return ret;
	for (size_t i = 0; i < target->n_pids; i++)
		if (choose(chosen, target->pids[i]))
			return refuse(sentence, -ENOMEM, "out of memory");
	if (!request->n_names && !request->n_users && !request->target_by_default)
		return 0;
	if (request->n_names || request->n_users || !may_sample_machine(&session->limits)) {
		ret = proc_list(&all, &n_all);
		if (ret)
			return refuse_call(
				sentence, ret, "cannot list processes", &session->limits);
	}
	ret = choose_named(chosen, request, all, n_all, sentence);
	if (!ret)
		ret = choose_users(chosen, request, all, n_all, sentence);
	if (!ret && request->target_by_default)
		ret = choose_default(session, target, chosen, all, n_all, sentence);
	free(all);
	return ret;
}

int session_resolve(const struct session *session, const struct engine_target *target,
	struct event_spec *specs, size_t n, char *message, size_t size)
{
	struct resolve_target where = {
		.pids = target->n_pids ? target->pids : target->tids,
		.n_pids = target->n_pids ? target->n_pids : target->n_tids,
		.command = engine_target_is_command(target) ? target->command[0] : NULL,
	};
	struct resolve_error error;
	int ret =
		resolve_events(session->symbols, &where, session->request->wait, specs, n, &error);

	if (ret)
		explain_resolve(&error, message, size);
	return ret;
}

/* Resolves events that are named by a symbol.  *specs gets a copy of the list, owned by the caller,
 * or stays NULL if no event needs it. */
static int resolve_config(struct session *session, struct engine_config *config,
	struct event_spec **specs, struct sentence *sentence)
{
	if (!resolve_is_needed(config->events, config->n_events))
		return 0;
	*specs = calloc(config->n_events, sizeof(**specs));
	if (!*specs)
		return refuse(sentence, -ENOMEM, "out of memory");
	memcpy(*specs, config->events, config->n_events * sizeof(**specs));
	config->events = *specs;
	return session_resolve(
		session, &config->target, *specs, config->n_events, sentence->out, sentence->size);
}

static int open_engine(
	struct session *session, struct engine_config *config, struct sentence *sentence)
{
	config->unwind = unwinding_source(session->unwinding);
	config->changes = session->changes;
	int ret = engine_new(&session->engine, config);

	if (ret)
		refuse_call(sentence, ret, "cannot set up sampling", &session->limits);
	return ret;
}

/* --- recordings --- */

/* Writes why a recording cannot be read. */
static void explain_file(const struct session *session, int error, char *out, size_t size)
{
	struct sentence sentence = {out, size};
	const char *name = request_file_name(session->request);
	char what[256];

	switch (error) {
	case -ENODATA:
		refuse(&sentence, error, "'%s' is empty: there is no recording in it", name);
		break;
	case -EMEDIUMTYPE:
		refuse(&sentence, error,
			"'%s' is compressed, and not by strobe archive: unpack it first", name);
		break;
	case -ENOEXEC:
		refuse(&sentence, error, "'%s' is not a recording (a perf.data file)", name);
		break;
	case -EISDIR:
		refuse(&sentence, error, "'%s' is a directory without a recording of perf in it",
			name);
		break;
	case -ENOTDIR:
		refuse(&sentence, error,
			"'%s' is one file of a recording of perf record --threads: name its "
			"directory",
			name);
		break;
	case -ENOTSUP:
		refuse(&sentence, error,
			"'%s' is a recording in the format of before Linux 3.0, which is not read",
			name);
		break;
	case -EFBIG:
		refuse(&sentence, error,
			"'%s' grows larger when it is unpacked than there is room for, or than any "
			"archive of strobe should",
			name);
		break;
	case -ECANCELED:
		refuse(&sentence, error, "interrupted while '%s' was unpacked", name);
		break;
	case -ETIME:
		refuse(&sentence, error, "--time: '%s' has samples without times", name);
		break;
	case -EBADMSG:
		refuse(&sentence, error,
			"'%s' is cut short or broken: its header does not show where anything is",
			name);
		break;
	default:
		snprintf(what, sizeof(what), "cannot read '%.200s'", name);
		refuse_call(&sentence, error, what, &session->limits);
		break;
	}
}

/* Opens a path, "-" for standard input.  Does not wait for a FIFO's writer; the loader does, where
 * a signal can interrupt it. */
static int open_file(const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
				   : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (fd >= 0 && strcmp(path, "-") != 0)
		(void)fcntl(fd, F_SETFL, O_RDONLY);
	return fd < 0 ? -errno : fd;
}

static uint64_t to_ns(double seconds)
{
	return seconds <= 0 ? 0 : seconds >= 9e9 ? UINT64_MAX : (uint64_t)(seconds * 1e9);
}

/* The live screen may export later. */
static bool needs_times(const struct request *request)
{
	return request->command == CMD_LIVE ||
		(request->command == CMD_EXPORT &&
			(request->export_format == EXPORT_GECKO ||
				request->export_format == EXPORT_SPEEDSCOPE));
}

static bool is_script(const struct request *request)
{
	return request->command == CMD_EXPORT && request->export_format == EXPORT_SCRIPT;
}

static int open_recording(struct session *session, int fd)
{
	const struct request *request = session->request;
	struct recording_config config = {
		.fd = fd,
		.memory_bytes = request->engine.memory_bytes,
		.from_ns = to_ns(request->time_from_s),
		.to_ns = to_ns(request->time_to_s),
		.no_chains = !request->engine.callchain,
		/* The screen may need fields later.  For a script, the second reading must give
		 * images the same numbers. */
		.no_fields = request->command != CMD_LIVE && !is_script(request) &&
			!request->n_fields && !session_only_fields(request),
	};
	struct stat stat;
	int ret;

	if (needs_times(request)) {
		ret = times_new(&session->times, request->engine.memory_bytes / TIMES_SHARE);
		if (ret) {
			close(fd);
			return ret;
		}
		config.tap = times_tap;
		config.tap_ctx = session->times;
	}
	config.unwind = unwinding_source(session->unwinding);
	config.changes = session->changes;
	/* The file does not record its date. */
	if (!fstat(fd, &stat) && (S_ISREG(stat.st_mode) || S_ISDIR(stat.st_mode)))
		session->recorded_at = stat.st_mtime;
	return recording_new(&session->recording, &config);
}

/* Opens the recording, which may be in an archive.  Returns its fd or -errno.  Must run before
 * symbols_new(), which needs the archive's directory.  Opens a file only once: the writer of a FIFO
 * would lose its reader. */
static int open_recorded(struct session *session, struct sentence *sentence)
{
	int fd = open_file(session->request->files[0]), ret;

	if (fd >= 0 && unpacked_is_archive(fd)) {
		ret = unpacked_open(&session->unpacked, fd);
		if (ret == -ENOEXEC)
			ret = -EMEDIUMTYPE;
		close(fd);
		fd = ret ? ret : open_file(unpacked_recording(session->unpacked));
	}
	if (fd < 0)
		explain_file(session, fd, sentence->out, sentence->size);
	return fd;
}

/* Takes ownership of fd. */
static int begin_recording(struct session *session, int fd, struct sentence *sentence)
{
	int ret = open_recording(session, fd);

	if (ret) {
		explain_file(session, ret, sentence->out, sentence->size);
		return ret;
	}
	/* In a recording, pid 0 is the idle task, even if strobe runs in a container. */
	session->limits.pid_namespace = false;
	session_describe(session);
	return 0;
}

static int start(struct session *session, struct sentence *sentence)
{
	int ret = session->recording ? recording_start(session->recording)
				     : engine_start(session->engine);

	if (ret)
		refuse_call(sentence, ret,
			session->recording ? "cannot start the loading thread"
					   : "cannot start the sampling thread",
			&session->limits);
	return ret;
}

/* Notes CPUs that are not online; the engine leaves them out silently. */
static void note_absent_cpus(struct session *session, const struct engine_target *target)
{
	char list[64] = "", raw[sizeof(session->notice)];
	size_t n_online, n_absent = 0, len = 0;
	int *online;

	if (!target->n_cpus || proc_online_cpus(&online, &n_online))
		return;
	for (size_t i = 0; i < target->n_cpus; i++) {
		size_t k = 0;

		while (k < n_online && online[k] != target->cpus[i])
			k++;
		if (k < n_online)
			continue;
		n_absent++;
		if (len < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%d",
				n_absent > 1 ? ", " : "", target->cpus[i]);
	}
	free(online);
	if (!n_absent)
		return;
	snprintf(raw, sizeof(raw),
		"%s %s%s %s not online: /sys/devices/system/cpu/online tells which are",
		n_absent == 1 ? "CPU" : "CPUs", list, len < sizeof(list) ? "" : " ...",
		n_absent == 1 ? "is" : "are");
	clean_string(session->notice, sizeof(session->notice), raw);
}

/* True if the target uses process ids of /proc. */
static bool needs_processes(const struct session *session, const struct engine_target *target)
{
	const struct request *request = session->request;

	if (target->n_pids || target->n_tids || request->n_names || request->n_users)
		return true;
	return (request->target_by_default || request->n_cgroups) &&
		!may_sample_machine(&session->limits);
}

int session_target(struct session *session, const struct request *request,
	struct engine_target *target, int32_t **pids, char *message, size_t size)
{
	struct sentence sentence = {message, size};
	struct chosen chosen = {0};
	int ret;

	memset(session, 0, sizeof(*session));
	*pids = NULL;
	if (size)
		message[0] = '\0';
	session->request = request;
	proc_limits(&session->limits);
	*target = request->engine.target;
	if (session->limits.foreign_proc && needs_processes(session, target))
		return refuse(&sentence, -EXDEV, EXPLAIN_FOREIGN_PROC);
	ret = choose_processes(session, target, &chosen, &sentence);
	if (ret) {
		free(chosen.pids);
		return ret;
	}
	*pids = chosen.pids;
	target->pids = chosen.pids;
	target->n_pids = chosen.n;
	session->system_wide = target->system_wide;
	if (session->limits.foreign_proc)
		clean_string(session->notice, sizeof(session->notice), FOREIGN_PROC_LEFT);
	else if (session->system_wide && session->limits.pid_namespace && !session->n_cgroups)
		clean_string(session->notice, sizeof(session->notice), PID_NAMESPACE);
	session_describe_target(session, target, chosen.n, chosen.what);
	return 0;
}

int session_open(struct session *session, const struct request *request, char *message, size_t size)
{
	struct sentence sentence = {message, size};
	struct engine_config config = request->engine;
	struct symbols_config symbols = {
		.cache_dir = request->cache_dir,
		.recording = request->n_files > 0,
		.symfs = request->symfs,
		.keep_for_recording = request->engine.tap != NULL,
		.trust_local = request->trust_local,
		.more_debug_dirs = request->debug_dirs,
		.fetch = request->debuginfod,
		.keep_files = request->command == CMD_ARCHIVE,
		.late = request->beside,
	};
	int32_t *pids = NULL;
	struct event_spec *specs = NULL;
	int ret = 0, recorded_fd = -1;

	memset(session, 0, sizeof(*session));
	if (size)
		message[0] = '\0';
	session->request = request;
	if (request->n_files)
		proc_limits(&session->limits);
	else
		ret = session_target(session, request, &config.target, &pids, message, size);
	if (ret)
		goto out;

	if (request->n_files) {
		recorded_fd = open_recorded(session, &sentence);
		if (recorded_fd < 0) {
			ret = recorded_fd;
			goto out;
		}
	}
	if (session->unpacked)
		symbols.archive = unpacked_dir(session->unpacked);
	if (symbols.keep_files)
		symbols.cache_dir = ""; /* cached symbols would leave no file to keep */

	ret = symbols_new(&session->symbols, &symbols);
	if (ret) {
		refuse_call(&sentence, ret, "cannot start the symbol worker", &session->limits);
		goto out;
	}
	ret = unwinding_new(&session->unwinding, request->n_files > 0);
	if (!ret)
		ret = changes_new(&session->changes);
	if (ret) {
		refuse(&sentence, ret, "out of memory");
		goto out;
	}
	if (request->n_files)
		ret = begin_recording(session, recorded_fd, &sentence);
	else
		ret = resolve_config(session, &config, &specs, &sentence);
	if (!ret && !request->n_files) {
		if (!session->notice[0])
			note_absent_cpus(session, &config.target);
		ret = open_engine(session, &config, &sentence);
	}
	recorded_fd = -1;
	if (ret)
		goto out;
	unwinding_begin(session->unwinding, session->symbols, session_images(session));
	ret = names_new(&session->names, session_stacks(session), session_images(session),
		session->symbols);
	if (ret) {
		refuse(&sentence, ret, "out of memory");
	} else {
		names_set_changes(session->names, session->changes);
		/* A pipe carries the machine's description and build-ids only at its end. */
		if (session->recording && !recording_info(session->recording)->release)
			names_hold(session->names);
		ret = start(session, &sentence);
	}
out:
	if (recorded_fd >= 0)
		close(recorded_fd);
	free(pids);
	free(specs);
	if (ret)
		session_close(session);
	return ret;
}

void session_explain(
	const struct session *session, const struct engine_failure *failure, char *out, size_t size)
{
	struct engine_failure named = *failure;

	if (session->recording) {
		explain_file(session, -failure->error, out, size);
		return;
	}
	if (named.what == FAIL_COMMAND && !named.event[0] &&
		session->request->engine.target.command)
		snprintf(named.event, sizeof(named.event), "%s",
			session->request->engine.target.command[0]);
	explain_failure(&named, &session->limits, out, size);
}

int32_t session_end_command(struct session *session)
{
	struct engine_status status;

	if (!session->request->engine.target.command)
		return 0;
	session_status(session, &status);
	if (status.command_ended || status.command_pid <= 0 ||
		engine_signal_command(session->engine, SIGTERM))
		return 0;
	return status.command_pid;
}

void session_stop(struct session *session)
{
	unwinding_stop(session->unwinding);
	if (session->recording)
		recording_cancel(session->recording);
	else
		engine_stop(session->engine);
}

void session_close(struct session *session)
{
	unwinding_stop(session->unwinding);
	/* Names use the engine's data, and both use symbols. */
	names_free(session->names);
	engine_free(session->engine);
	recording_free(session->recording);
	changes_free(session->changes);
	times_free(session->times);
	unwinding_free(session->unwinding);
	symbols_free(session->symbols);
	unpacked_close(session->unpacked);
	session->unpacked = NULL;
	session->changes = NULL;
	session->names = NULL;
	session->engine = NULL;
	session->recording = NULL;
	session->times = NULL;
	session->unwinding = NULL;
	session->symbols = NULL;
}
