/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event.h - names, rates and kinds of specified events (spec.h), and the catalogue of generic ones.
 *
 * Pure functions; any thread.
 */
#ifndef SAMPLER_EVENTS_EVENT_H
#define SAMPLER_EVENTS_EVENT_H

#include "sampler/events/spec.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies len bytes to out, of size bytes (32 or more).  If they do not fit, a hash of the whole
 * replaces the middle, so different events stay different. */
void event_fit_name(char *out, size_t size, const char *text, size_t len);
/* Returns the modifier letters in the name of an event of this type, or its end. */
const char *event_modifiers(const char *name, uint32_t type);
/* Gives the name of an event of this type the modifier u in place of u, k and h: "cycles:p" becomes
 * "cycles:up". */
void event_name_user_only(char name[EVENT_NAME_MAX], uint32_t type);
/* Returns whether a text, which may be longer than names can be, names this event. */
bool event_is_called(const char *name, const char *asked);
/* Returns the length in bytes of the first event in a list of names: up to a comma outside of
 * terms, braces and escapes. */
size_t event_name_len(const char *text);

/* Returns the single copy of a text, which lives until the process ends; NULL if memory runs out.
 * Any thread. */
const char *event_text(const char *text, size_t len);

/* Fills in "cycles", marked by_default. */
void event_default(struct event_spec *out);

/* Set the rate, except for an event that has_rate.  Tracepoints, breakpoints and probes have no
 * frequency, like in perf: event_set_freq() gives them a period of 1. */
void event_set_freq(struct event_spec *spec, uint64_t hz);
void event_set_period(struct event_spec *spec, uint64_t period);

/* Returns true for an event of the PMU kprobe or uprobe. */
bool event_is_probe(const struct event_spec *spec);
/* Returns true for a probe at a function's return. */
bool event_is_return_probe(const struct event_spec *spec);

/* Returns true for a breakpoint at a kernel address. */
bool event_is_in_kernel(const struct perf_event_attr *attr);

/* Returns true if it occurs only in the kernel, so that with :u it counts nothing.  True for all
 * tracepoints. */
bool event_is_kernels_own(const struct perf_event_attr *attr);
/* Returns true if it counts with :u: not the kernel's own, or an exceptional tracepoint. */
bool event_fires_in_user(const struct event_spec *spec);

/* Returns whether both can be in one group: they have one PMU, or either is a software event,
 * tracepoint or breakpoint. */
bool event_may_share_group(const struct perf_event_attr *a, const struct perf_event_attr *b);

/* A generic event of the catalogue, for pickers and completion. */
struct event_info {
	const char *name;
	const char *alias; /* perf's second name; NULL if none */
	const char *description;
	uint32_t type; /* PERF_TYPE_HARDWARE or PERF_TYPE_SOFTWARE */
	uint64_t config;
	enum event_span span; /* distinguishes events with the same config */
};

/* Returns the generic hardware and software events in display order: *n entries in static
 * storage. */
const struct event_info *event_catalogue(size_t *n);

#endif
