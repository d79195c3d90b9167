/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue.h - all events that this machine offers to sample or count, and whether they open here.
 *
 * Texts and entries do not change after catalogue_new(); only the owner's thread writes probe
 * results.  Names and descriptions from sysfs and tracefs are raw bytes.
 *
 * A probe opens the event on the target and closes it at once.  There are thousands of tracepoints;
 * each open patches the kernel and each close waits for all CPUs (about 30 ms).  Therefore one
 * tracepoint represents all that need the same right.  There are two such classes: system calls,
 * which a user may trace for own tasks, and all others.  No tracepoint is opened if another open
 * has shown that the caller has the required capability.  catalogue_probe_exactly() opens the given
 * tracepoint itself.
 */
#ifndef SAMPLER_EVENTS_CATALOGUE_H
#define SAMPLER_EVENTS_CATALOGUE_H

#include "sampler/events/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum catalogue_group {
	CATALOGUE_HARDWARE,
	CATALOGUE_SOFTWARE,
	CATALOGUE_CACHE,
	CATALOGUE_PMU, /* named events from sysfs */
	CATALOGUE_FORM, /* completed by the user: raw events, PMU terms, breakpoints, probes */
	CATALOGUE_TRACEPOINT,
	CATALOGUE_GROUPS
};

enum catalogue_state {
	CATALOGUE_UNTRIED,
	CATALOGUE_OPENS,
	CATALOGUE_USER_ONLY, /* opens only with the kernel excluded */
	CATALOGUE_COUNTS, /* can be counted, not sampled */
	CATALOGUE_REFUSED,
};

struct catalogue_entry {
	const char *name; /* in the syntax of -e; a form has placeholders in capitals */
	const char *alias; /* NULL if none */
	const char *description; /* never NULL */
	const char *pmu; /* PMU that the entry needs; NULL if none */
	const char *unit; /* unit of counts; NULL if none */
	double scale; /* scale of counts; 0 if none */
	enum catalogue_group group;
	enum catalogue_state state;
	bool exactly; /* state belongs to this very event, not to its class */
	int error; /* positive errno; CATALOGUE_USER_ONLY: why the kernel is excluded */
	/* The refused open, for the message. */
	struct perf_event_attr attr;
	int32_t pid;
	int cpu;
};

/* Target of the probes: a task (0: the caller), or a CPU if pid is -1. */
struct catalogue_target {
	int32_t pid;
	int cpu;
};

struct catalogue;

/* Reads the list of events and opens none.  Unreadable sources are left out, see
 * catalogue_tracepoints_error().  Returns 0 or -ENOMEM. */
int catalogue_new(struct catalogue **out, const struct system_dirs *system);
void catalogue_free(struct catalogue *catalogue); /* NULL is a no-op */

const struct catalogue_entry *catalogue_entries(const struct catalogue *catalogue, size_t *n);
/* Returns the positive errno of reading the tracepoints; 0 if none. */
int catalogue_tracepoints_error(const struct catalogue *catalogue);

/* Probes entries [from, to); tracepoints by class. */
void catalogue_probe(
	struct catalogue *catalogue, const struct catalogue_target *target, size_t from, size_t to);
/* Probes entry i itself, also if it is a tracepoint. */
void catalogue_probe_exactly(
	struct catalogue *catalogue, const struct catalogue_target *target, size_t i);

/* A field of a tracepoint's samples; fields common to all tracepoints are left out. */
struct catalogue_field {
	char *declaration; /* "char prev_comm[16]" */
	unsigned int bytes;
	bool is_signed;
};
/* Reads the fields of entry i: an array of *n for catalogue_fields_free().  Returns 0; -ENOENT: not
 * a tracepoint; -EBADMSG, -ENOMEM, or -errno of reading. */
int catalogue_fields(
	const struct catalogue *catalogue, size_t i, struct catalogue_field **out, size_t *n);
/* Like catalogue_fields(), from the text of a format file.  Returns 0, -EBADMSG or -ENOMEM. */
int catalogue_parse_fields(const char *text, struct catalogue_field **out, size_t *n);
void catalogue_fields_free(struct catalogue_field *fields, size_t n);

/* Returns whether an entry matches.  A pattern with * ? or [ is matched against name and alias
 * (fnmatch(3)).  Any other pattern is a substring of name, alias or description.  Case is ignored.
 * NULL and "" match all. */
bool catalogue_matches(const struct catalogue_entry *entry, const char *pattern);

/* --- completion of a word --- */

#define CATALOGUE_COMPLETIONS 64

struct catalogue_completion {
	size_t at[CATALOGUE_COMPLETIONS]; /* best match first */
	size_t n, total; /* number stored; number that exist */
	size_t prefixed; /* how many of total begin with the word; they come first */
	bool near; /* no entry contains the word; at[0] is the nearest name */
};

/* Finds the entries that a partly typed word may become; none for an empty word. */
void catalogue_complete(const struct catalogue_entry *entries, size_t n, const char *word,
	struct catalogue_completion *out);
/* Returns the length in bytes of the common prefix of all names that begin with the word. */
size_t catalogue_common(const struct catalogue_entry *entries, size_t n, const char *word);
/* Returns how many bytes of a name are typed literally: "mem:" of the form "mem:ADDRESS". */
size_t catalogue_literal(const struct catalogue_entry *entry);

const char *catalogue_group_title(enum catalogue_group group); /* "Hardware events" */
const char *catalogue_group_name(enum catalogue_group group); /* "hardware" */

#endif
