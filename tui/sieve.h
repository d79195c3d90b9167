/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sieve.h - which cells of slices count: what a filter says of them, and which are of the idle task.
 *
 * Of each label, CPU and stack it is found once for one pass over many cells, so that a cell costs a few loads.  UI
 * thread, with the snapshot held; or several threads, each with its own and all with one lock, while the UI thread waits for them:
 * what is not known yet is asked of filter and names one at a time.
 */
#ifndef TUI_SIEVE_H
#define TUI_SIEVE_H

#include "sampler/store.h"
#include "tui/filter.h"
#include "tui/halves.h"

#include <stdbool.h>
#include <stdint.h>

enum { /* of a cell, or'ed */
	SIEVE_KNOWN = 1,
	SIEVE_FAILS = 2, /* does not pass the filter */
	SIEVE_IDLE_TASK = 4, /* pid 0 */
	SIEVE_IDLE_LEAF = 8, /* a function of the idle loop; where it was asked for */
	SIEVE_UNRESOLVED = 16, /* its leaf has no symbol; where it was asked for */
};

/* Of a stack: what the sieve says of it, and below that its leaf's symref + 1. */
#define SIEVE_STACK_SHIFT 27u
#define SIEVE_STACK_LEAF ((1u << SIEVE_STACK_SHIFT) - 1)

struct sieve {
	struct filter *filter; /* or NULL; borrowed, as all */
	const struct stacks *stacks;
	const struct tasks *tasks; /* or NULL: nothing is of pid 0 */
	struct names *names;
	bool by_label, by_stack, by_cpu, by_fields;
	unsigned int wanted;
	pthread_mutex_t *lock; /* NULL: there is one thread */
	uint8_t *labels, *cpus;
	uint32_t *stacks_known; /* by node; 0: not known yet */
	bool shared; /* the stacks are those of another sieve */
	uint32_t labels_room, stacks_room, cpus_room;
};

/* wanted: SIEVE_IDLE_TASK, SIEVE_IDLE_LEAF and SIEVE_UNRESOLVED, or'ed; the first may be told in any case. */
void sieve_init(struct sieve *sieve, struct filter *filter, const struct stacks *stacks,
	const struct tasks *tasks, struct names *names, unsigned int wanted);
void sieve_fini(struct sieve *sieve);

/* Before two threads begin a pass: what is to know of all stacks that were met before (forest.h) is found at once, and `other`, made for the
 * same question, has it as well for as long as `sieve` is there; from then on each has its half of the stacks and what is new is
 * asked under the lock.  0 or -ENOMEM. */
int sieve_share(struct sieve *sieve, struct half *half, struct sieve *other,
	struct half *other_half, struct halves *halves);

/* Around all that asks filter or names. */
static inline void sieve_lock(const struct sieve *sieve)
{
	if (sieve->lock)
		pthread_mutex_lock(sieve->lock);
}

static inline void sieve_unlock(const struct sieve *sieve)
{
	if (sieve->lock)
		pthread_mutex_unlock(sieve->lock);
}

/* What is not known yet; remembered, unless memory is short. */
uint8_t sieve_learn_label(struct sieve *sieve, uint32_t label);
uint32_t sieve_learn_stack(struct sieve *sieve, uint32_t node);
uint8_t sieve_learn_cpu(struct sieve *sieve, uint16_t cpu);

static inline uint8_t sieve_label(struct sieve *sieve, uint32_t label)
{
	if (!sieve->by_label)
		return SIEVE_KNOWN;
	return label < sieve->labels_room && sieve->labels[label] ? sieve->labels[label]
								  : sieve_learn_label(sieve, label);
}

/* Room for what is to know of all stacks up to this one, which costs less at once than as they come. */
void sieve_reserve(struct sieve *sieve, uint32_t node);

/* Where two threads ask, of n stacks that are asked for next: those that are not known yet are learnt with the lock taken once. */
void sieve_learn_stacks(struct sieve *sieve, const uint32_t *nodes, uint32_t n);

static inline uint32_t sieve_stack(struct sieve *sieve, uint32_t node)
{
	return node < sieve->stacks_room && sieve->stacks_known[node]
		? sieve->stacks_known[node]
		: sieve_learn_stack(sieve, node);
}

/* Of what sieve_stack() tells. */
static inline unsigned int sieve_stack_verdict(uint32_t known)
{
	return known >> SIEVE_STACK_SHIFT;
}

static inline uint32_t sieve_stack_leaf(uint32_t known)
{
	return (known & SIEVE_STACK_LEAF) - 1;
}

static inline unsigned int sieve_node(struct sieve *sieve, uint32_t node)
{
	return sieve->by_stack ? sieve_stack_verdict(sieve_stack(sieve, node)) : SIEVE_KNOWN;
}

static inline uint8_t sieve_cpu(struct sieve *sieve, uint16_t cpu)
{
	if (!sieve->by_cpu)
		return SIEVE_KNOWN;
	return cpu < sieve->cpus_room && sieve->cpus[cpu] ? sieve->cpus[cpu]
							  : sieve_learn_cpu(sieve, cpu);
}

/* All but the stack. */
static inline unsigned int sieve_rest(struct sieve *sieve, const struct slice *slice, uint32_t i)
{
	unsigned int verdict = sieve_label(sieve, slice->task[i]) | sieve_cpu(sieve, slice->cpu[i]);

	if (sieve->by_fields && !filter_pass_fields(sieve->filter, slice, i))
		verdict |= SIEVE_FAILS;
	return verdict;
}

#define SIEVE_BLOCK 512u /* so many cells are best judged at once */

/* The same of n cells from the first one on. */
void sieve_rests(struct sieve *sieve, const struct slice *slice, uint32_t first, uint32_t n,
	uint8_t *verdicts);

static inline unsigned int sieve_cell(struct sieve *sieve, const struct slice *slice, uint32_t i)
{
	return sieve_rest(sieve, slice, i) | sieve_node(sieve, slice->stack[i]);
}

#endif
