// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * offcpu.c - accounts the time of threads off their CPU; see offcpu.h.  Sampling thread.
 *
 * A running thread is known only between its sample and its switch-out, unless keep_stacks is set.
 * So the table holds about as many threads as are out.
 */
#include "sampler/store/offcpu.h"

#include "sampler/store/store.h"

#include <stdlib.h>

#define ADVANCE_MAX 4096u
#define GAP_SLICES_MAX 10000u

enum state { RUNS, IS_OUT, ENDED };

struct offcpu_thread {
	struct offcpu_thread *next, *prev; /* list of its state */
	enum state state;
	int32_t tid;
	uint32_t cpu;
	struct offcpu_stack stack;
	bool has_stack;
	bool fresh; /* the stack belongs to the next switch-out */
	bool preempted;
	bool assumed; /* out without a record: offcpu_assume() */
	struct offcpu_waker waker; /* if known, with references to its stack and label */
	uint64_t out_ns;
	uint64_t ready_ns; /* time of the wake-up; 0: none yet, or always runnable */
	uint64_t since_ns; /* accounted up to here; ENDED: time of the end */
};

void offcpu_init(struct offcpu *offcpu, const struct offcpu_ops *ops)
{
	*offcpu = (struct offcpu){.ops = *ops};
	idmap_init(&offcpu->threads);
}

void offcpu_fini(struct offcpu *offcpu)
{
	offcpu_clear(offcpu);
	idmap_fini(&offcpu->threads);
}

static void list_remove(struct offcpu *offcpu, struct offcpu_thread *thread)
{
	enum state state = thread->state;

	if (thread->prev)
		thread->prev->next = thread->next;
	else
		offcpu->first[state] = thread->next;
	if (thread->next)
		thread->next->prev = thread->prev;
	else
		offcpu->last[state] = thread->prev;
	offcpu->n_out -= state == IS_OUT;
}

static void list_append(struct offcpu *offcpu, struct offcpu_thread *thread, enum state state)
{
	thread->state = state;
	thread->next = NULL;
	thread->prev = offcpu->last[state];
	if (thread->prev)
		thread->prev->next = thread;
	else
		offcpu->first[state] = thread;
	offcpu->last[state] = thread;
	offcpu->n_out += state == IS_OUT;
}

static void set_state(struct offcpu *offcpu, struct offcpu_thread *thread, enum state state)
{
	list_remove(offcpu, thread);
	list_append(offcpu, thread, state);
}

static struct offcpu_thread *find(const struct offcpu *offcpu, int32_t tid)
{
	return idmap_find(&offcpu->threads, (uint32_t)tid);
}

static struct offcpu_thread *find_or_add(struct offcpu *offcpu, int32_t tid)
{
	struct offcpu_thread *thread = find(offcpu, tid);

	if (thread || offcpu->threads.n >= OFFCPU_THREADS_MAX)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	if (idmap_set(&offcpu->threads, (uint32_t)tid, thread)) {
		free(thread);
		return NULL;
	}
	list_append(offcpu, thread, RUNS);
	return thread;
}

static void release_stack(struct offcpu *offcpu, struct offcpu_thread *thread)
{
	if (thread->has_stack)
		offcpu->ops.release(offcpu->ops.ingest, thread->stack.stack, thread->stack.label);
	thread->has_stack = false;
}

static void release_waker(struct offcpu *offcpu, struct offcpu_thread *thread)
{
	if (thread->waker.known)
		offcpu->ops.release(offcpu->ops.ingest, thread->waker.stack, thread->waker.label);
	thread->waker.known = false;
}

static void set_stack(
	struct offcpu *offcpu, struct offcpu_thread *thread, const struct offcpu_stack *stack)
{
	release_stack(offcpu, thread);
	thread->stack = *stack;
	thread->has_stack = true;
}

static void forget(struct offcpu *offcpu, struct offcpu_thread *thread)
{
	release_stack(offcpu, thread);
	release_waker(offcpu, thread);
	list_remove(offcpu, thread);
	idmap_remove(&offcpu->threads, (uint32_t)thread->tid);
	free(thread);
}

/* Whether part of its time off the CPU is in the store already. */
static bool is_accounted(const struct offcpu_thread *thread)
{
	return thread->since_ns > thread->out_ns;
}

/* Moves a thread to RUNS, or forgets it.  late: it may have come back before its accounted time.
 * That time is remembered, so that it does not count twice. */
static void let_run(struct offcpu *offcpu, struct offcpu_thread *thread, bool late)
{
	release_waker(offcpu, thread);
	if (offcpu->keep_stacks || (late && is_accounted(thread)))
		set_state(offcpu, thread, RUNS);
	else
		forget(offcpu, thread);
}

/* Passes the time from since_ns to time_ns to add().  Returns false if the thread is no longer
 * wanted. */
static bool account(struct offcpu *offcpu, struct offcpu_thread *thread, uint64_t time_ns)
{
	const struct offcpu_span span = {
		.end_ns = time_ns,
		.ns = time_ns - thread->since_ns,
		.stack = thread->stack.stack,
		.label = thread->stack.label,
		.stack_end = thread->stack.end,
		.cpu = thread->cpu,
		.preempted = thread->preempted || thread->ready_ns,
	};

	if (time_ns <= thread->since_ns)
		return true;
	thread->since_ns = time_ns;
	return offcpu->ops.add(&span, offcpu->ops.ctx);
}

void offcpu_stack(struct offcpu *offcpu, int32_t tid, const struct offcpu_stack *stack)
{
	struct offcpu_thread *thread = find_or_add(offcpu, tid);

	if (!thread || thread->state == ENDED) {
		offcpu->ops.release(offcpu->ops.ingest, stack->stack, stack->label);
		return;
	}
	if (thread->state == IS_OUT) {
		/* The record of its switch-in is missing. */
		offcpu->dropped += !thread->assumed;
		set_state(offcpu, thread, RUNS);
	}
	set_stack(offcpu, thread, stack);
	thread->fresh = true;
}

void offcpu_seen(struct offcpu *offcpu, int32_t tid, const struct offcpu_stack *stack)
{
	struct offcpu_thread *thread = offcpu->keep_stacks ? find_or_add(offcpu, tid) : NULL;

	if (!thread || thread->state != RUNS || thread->fresh) {
		offcpu->ops.release(offcpu->ops.ingest, stack->stack, stack->label);
		return;
	}
	set_stack(offcpu, thread, stack);
}

static void go_out(struct offcpu *offcpu, const struct offcpu_switch *who, bool assumed)
{
	struct offcpu_thread *thread = find_or_add(offcpu, who->tid);

	if (!thread) {
		offcpu->left_out++;
		return;
	}
	if (thread->state == ENDED)
		return;
	if (thread->state == IS_OUT) {
		offcpu->dropped += !thread->assumed;
		set_state(offcpu, thread, RUNS);
	}
	if (!thread->fresh && !offcpu->keep_stacks)
		release_stack(offcpu, thread);
	if (!thread->has_stack) {
		thread->stack.end = 0;
		if (offcpu->ops.unknown(offcpu->ops.ingest, who->pid, who->tid, who->time_ns,
			    &thread->stack.stack, &thread->stack.label)) {
			offcpu->left_out++;
			forget(offcpu, thread);
			return;
		}
		thread->has_stack = true;
	}
	thread->fresh = false;
	release_waker(offcpu, thread);
	if (!is_accounted(thread) || thread->since_ns < who->time_ns)
		thread->since_ns = who->time_ns;
	thread->out_ns = who->time_ns;
	thread->ready_ns = 0;
	thread->cpu = who->cpu;
	thread->preempted = who->preempted;
	thread->assumed = assumed;
	set_state(offcpu, thread, IS_OUT);
}

void offcpu_out(struct offcpu *offcpu, const struct offcpu_switch *who)
{
	go_out(offcpu, who, false);
}

void offcpu_assume(struct offcpu *offcpu, const struct offcpu_switch *who)
{
	const struct offcpu_thread *thread = find(offcpu, who->tid);

	if (!thread || (thread->state == RUNS && !thread->fresh))
		go_out(offcpu, who, true);
}

void offcpu_wake(struct offcpu *offcpu, int32_t tid, const struct offcpu_waker *waker)
{
	struct offcpu_thread *thread = find(offcpu, tid);

	if (!thread || thread->state != IS_OUT || thread->preempted || thread->waker.known) {
		offcpu->ops.release(offcpu->ops.ingest, waker->stack, waker->label);
		return;
	}
	thread->waker = *waker;
	thread->waker.known = true;
}

void offcpu_ready(struct offcpu *offcpu, int32_t tid, uint64_t time_ns)
{
	struct offcpu_thread *thread = find(offcpu, tid);

	if (!thread || thread->state != IS_OUT || thread->preempted || thread->ready_ns)
		return;
	/* A thread first seen asleep may have an older wake-up, which does not end this wait. */
	if (time_ns < thread->out_ns)
		return;
	if (account(offcpu, thread, time_ns))
		thread->ready_ns = thread->since_ns;
	else
		forget(offcpu, thread);
}

bool offcpu_is_out(const struct offcpu *offcpu, int32_t tid)
{
	const struct offcpu_thread *thread = find(offcpu, tid);

	return thread && thread->state == IS_OUT;
}

static void tell_over(struct offcpu *offcpu, struct offcpu_thread *thread)
{
	const struct offcpu_span wait = {
		.end_ns = thread->since_ns,
		.ns = (thread->ready_ns ? thread->ready_ns : thread->since_ns) - thread->out_ns,
		.stack = thread->stack.stack,
		.label = thread->stack.label,
		.stack_end = thread->stack.end,
		.cpu = thread->cpu,
	};

	if (offcpu->ops.over && !thread->preempted && wait.ns)
		offcpu->ops.over(&wait, &thread->waker, offcpu->ops.ctx);
}

void offcpu_in(struct offcpu *offcpu, const struct offcpu_switch *who)
{
	struct offcpu_thread *thread = find(offcpu, who->tid);
	bool late;

	/* The earlier time of a thread that is first seen now is unknown. */
	if (!thread || thread->state != IS_OUT)
		return;
	late = who->time_ns < thread->since_ns;
	if (late)
		offcpu->dropped += !thread->assumed;
	else if (!account(offcpu, thread, who->time_ns)) {
		forget(offcpu, thread);
		return;
	} else {
		tell_over(offcpu, thread);
	}
	let_run(offcpu, thread, late);
}

void offcpu_end(struct offcpu *offcpu, int32_t tid, uint64_t time_ns)
{
	struct offcpu_thread *thread = find_or_add(offcpu, tid);

	if (!thread)
		return;
	offcpu->dropped += thread->state == IS_OUT && !thread->assumed;
	release_stack(offcpu, thread);
	release_waker(offcpu, thread);
	thread->since_ns = time_ns;
	set_state(offcpu, thread, ENDED);
}

void offcpu_forget(struct offcpu *offcpu, int32_t tid)
{
	struct offcpu_thread *thread = find(offcpu, tid);

	if (thread)
		forget(offcpu, thread);
}

static void lose(struct offcpu *offcpu, struct offcpu_thread *thread)
{
	offcpu->dropped++;
	let_run(offcpu, thread, true);
}

void offcpu_lost(struct offcpu *offcpu, int32_t tid)
{
	struct offcpu_thread *thread;

	if (tid >= 0) {
		thread = find(offcpu, tid);
		if (thread && thread->state == IS_OUT)
			lose(offcpu, thread);
		return;
	}
	while ((thread = offcpu->first[IS_OUT]))
		lose(offcpu, thread);
}

void offcpu_clear(struct offcpu *offcpu)
{
	for (unsigned int state = RUNS; state <= ENDED; state++)
		while (offcpu->first[state])
			forget(offcpu, offcpu->first[state]);
}

void offcpu_advance(struct offcpu *offcpu, uint64_t time_ns, size_t most)
{
	size_t n = offcpu->n_out < most ? offcpu->n_out : most;

	while (n--) {
		struct offcpu_thread *thread = offcpu->first[IS_OUT];

		if (account(offcpu, thread, time_ns))
			set_state(offcpu, thread, IS_OUT);
		else
			forget(offcpu, thread);
	}
}

void offcpu_pass(struct offcpu *offcpu, uint64_t *next_ns, uint64_t time_ns, size_t most,
	offcpu_passed_fn *passed, void *ctx)
{
	uint64_t end_ns = *next_ns, last_ns = time_ns - time_ns % STORE_SLICE_NS;
	size_t at_once = offcpu->n_out < ADVANCE_MAX ? offcpu->n_out : ADVANCE_MAX, steps;
	uint64_t step_ns = STORE_SLICE_NS;

	if (time_ns < end_ns)
		return;
	*next_ns = last_ns + STORE_SLICE_NS;
	if (!at_once)
		return;
	steps = most / at_once < GAP_SLICES_MAX ? most / at_once : GAP_SLICES_MAX;
	if (!steps)
		steps = 1;
	if ((last_ns - end_ns) / STORE_SLICE_NS > steps)
		step_ns *= (last_ns - end_ns) / STORE_SLICE_NS / steps + 1;
	while (offcpu->n_out) {
		offcpu_advance(offcpu, end_ns, ADVANCE_MAX);
		if (passed)
			passed(end_ns, ctx);
		if (end_ns >= last_ns)
			break;
		end_ns = last_ns - end_ns > step_ns ? end_ns + step_ns : last_ns;
	}
}

void offcpu_expire(struct offcpu *offcpu, uint64_t time_ns)
{
	while (offcpu->first[ENDED] && offcpu->first[ENDED]->since_ns < time_ns)
		forget(offcpu, offcpu->first[ENDED]);
}
