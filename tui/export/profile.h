/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * profile.h - the input of an export: the samples of a store, with the tables that they refer to.
 *
 * Everything is borrowed and must not change while it is read.  The UI thread, or the thread of the
 * key x, whose names are a frozen copy.
 */
#ifndef TUI_EXPORT_PROFILE_H
#define TUI_EXPORT_PROFILE_H

#include "sampler/events/spec.h"
#include "sampler/store/images.h"
#include "sampler/store/stacks.h"
#include "sampler/store/store.h"
#include "sampler/store/tasks.h"
#include "tui/names/names.h"
#include "tui/query/filter.h"
#include "tui/session/times.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct profile_event {
	uint8_t id; /* id in the store */
	char name[EVENT_NAME_MAX]; /* cleaned */
	bool is_clock; /* weights are nanoseconds */
	bool by_count; /* perf script prints no period for it, so each sample counts as 1 */
	uint64_t freq_hz, period; /* at most one is not 0 */
};

struct profile {
	const struct snapshot *snapshot;
	const struct stacks *stacks;
	const struct tasks *tasks;
	struct names *names;
	struct namesakes namesakes; /* empty: functions of one name look alike */
	struct images *images;
	struct filter *filter; /* NULL if none */
	bool inlines; /* inlined functions are separate frames */
	bool lines; /* the format has source lines, with or without inlined functions */
	bool hide_idle, idle_by_name; /* leave out idle samples: see sieve_is_idle() */
	/* exported events, at least one; some formats use only the first */
	const struct profile_event *events;
	size_t n_events;
	const char *title; /* cleaned description of the target */
	/* range of the samples; times in an export count from start_ns */
	uint64_t start_ns, end_ns;
	uint64_t covered_ns; /* length of the exported part of it */
	const struct times *times; /* NULL if not known */
	/* maps a sample's stack by what is known of its code now; NULL: stacks stay */
	struct recording *recording;
	uint64_t *untimed; /* receives the number of written samples without a time; or NULL */
	int64_t unix_start_ns; /* start_ns in CLOCK_REALTIME; 0: not known */
	bool (*interrupted)(void *ctx); /* called now and then; or NULL */
	void *ctx;
};

/* Sum of the samples with the same stack, task and event. */
struct profile_cell {
	uint32_t stack, task;
	uint32_t event; /* index in profile->events */
	uint64_t weight, count;
};

/* Returns the index of a store's event in profile->events; -1 if it is not exported. */
int profile_event(const struct profile *profile, uint8_t id);

/* Returns true if cell i of a slice is exported, and stores its event. */
bool profile_pass(
	const struct profile *profile, const struct slice *slice, uint32_t i, uint32_t *event);

/* Returns sieve_is_idle() of a sample. */
bool profile_is_idle(const struct profile *profile, uint32_t label, uint32_t stack);

bool profile_interrupted(const struct profile *profile);

/* Sums all cells that pass, in order of first use.  Returns 0 and an array of *n cells, which the
 * caller frees; -ENOMEM; or -EINTR. */
int profile_sum(const struct profile *profile, struct profile_cell **cells, size_t *n);

/* A sample for formats with times.  It is a single one if all samples of the event in a slice have
 * a time, else a cell of the slice.  Several may share stack, task and event. */
struct profile_moment {
	uint64_t time_ns; /* 0: not known, but within the slice */
	uint32_t stack, task, event;
	uint32_t slice; /* index in the snapshot */
	uint16_t cpu;
	uint64_t weight, count;
};

struct profile_moments {
	struct profile_moment *at;
	uint32_t n, room;
	uint64_t untimed; /* samples without a time */
	struct times_cursor cursor;
	struct times_sample ahead;
	bool has_ahead;
};

/* Lists all samples, sorted by task, event and time.  Returns 0; or -ENOMEM or -EINTR with nothing
 * to free. */
int profile_moments(const struct profile *profile, struct profile_moments *list);
/* Appends the samples of slice s, unsorted.  The caller starts with a zeroed list and takes the
 * slices in order from 0.  Returns 0 or -ENOMEM. */
int profile_slice_moments(const struct profile *profile, uint32_t s, struct profile_moments *list);
void profile_moments_fini(struct profile_moments *list);

/* Returns the symref of a stack's leaf frame; 0 if it has none. */
uint32_t profile_symref(const struct profile *profile, uint32_t node);

/* Stores the symrefs of a stack's leaf frame, innermost first: inlined functions, then the function
 * itself.  Returns their number, at least 1. */
#define PROFILE_FRAMES_MAX (NAMES_INLINED_MAX + 1)
size_t profile_frames(
	const struct profile *profile, uint32_t node, uint32_t out[PROFILE_FRAMES_MAX]);

/* Returns " [0x401136]", its address in its file, for a function that has a namesake
 * (names_namesakes()); else "".  For formats whose readers join functions of one name. */
#define PROFILE_MARK_BYTES 24
const char *profile_mark(
	const struct profile *profile, uint32_t symref, char out[PROFILE_MARK_BYTES]);

/* The formats.  Each function writes a complete export, which is valid without samples, too, and
 * calls profile_interrupted() now and then.  Returns 0; -EIO (see ferror(3) and errno); -ENOMEM; or
 * -EINTR. */
int export_folded(FILE *out, const struct profile *profile);
int export_speedscope(FILE *out, const struct profile *profile);
int export_pprof(FILE *out, const struct profile *profile);
int export_callgrind(FILE *out, const struct profile *profile);
int export_svg(FILE *out, const struct profile *profile);
int export_gecko(FILE *out, const struct profile *profile);
/* Writes the output of perf script from slices.  Samples without a time are spread over their
 * slice. */
int export_script_slices(FILE *out, const struct profile *profile);

/* Returns start_ns, a time of a live profile's clock, in CLOCK_REALTIME.  Returns 0 for a
 * recording: its clock has no known relation to it. */
int64_t profile_unix_start(bool recorded, uint64_t start_ns);

#endif
