// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * rundelay.c - shares out the run delay of threads; see rundelay.h.  Sampling thread.
 *
 * A reading serves pieces that end after it, when all earlier preemptions of the thread are known.
 * So the delay of a thread's last moments stays unknown.
 */
#include "sampler/accounting/rundelay.h"

#include <stdlib.h>

#define READ_EVERY_NS 1000000u /* ns, times the number of threads: one reading takes some us */

struct rundelay_thread {
	uint64_t base_ns; /* run delay at the first piece */
	uint64_t told_ns; /* delay reported in pieces since then */
	uint64_t due_ns; /* delay not yet reported */
	uint64_t delay_ns, read_ns; /* the last reading and its time */
	bool used; /* due_ns includes the last reading */
};

void rundelay_init(struct rundelay *delays, rundelay_read_fn *read)
{
	delays->read = read;
	idmap_init(&delays->threads);
}

void rundelay_clear(struct rundelay *delays)
{
	struct rundelay_thread *thread;
	size_t position = 0;

	while ((thread = idmap_next(&delays->threads, &position)))
		free(thread);
	idmap_fini(&delays->threads);
	idmap_init(&delays->threads);
}

void rundelay_fini(struct rundelay *delays)
{
	rundelay_clear(delays);
	idmap_fini(&delays->threads);
}

void rundelay_forget(struct rundelay *delays, int32_t tid)
{
	free(idmap_remove(&delays->threads, (uint32_t)tid));
}

static struct rundelay_thread *add_thread(struct rundelay *delays, int32_t tid, uint64_t now_ns)
{
	struct rundelay_thread *thread;
	uint64_t delay_ns;

	if (delays->threads.n >= OFFCPU_THREADS_MAX || delays->read(tid, &delay_ns))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	*thread = (struct rundelay_thread){
		.base_ns = delay_ns, .delay_ns = delay_ns, .read_ns = now_ns};
	if (!idmap_set(&delays->threads, (uint32_t)tid, thread))
		return thread;
	free(thread);
	return NULL;
}

/* If the thread is gone, the last reading stays. */
static void read_delay(
	struct rundelay *delays, int32_t tid, struct rundelay_thread *thread, uint64_t now_ns)
{
	uint64_t delay_ns;

	if (!delays->read(tid, &delay_ns) && delay_ns >= thread->base_ns)
		thread->delay_ns = delay_ns;
	thread->read_ns = now_ns;
	thread->used = false;
}

static void use_reading(struct rundelay_thread *thread)
{
	uint64_t delay_ns = thread->delay_ns - thread->base_ns;

	thread->due_ns = delay_ns > thread->told_ns ? delay_ns - thread->told_ns : 0;
	thread->used = true;
}

uint64_t rundelay_take(
	struct rundelay *delays, int32_t tid, const struct offcpu_span *span, uint64_t now_ns)
{
	struct rundelay_thread *thread = idmap_find(&delays->threads, (uint32_t)tid);
	uint64_t taken_ns = span->ns;

	if (!thread)
		thread = add_thread(delays, tid, now_ns);
	if (!thread)
		return 0;
	if (!thread->used && span->end_ns > thread->read_ns)
		use_reading(thread);
	if (thread->used && now_ns - thread->read_ns >= delays->threads.n * READ_EVERY_NS)
		read_delay(delays, tid, thread, now_ns);
	if (!span->preempted) {
		taken_ns = span->ns < thread->due_ns ? span->ns : thread->due_ns;
		thread->due_ns -= taken_ns;
	}
	thread->told_ns += taken_ns;
	return span->preempted ? 0 : taken_ns;
}
