/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sieve.c - see sieve.h.
 */
#include "tui/sieve.h"

#include "tui/grow.h"

void sieve_init(struct sieve *sieve, struct filter *filter, const struct stacks *stacks,
	const struct tasks *tasks, struct names *names, bool idle_leaf)
{
	*sieve = (struct sieve){
		.filter = filter,
		.stacks = stacks,
		.tasks = tasks,
		.names = names,
		.by_stack = idle_leaf || filter_asks_stack(filter),
		.by_cpu = filter_asks_cpu(filter),
		.by_fields = filter_asks_fields(filter),
		.idle_leaf = idle_leaf,
	};
}

void sieve_fini(struct sieve *sieve)
{
	free(sieve->labels);
	free(sieve->nodes);
	free(sieve->cpus);
	*sieve = (struct sieve){.filter = NULL};
}

static uint8_t remember(uint8_t **verdicts, uint32_t *room, uint32_t at, uint8_t verdict)
{
	if (!grow_zeroed((void **)verdicts, at, room, sizeof(**verdicts)))
		(*verdicts)[at] = verdict;
	return verdict;
}

uint8_t sieve_learn_label(struct sieve *sieve, uint32_t id)
{
	const struct task_label *label = sieve->tasks ? tasks_label_get(sieve->tasks, id) : NULL;
	uint8_t verdict = SIEVE_KNOWN;

	if (label && label->pid == 0)
		verdict |= SIEVE_IDLE_TASK;
	sieve_lock(sieve);
	if (!filter_pass_label(sieve->filter, id))
		verdict |= SIEVE_FAILS;
	sieve_unlock(sieve);
	return remember(&sieve->labels, &sieve->labels_room, id, verdict);
}

uint8_t sieve_learn_node(struct sieve *sieve, uint32_t node)
{
	uint8_t verdict = SIEVE_KNOWN;
	uint32_t symref = 0;

	sieve_lock(sieve);
	if (sieve->idle_leaf && node != STACK_ROOT)
		symref = names_symref(sieve->names, stacks_node(sieve->stacks, node)->frame);
	if (sieve->idle_leaf && names_peek(sieve->names, symref)->idle)
		verdict |= SIEVE_IDLE_LEAF;
	if (!filter_pass_stack(sieve->filter, node))
		verdict |= SIEVE_FAILS;
	sieve_unlock(sieve);
	return remember(&sieve->nodes, &sieve->nodes_room, node, verdict);
}

uint8_t sieve_learn_cpu(struct sieve *sieve, uint16_t cpu)
{
	return remember(&sieve->cpus, &sieve->cpus_room, cpu,
		filter_pass_cpu(sieve->filter, cpu) ? SIEVE_KNOWN : SIEVE_KNOWN | SIEVE_FAILS);
}
