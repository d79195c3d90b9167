/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rundelay.h - waits of threads for a CPU after wake-ups without a record.
 *
 * The kernel's run delay of a thread is a sum: waits after preemption and after wake-ups.  The
 * first kind is known, so the rest came after wake-ups.  That much blocked time is reported as
 * waiting, and no time twice.  Owned by the sampling thread.
 */
#ifndef SAMPLER_ACCOUNTING_RUNDELAY_H
#define SAMPLER_ACCOUNTING_RUNDELAY_H

#include "sampler/store/offcpu.h"

/* Reads a thread's run delay until now, in ns.  Returns 0 or -errno. */
typedef int rundelay_read_fn(int32_t tid, uint64_t *delay_ns);

struct rundelay {
	rundelay_read_fn *read;
	struct idmap threads; /* tid -> struct rundelay_thread */
};

void rundelay_init(struct rundelay *delays, rundelay_read_fn *read);
void rundelay_fini(struct rundelay *delays);

/* Takes the next piece of a thread's time off the CPU.  Returns the ns at the end of a blocked
 * piece that were a wait for a CPU; 0 for a preempted one.  now_ns: the current time, later than
 * the piece. */
uint64_t rundelay_take(
	struct rundelay *delays, int32_t tid, const struct offcpu_span *span, uint64_t now_ns);

/* Call when the thread has ended. */
void rundelay_forget(struct rundelay *delays, int32_t tid);
/* Call when pieces will be missing from now on. */
void rundelay_clear(struct rundelay *delays);

#endif
