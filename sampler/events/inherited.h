/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inherited.h - prepares inherited events, so that they make no fork() fail.
 *
 * The kernel reopens an inherited event within fork(), with the memory and rights of the forking
 * task.  It reads a uprobe's path or a kprobe's function at strobe's address in that task.  It also
 * requires CAP_PERFMON, and CAP_SYS_ADMIN for a breakpoint in the kernel.  If that fails, the fork
 * fails.  The kernel checks a tracepoint's rights only once.  So inherited probes become
 * tracepoints, through TRACEFS/uprobe_events and kprobe_events.  So do all return probes of kernel
 * functions: only there can strobe set how many returns the kernel awaits at a time.
 *
 * Their group is strobe_PID_MARK.  A living strobe holds a lock (F_OFD_SETLK) on the byte MARK of
 * these files, in any namespace.  A group without a lock is left over; the next strobe removes it.
 * One thread for each struct.
 */
#ifndef SAMPLER_EVENTS_INHERITED_H
#define SAMPLER_EVENTS_INHERITED_H

#include "sampler/events/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inherited_probe;

struct inherited {
	struct inherited_file {
		int fd; /* -1: not opened */
		bool locked;
	} files[2]; /* uprobe_events, kprobe_events */
	uint64_t mark;
	struct inherited_probe *probes;
	size_t n;
};

/* Initializes the struct, and removes probes of strobe processes that died. */
void inherited_init(struct inherited *inherited);

/* Changes attr, which belongs to spec, if an inherited event could make fork() fail or a return
 * probe would miss returns.  Without tracefs, a return probe that is not inherited stays unchanged.
 * Returns 0 or -errno.  Sets *refused if the inheritance is refused, not the event itself. */
int inherited_prepare(struct inherited *inherited, const struct event_spec *spec,
	struct perf_event_attr *attr, bool *refused);

/* Removes the probes of this struct.  The caller must have closed all events. */
void inherited_fini(struct inherited *inherited);

#endif
