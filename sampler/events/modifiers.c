// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * modifiers.c - the modifier letters after an event: u k h G H I p P S D e W.
 */
#include "sampler/events/parse.h"
#include "sampler/events/private.h"

#include <errno.h>
#include <string.h>

#define LETTERS "ukhGHIpPSDeW"

bool event_are_modifiers(struct event_piece text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!strchr(LETTERS, text.at[i]) || !text.at[i])
			return false;
	return true;
}

static bool *flag_of(struct event_modifiers *modifiers, char letter)
{
	switch (letter) {
	case 'u':
		return &modifiers->user;
	case 'k':
		return &modifiers->kernel;
	case 'h':
		return &modifiers->hv;
	case 'G':
		return &modifiers->guest;
	case 'H':
		return &modifiers->host;
	case 'I':
		return &modifiers->idle;
	case 'P':
		return &modifiers->most;
	case 'S':
		return &modifiers->sample;
	case 'D':
		return &modifiers->pinned;
	case 'e':
		return &modifiers->exclusive;
	case 'W':
		return &modifiers->weak;
	default:
		return NULL;
	}
}

int event_parse_modifiers(struct event_parser *parser, struct event_modifiers *out)
{
	size_t first = parser->at;

	for (; !strchr(",{} \t\n", parser->text[parser->at]); parser->at++) {
		char letter = parser->text[parser->at];
		bool *flag = flag_of(out, letter);

		if (letter == 'p') {
			if (out->most || out->precise++ == 3)
				return event_fail(parser, EVENT_ERROR_MODIFIER, parser->at);
			continue;
		}
		/* Unknown, repeated, or conflicting. */
		if (!flag || *flag || (letter == 'P' && out->precise))
			return event_fail(parser, EVENT_ERROR_MODIFIER, parser->at);
		*flag = true;
		if ((letter == 'D' || letter == 'e') && !out->leader_at)
			out->leader_at = parser->at;
	}
	if (parser->at == first)
		return event_fail(parser, EVENT_ERROR_MODIFIER, first);
	return 0;
}

int event_join_modifiers(
	struct event_parser *parser, struct event_item *item, const struct event_modifiers *group)
{
	struct event_modifiers *own = &item->modifiers;
	static const char letters[] = "ukhGHIPSDeW";

	for (const char *letter = letters; *letter; letter++) {
		struct event_modifiers copy = *group;

		*flag_of(own, *letter) |= *flag_of(&copy, *letter);
	}
	own->precise += group->precise;
	if (own->precise > 3 || (own->precise && own->most))
		return event_fail(parser, EVENT_ERROR_MODIFIER, parser->at);
	return 0;
}

/* Like in perf, naming any of u, k and h excludes the others, and the guest unless requested. */
void event_apply_modifiers(struct event_item *item)
{
	struct event_spec *spec = &item->spec;
	const struct event_modifiers *mod = &item->modifiers;
	const struct {
		bool set;
		char letter;
	} order[] = {{mod->user, 'u'}, {mod->kernel, 'k'}, {mod->hv, 'h'}, {mod->guest, 'G'},
		{mod->host, 'H'}, {mod->idle, 'I'}, {mod->precise > 0, 'p'},
		{mod->precise > 1, 'p'}, {mod->precise > 2, 'p'}, {mod->most, 'P'},
		{mod->sample, 'S'}, {mod->pinned, 'D'}, {mod->exclusive, 'e'}, {mod->weak, 'W'}};
	char letters[sizeof(order) / sizeof(*order) + 2];
	size_t len = strlen(spec->name), n = 0;

	if (mod->user || mod->kernel || mod->hv) {
		spec->attr.exclude_user = !mod->user;
		spec->attr.exclude_kernel = !mod->kernel;
		spec->attr.exclude_hv = !mod->hv;
	}
	spec->attr.exclude_guest = !mod->guest && (!item->no_exclusion || mod->host);
	spec->attr.exclude_host = mod->guest && !mod->host;
	spec->attr.exclude_idle = mod->idle;
	spec->attr.precise_ip = mod->most ? 3 : mod->precise & 3;
	spec->precise_most = mod->most;
	spec->read_group = mod->sample;
	spec->weak_group = mod->weak;
	spec->attr.pinned = mod->pinned;
	spec->attr.exclusive = mod->exclusive;
	if (item->is_named)
		return;
	if (len && spec->name[len - 1] != '/')
		letters[n++] = ':';
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (order[i].set)
			letters[n++] = order[i].letter;
	letters[n] = '\0';
	if (n > 1 || (n && letters[0] != ':'))
		event_add_letters(spec, letters);
}
