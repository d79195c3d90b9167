/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sieve.c - see sieve.h.
 */
#include "tui/query/sieve.h"

#include "sampler/base/hugepages.h"
#include "tui/base/grow.h"
#include "tui/names/forest.h"

void sieve_init(struct sieve *sieve, struct filter *filter, const struct stacks *stacks,
	const struct tasks *tasks, struct names *names, unsigned int wanted)
{
	*sieve = (struct sieve){
		.filter = filter,
		.stacks = stacks,
		.tasks = tasks,
		.names = names,
		.by_label = wanted & SIEVE_IDLE_TASK || filter_asks_label(filter),
		.by_stack =
			wanted & (SIEVE_IDLE_LEAF | SIEVE_UNRESOLVED) || filter_asks_stack(filter),
		.by_cpu = filter_asks_cpu(filter),
		.by_fields = filter_asks_fields(filter),
		.wanted = wanted,
	};
}

void sieve_fini(struct sieve *sieve)
{
	free(sieve->labels);
	if (!sieve->shared)
		free(sieve->stacks_known);
	free(sieve->cpus);
	*sieve = (struct sieve){.filter = NULL};
}

static uint8_t remember(uint8_t **verdicts, uint32_t *room, uint32_t at, uint8_t verdict)
{
	if (!grow_zeroed((void **)verdicts, at, room, sizeof(**verdicts)))
		(*verdicts)[at] = verdict;
	return verdict;
}

bool sieve_is_idle(
	const struct tasks *tasks, uint32_t label, const struct symref *leaf, bool by_name)
{
	const struct task_label *task;

	if (by_name)
		return leaf->idle;
	task = tasks ? tasks_label_get(tasks, label) : NULL;
	return task && !task->pid;
}

uint8_t sieve_learn_label(struct sieve *sieve, uint32_t id)
{
	uint8_t verdict = SIEVE_KNOWN;

	if (sieve_is_idle(sieve->tasks, id, NULL, false))
		verdict |= SIEVE_IDLE_TASK;
	sieve_lock(sieve);
	if (!filter_pass_label(sieve->filter, id))
		verdict |= SIEVE_FAILS;
	sieve_unlock(sieve);
	return remember(&sieve->labels, &sieve->labels_room, id, verdict);
}

/* Returns the verdict without the filter's on a leaf with this symref. */
static uint32_t judge_leaf(const struct sieve *sieve, uint32_t symref)
{
	uint32_t verdict = SIEVE_KNOWN;

	if (sieve->wanted & (SIEVE_IDLE_LEAF | SIEVE_UNRESOLVED)) {
		const struct symref *name = names_peek(sieve->names, symref);

		if (sieve->wanted & SIEVE_IDLE_LEAF && sieve_is_idle(NULL, 0, name, true))
			verdict |= SIEVE_IDLE_LEAF;
		if (sieve->wanted & SIEVE_UNRESOLVED && !name->resolved)
			verdict |= SIEVE_UNRESOLVED;
	}
	return verdict << SIEVE_STACK_SHIFT | (symref + 1);
}

static uint32_t fails(bool passes)
{
	return passes ? 0 : (uint32_t)SIEVE_FAILS << SIEVE_STACK_SHIFT;
}

/* Shared memory must not move.  If memory runs out, verdicts are not kept. */
void sieve_reserve(struct sieve *sieve, uint32_t node)
{
	if (!sieve->lock)
		(void)grow_zeroed((void **)&sieve->stacks_known, node, &sieve->stacks_room,
			sizeof(*sieve->stacks_known));
}

/* Must hold the lock. */
static uint32_t learn_stack(struct sieve *sieve, uint32_t node)
{
	uint32_t symref = 0, known;

	if (node != STACK_ROOT)
		symref = names_symref(sieve->names, stacks_node(sieve->stacks, node)->frame);
	known = judge_leaf(sieve, symref) | fails(filter_pass_stack(sieve->filter, node));
	if (node < sieve->stacks_room)
		sieve->stacks_known[node] = known;
	return known;
}

uint32_t sieve_learn_stack(struct sieve *sieve, uint32_t node)
{
	uint32_t known;

	sieve_reserve(sieve, node);
	sieve_lock(sieve);
	known = learn_stack(sieve, node);
	sieve_unlock(sieve);
	return known;
}

void sieve_learn_stacks(struct sieve *sieve, const uint32_t *nodes, uint32_t n)
{
	if (!sieve->lock || !sieve->by_stack)
		return;
	sieve_lock(sieve);
	for (uint32_t i = 0; i < n; i++)
		if (nodes[i] < sieve->stacks_room && !sieve->stacks_known[nodes[i]])
			(void)learn_stack(sieve, nodes[i]);
	sieve_unlock(sieve);
}

/* Judges all stacks known to the forest, some of which may be gone, using only the forest's
 * data. */
static int judge_met(struct sieve *sieve, const struct forest *forest)
{
	const uint32_t limit = names_limit(sieve->names);
	uint32_t *leaves = calloc(limit, sizeof(*leaves)); /* by symref: verdict on a leaf */
	uint32_t node, number;

	if (!leaves)
		return -ENOMEM;
	for (uint32_t i = 0; i < forest->n_asked; i++) {
		uint32_t symref;

		if (!forest_asked(forest, i, &node, &number) || node >= sieve->stacks_room)
			continue;
		symref = forest->symref[number];
		if (!leaves[symref])
			leaves[symref] = judge_leaf(sieve, symref) |
				fails(filter_pass_symref(sieve->filter, symref));
		sieve->stacks_known[node] =
			leaves[symref] | fails(filter_pass_number(sieve->filter, number));
	}
	free(leaves);
	return 0;
}

static int prepare(struct sieve *sieve, struct sieve *other, uint32_t n_stacks)
{
	struct forest *forest;
	int ret = -ENOMEM;

	if (!sieve->by_stack)
		return 0;
	forest = forest_of(sieve->names, sieve->stacks);
	free(sieve->stacks_known);
	sieve->stacks_known =
		hugepages_zeroed(sizeof(uint64_t), n_stacks * sizeof(*sieve->stacks_known));
	sieve->stacks_room = sieve->stacks_known ? n_stacks : 0;
	if (sieve->stacks_known && forest)
		ret = filter_judge_forest(sieve->filter) ? judge_met(sieve, forest) : 0;
	forest_put(forest);
	if (ret)
		return ret;
	other->stacks_known = sieve->stacks_known;
	other->stacks_room = n_stacks;
	other->shared = true;
	return 0;
}

int sieve_share(struct sieve *sieve, struct half *half, struct sieve *other,
	struct half *other_half, struct halves *halves)
{
	int ret = prepare(sieve, other, halves->n_stacks);

	if (!ret)
		ret = half_init(half, halves, false);
	if (!ret)
		ret = half_init(other_half, halves, true);
	sieve->lock = other->lock = &halves->lock;
	return ret;
}

uint8_t sieve_learn_cpu(struct sieve *sieve, uint16_t cpu)
{
	return remember(&sieve->cpus, &sieve->cpus_room, cpu,
		filter_pass_cpu(sieve->filter, cpu) ? SIEVE_KNOWN : SIEVE_KNOWN | SIEVE_FAILS);
}

void sieve_rests(struct sieve *sieve, const struct slice *slice, uint32_t first, uint32_t n,
	uint8_t *verdicts)
{
	const uint32_t *task = slice->task + first;
	const uint16_t *cpu = slice->cpu + first;

	memset(verdicts, SIEVE_KNOWN, n);
	for (uint32_t i = 0; sieve->by_label && i < n; i++) {
		const uint8_t *known = sieve->labels;
		uint32_t room = sieve->labels_room;

		for (; i < n && task[i] < room && known[task[i]]; i++)
			verdicts[i] |= known[task[i]];
		if (i < n)
			verdicts[i] |= sieve_learn_label(sieve, task[i]);
	}
	for (uint32_t i = 0; sieve->by_cpu && i < n; i++) {
		const uint8_t *known = sieve->cpus;
		uint32_t room = sieve->cpus_room;

		for (; i < n && cpu[i] < room && known[cpu[i]]; i++)
			verdicts[i] |= known[cpu[i]];
		if (i < n)
			verdicts[i] |= sieve_learn_cpu(sieve, cpu[i]);
	}
	for (uint32_t i = 0; sieve->by_fields && i < n; i++)
		if (!filter_pass_fields(sieve->filter, slice, first + i))
			verdicts[i] |= SIEVE_FAILS;
}
