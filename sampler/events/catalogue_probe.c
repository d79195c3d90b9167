// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * catalogue_probe.c - probes whether entries open.
 *
 * A probe is a real open on the target; the event is never enabled and closed at once.
 */
#include "sampler/events/catalogue_private.h"

#include "sampler/events/parse.h"
#include "sampler/kernel/sys.h"
#include "sampler/machine/proc.h"
#include "sampler/machine/tracefs.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROBE_PERIOD 100000000u

static int try_open(struct perf_event_attr *attr, int32_t pid, int cpu)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	fd = sys_open(attr, pid, cpu);
	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

/* Tries sampling with the kernel first, then sampling of user space alone, or counting. */
static void probe_attr(struct catalogue_entry *entry, const struct perf_event_attr *wanted)
{
	struct perf_event_attr attr = *wanted;
	int error;

	attr.sample_period = PROBE_PERIOD;
	attr.sample_type = attr.type == PERF_TYPE_TRACEPOINT ? PERF_SAMPLE_IP | PERF_SAMPLE_RAW
							     : PERF_SAMPLE_IP;
	entry->attr = attr;
	entry->error = error = try_open(&attr, entry->pid, entry->cpu);
	entry->state = error ? CATALOGUE_REFUSED : CATALOGUE_OPENS;
	if (error == EACCES && !attr.exclude_kernel) {
		attr.exclude_kernel = attr.exclude_hv = 1;
		error = try_open(&attr, entry->pid, entry->cpu);
		if (!error)
			entry->state = CATALOGUE_USER_ONLY;
		if (!error || error == EACCES)
			return;
		/* Without the kernel it fails for another reason, so more rights would not help. */
		entry->error = error;
		entry->attr = attr;
	} else if (error == EINVAL || error == EOPNOTSUPP) {
		attr = *wanted;
		error = try_open(&attr, entry->pid, entry->cpu);
		if (!error)
			entry->state = CATALOGUE_COUNTS;
		else if (attr.type > PERF_TYPE_BREAKPOINT)
			entry->attr = attr; /* failing to count is the better reason */
	}
}

/* Fills the attribute of a named event; returns false if the name does not parse. */
static bool parse(const char *name, struct perf_event_attr *attr, const char **cpus)
{
	struct event_spec *specs;
	struct event_error error;
	size_t n;

	if (event_parse_list(name, &specs, &n, &error))
		return false;
	*attr = specs[0].attr;
	*cpus = specs[0].cpus;
	free(specs);
	return true;
}

static void probe_pmu(struct catalogue_entry *entry)
{
	struct perf_event_attr attr;
	const char *cpus = NULL;

	/* "?" is a value that the user must supply. */
	if (strchr(entry->description, '?') || !parse(entry->name, &attr, &cpus)) {
		entry->state = CATALOGUE_UNTRIED;
		return;
	}
	/* Events that count for several CPUs are sampled on one of their listed CPUs, not on the
	 * target. */
	if (cpus) {
		entry->pid = -1;
		entry->cpu = atoi(cpus);
	}
	probe_attr(entry, &attr);
}

static void probe_form(struct catalogue_entry *entry)
{
	static const uint64_t watched; /* a valid address for a breakpoint */
	struct perf_event_attr attr = {.type = entry->attr.type};
	const char *pmu = entry->pmu ? entry->pmu : "";

	if (!strcmp(pmu, "breakpoint")) {
		attr.bp_type = HW_BREAKPOINT_W;
		attr.bp_addr = (uint64_t)(uintptr_t)&watched;
		attr.bp_len = sizeof(watched);
	}
	if (!strcmp(entry->name, "PMU/TERM=VALUE,.../")) {
		entry->state = CATALOGUE_UNTRIED; /* depends on the PMU */
		return;
	}
	if (attr.type == UINT32_MAX) {
		entry->state = CATALOGUE_REFUSED;
		entry->error = ENOENT;
		return;
	}
	probe_attr(entry, &attr);
	/* The probe names no function: the kernel checks permissions before it looks for the
	 * function. */
	if (!strcmp(pmu, "kprobe") || !strcmp(pmu, "uprobe")) {
		bool refused =
			entry->error == EACCES || entry->error == EPERM || entry->error == ENOSYS;

		entry->state = refused ? CATALOGUE_REFUSED : CATALOGUE_OPENS;
		entry->error = refused ? entry->error : 0;
	}
}

static void probe_tracepoint(const struct catalogue *catalogue, struct catalogue_entry *entry)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	const char *colon = strchr(entry->name, ':');
	char subsystem[EVENT_NAME_MAX];
	uint64_t id;
	int err;

	snprintf(subsystem, sizeof(subsystem), "%.*s", (int)(colon - entry->name), entry->name);
	err = tracefs_id(catalogue->system, subsystem, colon + 1, &id);
	if (err) {
		entry->state = CATALOGUE_REFUSED;
		entry->error = -err;
		return;
	}
	attr.config = id;
	probe_attr(entry, &attr);
}

/* Returns whether the caller has the capability that tracepoints need.  True if the settings forbid
 * users whole-CPU events and such an event opens anyway. */
static bool is_capable(const struct catalogue_target *target)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = sizeof(attr)};
	struct proc_limits limits;

	proc_limits(&limits);
	return limits.paranoid >= 1 && target->pid <= 0 &&
		!try_open(&attr, -1, target->cpu < 0 ? 0 : target->cpu);
}

static void take(struct catalogue_entry *entry, const struct catalogue_entry *from)
{
	entry->state = from->state;
	entry->error = from->error;
	entry->attr = from->attr;
	entry->pid = from->pid;
	entry->cpu = from->cpu;
}

static void probe_class(
	struct catalogue *catalogue, const struct catalogue_target *target, size_t i)
{
	struct catalogue_entry *entry = &catalogue->entries[i];
	bool syscalls = !strncmp(entry->name, "syscalls:", 9);
	struct catalogue_entry *others = &catalogue->classes[CLASS_OTHERS];
	struct catalogue_entry *class = syscalls ? &catalogue->classes[CLASS_SYSCALLS] : others;

	/* The right to use kernel tracepoints includes those of system calls. */
	if (!class->name && syscalls && others->name && others->state == CATALOGUE_OPENS)
		class = others;
	if (!class->name) {
		*class = *entry;
		class->pid = target->pid;
		class->cpu = target->cpu;
		if (is_capable(target)) {
			class->state = CATALOGUE_OPENS;
			class->error = 0;
		} else {
			probe_tracepoint(catalogue, class);
		}
	}
	take(entry, class);
}

static bool is_same(const struct catalogue_entry *entry, const struct catalogue_target *target)
{
	return !entry->name || (entry->pid == target->pid && entry->cpu == target->cpu);
}

static void probe(
	struct catalogue *catalogue, const struct catalogue_target *target, size_t i, bool exactly)
{
	struct catalogue_entry *entry = &catalogue->entries[i];
	struct perf_event_attr attr = {.type = entry->attr.type, .config = entry->attr.config};

	entry->pid = target->pid;
	entry->cpu = target->cpu;
	entry->exactly = true;
	entry->error = 0;
	switch (entry->group) {
	case CATALOGUE_PMU:
		probe_pmu(entry);
		break;
	case CATALOGUE_FORM:
		probe_form(entry);
		break;
	case CATALOGUE_TRACEPOINT:
		entry->exactly = exactly;
		if (exactly)
			probe_tracepoint(catalogue, entry);
		else
			probe_class(catalogue, target, i);
		break;
	default:
		probe_attr(entry, &attr);
		break;
	}
}

void catalogue_probe(
	struct catalogue *catalogue, const struct catalogue_target *target, size_t from, size_t to)
{
	for (size_t i = 0; i < CLASSES; i++)
		if (!is_same(&catalogue->classes[i], target))
			catalogue->classes[i].name = NULL;
	for (size_t i = from; i < to && i < catalogue->n; i++)
		probe(catalogue, target, i, false);
}

void catalogue_probe_exactly(
	struct catalogue *catalogue, const struct catalogue_target *target, size_t i)
{
	probe(catalogue, target, i, true);
}
