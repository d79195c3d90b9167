/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * silent.h - events that the kernel accepts and that can never happen.
 *
 * No state; any thread.
 */
#ifndef SAMPLER_SILENT_H
#define SAMPLER_SILENT_H

#include "sampler/event.h"

enum silent_reason {
	SILENT_NOT,
	SILENT_BREAKPOINTS, /* this machine never reports a hit */
	SILENT_IN_KERNEL, /* it happens in the kernel alone, which is left out */
	SILENT_PROBES_OFF, /* kprobes are switched off system-wide */
	SILENT_FTRACE_OFF, /* ftrace is switched off, and so are probes that it carries */
	SILENT_SCHEDSTATS_OFF, /* the scheduler takes these times only when it is told to */
};

/* Why an event, as it was opened, never happens.  SILENT_NOT also if it cannot be told. */
enum silent_reason silent_why(const struct event_system *system, const struct event_spec *spec);

#endif
