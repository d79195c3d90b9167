// SPDX-License-Identifier: GPL-3.0-or-later
/* tracefs.c - directories and id files below TRACEFS/events; see tracefs.h. */
#include "sampler/machine/tracefs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tracefs_subsystems(const struct system_dirs *system, struct sysfile_names *out)
{
	memset(out, 0, sizeof(*out));
	if (!system->tracefs)
		return -ENOENT;
	return sysfile_directories(out, "%s/events", system->tracefs);
}

/* Whether the name stays within its directory. */
static bool is_name(const char *text)
{
	return *text && strcmp(text, ".") && strcmp(text, "..") && !strchr(text, '/');
}

int tracefs_events(
	const struct system_dirs *system, const char *subsystem, struct sysfile_names *out)
{
	memset(out, 0, sizeof(*out));
	if (!system->tracefs || !is_name(subsystem))
		return -ENOENT;
	return sysfile_directories(out, "%s/events/%s", system->tracefs, subsystem);
}

int tracefs_id(
	const struct system_dirs *system, const char *subsystem, const char *event, uint64_t *id)
{
	char text[32], *end;
	int err;

	if (!system->tracefs || !is_name(subsystem) || !is_name(event))
		return -ENOENT;
	err = sysfile_line(
		text, sizeof(text), "%s/events/%s/%s/id", system->tracefs, subsystem, event);
	if (err)
		return err == -ENOTDIR ? -ENOENT : err;
	if (*text < '0' || *text > '9')
		return -EBADMSG;
	errno = 0;
	*id = strtoull(text, &end, 10);
	return *end || errno ? -EBADMSG : 0;
}

/* Whether `file`, with lines of "p:SUBSYSTEM/EVENT PLACE" or "r8:...", has the event. */
static bool is_defined(const struct system_dirs *system, const char *file, const char *subsystem,
	const char *event)
{
	char name[2 * TRACEFS_NAME_MAX + 8], *text;
	bool found;

	snprintf(name, sizeof(name), ":%s/%s ", subsystem, event);
	if (sysfile_read(&text, NULL, "%s/%s", system->tracefs, file))
		return false;
	found = strstr(text, name) != NULL;
	free(text);
	return found;
}

enum tracefs_kind tracefs_kind(
	const struct system_dirs *system, const char *subsystem, const char *event)
{
	static const struct {
		const char *event;
		enum tracefs_kind kind;
	} of_tasks[] = {
		{"sched_stat_wait", TRACEFS_SCHEDSTAT},
		{"sched_stat_sleep", TRACEFS_SCHEDSTAT},
		{"sched_stat_iowait", TRACEFS_SCHEDSTAT},
		{"sched_stat_blocked", TRACEFS_SCHEDSTAT},
		{"sched_waking", TRACEFS_WAKEUP},
		{"sched_wakeup", TRACEFS_WAKEUP},
		{"sched_wakeup_new", TRACEFS_WAKEUP},
	};
	const size_t n = sizeof(of_tasks) / sizeof(*of_tasks);

	if (!system->tracefs)
		return TRACEFS_PLAIN;
	if (!strcmp(subsystem, "syscalls"))
		return TRACEFS_SYSCALL;
	for (size_t i = 0; !strcmp(subsystem, "sched") && i < n; i++)
		if (!strcmp(event, of_tasks[i].event))
			return of_tasks[i].kind;
	return is_defined(system, "uprobe_events", subsystem, event)	? TRACEFS_UPROBE
		: is_defined(system, "kprobe_events", subsystem, event) ? TRACEFS_KPROBE
									: TRACEFS_PLAIN;
}

int tracefs_format(const struct system_dirs *system, const char *subsystem, const char *event,
	char **text, size_t *len)
{
	*text = NULL;
	if (!system->tracefs || !is_name(subsystem) || !is_name(event))
		return -ENOENT;
	return sysfile_read(text, len, "%s/events/%s/%s/format", system->tracefs, subsystem, event);
}

int tracefs_name_of(const struct system_dirs *system, uint64_t id, char *subsystem, char *event)
{
	struct sysfile_names subsystems, events;
	int err = tracefs_subsystems(system, &subsystems), found = -ENOENT;

	if (err)
		return err;
	for (size_t i = 0; i < subsystems.n && found; i++) {
		const char *name = subsystems.names[i];

		if (tracefs_events(system, name, &events))
			continue;
		for (size_t k = 0; k < events.n && found; k++) {
			uint64_t its;

			if (tracefs_id(system, name, events.names[k], &its) || its != id)
				continue;
			if (strlen(name) >= TRACEFS_NAME_MAX ||
				strlen(events.names[k]) >= TRACEFS_NAME_MAX)
				continue;
			strcpy(subsystem, name);
			strcpy(event, events.names[k]);
			found = 0;
		}
		sysfile_names_fini(&events);
	}
	sysfile_names_fini(&subsystems);
	return found;
}
