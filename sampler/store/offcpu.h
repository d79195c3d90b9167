/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * offcpu.h - measures how long threads are off their CPU, and with which stack they left it.
 *
 * Pairs a switch-out, with the stack of a sample just before it, and the switch-in that ends it.
 * Time is passed on as *spans*: a thread's spans follow each other without gap or overlap.
 * offcpu_advance() brings the threads that are out up to date.  Uncertain time (a record between
 * the two is missing) is dropped and counted, never guessed.
 *
 * Knows no rings and no clock, and only the length of the store's slices.  Owned by the sampling
 * thread.
 */
#ifndef SAMPLER_STORE_OFFCPU_H
#define SAMPLER_STORE_OFFCPU_H

#include "sampler/base/idmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFFCPU_THREADS_MAX 65536u /* known at a time; others are not counted */

/* One piece of a thread's time off the CPU: [end_ns - ns, end_ns). */
struct offcpu_span {
	uint64_t end_ns, ns;
	uint32_t stack, label; /* borrowed */
	uint32_t cpu; /* the CPU that the thread left */
	bool preempted; /* runnable (preempted or woken); otherwise it waits */
	uint8_t stack_end; /* enum unwind_end */
};

/* The task or interrupt that ended a wait. */
struct offcpu_waker {
	bool known;
	bool interrupt; /* a timer or device; the interrupted task is unrelated */
	uint32_t stack, label; /* borrowed */
};

struct ingest;

struct offcpu_ops {
	/* Receives a whole wait after its end, up to the wake-up.  add() has received its pieces
	 * before.  May be NULL. */
	void (*over)(const struct offcpu_span *wait, const struct offcpu_waker *waker, void *ctx);
	/* Receives a span.  Returns false if the thread's time is not wanted any more. */
	bool (*add)(const struct offcpu_span *span, void *ctx);
	/* Makes a placeholder for an unknown stack.  Takes a reference to both.  Returns 0 or
	 * -errno. */
	int (*unknown)(struct ingest *ingest, int32_t pid, int32_t tid, uint64_t time_ns,
		uint32_t *stack, uint32_t *label);
	/* Releases one reference to each. */
	void (*release)(struct ingest *ingest, uint32_t stack, uint32_t label);
	struct ingest *ingest;
	void *ctx;
};

struct offcpu_thread;

struct offcpu {
	struct offcpu_ops ops;
	/* Keep a running thread's last stack, for its next switch-out if no newer one comes. */
	bool keep_stacks;
	struct idmap threads; /* tid -> struct offcpu_thread */
	struct offcpu_thread *first[3],
		*last[3]; /* by state; IS_OUT: least recently advanced first */
	size_t n_out;
	uint64_t dropped; /* waits (or their rest) given up: a record missing or out of order */
	uint64_t left_out; /* waits not seen: too many threads, or out of memory */
};

/* A switch record. */
struct offcpu_switch {
	int32_t pid, tid;
	uint32_t cpu;
	uint64_t time_ns;
	bool preempted; /* only for a switch-out */
};

void offcpu_init(struct offcpu *offcpu, const struct offcpu_ops *ops);
void offcpu_fini(struct offcpu *offcpu);

/* A thread's stack.  end: enum unwind_end. */
struct offcpu_stack {
	uint32_t stack, label;
	uint8_t end;
};

/* Sets the stack of the next switch-out.  Takes over a reference to stack and label. */
void offcpu_stack(struct offcpu *offcpu, int32_t tid, const struct offcpu_stack *stack);
/* Sets the stack of a running thread, if keep_stacks is set.  Takes over a reference to stack and
 * label. */
void offcpu_seen(struct offcpu *offcpu, int32_t tid, const struct offcpu_stack *stack);
void offcpu_out(struct offcpu *offcpu, const struct offcpu_switch *who);
/* Counts the thread as out from now on; its time before is unknown.  Later records of the thread
 * take precedence. */
void offcpu_assume(struct offcpu *offcpu, const struct offcpu_switch *who);
/* Sets the waker of a thread that is out; the first one counts.  Takes over a reference to the
 * waker's stack and label. */
void offcpu_wake(struct offcpu *offcpu, int32_t tid, const struct offcpu_waker *waker);
/* Notes that the thread was woken: from time_ns on it waits for a CPU.  Only the first wake-up of a
 * wait counts; a running thread ignores it. */
void offcpu_ready(struct offcpu *offcpu, int32_t tid, uint64_t time_ns);
bool offcpu_is_out(const struct offcpu *offcpu, int32_t tid);
void offcpu_in(struct offcpu *offcpu, const struct offcpu_switch *who);

/* Notes that the thread has ended.  Its last switch-out is no wait. */
void offcpu_end(struct offcpu *offcpu, int32_t tid, uint64_t time_ns);
/* Forgets the thread, because another one has its tid from now on. */
void offcpu_forget(struct offcpu *offcpu, int32_t tid);
/* Notes that records of this thread are lost; tid -1 means any thread. */
void offcpu_lost(struct offcpu *offcpu, int32_t tid);
/* Forgets all threads, when nothing uses the data any more. */
void offcpu_clear(struct offcpu *offcpu);

/* Brings threads that are out up to time_ns, at most `most`, the least recently advanced first. */
void offcpu_advance(struct offcpu *offcpu, uint64_t time_ns, size_t most);

/* Advances threads at the end of each store slice that is over at time_ns.  *next_ns is the end of
 * the first such slice, and is moved past time_ns.  Each slice end advances at most 4,096 threads;
 * the others follow at the next ends.  A gap of more than 10,000 slices, or more than `most`
 * pieces, is passed on in pieces of several slices.  passed() (may be NULL) receives each end,
 * after its pieces and before later slices.  It is not called if no thread is out. */
typedef void offcpu_passed_fn(uint64_t end_ns, void *ctx);
void offcpu_pass(struct offcpu *offcpu, uint64_t *next_ns, uint64_t time_ns, size_t most,
	offcpu_passed_fn *passed, void *ctx);
/* Forgets the threads that ended before time_ns. */
void offcpu_expire(struct offcpu *offcpu, uint64_t time_ns);

#endif
