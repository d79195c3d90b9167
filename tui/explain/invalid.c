// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * invalid.c - finds which of the many causes of EINVAL from perf_event_open(2) applies.
 *
 * The kernel reports only EINVAL, so its checks are repeated here.  Pure functions of their
 * arguments; any thread.
 */
#include "sampler/events/event.h"
#include "tui/base/explain_errno.h"
#include "tui/explain/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

static bool invalid_period(struct text *text, const struct refusal *refusal)
{
	const struct perf_event_attr *attr = refusal->attr;
	int64_t most = refusal->limits->max_sample_rate;

	if (attr->freq && most != EXPLAIN_UNKNOWN && attr->sample_freq > (uint64_t)most) {
		text_add(text,
			"%" PRIu64 " Hz is above the kernel's limit of %" PRId64
			" Hz. Use -F max, or raise the limit with: sudo sysctl "
			"kernel.perf_event_max_sample_rate=%" PRIu64,
			(uint64_t)attr->sample_freq, most, (uint64_t)attr->sample_freq);
		return true;
	}
	if (!attr->freq && attr->sample_period >> 63) {
		text_add(text,
			"a period of %" PRIu64
			" is more than the kernel counts to. Use one below 2^63",
			(uint64_t)attr->sample_period);
		return true;
	}
	return false;
}

/* Explains attributes that only make sense for a program that monitors itself. */
static bool invalid_self(struct text *text, const struct refusal *refusal)
{
	const struct perf_event_attr *attr = refusal->attr;

	if (attr->sigtrap) {
		text_add(text,
			"sigtrap sends the sampled thread a signal at each overflow, which is for "
			"programs that monitor themselves%s. Leave it out: strobe samples others",
			attr->remove_on_exec ? "" : ", and needs remove_on_exec");
		return true;
	}
	if (attr->remove_on_exec && attr->enable_on_exec) {
		text_add(text,
			"remove_on_exec ends the event where enable_on_exec would begin it: it is "
			"for programs that monitor themselves. Leave it out");
		return true;
	}
	return false;
}

bool explain_probe(struct text *text, const struct refusal *refusal)
{
	const struct explain_system *system = refusal->system;
	const char *probe = refusal->request->probe;
	const char *name = probe ? probe : "";

	if (is_pmu(refusal, "kprobe")) {
		switch (system->function) {
		case FUNCTION_BLACKLISTED:
			text_add(text,
				"the kernel lets nobody probe '%s': the work of a probe itself "
				"needs it (/sys/kernel/debug/kprobes/blacklist). Probe a function "
				"that calls it",
				name);
			return true;
		case FUNCTION_MISSING:
			text_add(text,
				"the kernel has no function '%s': it may be inlined, or of a "
				"module that is not loaded. Look for its name with: grep -i NAME "
				"/proc/kallsyms",
				name);
			return true;
		case FUNCTION_AMBIGUOUS:
			text_add(text,
				"the kernel has several functions of the name '%s'. Name one by "
				"its address in /proc/kallsyms",
				name);
			return true;
		default:
			text_add(text,
				"the kernel takes no probe there: the offset is beyond the "
				"function or within an instruction, or the function must not be "
				"traced. Probe its beginning, without an offset");
			return true;
		}
	}
	if (!is_pmu(refusal, "uprobe"))
		return false;
	if (system->file_error)
		text_add(text,
			"the file '%s' cannot be read (%s). Check its path, and that it is "
			"seen from here and not only in a container",
			name, explain_errno(system->file_error));
	else if (system->file_odd)
		text_add(text, "'%s' is no regular file. Name the program or library itself", name);
	else if (system->file_bytes != EXPLAIN_UNKNOWN &&
		refusal->attr->config2 >= (uint64_t)system->file_bytes)
		text_add(text,
			"offset 0x%" PRIx64 " is beyond the end of '%s' (0x%" PRIx64
			" bytes). Offsets are those of the file, as objdump -h and readelf -l tell",
			(uint64_t)refusal->attr->config2, name, (uint64_t)system->file_bytes);
	else
		text_add(text,
			"the kernel takes no probe at 0x%" PRIx64
			" of '%s': there is no instruction that can be probed, or it is not "
			"mapped as code. Probe the beginning of a function, by its name",
			(uint64_t)refusal->attr->config2, name);
	return true;
}

static bool invalid_breakpoint(struct text *text, const struct refusal *refusal)
{
	const struct perf_event_attr *attr = refusal->attr;
	uint64_t len = attr->bp_len;

	if (attr->type != PERF_TYPE_BREAKPOINT)
		return false;
	if (attr->bp_type == HW_BREAKPOINT_X && len != sizeof(long))
		text_add(text,
			"a breakpoint on execution has the length %zu here. Leave the length out: "
			"mem:0x%" PRIx64 ":x",
			sizeof(long), (uint64_t)attr->bp_addr);
	else if (len != 1 && len != 2 && len != 4 && len != 8)
		text_add(text,
			"a breakpoint watches 1, 2, 4 or 8 bytes, not %" PRIu64 ". Use /4, say",
			len);
	else if (attr->bp_addr % len)
		text_add(text,
			"0x%" PRIx64 " is no multiple of the %" PRIu64
			" bytes that are watched, which the processor demands. Use fewer bytes, or "
			"0x%" PRIx64,
			(uint64_t)attr->bp_addr, len,
			(uint64_t)(attr->bp_addr - attr->bp_addr % len));
	else if (attr->bp_type == HW_BREAKPOINT_R)
		text_add(text,
			"this processor cannot watch reads alone. Watch reads and writes with :rw");
	else if (!event_is_in_kernel(attr))
		text_add(text, "no program can have memory at 0x%" PRIx64 ". Use another address",
			(uint64_t)attr->bp_addr);
	else if (attr->exclude_kernel)
		text_add(text,
			"an address of the kernel is watched in the kernel alone. Leave out the "
			"modifier :u");
	else if (attr->bp_type == HW_BREAKPOINT_X)
		text_add(text,
			"the kernel lets no breakpoint stop its code there: it was built without "
			"CONFIG_KPROBES, or the code is that of breakpoints themselves "
			"(/sys/kernel/debug/kprobes/blacklist). Use another function, or a "
			"tracepoint");
	else
		text_add(text,
			"the kernel lets nobody watch the memory that it enters itself by. Use "
			"another address");
	return true;
}

static bool invalid_place(struct text *text, const struct refusal *refusal)
{
	const struct explain_request *request = refusal->request;
	const struct explain_system *system = refusal->system;

	if (request->cpu >= 0 && system->possible_cpus != EXPLAIN_UNKNOWN &&
		request->cpu >= system->possible_cpus) {
		text_add(text,
			"this machine has no CPU %d: its last possible one is %d. Check -C against "
			"/sys/devices/system/cpu/online",
			request->cpu, system->possible_cpus - 1);
		return true;
	}
	if (request->cgroup && request->cpu < 0) {
		text_add(text,
			"a cgroup is watched CPU by CPU, not in single processes. Use -G with -a "
			"or -C");
		return true;
	}
	if (request->pid < 0 && request->cpu < 0) {
		text_add(text,
			"neither a process nor a CPU was named, and the kernel samples nothing "
			"without. Use -p PID, -C CPUS or -a");
		return true;
	}
	if (system->own_cpus && request->pid >= 0) {
		text_add(text,
			"the counters of '%s' count for several CPUs at once, so not for a single "
			"process. Use -a, or -C %s",
			system->pmu, system->cpus);
		return true;
	}
	return false;
}

/* Explains features that the PMU lacks: uncore PMUs cannot exclude anything, and many cannot
 * sample. */
static bool invalid_part(struct text *text, const struct refusal *refusal)
{
	const struct perf_event_attr *attr = refusal->attr;
	const struct explain_system *system = refusal->system;
	bool simple = attr->type > PERF_TYPE_BREAKPOINT && !is_hardware(refusal);

	if (attr->type == PERF_TYPE_TRACEPOINT) {
		text_add(text,
			"there is no tracepoint with the number %" PRIu64
			": its module may have been unloaded, or takes no samples. List what is "
			"there with: strobe list",
			(uint64_t)attr->config);
		return true;
	}
	if (simple &&
		(attr->exclude_user || attr->exclude_kernel || attr->exclude_hv ||
			attr->exclude_idle || attr->exclude_host || attr->exclude_guest)) {
		text_add(text,
			"the counters of '%s' cannot leave out user space, kernel or guests. Leave "
			"out the modifiers :u, :k, :h, :G and :H",
			system->pmu);
		return true;
	}
	if (simple && !refusal->request->counted && (attr->sample_period || attr->sample_freq)) {
		text_add(text,
			"the counters of '%s' can be counted, not sampled. Count them with: "
			"strobe stat -e",
			system->pmu);
		return true;
	}
	if (system->max_precise >= 0 && attr->precise_ip > (unsigned int)system->max_precise) {
		text_add(text,
			"precision %u is more than this processor has (%d). Use fewer p as "
			"modifiers, or P for as many as there are",
			(unsigned int)attr->precise_ip, system->max_precise);
		return true;
	}
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK && !attr->branch_sample_type) {
		text_add(text, "no kind of branch was chosen. Use -j any");
		return true;
	}
	return false;
}

static bool invalid_group(struct text *text, const struct refusal *refusal)
{
	if (!refusal->request->in_group)
		return false;
	if (refusal->request->mixed_group)
		text_add(text,
			"a group is counted by the counters of one PMU, and this one has members "
			"of several. Put them into groups of their own");
	else if (is_hardware(refusal))
		text_add(text,
			"the group has more members than the processor has counters%s. Use smaller "
			"groups, or let them be counted in turn with the modifier W",
			refusal->system->nmi_watchdog == 1
				? ", of which the kernel's watchdog takes one (sudo sysctl "
				  "kernel.nmi_watchdog=0)"
				: "");
	else
		text_add(text,
			"its group's leader is on another target, of another clock, or itself a "
			"member. Take it out of the braces");
	return true;
}

void explain_invalid(struct text *text, const struct refusal *refusal)
{
	if (invalid_period(text, refusal) || invalid_self(text, refusal) ||
		invalid_place(text, refusal) || invalid_breakpoint(text, refusal) ||
		explain_probe(text, refusal) || invalid_group(text, refusal) ||
		invalid_part(text, refusal))
		return;
	if (on_cpus(refusal) && refusal->request->cpu >= 0) {
		text_add(text,
			"the kernel takes neither this CPU number nor this combination of "
			"settings. Check -C, and try the event without its modifiers");
		return;
	}
	text_add(text,
		"the kernel does not take this combination of settings: the event may not support "
		"its modifiers or being sampled, or the kernel is too old. Try the event without "
		"modifiers, or -e cpu-clock");
}
