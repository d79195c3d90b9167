// SPDX-License-Identifier: GPL-3.0-or-later
/* silent.c - kernel settings that silence events without an error; see silent.h. */
#include "sampler/events/silent.h"

#include "sampler/base/sysfile.h"
#include "sampler/events/event.h"
#include "sampler/kernel/sys.h"

#include <string.h>

/* A setting that cannot be read counts as on. */
static bool is_off(const char *root, const char *path)
{
	char text[16];

	return root && !sysfile_line(text, sizeof(text), "%s/%s", root, path) && !strcmp(text, "0");
}

static bool is_kernel_probe(const struct event_spec *spec)
{
	return spec->trace == TRACEFS_KPROBE || (spec->pmu && !strcmp(spec->pmu, "kprobe"));
}

enum silent_reason silent_why(const struct system_dirs *system, const struct event_spec *spec)
{
	/* Time between switches comes from other records. */
	if (spec->attr.exclude_kernel && !spec->span && !event_fires_in_user(spec))
		return SILENT_IN_KERNEL;
	if (spec->attr.type == PERF_TYPE_BREAKPOINT && !sys_breakpoints_fire())
		return SILENT_BREAKPOINTS;
	if (is_kernel_probe(spec)) {
		if (is_off(system->sysfs, "kernel/debug/kprobes/enabled"))
			return SILENT_PROBES_OFF;
		if (is_off(system->proc, "sys/kernel/ftrace_enabled"))
			return SILENT_FTRACE_OFF;
	}
	if (spec->trace == TRACEFS_SCHEDSTAT && is_off(system->proc, "sys/kernel/sched_schedstats"))
		return SILENT_SCHEDSTATS_OFF;
	return SILENT_NOT;
}
