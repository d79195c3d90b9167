// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * clash.c - see clash.h.
 */
#include "sampler/events/clash.h"

#include <string.h>

/* Returns whether its samples may share an id with those of off-CPU time: software events that fire
 * together share one. */
static bool counts_switches(const struct event_spec *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
		event->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES && !event->span;
}

static bool set_clash(struct event_clash *out, enum event_clash_kind kind,
	const struct event_spec *event, const struct event_spec *other)
{
	out->kind = kind;
	memcpy(out->event, event->name, sizeof(out->event));
	memcpy(out->other, other ? other->name : "", other ? sizeof(out->other) : 1);
	return true;
}

bool event_clash_find(const struct event_spec *const *events, size_t n, const struct event_use *use,
	struct event_clash *out)
{
	const struct event_spec *span = NULL, *switches = NULL, *made = NULL, *reading = NULL;

	*out = (struct event_clash){.kind = EVENT_CLASH_NONE};
	for (size_t i = 0; i < n; i++) {
		if (events[i]->span && (!span || events[i]->group))
			span = events[i];
		if (events[i]->span && !event_is_of_switches(events[i]->span))
			made = events[i];
		if (counts_switches(events[i]))
			switches = events[i];
		if (events[i]->read_group && !reading)
			reading = events[i];
	}
	if (reading && use->flight)
		return set_clash(out, EVENT_CLASH_FLIGHT_GROUP, reading, NULL);
	if (!span)
		return false;
	if (use->counted)
		return set_clash(out, EVENT_CLASH_COUNTED, span, NULL);
	if (use->recorded && made)
		return set_clash(out, EVENT_CLASH_RECORDED, made, NULL);
	if (use->flight)
		return set_clash(out, EVENT_CLASH_FLIGHT, span, NULL);
	if (span->group)
		return set_clash(out, EVENT_CLASH_GROUP, span, NULL);
	if (switches)
		return set_clash(out, EVENT_CLASH_SWITCHES, span, switches);
	return false;
}
