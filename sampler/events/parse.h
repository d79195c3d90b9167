/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse.h - events from text, by the grammar of -e.  Any thread.
 */
#ifndef SAMPLER_EVENTS_PARSE_H
#define SAMPLER_EVENTS_PARSE_H

#include "sampler/events/spec.h"

#include <stddef.h>

struct system_dirs;

enum event_error_kind {
	EVENT_ERROR_NONE,
	EVENT_ERROR_EMPTY, /* missing event */
	EVENT_ERROR_UNKNOWN, /* no event of that name; near[] may have a suggestion */
	EVENT_ERROR_MODIFIER, /* unknown or conflicting modifier */
	EVENT_ERROR_TOO_LONG,
	EVENT_ERROR_UNSUPPORTED, /* kind of event that this version does not open */
	EVENT_ERROR_NO_PMU, /* no PMU of that name; near[] */
	EVENT_ERROR_TERM, /* no such term of the PMU or event; near[] */
	EVENT_ERROR_VALUE, /* not a number, or too large for the term */
	EVENT_ERROR_NO_TRACEFS, /* tracepoints cannot be looked up: error (positive errno) */
	EVENT_ERROR_NO_MATCH, /* no tracepoint matches the pattern */
	EVENT_ERROR_ADDRESS, /* breakpoint: invalid address */
	EVENT_ERROR_ACCESS, /* breakpoint: access is not r, w, rw or x */
	EVENT_ERROR_LENGTH, /* breakpoint: length is not 1, 2, 4 or 8 */
	EVENT_ERROR_PROBE, /* no function or file in a probe */
	EVENT_ERROR_GROUP, /* an unmatched brace, an empty group or a nested group */
	EVENT_ERROR_TOO_MANY, /* a pattern matches more events than can be open at one time */
	EVENT_ERROR_SYNTAX, /* text after the end of an event, or unterminated terms */
	EVENT_ERROR_LEADER, /* D or e on a group member that is not the leader */
	EVENT_ERROR_TERM_TWICE, /* a repeated term, or one that conflicts with another */
	EVENT_ERROR_TERM_NEEDED, /* the event needs a term that is missing: near[] */
	EVENT_ERROR_TERM_FOREIGN, /* a term of perf without a meaning here */
	EVENT_ERROR_NO_PROBES, /* this kernel has no PMU for kprobes or uprobes */
	EVENT_ERROR_NO_LIBRARY, /* libpfm4 is not installed */
};

struct event_error {
	enum event_error_kind kind;
	size_t offset; /* offset of the offending byte in the text */
	int error;
	char near[EVENT_NAME_MAX];
};

/* Parses a comma-separated list such as "cycles:u,page-faults".  Returns 0 and sets *specs to an
 * array of *n for free(); or -EINVAL with *error filled in, or -ENOMEM, both with *specs NULL.
 * Sets neither frequency nor period; see event_set_freq() and event_set_period(). */
int event_parse_list(
	const char *text, struct event_spec **specs, size_t *n, struct event_error *error);
/* Like event_parse_list(), with other roots of event descriptions. */
int event_parse_list_in(const struct system_dirs *system, const char *text,
	struct event_spec **specs, size_t *n, struct event_error *error);
/* Like event_parse_list(), for names of libpfm4, such as "skl::INST_RETIRED:ANY_P:u,CYCLES"; groups
 * in braces. */
int event_parse_pfm_list(
	const char *text, struct event_spec **specs, size_t *n, struct event_error *error);

#endif
