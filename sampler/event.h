/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event.h - what to count: an event as the user named it, before it meets a target.
 *
 * A specification is a perf_event_attr with only the event's own fields set (type, config*,
 * exclude_*, precise_ip, and either sample_freq with freq=1, or sample_period); what belongs to
 * the engine (sample_type, wakeups, side-band bits) is added where the event is opened.
 * Pure functions and plain data; any thread.
 */
#ifndef SAMPLER_EVENT_H
#define SAMPLER_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_NAME_MAX 96
#define EVENT_DEFAULT_FREQ_HZ 997

struct event_spec {
	char name[EVENT_NAME_MAX]; /* canonical, with modifiers: "page-faults:u" */
	struct perf_event_attr attr;
	bool by_default; /* the user named none: cycles, may become cpu-clock */
};

enum event_error_kind {
	EVENT_ERROR_NONE,
	EVENT_ERROR_EMPTY, /* nothing where an event should stand */
	EVENT_ERROR_UNKNOWN, /* no event of that name; near[] may hold a suggestion */
	EVENT_ERROR_MODIFIER, /* unknown or contradicting modifier */
	EVENT_ERROR_TOO_LONG,
	EVENT_ERROR_UNSUPPORTED, /* a kind of event this version does not open */
};

struct event_error {
	enum event_error_kind kind;
	size_t offset; /* of the offending byte in the text */
	char near[EVENT_NAME_MAX];
};

/* Parse one comma-separated list such as "cycles:u,page-faults".  Returns 0 and sets *specs, an
 * array of *n the caller frees with free(); or -EINVAL with *error filled, or -ENOMEM, and sets
 * *specs to NULL.  Neither frequency nor period is set; see event_set_freq() and event_set_period(). */
int event_parse_list(
	const char *text, struct event_spec **specs, size_t *n, struct event_error *error);

/* "cycles", marked by_default. */
void event_default(struct event_spec *out);

void event_set_freq(struct event_spec *spec, uint64_t hz);
void event_set_period(struct event_spec *spec, uint64_t period);

/* True where a sample's period is a time in ns (cpu-clock, task-clock). */
bool event_is_clock(const struct perf_event_attr *attr);

/* One generic event of the catalogue, for pickers and completion. */
struct event_info {
	const char *name;
	const char *alias; /* perf's second name, or NULL */
	const char *description;
	uint32_t type; /* PERF_TYPE_HARDWARE or PERF_TYPE_SOFTWARE */
	uint64_t config;
};

/* The generic hardware and software events, in display order; *n entries, static storage. */
const struct event_info *event_catalogue(size_t *n);

#endif
