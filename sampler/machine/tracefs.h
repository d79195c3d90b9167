/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tracefs.h - the kernel's tracepoints: TRACEFS/events/SUBSYSTEM/EVENT.
 *
 * All functions return -ENOENT if tracefs is not mounted (system->tracefs is NULL), and -EACCES if
 * it may not be read.  No state; any thread.
 */
#ifndef SAMPLER_MACHINE_TRACEFS_H
#define SAMPLER_MACHINE_TRACEFS_H

#include "sampler/base/sysfile.h"
#include "sampler/events/event.h"

#include <stddef.h>
#include <stdint.h>

/* List the names of all subsystems, and of the events of one, sorted; free them with
 * sysfile_names_fini().  "ftrace" is included, although perf_event_open(2) refuses its events: it
 * has events without an id. */
int tracefs_subsystems(const struct event_system *system, struct sysfile_names *out);
int tracefs_events(
	const struct event_system *system, const char *subsystem, struct sysfile_names *out);

/* Reads the perf_event_attr.config of a tracepoint.  Returns 0, -ENOENT if there is none, -EBADMSG,
 * or another -errno. */
int tracefs_id(
	const struct event_system *system, const char *subsystem, const char *event, uint64_t *id);

/* Returns the kind of a tracepoint; EVENT_TRACE_PLAIN if that cannot be read. */
enum event_trace tracefs_kind(
	const struct event_system *system, const char *subsystem, const char *event);

/* Reads the text of its format file; the caller frees it with free().  Returns 0 or -errno. */
int tracefs_format(const struct event_system *system, const char *subsystem, const char *event,
	char **text, size_t *len);

/* Finds subsystem and event of an id, among all tracepoints.  Both buffers have EVENT_NAME_MAX
 * bytes.  Returns 0, -ENOENT, or another -errno. */
int tracefs_name_of(const struct event_system *system, uint64_t id, char *subsystem, char *event);

#endif
