/* SPDX-License-Identifier: GPL-3.0-or-later */
/* silent.h - events that the kernel accepts, but that can never fire.  No state; any thread. */
#ifndef SAMPLER_EVENTS_SILENT_H
#define SAMPLER_EVENTS_SILENT_H

#include "sampler/events/spec.h"

enum silent_reason {
	SILENT_NOT,
	SILENT_BREAKPOINTS, /* this machine never reports a hit */
	SILENT_IN_KERNEL, /* fires only in the kernel, which the event excludes */
	SILENT_PROBES_OFF, /* kprobes are switched off system-wide */
	SILENT_FTRACE_OFF, /* ftrace is switched off, and with it the probes that use it */
	SILENT_SCHEDSTATS_OFF, /* the scheduler does not measure these times by default */
};

/* Returns the reason if an event, as it was opened, never fires.  Returns SILENT_NOT also if that
 * is not known. */
enum silent_reason silent_why(const struct system_dirs *system, const struct event_spec *spec);

#endif
