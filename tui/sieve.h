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

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { /* of a cell, or'ed */
	SIEVE_KNOWN = 1,
	SIEVE_FAILS = 2, /* does not pass the filter */
	SIEVE_IDLE_TASK = 4, /* pid 0 */
	SIEVE_IDLE_LEAF = 8, /* a function of the idle loop; where it was asked for */
};

struct sieve {
	struct filter *filter; /* or NULL; borrowed, as all */
	const struct stacks *stacks;
	const struct tasks *tasks; /* or NULL: nothing is of pid 0 */
	struct names *names;
	bool by_stack, by_cpu, by_fields;
	bool idle_leaf; /* SIEVE_IDLE_LEAF is wanted */
	pthread_mutex_t *lock; /* NULL: there is one thread */
	uint8_t *labels, *nodes, *cpus;
	uint32_t labels_room, nodes_room, cpus_room;
};

void sieve_init(struct sieve *sieve, struct filter *filter, const struct stacks *stacks,
	const struct tasks *tasks, struct names *names, bool idle_leaf);
void sieve_fini(struct sieve *sieve);

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
uint8_t sieve_learn_node(struct sieve *sieve, uint32_t node);
uint8_t sieve_learn_cpu(struct sieve *sieve, uint16_t cpu);

static inline uint8_t sieve_label(struct sieve *sieve, uint32_t label)
{
	return label < sieve->labels_room && sieve->labels[label] ? sieve->labels[label]
								  : sieve_learn_label(sieve, label);
}

static inline uint8_t sieve_node(struct sieve *sieve, uint32_t node)
{
	if (!sieve->by_stack)
		return SIEVE_KNOWN;
	return node < sieve->nodes_room && sieve->nodes[node] ? sieve->nodes[node]
							      : sieve_learn_node(sieve, node);
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

static inline unsigned int sieve_cell(struct sieve *sieve, const struct slice *slice, uint32_t i)
{
	return sieve_rest(sieve, slice, i) | sieve_node(sieve, slice->stack[i]);
}

#endif
