/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * describe.c - names a session's target or recording on the screen and in reports.
 *
 * UI thread.
 */
#include "tui/session/session.h"

#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/machine/proc.h"
#include "sampler/recording/recording.h"
#include "tui/base/clean.h"
#include "tui/session/cgroups.h"
#include "tui/session/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES_AT_ONCE 64

/* Formats sorted CPUs like "1,3-5". */
static void cpus_text(char *out, size_t size, const int *cpus, size_t n)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < n && len + 24 < size;) {
		size_t end = i;

		while (end + 1 < n && cpus[end + 1] == cpus[end] + 1)
			end++;
		len += (size_t)snprintf(out + len, size - len, "%s%d", i ? "," : "", cpus[i]);
		if (end > i)
			len += (size_t)snprintf(
				out + len, size - len, "%c%d", end == i + 1 ? ',' : '-', cpus[end]);
		i = end + 1;
	}
}

static void describe_process(struct session *session)
{
	const struct proc_name *name = &session->target_name;
	char raw[256];

	if (name->comm[0])
		snprintf(raw, sizeof(raw), "%s (%" PRId32 ")%s", name->comm, name->pid,
			session->target_cpus);
	else
		snprintf(
			raw, sizeof(raw), "process %" PRId32 "%s", name->pid, session->target_cpus);
	clean_string(session->target_text, sizeof(session->target_text), raw);
}

static void join_words(char *out, size_t size, char *const *words)
{
	size_t len = 0;

	for (size_t i = 0; words[i] && len < size - 1; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%s", i ? " " : "", words[i]);
}

void session_describe_target(struct session *session, const struct engine_target *target,
	size_t n_processes, const char *what)
{
	char raw[256] = "", cpus[96];
	size_t len;

	session->target_cpus[0] = '\0';
	if (target->n_cpus) {
		cpus_text(cpus, sizeof(cpus), target->cpus, target->n_cpus);
		snprintf(session->target_cpus, sizeof(session->target_cpus), " on CPU%s %s",
			target->n_cpus == 1 ? "" : "s", cpus);
	}
	if (target->command) {
		join_words(raw, sizeof(raw), target->command);
		clean_string(session->command_text, sizeof(session->command_text), raw);
	}
	if (engine_target_is_command(target)) {
		/* The command line is its description. */
	} else if (target->n_cgroups) {
		cgroups_describe(target->cgroups, target->n_cgroups, raw, sizeof(raw));
	} else if (target->system_wide) {
		snprintf(raw, sizeof(raw), "whole machine");
	} else if (n_processes == 1 && !target->n_tids) {
		session->target_name = (struct proc_name){.pid = target->pids[0]};
		proc_name_update(&session->target_name);
		describe_process(session);
		return;
	} else if (target->n_tids == 1 && !n_processes) {
		snprintf(raw, sizeof(raw), "thread %" PRId32, target->tids[0]);
	} else if (target->n_tids && !n_processes) {
		snprintf(raw, sizeof(raw), "%zu threads", target->n_tids);
	} else {
		snprintf(raw, sizeof(raw), "%s%s%zu processes", what, what[0] ? ": " : "",
			n_processes);
	}
	len = strlen(raw);
	snprintf(raw + len, sizeof(raw) - len, "%s", session->target_cpus);
	clean_string(session->target_text, sizeof(session->target_text), raw);
}

/* Returns in out the last program that the process executed since the last call; "" if none. */
static void take_program(struct session *session, char out[EVENT_NAME_MAX])
{
	struct engine_note *notes = malloc(NOTES_AT_ONCE * sizeof(*notes));
	size_t n;

	out[0] = '\0';
	/* strobe stat has no engine and reads only /proc. */
	while (notes && session->engine &&
		(n = session_notes(session, session->target_note, notes, NOTES_AT_ONCE))) {
		for (size_t i = 0; i < n; i++)
			if (notes[i].kind == NOTE_TARGET_EXEC &&
				notes[i].pid == session->target_name.pid)
				snprintf(out, EVENT_NAME_MAX, "%s", notes[i].text);
		session->target_note = notes[n - 1].serial;
	}
	free(notes);
}

void session_describe(struct session *session)
{
	struct proc_name *name = &session->target_name;
	char program[EVENT_NAME_MAX];
	const char *path, *slash;
	const struct reader_info *info;
	char raw[512], when[32] = "";
	struct tm tm;

	if (!session->recording) {
		if (!session->target_name.pid)
			return;
		take_program(session, program);
		/* The process ended before its new name was read from /proc. */
		if (!proc_name_update(name) && program[0])
			snprintf(name->comm, sizeof(name->comm), "%.63s", program);
		describe_process(session);
		return;
	}
	path = request_file_name(session->request);
	slash = strrchr(path, '/');
	if (!strcmp(path, "/dev/stdin"))
		path = "standard input";
	else if (slash && slash[1] && strncmp(path, "/dev/", 5) != 0)
		path = slash + 1;
	if (session->recorded_at && localtime_r(&session->recorded_at, &tm))
		strftime(when, sizeof(when), " %Y-%m-%d %H:%M", &tm);
	info = recording_info(session->recording);
	session_tell_symbols(session);
	if (session->names)
		names_resume(session->names);
	snprintf(raw, sizeof(raw), "%.100s, recorded%s%s%.64s%s%.64s", path, when,
		info->hostname ? " on " : "", info->hostname ? info->hostname : "",
		info->recorder ? " by " : "", info->recorder ? info->recorder : "");
	clean_string(session->target_text, sizeof(session->target_text), raw);
}
