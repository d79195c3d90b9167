/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * offcpu.h - how long threads are off their CPU, and with which stack they left it.
 *
 * Made of pairs: a switch-out, with the stack of a sample just before it, and the switch-in that ends it.  Time is given
 * out as *spans*, a thread's in pieces that follow each other without gap or overlap: those still out are brought up to
 * date by offcpu_advance().  What is not known for certain (a record is missing between the two) is dropped and counted,
 * never guessed.  Knows no rings and no clock, and of the store only how long its slices are; the sampling thread's.
 */
#ifndef SAMPLER_OFFCPU_H
#define SAMPLER_OFFCPU_H

#include "sampler/idmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFFCPU_THREADS_MAX 65536u /* known at one time; the time of others is not seen */

/* The piece [end_ns - ns, end_ns) of the time that a thread was out. */
struct offcpu_span {
	uint64_t end_ns, ns;
	uint32_t stack, label; /* borrowed */
	uint32_t cpu; /* that it left */
	bool preempted; /* it was runnable: preempted or woken; else it waited for something */
	uint8_t stack_end; /* enum unwind_end */
};

/* What ended a wait. */
struct offcpu_waker {
	bool known;
	bool interrupt; /* a timer or a device: the task it fell into has nothing to do with it */
	uint32_t stack, label; /* borrowed */
};

struct offcpu_ops {
	/* Sees a whole wait after its end, up to the wake-up.  add() has seen its pieces before.
	 * May be NULL. */
	void (*over)(const struct offcpu_span *wait, const struct offcpu_waker *waker, void *ctx);
	/* false: nobody wants to know of this thread any more. */
	bool (*add)(const struct offcpu_span *span, void *ctx);
	/* What stands for a stack that is not known, with a reference to both.  0 or -errno. */
	int (*unknown)(int32_t pid, int32_t tid, uint64_t time_ns, uint32_t *stack, uint32_t *label,
		void *ctx);
	/* Gives back one reference to each. */
	void (*release)(uint32_t stack, uint32_t label, void *ctx);
	void *ctx;
};

struct offcpu_thread;

struct offcpu {
	struct offcpu_ops ops;
	/* A thread keeps its last stack while it runs, which is that of its next switch-out if no other comes. */
	bool keep_stacks;
	struct idmap threads; /* tid -> struct offcpu_thread */
	struct offcpu_thread *first[3],
		*last[3]; /* by state; of those out, the next one to be brought up to date first */
	size_t n_out;
	uint64_t
		dropped; /* times out that were given up, or their rest: a record was missing or out of order */
	uint64_t left_out; /* times out of threads beyond the limit, or out of memory */
};

/* Who switches, by the record. */
struct offcpu_switch {
	int32_t pid, tid;
	uint32_t cpu;
	uint64_t time_ns;
	bool preempted; /* of a switch-out */
};

void offcpu_init(struct offcpu *offcpu, const struct offcpu_ops *ops);
void offcpu_fini(struct offcpu *offcpu);

/* A thread's stack.  end: enum unwind_end. */
struct offcpu_stack {
	uint32_t stack, label;
	uint8_t end;
};

/* The stack of the switch-out that follows.  Takes a reference to stack and label. */
void offcpu_stack(struct offcpu *offcpu, int32_t tid, const struct offcpu_stack *stack);
/* A stack of a thread that runs, with keep_stacks.  Takes a reference to stack and label. */
void offcpu_seen(struct offcpu *offcpu, int32_t tid, const struct offcpu_stack *stack);
void offcpu_out(struct offcpu *offcpu, const struct offcpu_switch *who);
/* The thread is out, for an unknown time, and from now on is counted; where a record says otherwise, that holds. */
void offcpu_assume(struct offcpu *offcpu, const struct offcpu_switch *who);
/* Somebody wakes the thread; of several, the first one counts.  Takes a reference to the waker's stack and label. */
void offcpu_wake(struct offcpu *offcpu, int32_t tid, const struct offcpu_waker *waker);
/* The thread was woken: from time_ns on it waits for a CPU.  Only the first wake-up of a wait
 * counts; a running thread ignores it. */
void offcpu_ready(struct offcpu *offcpu, int32_t tid, uint64_t time_ns);
bool offcpu_is_out(const struct offcpu *offcpu, int32_t tid);
void offcpu_in(struct offcpu *offcpu, const struct offcpu_switch *who);

/* The thread has ended; it still switches out a last time, which is no waiting. */
void offcpu_end(struct offcpu *offcpu, int32_t tid, uint64_t time_ns);
/* Its number is another one's from now on. */
void offcpu_forget(struct offcpu *offcpu, int32_t tid);
/* Records are lost: of one thread, or tid -1 of any. */
void offcpu_lost(struct offcpu *offcpu, int32_t tid);
/* Nobody looks any more. */
void offcpu_clear(struct offcpu *offcpu);

/* Bring the threads that are out up to date, at most so many, those first that waited longest for it. */
void offcpu_advance(struct offcpu *offcpu, uint64_t time_ns, size_t most);

/* At the end of each slice of the store that is over at time_ns: *next_ns is the end of the first one, and is moved on
 * behind time_ns.  Of those out, 4,096 have their turn at each, the others in the next ones.  Over a gap of more than
 * 10,000 slices, or one that would take more than `most` pieces, time is given out in pieces of several slices.  passed
 * (may be NULL) is told the end, after its pieces and before any of the slices that follow; not where nobody is out. */
typedef void offcpu_passed_fn(uint64_t end_ns, void *ctx);
void offcpu_pass(struct offcpu *offcpu, uint64_t *next_ns, uint64_t time_ns, size_t most,
	offcpu_passed_fn *passed, void *ctx);
/* Forget those that ended before. */
void offcpu_expire(struct offcpu *offcpu, uint64_t time_ns);

#endif
