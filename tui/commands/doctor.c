/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor.c - see doctor.h.
 *
 * Test events are opened and closed at once, never sampled.
 */
#include "tui/commands/doctor.h"

#include "sampler/events/cgroup.h"
#include "sampler/kernel/sys.h"
#include "sampler/store/tasks.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static int try_open(uint32_t type, uint64_t config, bool user, bool kernel, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.exclude_user = !user,
		.exclude_kernel = !kernel,
		.exclude_hv = !kernel,
		.sample_type = PERF_SAMPLE_IP,
		.sample_period = 1000000,
	};
	int fd = sys_open(&attr, pid, cpu);

	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

static int try_branches(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
		.sample_period = 1000000,
	};
	int fd = sys_open(&attr, 0, -1);

	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

static enum doctor_kallsyms look_at_kallsyms(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	enum doctor_kallsyms found = KALLSYMS_HIDDEN;
	char line[512];

	if (!file)
		return KALLSYMS_NONE;
	/* Some kernels show per-CPU symbols at address 0 first, so one line proves nothing. */
	for (int i = 0; i < 4096 && fgets(line, sizeof(line), file); i++) {
		if (strtoull(line, NULL, 16)) {
			found = KALLSYMS_SHOWN;
			break;
		}
	}
	fclose(file);
	return found;
}

/* Lists hardware PMUs: those that are none of the kernel's software PMUs. */
static void list_pmus(char *out, size_t size)
{
	static const char *const software[] = {
		"software", "tracepoint", "breakpoint", "kprobe", "uprobe", "msr", "power", NULL};
	DIR *folder = opendir("/sys/bus/event_source/devices");
	struct dirent *entry;

	out[0] = '\0';
	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		bool skip = entry->d_name[0] == '.';

		for (int i = 0; software[i] && !skip; i++)
			skip = !strcmp(entry->d_name, software[i]);
		if (skip || strlen(out) + strlen(entry->d_name) + 2 > size)
			continue;
		if (out[0])
			strcat(out, " ");
		strcat(out, entry->d_name);
	}
	closedir(folder);
}

static void look_at_cgroups(struct doctor_facts *facts)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
	};
	struct sys_place place = {.cpu = 0, .group_fd = -1, .flags = PERF_FLAG_PID_CGROUP};
	struct cgroup_mounts *mounts = malloc(sizeof(*mounts));
	const char *root = mounts && !cgroup_mounts(mounts) ? cgroup_root(mounts) : NULL;
	int fd;

	facts->open_cgroup = ENODEV;
	if (root) {
		snprintf(facts->cgroups, sizeof(facts->cgroups), "%s", root);
		facts->cgroups_v1 = root == mounts->perf_event;
		place.pid = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd = place.pid < 0 ? -errno : sys_open_at(&attr, &place);
		facts->open_cgroup = fd < 0 ? -fd : 0;
		if (fd >= 0)
			close(fd);
		if (place.pid >= 0)
			close(place.pid);
	}
	free(mounts);
}

static int look_at_tracefs(void)
{
	static const char *const paths[] = {
		"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"};
	int error = 0;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		DIR *folder = opendir(paths[i]);

		if (folder) {
			closedir(folder);
			return 0;
		}
		if (!error || errno == EACCES)
			error = errno;
	}
	return error;
}

void doctor_gather(struct doctor_facts *facts)
{
	struct utsname name;
	const struct passwd *user;
	ssize_t len;
	int *cpus;

	memset(facts, 0, sizeof(*facts));
	proc_limits(&facts->limits);
	if (!uname(&name))
		snprintf(facts->kernel, sizeof(facts->kernel), "%s %s %s", name.sysname,
			name.release, name.machine);
	user = getpwuid(geteuid());
	if (user)
		snprintf(facts->user, sizeof(facts->user), "%s", user->pw_name);
	else
		snprintf(facts->user, sizeof(facts->user), "user %u", (unsigned int)geteuid());
	len = readlink("/proc/self/exe", facts->program, sizeof(facts->program) - 1);
	facts->program[len > 0 ? len : 0] = '\0';
	list_pmus(facts->pmus, sizeof(facts->pmus));
	if (!proc_online_cpus(&cpus, &facts->cpus))
		free(cpus);

	facts->open_user =
		try_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, false, 0, -1);
	facts->open_kernel =
		try_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, true, 0, -1);
	facts->open_machine =
		try_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, true, -1, 0);
	facts->open_cycles =
		try_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true, false, 0, -1);
	facts->open_branches = try_branches();
	facts->kallsyms = look_at_kallsyms();
	facts->tracefs = look_at_tracefs();
	look_at_cgroups(facts);
}

struct page {
	FILE *out;
	unsigned int refused;
};

__attribute__((format(printf, 4, 5))) static void line(
	struct page *page, const char *mark, const char *what, const char *format, ...)
{
	char raw[1024], clean[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(raw, sizeof(raw), format, list);
	va_end(list);
	fprintf(page->out, "  %-4s %-21s %s\n", mark, what,
		clean_string(clean, sizeof(clean), raw));
}

__attribute__((format(printf, 2, 3))) static void remedy(struct page *page, const char *format, ...)
{
	char raw[1024], clean[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(raw, sizeof(raw), format, list);
	va_end(list);
	fprintf(page->out, "  %-4s %-21s -> %s\n", "", "", clean_string(clean, sizeof(clean), raw));
}

static void check(struct page *page, const char *what, int error, const char *yes, const char *no)
{
	if (!error) {
		line(page, "yes", what, "%s", yes);
		return;
	}
	page->refused++;
	line(page, "no", what, "%s (%s)", no, explain_errno(error));
}

static void print_cgroups(struct page *page, const struct doctor_facts *facts)
{
	if (!facts->cgroups[0]) {
		page->refused++;
		line(page, "no", "cgroups", "no hierarchy that events can use is mounted");
		remedy(page, "sudo mount -t cgroup2 none /sys/fs/cgroup");
		return;
	}
	if (!facts->open_cgroup) {
		line(page, "yes", "cgroups",
			"by path below %s (version %d), or by container id: -G", facts->cgroups,
			facts->cgroups_v1 ? 1 : 2);
		return;
	}
	check(page, "cgroups", facts->open_cgroup, "",
		facts->open_cgroup == ENOSYS || facts->open_cgroup == EBADF
			? "the kernel knows no events of cgroups (CONFIG_CGROUP_PERF)"
			: "as they are sampled on whole CPUs; of one, your own processes: -G");
}

static void print_permissions(struct page *page, const struct doctor_facts *facts)
{
	const struct proc_limits *limits = &facts->limits;
	bool blocked = facts->open_user == ENOSYS ||
		(facts->open_user && (limits->cap_perfmon || limits->cap_sys_admin));
	const char *program = facts->program[0] ? facts->program : "strobe";

	fputs("What may be sampled\n", page->out);
	check(page, "own processes", facts->open_user, "user space of your own processes",
		"not even your own processes");
	check(page, "kernel", facts->open_kernel, "the kernel's part of their work",
		"the kernel's part is left out: user space only");
	check(page, "whole machine", facts->open_machine, "all CPUs, all users: strobe -a",
		"only processes of your own: strobe -p PID, -u USER, or -- COMMAND");
	if (limits->pid_namespace) {
		line(page, "", "",
			"in a pid namespace (a container): processes outside of it have no pid "
			"here");
		line(page, "", "",
			"and are " TASK_OUTSIDE ", with [unknown] functions, in the profile of the "
			"whole machine");
		remedy(page, "run strobe outside, or share the host's pids: docker run --pid=host");
	}
	if (limits->foreign_proc) {
		page->refused++;
		line(page, "no", "processes by number", "/proc is that of another pid namespace");
		remedy(page, "mount the one of this namespace: mount -t proc proc /proc");
	}
	if (limits->user_namespace) {
		line(page, "", "",
			"in a user namespace (a rootless container): no capability counts for "
			"events");
		remedy(page, "run strobe as root outside of it");
	}
	if (limits->cap_perfmon || limits->cap_sys_ptrace || limits->cap_sys_admin) {
		line(page, "yes", "others' processes", "by capability");
	} else {
		page->refused++;
		line(page, "no", "others' processes", "processes of other users are refused");
	}
	print_cgroups(page, facts);
	if (blocked)
		remedy(page, "%s",
			facts->open_user == ENOSYS
				? "the kernel has no perf events (CONFIG_PERF_EVENTS), or a "
				  "container hides them"
				: "a container's seccomp filter or a security module forbids it: "
				  "start the "
				  "container with --cap-add PERFMON --security-opt "
				  "seccomp=unconfined");
	else if (page->refused && !limits->user_namespace)
		remedy(page,
			"all of it: sudo setcap "
			"cap_perfmon,cap_sys_ptrace,cap_syslog,cap_ipc_lock=ep '%s'",
			program);
	if (!blocked && facts->open_machine && limits->paranoid > 0)
		remedy(page,
			"for every user, kernel and whole machine: sudo sysctl "
			"kernel.perf_event_paranoid=0");
	if (!blocked && facts->open_kernel && limits->paranoid > 1)
		remedy(page,
			"for every user, kernel of own processes: sudo sysctl "
			"kernel.perf_event_paranoid=1");
}

static const char *paranoid_text(int level)
{
	if (level < 0)
		return "everything is permitted to everybody";
	if (level == 0)
		return "users may sample whole CPUs, but no raw tracepoints";
	if (level == 1)
		return "users may sample their processes, kernel included, but no whole CPUs";
	if (level == 2)
		return "users may sample user space of their processes only";
	return "users may sample nothing (some distributions), or as with 2 (mainline)";
}

static void print_settings(struct page *page, const struct doctor_facts *facts)
{
	const struct proc_limits *limits = &facts->limits;
	char capabilities[128] = "";
	const struct {
		bool has;
		const char *name;
	} caps[] = {
		{limits->cap_perfmon, "perfmon"},
		{limits->cap_sys_admin, "sys_admin"},
		{limits->cap_ipc_lock, "ipc_lock"},
		{limits->cap_sys_ptrace, "sys_ptrace"},
		{limits->cap_syslog, "syslog"},
	};

	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		if (!caps[i].has)
			continue;
		strcat(capabilities, capabilities[0] ? " cap_" : "cap_");
		strcat(capabilities, caps[i].name);
	}
	fputs("\nWhy\n", page->out);
	line(page, "", "perf_event_paranoid", "%d: %s", limits->paranoid,
		paranoid_text(limits->paranoid));
	line(page, "", "capabilities", "%s", capabilities[0] ? capabilities : "none of use here");
	if (limits->cap_perfmon || limits->cap_sys_admin)
		line(page, "", "", "perf_event_paranoid does not bind this user");
	else
		line(page, "", "",
			"with cap_perfmon, perf_event_paranoid would not bind this user");
}

static void print_events(struct page *page, const struct doctor_facts *facts)
{
	fputs("\nWhat can be counted\n", page->out);
	check(page, "hardware counters", facts->open_cycles, "cycles, instructions, caches ...",
		"no processor counters: strobe samples cpu-clock, a timer, instead");
	if (facts->open_cycles == ENOENT || facts->open_cycles == ENODEV ||
		facts->open_cycles == EOPNOTSUPP)
		remedy(page,
			"in a virtual machine, give it a virtual PMU (QEMU: -cpu host,pmu=on)");
	if (!facts->open_cycles)
		check(page, "branch stacks", facts->open_branches, "the branches before a sample",
			"this processor records none that can be read: -b and -j have no effect");
	line(page, "", "PMUs", "%s",
		facts->pmus[0] ? facts->pmus : "none beside the kernel's software ones");
	check(page, "software events", facts->open_user,
		"cpu-clock, page-faults, context-switches ...", "none");
	check(page, "tracepoints", facts->tracefs, "tracefs can be read",
		"the list in tracefs cannot be read");
	if (facts->tracefs == EACCES || facts->tracefs == EPERM)
		remedy(page, "sudo mount -o remount,mode=755 /sys/kernel/tracing");
	else if (facts->tracefs)
		remedy(page, "sudo mount -t tracefs tracefs /sys/kernel/tracing");
}

static void print_symbols(struct page *page, const struct doctor_facts *facts)
{
	const struct proc_limits *limits = &facts->limits;

	fputs("\nNames\n", page->out);
	if (facts->kallsyms == KALLSYMS_SHOWN) {
		line(page, "yes", "kernel symbols",
			"/proc/kallsyms shows addresses (kptr_restrict is %d)",
			limits->kptr_restrict);
		return;
	}
	page->refused++;
	if (facts->kallsyms == KALLSYMS_NONE) {
		line(page, "no", "kernel symbols", "/proc/kallsyms cannot be read");
		return;
	}
	line(page, "no", "kernel symbols",
		"/proc/kallsyms hides its addresses (kptr_restrict is %d)", limits->kptr_restrict);
	if (limits->kptr_restrict >= 2)
		remedy(page, "sudo sysctl kernel.kptr_restrict=1 (hidden even from root now)");
	else if (limits->kptr_restrict == 1)
		remedy(page,
			"sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, or "
			"cap_syslog");
	else
		remedy(page, "sudo sysctl kernel.perf_event_paranoid=1, or cap_syslog");
}

static void print_limits(struct page *page, const struct doctor_facts *facts)
{
	const struct proc_limits *limits = &facts->limits;

	fputs("\nLimits\n", page->out);
	if (limits->cap_ipc_lock)
		line(page, "", "locked memory", "unlimited by cap_ipc_lock");
	else if (limits->memlock_soft == UINT64_MAX)
		line(page, "", "locked memory", "unlimited (RLIMIT_MEMLOCK)");
	else
		line(page, "", "locked memory",
			"%" PRIu64 " KiB (RLIMIT_MEMLOCK), and %" PRId64
			" KiB for each CPU (kernel.perf_event_mlock_kb)",
			limits->memlock_soft / 1024, limits->mlock_kb);
	if (!limits->cap_ipc_lock && limits->memlock_soft != UINT64_MAX) {
		line(page, "", "",
			"every sampled thread has a buffer in it, made smaller when it does not "
			"fit");
		remedy(page,
			"sudo sysctl kernel.perf_event_mlock_kb=%" PRId64
			", ulimit -l, or cap_ipc_lock",
			(limits->mlock_kb > 0 ? limits->mlock_kb : 516) * 8);
	}
	line(page, "", "open files", "%" PRIu64 ", raised to %" PRIu64 " (RLIMIT_NOFILE)",
		limits->nofile_soft, limits->nofile_hard);
	line(page, "", "", "enough for about %" PRIu64 " threads with one event",
		limits->nofile_hard > 64 ? (limits->nofile_hard - 64) / 2 : 0);
	if (limits->nofile_hard < 16384)
		remedy(page, "ulimit -n 65536 as root, or LimitNOFILE= of the service");
	line(page, "", "sampling rate",
		"at most %" PRId64 " Hz (kernel.perf_event_max_sample_rate)",
		limits->max_sample_rate);
	if (limits->cpu_time_max_percent > 0 && limits->cpu_time_max_percent < 100)
		line(page, "", "",
			"lowered by the kernel when it takes over %" PRId64
			"%% of a CPU (kernel.perf_cpu_time_max_percent)",
			limits->cpu_time_max_percent);
	line(page, "", "call chains", "at most %" PRId64 " frames (kernel.perf_event_max_stack)",
		limits->max_stack);
}

unsigned int doctor_print(FILE *out, const struct doctor_facts *facts)
{
	struct page page = {.out = out};
	char kernel[256], user[128];

	fprintf(out, "strobe %s on %s, %zu CPUs, as %s\n\n", STROBE_VERSION,
		clean_string(kernel, sizeof(kernel), facts->kernel), facts->cpus,
		clean_string(user, sizeof(user), facts->user));
	print_permissions(&page, facts);
	print_settings(&page, facts);
	print_events(&page, facts);
	print_symbols(&page, facts);
	print_limits(&page, facts);
	return page.refused;
}
