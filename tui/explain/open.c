// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * open.c - explains every errno of perf_event_open(2) by the attribute and the state of the
 * system.
 *
 * If several causes are possible, they are checked in the kernel's own order.  Pure functions of
 * their arguments; any thread.
 */
#include "tui/explain/explain.h"

#include "sampler/events/event.h"
#include "tui/base/clean.h"
#include "tui/explain/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define ERRNO_NOTSUPP 524 /* the kernel's internal ENOTSUPP, which uprobes return */
#define NAMESPACE                                                                           \
	"This is a user namespace (a rootless container, say), where no capability counts " \
	"for events"
#define CONTAINER                                                                        \
	"start the container with --cap-add PERFMON --security-opt seccomp=unconfined, " \
	"or run strobe outside of it"

bool explain_may_all(const struct proc_limits *limits)
{
	return limits->cap_perfmon || limits->cap_sys_admin;
}

void explain_paranoid(struct text *text, const struct proc_limits *limits)
{
	if (limits->paranoid != EXPLAIN_UNKNOWN)
		text_add(text, " (kernel.perf_event_paranoid is %d)", limits->paranoid);
}

const char *explain_probe_of(const char *event, char *out, size_t size)
{
	static const char *const kinds[] = {"kprobe:", "kretprobe:", "uprobe:", "uretprobe:"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t len = strlen(kinds[i]);

		if (strncmp(event, kinds[i], len))
			continue;
		snprintf(out, size, "%.*s", (int)strcspn(event + len, i < 2 ? "+:" : ":"),
			event + len);
		return out;
	}
	return NULL;
}

static void add_subject(struct text *text, const struct explain_request *request)
{
	const char *event = request->event ? request->event : "";

	/* Strobe tries a dummy event before those that the user named. */
	if (!event[0] || !strcmp(event, "dummy"))
		text_add(text, "cannot open an event");
	else
		text_add(text, "cannot %s '%.*s'", request->counted ? "count" : "sample",
			EVENT_NAME_MAX, event);
	if (request->pid > 0 && !request->cgroup)
		text_add(text, " in process %" PRId32, request->pid);
	else if (request->cpu >= 0)
		text_add(text, " on CPU %d", request->cpu);
	text_add(text, ": ");
}

/* --- EACCES and EPERM --- */

/* Explains a refusal although the user has the capability. */
static void denied_with_capability(struct text *text, const struct refusal *refusal)
{
	if (refusal->system->lockdown &&
		refusal->attr->sample_type & (PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR)) {
		text_add(text,
			"the kernel is locked down and shows its registers and addresses to "
			"nobody. Leave out --phys-data and registers, or boot with lockdown=none");
		return;
	}
	if (refusal->error == EPERM || refusal->system->seccomp)
		text_add(text,
			"this user has the capability, so something else forbids it, most likely "
			"the seccomp filter of a container. To allow it, " CONTAINER);
	else
		text_add(text,
			"this user has the capability, so a security module (SELinux, AppArmor) or "
			"kernel lockdown forbids it. Look for the denial with: sudo dmesg | tail");
}

static void allow_all(struct text *text, const struct refusal *refusal, int level)
{
	explain_paranoid(text, refusal->limits);
	if (refusal->limits->user_namespace)
		text_add(text,
			". " NAMESPACE ": run strobe as root outside of it, or allow it there "
			"with: sudo sysctl kernel.perf_event_paranoid=%d",
			level);
	else
		text_add(text,
			". Allow it with: sudo sysctl kernel.perf_event_paranoid=%d, or "
			"with: " EXPLAIN_SETCAP,
			level);
}

void explain_be_root(struct text *text, const struct proc_limits *limits, const char *setcap)
{
	if (limits->user_namespace)
		text_add(text, ". " NAMESPACE ": run strobe as root outside of it");
	else
		text_add(text, ". Run strobe as root%s%s", setcap ? ", or allow it with: " : "",
			setcap ? setcap : "");
}

/* Returns true if neither a setting nor CAP_PERFMON allows the event. */
static bool needs_admin(const struct refusal *refusal)
{
	return is_pmu(refusal, "kprobe") || is_pmu(refusal, "uprobe") ||
		event_is_in_kernel(refusal->attr);
}

static void denied(struct text *text, const struct refusal *refusal)
{
	const struct proc_limits *limits = refusal->limits;
	const struct perf_event_attr *attr = refusal->attr;
	int32_t pid = refusal->request->pid;

	if (needs_admin(refusal) && !limits->cap_sys_admin) {
		text_add(text, "%s, which needs CAP_SYS_ADMIN whatever the settings are%s",
			attr->type == PERF_TYPE_BREAKPOINT
				? "a breakpoint in the kernel stops what everybody does"
				: "a probe changes code that everybody runs",
			limits->cap_perfmon ? ", as CAP_PERFMON is not enough" : "");
		explain_be_root(text, limits, NULL);
		return;
	}
	if (explain_may_all(limits)) {
		denied_with_capability(text, refusal);
		return;
	}
	if (attr->namespaces) {
		text_add(text, "records of namespaces need a capability");
		explain_be_root(text, limits, EXPLAIN_SETCAP);
		return;
	}
	if (refusal->request->cgroup && limits->paranoid >= 1) {
		text_add(text,
			"%s a cgroup is done on whole CPUs, which is not permitted to this user",
			doing(refusal));
		allow_all(text, refusal, 0);
		return;
	}
	if (on_cpus(refusal) && limits->paranoid >= 1) {
		text_add(text, "%s whole CPUs is not permitted to this user", doing(refusal));
		allow_all(text, refusal, 0);
		text_add(text, ". Your own processes can be %s with -p PID or -u USER",
			refusal->request->counted ? "counted" : "sampled");
		return;
	}
	/* EACCES: the level excludes the kernel.  EPERM: the tracepoint's own check, which is
	 * later. */
	if (!attr->exclude_kernel && !refusal->request->user_refused && limits->paranoid >= 2 &&
		(attr->type != PERF_TYPE_TRACEPOINT || refusal->error == EACCES)) {
		text_add(text, "%s the kernel is not permitted to this user", doing(refusal));
		explain_paranoid(text, limits);
		text_add(text, ". Allow it%s with: sudo sysctl kernel.perf_event_paranoid=1%s",
			limits->user_namespace ? " outside of this user namespace" : "",
			event_is_kernels_own(attr)
				? " (it happens in the kernel alone, so :u would count nothing)"
				: ", or take user space alone with the modifier :u");
		return;
	}
	/* Levels above 2 come from distributions' patches; the mainline kernel treats them as 2. */
	if (limits->paranoid >= 3) {
		text_add(text, "the kernel allows no events at all to ordinary users");
		explain_paranoid(text, limits);
		text_add(text,
			". Allow your own processes%s with: sudo sysctl "
			"kernel.perf_event_paranoid=2%s",
			limits->user_namespace ? " outside of this user namespace" : "",
			limits->user_namespace
				? ""
				: ", or allow strobe everything with: " EXPLAIN_SETCAP);
		return;
	}
	if (attr->type == PERF_TYPE_TRACEPOINT && refusal->error == EPERM) {
		text_add(text,
			"tracepoints%s are not permitted to this user: they show what the kernel "
			"does for everybody",
			attr->sample_type & PERF_SAMPLE_RAW ? " with their fields" : "");
		allow_all(text, refusal, -1);
		return;
	}
	if (attr->sample_type & PERF_SAMPLE_PHYS_ADDR) {
		text_add(text, "physical addresses are shown only to who may sample the kernel");
		allow_all(text, refusal, 1);
		return;
	}
	if (pid > 0 && refusal->error != EPERM) {
		text_add(text,
			"it belongs to another user, or is protected (a set-user-ID program)");
		explain_be_root(text, limits, EXPLAIN_SETCAP);
		return;
	}
	text_add(text, "the kernel refuses perf_event_open(2) to this user");
	explain_paranoid(text, limits);
	text_add(text, "%s: " CONTAINER "; elsewhere, run strobe as root or use: " EXPLAIN_SETCAP,
		refusal->system->seccomp ? ". A seccomp filter is in force"
					 : ". In a container this is usually its seccomp filter");
}

/* --- other errors --- */

static void not_there(struct text *text, const struct refusal *refusal)
{
	const char *event = refusal->request->event;

	if (refusal->system->cgroup_gone) {
		text_add(text, "the cgroup '%s' is gone. Choose one that is there",
			refusal->request->cgroup);
		return;
	}
	if (is_pmu(refusal, "kprobe") || is_pmu(refusal, "uprobe")) {
		explain_probe(text, refusal);
		return;
	}
	if (event && (!strncmp(event, "kprobe:", 7) || !strncmp(event, "kretprobe:", 10)))
		text_add(text,
			"this kernel cannot probe its functions: it was built without "
			"CONFIG_KPROBE_EVENTS. Use a tracepoint (strobe list), or another kernel");
	else if (event && (!strncmp(event, "uprobe:", 7) || !strncmp(event, "uretprobe:", 10)))
		text_add(text,
			"this kernel cannot probe programs: it was built without "
			"CONFIG_UPROBE_EVENTS. Use another kernel");
	else if (is_hardware(refusal) && refusal->system->has_cpu_pmu)
		text_add(text,
			"this processor does not count such an event. What it counts is told by: "
			"strobe list");
	else
		text_add(text,
			"there is no such event on this machine (virtual machines often have no "
			"hardware counters). -e cpu-clock works everywhere");
}

static void not_supported(struct text *text, const struct refusal *refusal)
{
	const struct perf_event_attr *attr = refusal->attr;

	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK || attr->branch_sample_type) {
		text_add(text, "%s. Leave out -b and -j",
			is_hardware(refusal) && refusal->system->branches != 0
				? "the processor's branch stack has no such filter, or not for "
				  "this event"
				: is_hardware(refusal)
				? "this processor has no branch stack that can be read"
				: "branch stacks come with hardware counters alone, and this event "
				  "is none");
		return;
	}
	if (attr->sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR)) {
		text_add(text, "this processor has no such registers. Leave them out");
		return;
	}
	if (attr->aux_output) {
		text_add(text,
			"its samples cannot go into an AUX trace, which Intel PT makes of "
			"PEBS events alone. Leave out aux-output");
		return;
	}
	if (attr->precise_ip) {
		text_add(text,
			"the hardware cannot sample this event so precisely here. Leave out the "
			"modifier :p, use P for what is there, or -e cpu-clock");
		return;
	}
	if (attr->exclude_idle && is_hardware(refusal)) {
		text_add(text,
			"this counter cannot leave out the idle task. Leave out the modifier :I");
		return;
	}
	if (refusal->request->counted) {
		text_add(text,
			"the hardware does not count this event here. What it counts is told by: "
			"strobe list");
		return;
	}
	text_add(text,
		"the hardware cannot sample this event here (its counter has no interrupt). Count "
		"it with: strobe stat, or use -e cpu-clock");
}

static void no_device(struct text *text, const struct refusal *refusal)
{
	const struct explain_request *request = refusal->request;

	if (request->cpu >= 0 && request->pid <= 0)
		text_add(text,
			"that CPU %s. Choose among the CPUs in /sys/devices/system/cpu/online",
			refusal->system->cpu_offline
				? "is offline"
				: "is offline, does not exist, or has no such counter");
	else if (refusal->attr->precise_ip || refusal->attr->branch_sample_type)
		text_add(text,
			"the processor has no such counter, or none so precise. Leave out the "
			"modifier :p and -b");
	else
		text_add(text, "the processor has no such counter. -e cpu-clock works everywhere");
}

static void no_slot(struct text *text, const struct refusal *refusal)
{
	if (refusal->attr->type == PERF_TYPE_BREAKPOINT)
		text_add(text,
			"all hardware breakpoints are in use (a processor has few, x86 four), by a "
			"debugger or another profiler. End it, or use fewer breakpoint events");
	else
		text_add(text,
			"the kernel has no room for more events of this kind. End other profilers, "
			"or use fewer events");
}

static void busy(struct text *text, const struct refusal *refusal)
{
	text_add(text, "another user of the counters has them exclusively. End other profilers");
	if (refusal->system->nmi_watchdog != 0)
		text_add(text,
			", and free the counter of the kernel's watchdog with: sudo sysctl "
			"kernel.nmi_watchdog=0");
	else
		text_add(text, " and debuggers (perf, Intel PT tracers); try again");
}

static void bad_descriptor(struct text *text, const struct refusal *refusal)
{
	const char *cgroup = refusal->request->cgroup;

	if (cgroup)
		text_add(text,
			"'%s' is no cgroup of the hierarchy that perf events use. Name a directory "
			"of cgroup v2 (mount | grep cgroup2) or of v1's perf_event controller",
			cgroup);
	else
		text_add(text,
			"the leader of its group is closed, or is no event: it was dropped, or its "
			"target ended. Add the whole group again");
}

static void too_deep(struct text *text, const struct refusal *refusal)
{
	text_add(text,
		"%u frames are more than the kernel allows (%" PRId64
		"). Use a smaller --max-stack, or: sudo sysctl kernel.perf_event_max_stack=%u",
		refusal->attr->sample_max_stack, refusal->limits->max_stack,
		refusal->attr->sample_max_stack);
}

/* Explains a refusal by strobe: the kernel would open the event, but fork() would fail in the
 * target (sampler/events/inherited.h). */
static void not_inherited(struct text *text, const struct refusal *refusal)
{
	const char *alone = refusal->request->counted
		? "count without new tasks (--no-inherit), or on whole CPUs (-a)"
		: "use --scope task or --scope cpu";

	if (refusal->attr->type == PERF_TYPE_BREAKPOINT) {
		text_add(text,
			"new tasks of the target would inherit it, and without CAP_SYS_ADMIN their "
			"fork() would fail, as it watches the kernel. Instead %s",
			alone);
		return;
	}
	text_add(text, "new tasks can inherit a probe only through tracefs, ");
	switch (refusal->error) {
	case ENOENT:
		text_add(text,
			"which is not mounted. Mount it with: sudo mount -t tracefs tracefs "
			"/sys/kernel/tracing");
		break;
	case EACCES:
	case EPERM:
		text_add(text, "to which this user may not write. Run strobe as root");
		break;
	case EROFS:
		text_add(text, "which is mounted read-only here. Run strobe where it is not");
		break;
	default:
		text_add(text, "which takes none");
		explain_add_error(text, refusal->error);
		break;
	}
	text_add(text, ", or %s", alone);
}

void explain_ioctl(
	struct text *text, const char *name, int error, const struct explain_system *system)
{
	text_add(text, "the kernel opened the event, and %s was then refused", name);
	explain_add_error(text, error);
	switch (error) {
	case EPERM:
	case EACCES:
	case ENOSYS:
		text_add(text, ": %s forbids it. To allow it, " CONTAINER,
			system->seccomp ? "a seccomp filter"
					: "a security module or the sandbox that strobe runs in");
		break;
	case ENOTTY:
	case EINVAL:
		text_add(text,
			": this kernel does not have it, or a sandbox does not pass it on. Use "
			"another kernel, or run strobe outside of the sandbox");
		break;
	default:
		break;
	}
}

void explain_open_text(struct text *text, const struct explain_request *request, int error,
	const struct proc_limits *limits, const struct explain_system *system)
{
	const struct refusal refusal = {request, request->attr, error, limits, system};

	if (request->bpf) {
		explain_bpf(text, request, error, system);
		return;
	}
	if (request->filter) {
		explain_filter(text, request, error, system);
		return;
	}
	add_subject(text, request);
	if (request->inherited) {
		/* Without CAP_SYS_ADMIN the kernel would refuse the event itself. */
		if (limits->cap_sys_admin)
			not_inherited(text, &refusal);
		else
			denied(text, &refusal);
		return;
	}
	if (request->ioctl) {
		explain_ioctl(text, request->ioctl, error, system);
		return;
	}
	switch (error) {
	case EACCES:
	case EPERM:
		denied(text, &refusal);
		break;
	case EINVAL:
		explain_invalid(text, &refusal);
		break;
	case ENOENT:
		not_there(text, &refusal);
		break;
	case EADDRNOTAVAIL: /* a kprobe on a name that several functions share */
	case EILSEQ: /* a probe inside an instruction */
	case ENOEXEC:
	case EIO:
	case ERRNO_NOTSUPP:
		if (!explain_probe(text, &refusal))
			explain_other(text, error, limits, request->pid > 0);
		break;
	case EOPNOTSUPP:
		not_supported(text, &refusal);
		break;
	case ENODEV:
	case ENXIO:
		no_device(text, &refusal);
		break;
	case ENOSPC:
		no_slot(text, &refusal);
		break;
	case EBUSY:
		busy(text, &refusal);
		break;
	case EBADF:
		bad_descriptor(text, &refusal);
		break;
	case EOVERFLOW:
		too_deep(text, &refusal);
		break;
	case E2BIG:
		text_add(text,
			"this kernel is too old for a setting of the event: it knows fewer "
			"settings. Use a newer kernel, or the event without modifiers");
		break;
	case EFAULT:
		text_add(text,
			"the kernel could not read the request: a mistake in strobe%s. Please "
			"report it, with the command and the kernel's version",
			request->probe ? ", or in the name of the probe" : "");
		break;
	case ENOSYS:
		text_add(text,
			"this kernel has no perf_event_open(2): %s. Use another kernel, or run "
			"strobe outside the container",
			system->seccomp
				? "a seccomp filter hides the call"
				: "it was built without CONFIG_PERF_EVENTS, or a seccomp filter "
				  "hides the call");
		break;
	case ESRCH:
		text_add(text,
			"it ended before its events could be opened. Choose a process that runs");
		break;
	case ENOMEM:
		explain_no_memory(text, "the kernel is out of memory for events", refusal.limits);
		if (request->cpu < 0)
			text_add(text, ". Sample fewer threads, or the whole machine with -a");
		break;
	case EINTR:
		text_add(text,
			"the call was interrupted, because a signal came while another change of "
			"the kernel's tracing was waited for. Try again");
		break;
	default:
		explain_other(text, error, limits, request->pid > 0);
		break;
	}
}

void explain_open(const struct explain_request *request, int error,
	const struct proc_limits *limits, const struct explain_system *system, char *out,
	size_t size)
{
	struct text text = {0};

	explain_open_text(&text, request, error, limits, system);
	clean_string(out, size, text.bytes);
}

void explain_tracefs(int error, char *out, size_t size)
{
	struct text text = {0};

	switch (error) {
	case ENOENT:
		text_add(&text,
			"tracepoints cannot be looked up: tracefs is not mounted. Mount it with: "
			"sudo "
			"mount -t tracefs tracefs /sys/kernel/tracing");
		break;
	case EACCES:
	case EPERM:
		text_add(&text,
			"tracepoints cannot be looked up: this user may not read tracefs. Run "
			"strobe "
			"as root, or allow it with: sudo mount -o remount,mode=755 "
			"/sys/kernel/tracing");
		break;
	default:
		text_add(&text, "tracepoints cannot be looked up");
		explain_add_error(&text, error);
		break;
	}
	clean_string(out, size, text.bytes);
}
