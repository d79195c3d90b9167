/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sieve.h - decides which cells of slices count: those that pass a filter, without the idle task.
 *
 * Judges each label, CPU and stack once for one pass over many cells, so that a cell costs a few
 * loads.  UI thread, with the snapshot held.  Or several threads, each with its own sieve and all
 * with one lock, while the UI thread waits: the lock guards filter and names.
 */
#ifndef TUI_QUERY_SIEVE_H
#define TUI_QUERY_SIEVE_H

#include "sampler/store/store.h"
#include "tui/query/filter.h"
#include "tui/query/halves.h"

#include <stdbool.h>
#include <stdint.h>

enum { /* verdict on a cell, or'ed */
	SIEVE_KNOWN = 1,
	SIEVE_FAILS = 2, /* does not pass the filter */
	SIEVE_IDLE_TASK = 4, /* pid 0 */
	SIEVE_IDLE_LEAF = 8, /* idle by name; only if wanted */
	SIEVE_UNRESOLVED = 16, /* its leaf has no symbol; only if wanted */
};

/* Decides for all tables, views and exports whether a sample is idle: its task has pid 0.  by_name:
 * its leaf is a function of the idle loop, in any task, since pid 0 is all of a pid namespace's
 * outside.  A leaf without a symbol may be work, so it is not idle.  tasks may be NULL: no task has
 * pid 0.  Only one of task and leaf is read. */
bool sieve_is_idle(
	const struct tasks *tasks, uint32_t label, const struct symref *leaf, bool by_name);

/* Returns the bit of a verdict that hides a cell as idle; 0: none does. */
static inline unsigned int sieve_idle_bit(bool hide_idle, bool by_name)
{
	if (!hide_idle)
		return 0;
	return by_name ? SIEVE_IDLE_LEAF : SIEVE_IDLE_TASK;
}

/* Known stacks: the verdict in the upper bits, below it the leaf's symref + 1. */
#define SIEVE_STACK_SHIFT 27u
#define SIEVE_STACK_LEAF ((1u << SIEVE_STACK_SHIFT) - 1)

struct sieve {
	struct filter *filter; /* NULL if none; borrowed, like all pointers here */
	const struct stacks *stacks;
	const struct tasks *tasks; /* NULL: no cell has pid 0 */
	struct names *names;
	bool by_label, by_stack, by_cpu, by_fields;
	unsigned int wanted;
	pthread_mutex_t *lock; /* NULL: only one thread */
	uint8_t *labels, *cpus;
	uint32_t *stacks_known; /* by node: verdict and leaf; 0: not known yet */
	bool shared; /* stacks_known belongs to another sieve */
	uint32_t labels_room, stacks_room, cpus_room;
};

/* wanted: SIEVE_IDLE_TASK, SIEVE_IDLE_LEAF and SIEVE_UNRESOLVED, or'ed.  SIEVE_IDLE_TASK may be set
 * even if not wanted. */
void sieve_init(struct sieve *sieve, struct filter *filter, const struct stacks *stacks,
	const struct tasks *tasks, struct names *names, unsigned int wanted);
void sieve_fini(struct sieve *sieve);

/* Prepares a pass of two threads.  Judges all known stacks (forest.h) at once.  `other`, made for
 * the same question, shares the result as long as `sieve` lives.  Afterwards each thread has half
 * of the stacks, and judges new ones under the lock.  Returns 0 or -ENOMEM. */
int sieve_share(struct sieve *sieve, struct half *half, struct sieve *other,
	struct half *other_half, struct halves *halves);

/* Guards every use of filter or names. */
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

/* Judge what is not known yet.  The result is kept, unless memory runs out. */
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

/* Makes room for verdicts on all stacks up to this one.  Growing once is cheaper than growing for
 * each stack. */
void sieve_reserve(struct sieve *sieve, uint32_t node);

/* With two threads, judges those of the next n stacks that are not known yet, with a single
 * locking. */
void sieve_learn_stacks(struct sieve *sieve, const uint32_t *nodes, uint32_t n);

static inline uint32_t sieve_stack(struct sieve *sieve, uint32_t node)
{
	return node < sieve->stacks_room && sieve->stacks_known[node]
		? sieve->stacks_known[node]
		: sieve_learn_stack(sieve, node);
}

/* Split the result of sieve_stack(). */
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

/* Returns the verdict without the stack's. */
static inline unsigned int sieve_rest(struct sieve *sieve, const struct slice *slice, uint32_t i)
{
	unsigned int verdict = sieve_label(sieve, slice->task[i]) | sieve_cpu(sieve, slice->cpu[i]);

	if (sieve->by_fields && !filter_pass_fields(sieve->filter, slice, i))
		verdict |= SIEVE_FAILS;
	return verdict;
}

#define SIEVE_BLOCK 512u /* best number of cells to judge at once */

/* Stores verdicts without the stacks' for n cells, from cell `first` on. */
void sieve_rests(struct sieve *sieve, const struct slice *slice, uint32_t first, uint32_t n,
	uint8_t *verdicts);

static inline unsigned int sieve_cell(struct sieve *sieve, const struct slice *slice, uint32_t i)
{
	return sieve_rest(sieve, slice, i) | sieve_node(sieve, slice->stack[i]);
}

#endif
