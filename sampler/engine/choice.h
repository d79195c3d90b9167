/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * choice.h - the chosen events, and what each has learned about itself.
 *
 * They are of the sampling thread.
 */
#ifndef SAMPLER_ENGINE_CHOICE_H
#define SAMPLER_ENGINE_CHOICE_H

#include "sampler/accounting/coverage.h"
#include "sampler/engine/engine.h"
#include "sampler/engine/missing.h"
#include "sampler/events/spec.h"
#include "sampler/kernel/record.h"
#include "sampler/store/unwind.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct point_event;

#define CHOICE_LESS_MAX 6u /* most fallbacks that remove data from samples */
#define CHOICE_RATES_MAX 32u /* remembered changes of a choice's rate */

/* A choice's period before its rate changed. */
struct choice_rate {
	uint64_t until_ns;
	uint64_t period; /* 0: the samples carry it */
};

/* The size of stack copies, and the figures by which stack.c adapts it. */
struct stack_copies {
	uint32_t bytes;
	uint64_t begun_ns; /* start of the current measurement */
	uint64_t seen, told; /* samples, now and at the start of the measurement */
	uint64_t lost; /* at the start of the measurement */
	uint32_t most; /* longer copies cost samples; 0: unknown */
	struct unwind_ends ends; /* chain ends at the start of the measurement */
};

/* An event chosen by the user; status.events[] has its public half at the same index. */
struct choice {
	struct event_spec spec; /* the request, with the rate now in force */
	struct perf_event_attr attr; /* after fallbacks, without the engine's half */
	struct record_format format; /* format of its samples, once settled */
	unsigned int leader; /* index of its group's leader; its own if it leads or has no group */
	bool read_group; /* samples for its group; the other members only count */
	bool counts_only; /* takes no samples */
	bool task_timed; /* the time of tasks counts from the last reading on, see tick.c */
	bool tells_id; /* its samples carry its own id: see round_may_share_id() */
	uint64_t without; /* bits of sample_more that it cannot have */
	struct {
		uint64_t bits; /* bits left out */
		int error; /* reason, positive errno; 0: they would always be 0 */
	} less[CHOICE_LESS_MAX];
	unsigned int n_less;
	bool proven; /* leader: the whole group has opened on some point */
	bool enabled; /* by the user */
	bool open;
	bool stopping; /* disabled; its rings and clock are not yet accounted for */
	bool settled; /* has opened on some point: no more fallbacks */
	bool filter_refused; /* the last refusal was due to its filter */
	bool bpf_refused; /* the last refusal was due to its BPF program */
	bool inherit_refused; /* the last refusal was due to inheritance by new tasks */
	const char *ioctl_refused; /* this ioctl on the open event was refused; NULL if none */
	bool started; /* at least one of its events was enabled */
	bool no_credit; /* the kernel refuses REFRESH */
	bool bpf_asked; /* programs of other processes were queried */
	int bpf_fd; /* tracepoint: duplicate fd of the event with the BPF program; 0: none */
	uint64_t tap_sum; /* sum of the counts that samples read from it */
	uint32_t record_bytes; /* see credit_record_bytes() */
	struct stack_copies stack;
	struct choice_rate rates[CHOICE_RATES_MAX]; /* oldest first; see rate_weigh() */
	unsigned int n_rates;
	uint64_t noted_lost;
	struct coverage coverage;
	bool partial; /* was open, but not on every CPU or thread; see missing.h */
	bool unmeasured; /* and how much it missed is unknown */
	struct missing missing;
	uint64_t spent, noted_spent;
	bool short_lived_noted;
	uint64_t noted_throttled;
	bool throttle_noted;
	bool throttled_now;
	unsigned int errors; /* number of its events with in_error */
	bool error_noted;
};

/* Adds events to the list, whole groups at once; they open with the next points.  Calls fn, unless
 * NULL, for each event that leads or has no group.  Events without room in the list are noted as
 * refused. */
typedef void choice_added(struct engine *engine, unsigned int choice);
void choice_add_all(
	struct engine *engine, const struct event_spec *specs, size_t n, choice_added *fn);
/* Stops an event, and a leader's group, before choice_drop(), which follows after the next
 * round. */
void choice_disarm(struct engine *engine, unsigned int choice);
void choice_drop(struct engine *engine, unsigned int choice);
int choice_find(const struct engine *engine, uint8_t id);
unsigned int choice_count_open(const struct engine *engine);
void choice_show_rate(struct engine *engine, unsigned int choice);
/* Returns whether the event and its leader should run from now on; only then it gets credit. */
bool choice_runs(const struct engine *engine, unsigned int choice);
/* Returns whether the event should have run up to now; includes an event that is stopping. */
bool choice_ran(const struct engine *engine, unsigned int choice);
/* Returns whether its samples read the counters of a group, including its own.  Each sample weighs
 * the difference to the previous one. */
bool choice_reads(const struct engine *engine, unsigned int choice);
/* Returns whether each counted period is a sample or a loss: a fixed period and no clock.  Coverage
 * is then a share of its count. */
bool choice_is_counted(const struct engine *engine, unsigned int choice);
/* Copies an event's name, cut if it is too long. */
void choice_copy_name(char to[EVENT_NAME_MAX], const char *from);
/* Shows the name as requested, with its cgroup. */
void choice_show_name(struct engine *engine, unsigned int choice, const char *name);
/* Returns whether an event may run from now on. */
bool point_event_runs(const struct engine *engine, const struct point_event *event);
/* Returns whether the kernel may enable an event.  A member of a disabled leader does not count,
 * but stays enabled, so that it continues with the leader. */
bool point_event_is_on(const struct engine *engine, const struct point_event *event);
/* Sets the size of stack copies and the estimated size of records, before the first sample. */
void choice_begin_stack(const struct engine *engine, struct choice *choice);

#endif
