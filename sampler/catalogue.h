/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue.h - everything that this machine offers to be sampled or counted, and whether it opens here.
 *
 * Texts and entries are fixed once made; what a probe found out is written by the owner's thread alone.  Names and
 * descriptions from sysfs and tracefs are raw bytes.
 *
 * Probes are real opens on the target, closed at once.  Tracepoints are some thousand, and each open patches the kernel
 * and each close waits for all its CPUs (about 30 ms): one stands for all that need the same right.  There are two such
 * classes: those of system calls, which a user may have for own tasks, and the others.  Where another open has shown that
 * the caller has the capability for them, none is opened at all.  catalogue_probe_exactly() opens the very one.
 */
#ifndef SAMPLER_CATALOGUE_H
#define SAMPLER_CATALOGUE_H

#include "sampler/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum catalogue_group {
	CATALOGUE_HARDWARE,
	CATALOGUE_SOFTWARE,
	CATALOGUE_CACHE,
	CATALOGUE_PMU, /* named events of sysfs */
	CATALOGUE_FORM, /* what is put together by the user: raw, breakpoints, probes */
	CATALOGUE_TRACEPOINT,
	CATALOGUE_GROUPS
};

enum catalogue_state {
	CATALOGUE_UNTRIED,
	CATALOGUE_OPENS,
	CATALOGUE_USER_ONLY, /* opens without the kernel */
	CATALOGUE_COUNTS, /* can be counted, not sampled */
	CATALOGUE_REFUSED,
};

struct catalogue_entry {
	const char *name; /* as -e takes it; of a form with words in capitals */
	const char *alias; /* or NULL */
	const char *description; /* never NULL */
	const char *pmu; /* of CATALOGUE_PMU; NULL */
	const char *unit; /* of counts, or NULL */
	double scale; /* of counts; 0: none */
	enum catalogue_group group;
	enum catalogue_state state;
	bool exactly; /* state is of this very event, not of its class */
	int error; /* positive errno of CATALOGUE_REFUSED, of CATALOGUE_USER_ONLY why the kernel is left out */
	/* What was refused, for the sentence. */
	struct perf_event_attr attr;
	int32_t pid;
	int cpu;
};

/* Where events are tried: one task (0: the caller itself), or with pid -1 a CPU. */
struct catalogue_target {
	int32_t pid;
	int cpu;
};

struct catalogue;

/* Reads what there is, opens nothing.  What cannot be read is left out: tracepoints_error tells of them.  0, -ENOMEM. */
int catalogue_new(struct catalogue **out, const struct event_system *system);
void catalogue_free(struct catalogue *catalogue); /* NULL is a no-op */

const struct catalogue_entry *catalogue_entries(const struct catalogue *catalogue, size_t *n);
/* Positive errno why there are no tracepoints; 0. */
int catalogue_tracepoints_error(const struct catalogue *catalogue);

/* Try entries [from, to), tracepoints by their class. */
void catalogue_probe(
	struct catalogue *catalogue, const struct catalogue_target *target, size_t from, size_t to);
/* Try this very entry. */
void catalogue_probe_exactly(
	struct catalogue *catalogue, const struct catalogue_target *target, size_t i);

/* The fields of a tracepoint's samples, without those that all have. */
struct catalogue_field {
	char *declaration; /* "char prev_comm[16]" */
	unsigned int bytes;
	bool is_signed;
};
/* An array of *n for catalogue_fields_free(); -ENOENT: no tracepoint; -EBADMSG, -ENOMEM, -errno of reading. */
int catalogue_fields(
	const struct catalogue *catalogue, size_t i, struct catalogue_field **out, size_t *n);
/* The same of a format file's text. */
int catalogue_parse_fields(const char *text, struct catalogue_field **out, size_t *n);
void catalogue_fields_free(struct catalogue_field *fields, size_t n);

/* Whether an entry is meant: of a pattern with * ? or [ the name or alias (fnmatch(3)), else a part of name, alias or
 * description, letters of either case being one.  NULL and "" mean all. */
bool catalogue_matches(const struct catalogue_entry *entry, const char *pattern);

/* --- completion of a word --- */

#define CATALOGUE_COMPLETIONS 64

struct catalogue_completion {
	size_t at[CATALOGUE_COMPLETIONS]; /* the best first */
	size_t n, total; /* stored, and there are */
	size_t prefixed; /* of all, the first ones: they begin with the word */
	bool near; /* none has the word; the one is the nearest name */
};

/* The entries of a list that a word may become; none for an empty word. */
void catalogue_complete(const struct catalogue_entry *entries, size_t n, const char *word,
	struct catalogue_completion *out);
/* How many bytes all names have in common that begin with the word. */
size_t catalogue_common(const struct catalogue_entry *entries, size_t n, const char *word);
/* Bytes of a name that are typed as they are: of a form, "mem:" of "mem:ADDRESS". */
size_t catalogue_literal(const struct catalogue_entry *entry);

const char *catalogue_group_title(enum catalogue_group group); /* "Hardware events" */
const char *catalogue_group_name(enum catalogue_group group); /* "hardware" */

#endif
