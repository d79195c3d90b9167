/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tracefs.h - the kernel's tracepoints: TRACEFS/events/SUBSYSTEM/EVENT.
 *
 * All return -ENOENT where tracefs is not mounted (system->tracefs is NULL), and -EACCES where it may not be read.  No
 * state; any thread.
 */
#ifndef SAMPLER_TRACEFS_H
#define SAMPLER_TRACEFS_H

#include "sampler/event.h"
#include "sampler/sysfile.h"

#include <stddef.h>
#include <stdint.h>

/* Names of all subsystems, and of the events of one; sorted, for sysfile_names_fini().  "ftrace", whose
 * entries perf_event_open(2) refuses, is among them: it has events without an id. */
int tracefs_subsystems(const struct event_system *system, struct sysfile_names *out);
int tracefs_events(
	const struct event_system *system, const char *subsystem, struct sysfile_names *out);

/* perf_event_attr.config of a tracepoint.  -ENOENT: there is none, -EBADMSG. */
int tracefs_id(
	const struct event_system *system, const char *subsystem, const char *event, uint64_t *id);

/* How it happens; EVENT_TRACE_PLAIN if that cannot be read. */
enum event_trace tracefs_kind(
	const struct event_system *system, const char *subsystem, const char *event);

/* The text of its format file, for free(). */
int tracefs_format(const struct event_system *system, const char *subsystem, const char *event,
	char **text, size_t *len);

/* The subsystem and event of an id, looked for in all; each of EVENT_NAME_MAX bytes.  -ENOENT. */
int tracefs_name_of(const struct event_system *system, uint64_t id, char *subsystem, char *event);

#endif
