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
#include "sampler/machine/system_dirs.h"

#include <stddef.h>
#include <stdint.h>

#define TRACEFS_NAME_MAX 96 /* bytes of a subsystem's or event's name, with its NUL */

/* Properties of tracepoints that affect sampling. */
enum tracefs_kind {
	TRACEFS_PLAIN, /* in the kernel, or not a tracepoint */
	TRACEFS_SYSCALL, /* samples have the registers of user space */
	TRACEFS_UPROBE, /* likewise */
	TRACEFS_KPROBE,
	/* only while kernel.sched_schedstats is 1; also hits of other tasks */
	TRACEFS_SCHEDSTAT,
	TRACEFS_WAKEUP, /* one hit for the waking task, and one for the woken task */
};

/* List the names of all subsystems, and of the events of one, sorted; free them with
 * sysfile_names_fini().  "ftrace" is included, although perf_event_open(2) refuses its events: it
 * has events without an id. */
int tracefs_subsystems(const struct system_dirs *system, struct sysfile_names *out);
int tracefs_events(
	const struct system_dirs *system, const char *subsystem, struct sysfile_names *out);

/* Reads the perf_event_attr.config of a tracepoint.  Returns 0, -ENOENT if there is none, -EBADMSG,
 * or another -errno. */
int tracefs_id(
	const struct system_dirs *system, const char *subsystem, const char *event, uint64_t *id);

/* Returns the kind of a tracepoint; TRACEFS_PLAIN if that cannot be read. */
enum tracefs_kind tracefs_kind(
	const struct system_dirs *system, const char *subsystem, const char *event);

/* Reads the text of its format file; the caller frees it with free().  Returns 0 or -errno. */
int tracefs_format(const struct system_dirs *system, const char *subsystem, const char *event,
	char **text, size_t *len);

/* Finds subsystem and event of an id, among all tracepoints.  Both buffers have TRACEFS_NAME_MAX
 * bytes.  Returns 0, -ENOENT, or another -errno. */
int tracefs_name_of(const struct system_dirs *system, uint64_t id, char *subsystem, char *event);

#endif
