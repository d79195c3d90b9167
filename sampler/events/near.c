// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * near.c - suggests the nearest name among all events of this machine.
 *
 * Runs only after parsing failed; it may read all of tracefs and sysfs.
 */
#include "sampler/events/event.h"
#include "sampler/events/private.h"
#include "sampler/machine/tracefs.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

static int lower(char c)
{
	return tolower((unsigned char)c);
}

/* Returns the number of insertions, deletions, replacements and swaps of neighbours between two
 * names; case is ignored. */
static unsigned int edit_distance(struct event_piece a, const char *b, size_t b_len)
{
	unsigned int rows[3][EVENT_NAME_MAX + 1];
	unsigned int *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_len; j++)
		above[j] = (unsigned int)j;
	for (size_t i = 1; i <= a.len; i++) {
		int c = lower(a.at[i - 1]);
		unsigned int *swap;

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_len; j++) {
			bool same = c == lower(b[j - 1]);

			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same);
			if (i > 1 && j > 1 && c == lower(b[j - 2]) &&
				lower(a.at[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		swap = before;
		before = above;
		above = row;
		row = swap;
	}
	return above[b_len];
}

void event_near_begin(struct event_near *near, struct event_piece asked)
{
	memset(near, 0, sizeof(*near));
	near->asked = asked;
	near->least = asked.len < 2 || asked.len >= EVENT_NAME_MAX ? 0
		: asked.len < 5					   ? 2
		: asked.len < 9					   ? 3
								   : 4;
}

void event_near_try(struct event_near *near, const char *name)
{
	size_t len = strlen(name);
	unsigned int distance;

	if (!near->least || len >= EVENT_NAME_MAX || len + near->least <= near->asked.len ||
		near->asked.len + near->least <= len)
		return;
	distance = edit_distance(near->asked, name, len);
	if (distance < near->least) {
		near->least = distance;
		memcpy(near->best, name, len + 1);
	}
}

/* Takes a name that begins with the given text, or the first of several. */
static void try_prefix(struct event_near *near, const char *name)
{
	size_t len = strlen(name);

	if (!near->best[0] && near->asked.len >= 3 && len > near->asked.len &&
		len < EVENT_NAME_MAX && !strncasecmp(name, near->asked.at, near->asked.len))
		memcpy(near->best, name, len + 1);
}

static void try_pmu_events(
	struct event_near *near, const struct system_dirs *system, bool only_prefix)
{
	struct sysfile_names names;

	if (pmu_names(system, &names))
		return;
	for (size_t i = 0; i < names.n; i++) {
		struct sysfile_names events;

		if (sysfile_names(&events, "%s/bus/event_source/devices/%s/events", system->sysfs,
			    names.names[i]))
			continue;
		for (size_t k = 0; k < events.n; k++) {
			if (only_prefix)
				try_prefix(near, events.names[k]);
			else
				event_near_try(near, events.names[k]);
		}
		sysfile_names_fini(&events);
	}
	sysfile_names_fini(&names);
}

/* Tries the events of one subsystem by their own names; the suggestion is the full name. */
static void try_tracepoints(
	struct event_near *near, const struct system_dirs *system, const char *subsystem)
{
	struct sysfile_names events;
	char full[2 * EVENT_NAME_MAX];

	if (tracefs_events(system, subsystem, &events))
		return;
	for (size_t k = 0; k < events.n; k++) {
		unsigned int before = near->least;

		event_near_try(near, events.names[k]);
		if (near->least == before)
			continue;
		snprintf(full, sizeof(full), "%s:%s", subsystem, events.names[k]);
		if (strlen(full) < EVENT_NAME_MAX)
			strcpy(near->best, full);
	}
	sysfile_names_fini(&events);
}

static void try_all_tracepoints(struct event_near *near, const struct system_dirs *system)
{
	struct sysfile_names subsystems;

	if (tracefs_subsystems(system, &subsystems))
		return;
	for (size_t i = 0; i < subsystems.n; i++)
		try_tracepoints(near, system, subsystems.names[i]);
	sysfile_names_fini(&subsystems);
}

void event_near_event(struct event_parser *parser, struct event_piece asked)
{
	struct event_near near;
	size_t n;
	const struct event_info *info = event_catalogue(&n);
	char name[EVENT_NAME_MAX];

	event_near_begin(&near, asked);
	for (size_t i = 0; i < n; i++) {
		event_near_try(&near, info[i].name);
		if (info[i].alias)
			event_near_try(&near, info[i].alias);
	}
	for (size_t i = 0; event_cache_name(i, name, sizeof(name)); i++)
		event_near_try(&near, name);
	try_pmu_events(&near, parser->system, false);
	for (size_t i = 0; !near.best[0] && i < n; i++)
		try_prefix(&near, info[i].name);
	for (size_t i = 0; !near.best[0] && event_cache_name(i, name, sizeof(name)); i++)
		try_prefix(&near, name);
	if (!near.best[0])
		try_all_tracepoints(&near, parser->system);
	if (!near.best[0])
		try_pmu_events(&near, parser->system, true);
	strcpy(parser->error->near, near.best);
}

void event_near_tracepoint(struct event_parser *parser, struct event_piece subsystem,
	struct event_piece name, bool *subsystem_known)
{
	struct sysfile_names subsystems, events;
	struct event_near near;
	char text[EVENT_NAME_MAX];

	*subsystem_known = false;
	if (subsystem.len >= EVENT_NAME_MAX || tracefs_subsystems(parser->system, &subsystems))
		return;
	snprintf(text, sizeof(text), "%.*s", (int)subsystem.len, subsystem.at);
	for (size_t i = 0; i < subsystems.n && !*subsystem_known; i++)
		*subsystem_known = !strcmp(subsystems.names[i], text);
	if (!*subsystem_known) {
		/* The subsystem is misspelt: take the nearest one, and its nearest event. */
		event_near_begin(&near, subsystem);
		for (size_t i = 0; i < subsystems.n; i++)
			event_near_try(&near, subsystems.names[i]);
		strcpy(text, near.best);
	}
	event_near_begin(&near, name);
	if (text[0])
		try_tracepoints(&near, parser->system, text);
	if (!near.best[0] && text[0] && name.len >= 2 &&
		!tracefs_events(parser->system, text, &events)) {
		for (size_t i = 0; i < events.n; i++)
			try_prefix(&near, events.names[i]);
		sysfile_names_fini(&events);
		if (near.best[0])
			snprintf(parser->error->near, sizeof(parser->error->near), "%.*s:%.*s", 40,
				text, 50, near.best);
		near.best[0] = '\0';
	}
	if (!near.best[0] && !parser->error->near[0] && !*subsystem_known)
		try_all_tracepoints(&near, parser->system);
	if (near.best[0])
		strcpy(parser->error->near, near.best);
	sysfile_names_fini(&subsystems);
}

void event_near_pmu(struct event_parser *parser, struct event_piece asked)
{
	struct sysfile_names names;
	struct event_near near;

	if (pmu_names(parser->system, &names))
		return;
	event_near_begin(&near, asked);
	for (size_t i = 0; i < names.n; i++)
		event_near_try(&near, names.names[i]);
	for (size_t i = 0; i < names.n; i++)
		try_prefix(&near, names.names[i]);
	sysfile_names_fini(&names);
	strcpy(parser->error->near, near.best);
}
