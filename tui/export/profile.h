/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * profile.h - what an export is made of: the samples of a store with the tables behind them.
 *
 * Everything is borrowed and must not change while it is read.  UI thread.
 */
#ifndef TUI_EXPORT_PROFILE_H
#define TUI_EXPORT_PROFILE_H

#include "sampler/event.h"
#include "sampler/images.h"
#include "sampler/stacks.h"
#include "sampler/store.h"
#include "sampler/tasks.h"
#include "tui/export/times.h"
#include "tui/filter.h"
#include "tui/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct profile_event {
	uint8_t id; /* in the store */
	char name[EVENT_NAME_MAX]; /* cleaned */
	bool is_clock; /* weights are nanoseconds */
	bool by_count; /* perf script tells no periods of it: each sample counts as 1 */
	uint64_t freq_hz, period; /* at most one is not 0 */
};

struct profile {
	const struct snapshot *snapshot;
	const struct stacks *stacks;
	const struct tasks *tasks;
	struct names *names;
	struct images *images;
	struct filter *filter; /* or NULL */
	bool inlines; /* inlined functions are frames of their own */
	bool lines; /* the format has source lines, for inlined functions as well or not */
	bool hide_idle; /* leave out what is idle */
	bool idle_by_name; /* see profile_is_idle() */
	const struct profile_event
		*events; /* that are exported, at least one; some formats take the first alone */
	size_t n_events;
	const char *title; /* cleaned: what was profiled */
	uint64_t start_ns, end_ns; /* of the samples; times in an export count from start_ns */
	const struct times *times; /* times of the samples; NULL: not known */
	struct recording
		*recording; /* tells their stacks by what is known now; NULL: as they were */
	uint64_t *untimed; /* written samples without a time, in formats with times; NULL */
	int64_t unix_start_ns; /* start_ns in CLOCK_REALTIME; 0: not known */
	bool (*interrupted)(void *ctx); /* asked now and then; NULL */
	void *ctx;
};

/* Samples alike in stack, task and event. */
struct profile_cell {
	uint32_t stack, task;
	uint32_t event; /* number in profile->events */
	uint64_t weight, count;
};

/* The number of an event of the store in profile->events, or -1: it is not exported. */
int profile_event(const struct profile *profile, uint8_t id);

/* Whether cell i of a slice is exported, and as which event. */
bool profile_pass(
	const struct profile *profile, const struct slice *slice, uint32_t i, uint32_t *event);

/* Whether a sample is of the idle task: pid 0.  In a pid namespace that is the number of all who
 * run outside of it as well, so there its leaf has to be a function of the idle loop. */
bool profile_is_idle(const struct profile *profile, uint32_t label, uint32_t stack);

bool profile_interrupted(const struct profile *profile);

/* All cells that pass, those alike added up; in the order in which they were first met.  0 and an array of *n
 * for free(); -ENOMEM, -EINTR. */
int profile_sum(const struct profile *profile, struct profile_cell **cells, size_t *n);

/* Samples for formats with times: single ones if all of an event's in a slice have a time, else the
 * slice's cells.  Several may share stack, task and event. */
struct profile_moment {
	uint64_t time_ns; /* 0: not known, but within its slice */
	uint32_t stack, task, event;
	uint32_t slice; /* in the snapshot */
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

/* Lists all, in order of task, event and time.  Returns 0; -ENOMEM, -EINTR with nothing to free. */
int profile_moments(const struct profile *profile, struct profile_moments *list);
/* Appends those of slice s, unsorted.  The caller starts with a zeroed list and takes the slices in
 * order from 0.  Returns 0 or -ENOMEM. */
int profile_slice_moments(const struct profile *profile, uint32_t s, struct profile_moments *list);
void profile_moments_fini(struct profile_moments *list);

/* The symref of a stack's leaf-most frame, 0 for none. */
uint32_t profile_symref(const struct profile *profile, uint32_t node);

/* The symrefs that a stack's leaf-most frame stands for, innermost first: what is inlined there, then its function.
 * How many: at least one. */
#define PROFILE_FRAMES_MAX (NAMES_INLINED_MAX + 1)
size_t profile_frames(
	const struct profile *profile, uint32_t node, uint32_t out[PROFILE_FRAMES_MAX]);

/* The forms.  Each writes all of it and returns 0; -EIO (look at ferror(3) and errno), -ENOMEM, -EINTR. */
int export_folded(FILE *out, const struct profile *profile);
int export_speedscope(FILE *out, const struct profile *profile);
int export_pprof(FILE *out, const struct profile *profile);
int export_callgrind(FILE *out, const struct profile *profile);
int export_svg(FILE *out, const struct profile *profile);
int export_gecko(FILE *out, const struct profile *profile);
/* perf script's output from slices; samples without a time are spread over their slice's time. */
int export_script_slices(FILE *out, const struct profile *profile);

#endif
