// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * trace.c - tracepoints: one by its two names, or all that match patterns.
 */
#include "sampler/events/parse.h"
#include "sampler/events/private.h"
#include "sampler/machine/tracefs.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

static int add(struct event_parser *parser, const char *subsystem, const char *name, uint64_t id)
{
	struct event_item *item;
	int err = event_add(parser, &item);

	if (err)
		return err;
	event_set_name(&item->spec, "%s:%s", subsystem, name);
	item->spec.attr.type = PERF_TYPE_TRACEPOINT;
	item->spec.attr.config = id;
	item->spec.trace = tracefs_kind(parser->system, subsystem, name);
	return 0;
}

static int add_matching(struct event_parser *parser, const char *subsystem, const char *pattern)
{
	struct sysfile_names events;
	int err = tracefs_events(parser->system, subsystem, &events);

	for (size_t i = 0; !err && i < events.n; i++) {
		uint64_t id;

		if (!fnmatch(pattern, events.names[i], 0) &&
			!tracefs_id(parser->system, subsystem, events.names[i], &id))
			err = add(parser, subsystem, events.names[i], id);
	}
	sysfile_names_fini(&events);
	return err;
}

int event_parse_tracepoint(struct event_parser *parser, struct event_piece subsystem_piece,
	struct event_piece name_piece, bool *found)
{
	char subsystem[EVENT_NAME_MAX], name[EVENT_NAME_MAX];
	struct sysfile_names subsystems;
	size_t first = parser->n;
	uint64_t id;
	int err;

	*found = false;
	if (subsystem_piece.len >= sizeof(subsystem) || name_piece.len >= sizeof(name))
		return 0;
	memcpy(subsystem, subsystem_piece.at, subsystem_piece.len);
	subsystem[subsystem_piece.len] = '\0';
	memcpy(name, name_piece.at, name_piece.len);
	name[name_piece.len] = '\0';
	if (!is_pattern(subsystem) && !is_pattern(name)) {
		err = tracefs_id(parser->system, subsystem, name, &id);
		if (!err)
			err = add(parser, subsystem, name, id);
	} else if (!is_pattern(subsystem)) {
		err = add_matching(parser, subsystem, name);
	} else {
		err = tracefs_subsystems(parser->system, &subsystems);
		/* Events of ftrace itself cannot be opened. */
		for (size_t i = 0; !err && i < subsystems.n; i++)
			if (strcmp(subsystems.names[i], "ftrace") &&
				!fnmatch(subsystem, subsystems.names[i], 0))
				err = add_matching(parser, subsystems.names[i], name);
		sysfile_names_fini(&subsystems);
	}
	if (err == -EACCES || err == -EPERM) {
		parser->error->error = -err;
		return event_fail(parser, EVENT_ERROR_NO_TRACEFS, parser->at);
	}
	if (err == -ENOMEM || err == -EINVAL)
		return err;
	*found = parser->n > first;
	if (*found)
		parser->at += subsystem_piece.len + 1 + name_piece.len;
	return 0;
}
