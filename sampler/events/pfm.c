// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * pfm.c - names known only to libpfm4.
 *
 * They are tried if no other family has the name, and for --pfm-events.
 */
#include "sampler/machine/pfm.h"
#include "sampler/events/parse.h"
#include "sampler/events/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Adds the event that libpfm4 encodes for a name; modifiers are among the attributes after the
 * colons. */
static int add(struct event_parser *parser, struct event_piece name, bool only_raw)
{
	struct perf_event_attr attr = {0};
	struct event_item *item;
	char *text = strndup(name.at, name.len);
	int err = text ? pfm_encode(text, &attr) : -ENOMEM;

	free(text);
	/* The library also knows generic events, in capitals; other parsers handle generic
	 * events. */
	if (!err && only_raw && attr.type != PERF_TYPE_RAW && attr.type <= PERF_TYPE_BREAKPOINT)
		err = -ENOENT;
	if (err)
		return err;
	err = event_add(parser, &item);
	if (err)
		return err;
	attr.size = sizeof(attr);
	item->spec.attr = attr;
	event_set_name(&item->spec, "%.*s", (int)name.len, name.at);
	parser->at += name.len;
	return 0;
}

int event_parse_pfm(struct event_parser *parser, struct event_piece name, bool *found)
{
	int err = name.len && name.len < EVENT_NAME_MAX ? add(parser, name, true) : -ENOENT;

	*found = !err;
	return err == -ENOPKG || err == -ENOENT ? 0
		: err == -EINVAL && !parser->error->kind
		? event_fail(parser, EVENT_ERROR_MODIFIER, parser->at + strcspn(name.at, ":"))
		: err;
}

/* Parses names, commas and braces; all other characters belong to names. */
static int parse_pfm_list(struct event_parser *parser)
{
	static const char blanks[] = " \t\n";
	size_t brace = 0;
	bool in_group = false;

	for (;;) {
		struct event_piece name;
		int err;

		parser->at += strspn(parser->text + parser->at, blanks);
		if (parser->text[parser->at] == '{') {
			if (in_group)
				return event_fail(parser, EVENT_ERROR_GROUP, parser->at);
			in_group = true;
			brace = parser->at++;
			parser->groups++;
			continue;
		}
		name.at = parser->text + parser->at;
		name.len = strcspn(name.at, ",{} \t\n");
		if (!name.len)
			return event_fail(parser, EVENT_ERROR_EMPTY, parser->at);
		err = add(parser, name, false);
		if (err == -ENOPKG)
			return event_fail(parser, EVENT_ERROR_NO_LIBRARY, parser->at);
		if (err == -ENOENT || (err == -EINVAL && !parser->error->kind))
			return event_fail(parser,
				err == -ENOENT ? EVENT_ERROR_UNKNOWN : EVENT_ERROR_MODIFIER,
				parser->at);
		if (err)
			return err;
		if (in_group)
			parser->items[parser->n - 1].spec.group = parser->groups;
		parser->at += strspn(parser->text + parser->at, blanks);
		if (parser->text[parser->at] == '}' && in_group) {
			in_group = false;
			parser->at++;
			parser->at += strspn(parser->text + parser->at, blanks);
		}
		if (!parser->text[parser->at])
			return in_group ? event_fail(parser, EVENT_ERROR_GROUP, brace) : 0;
		if (parser->text[parser->at] != ',')
			return event_fail(parser, EVENT_ERROR_GROUP, parser->at);
		parser->at++;
	}
}

int event_parse_pfm_list(
	const char *text, struct event_spec **specs, size_t *n, struct event_error *error)
{
	return event_parse_with(parse_pfm_list, system_dirs(), text, specs, n, error);
}
