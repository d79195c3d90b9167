/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clash.h - events that exclude each other, or their mode of use.
 *
 * One function decides, for the command line before any event is open, and for the engine when
 * events are added.  Pure; any thread.
 */
#ifndef SAMPLER_EVENTS_CLASH_H
#define SAMPLER_EVENTS_CLASH_H

#include "sampler/events/spec.h"

enum event_clash_kind {
	EVENT_CLASH_NONE,
	EVENT_CLASH_COUNTED, /* off-CPU time is sampled, not counted */
	EVENT_CLASH_RECORDED, /* a recording cannot hold a derived event */
	EVENT_CLASH_FLIGHT, /* overwritten switches leave unknown times between them */
	EVENT_CLASH_FLIGHT_GROUP, /* overwritten samples of a group leave unknown counts */
	EVENT_CLASH_GROUP, /* a group may stop */
	EVENT_CLASH_SWITCHES, /* samples of event and other share one id */
	EVENT_CLASH_INHERITED, /* children keep the old rate of an inherited event */
};

struct event_clash {
	enum event_clash_kind kind;
	char event[EVENT_NAME_MAX], other[EVENT_NAME_MAX];
};

struct event_use {
	bool counted, recorded, flight;
};

/* Finds the first clash of an event with its use or with another event.  Returns false if none. */
bool event_clash_find(const struct event_spec *const *events, size_t n, const struct event_use *use,
	struct event_clash *out);

#endif
