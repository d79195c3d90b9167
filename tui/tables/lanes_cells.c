/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lanes_cells.c - sums many cells into lanes: see lanes_private.h.
 */
#include "tui/tables/lanes_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEW 32u

/* Cells whose sums are prefetched before the first is used.  The sums by lane and symbol take more
 * memory than the caches close to the processor have. */
struct few {
	uint64_t *sum[FEW]; /* sum of the lane's symbol; NULL: not allocated yet */
	uint64_t counts[FEW]; /* mask: all bits set if the cell counts, else 0 */
	uint32_t lane[FEW], at[FEW], symref[FEW];
};

static void fetch(
	const struct lanes_work *work, const struct slice *slice, uint32_t i, uint32_t last)
{
	/* Stacks of the other thread are not prefetched. */
	if (i + FEW < last && slice->stack[i + FEW] < work->sieve.stacks_room)
		__builtin_prefetch(&work->sieve.stacks_known[slice->stack[i + FEW]]);
}

/* Looks up the sums of n cells.  A cell that does not count adds 0 to an existing lane, since a
 * branch that depends on the cell would cost more. */
static void find_few(struct lanes_work *work, const struct slice *slice, uint32_t first, uint32_t n,
	uint32_t last, const uint8_t *verdicts, struct few *few)
{
	const struct query *query = work->query;
	const bool by_cpu = query->group == GROUP_CPU;
	const uint32_t *lanes = by_cpu ? work->of_cpu : work->of_label;
	const uint32_t n_lanes = by_cpu ? work->cpus_room : work->labels_room;

	for (uint32_t k = 0, i = first; k < n; k++, i++) {
		uint32_t known, at = by_cpu ? slice->cpu[i] : slice->task[i], lane, symref;
		uint64_t counts;

		fetch(work, slice, i, last);
		known = sieve_stack(&work->sieve, slice->stack[i]);
		counts = query_mask(query, verdicts[k] | sieve_stack_verdict(known)) &
			((uint64_t)(slice->event[i] != query->event) - 1);
		at = (at & (uint32_t)counts) | (work->counted & ~(uint32_t)counts);
		lane = at < n_lanes ? lanes[at] - 1 : UINT32_MAX;
		symref = sieve_stack_leaf(known);
		few->counts[k] = counts;
		few->at[k] = at;
		few->lane[k] = lane;
		few->symref[k] = symref;
		few->sum[k] = NULL;
		if (lane < work->fresh_room && work->fresh[lane].samples &&
			lanes_has_row(work, lane) && symref < work->n_symrefs) {
			few->sum[k] = &work->rows[lane][symref];
			__builtin_prefetch(few->sum[k]);
		}
	}
}

static int add_few(struct lanes_work *work, const struct slice *slice, uint32_t first, uint32_t n,
	const struct few *few)
{
	int ret = 0;

	for (uint32_t k = 0; k < n && !ret; k++) {
		const uint64_t counts = few->counts[k];
		const struct lanes_part part = {.at = few->at[k],
			.symref = few->symref[k],
			.weight = slice->weight[first + k] & counts,
			.samples = slice->count[first + k] & counts};

		if (few->sum[k]) {
			*few->sum[k] += part.weight;
			work->fresh[few->lane[k]].weight += part.weight;
			work->fresh[few->lane[k]].samples += part.samples;
		} else if (counts) {
			ret = lanes_count(work, &part);
			work->counted = part.at;
		}
	}
	return ret;
}

/* Adds a block of cells, without caching parts. */
static int add_block(struct lanes_work *work, const struct slice *slice, uint32_t first, uint32_t n,
	uint32_t last)
{
	uint8_t verdicts[SIEVE_BLOCK];
	struct few few;
	int ret = 0;

	sieve_rests(&work->sieve, slice, first, n, verdicts);
	for (uint32_t done = 0; done < n && !ret; done += FEW) {
		uint32_t some = n - done < FEW ? n - done : FEW;

		find_few(work, slice, first + done, some, last, verdicts + done, &few);
		ret = add_few(work, slice, first + done, some, &few);
	}
	return ret;
}

int lanes_add_cells(struct lanes_work *work, const struct slice *slice, size_t slice_at)
{
	uint32_t first, last;
	int ret = 0;

	lanes_begin_slice(work, slice);
	half_cells(&work->half, slice, slice_at, &first, &last);
	for (; first < last && !ret; first += SIEVE_BLOCK)
		ret = add_block(work, slice, first,
			last - first < SIEVE_BLOCK ? last - first : SIEVE_BLOCK, last);
	return ret;
}

/* Adds the cells of this thread's stacks in all slices. */
static int add_half(void *ctx)
{
	struct lanes_work *work = ctx;
	const struct query *query = work->query;
	int ret = 0;

	while (!ret && half_next(&work->half))
		for (size_t i = 0; i < query->snapshot->n && !ret; i++)
			if (slice_is_in(query->snapshot->slices[i], query->from_ns, query->to_ns))
				ret = lanes_add_cells(work, query->snapshot->slices[i], i);
	lanes_spread_out(work);
	return ret;
}

static int take_lane(struct lanes_work *work, const struct lane *from, uint32_t *id)
{
	struct lanes_key key;
	struct lane *lane;

	memset(&key, 0, sizeof(key));
	key.pid = from->pid;
	key.tid = from->tid;
	key.cpu = from->cpu;
	if (work->query->group == GROUP_COMMAND)
		memcpy(key.name, from->name, sizeof(key.name));
	if (lanes_find(work, &key, id))
		return -ENOMEM;
	lane = &work->lanes->lane[*id];
	if (from->since_ns >= lane->since_ns) {
		lane->since_ns = from->since_ns;
		memcpy(lane->name, from->name, sizeof(lane->name));
	}
	lane->weight += from->weight;
	lane->samples += from->samples;
	for (size_t i = 0; i < work->lanes->columns; i++)
		lane->columns[i] += from->columns[i];
	return 0;
}

/* Adds the sums of the other thread. */
static int take(struct lanes_work *work, const struct lanes_work *from)
{
	uint32_t *ids = calloc(from->lanes->n + 1, sizeof(*ids));
	int ret = ids ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < from->lanes->n && !ret; i++) {
		ret = take_lane(work, &from->lanes->lane[i], &ids[i]);
		if (!ret && lanes_has_row(from, i))
			ret = lanes_add_symbols(work, ids[i], from->rows[i]);
	}
	for (uint32_t i = 0; i < from->n_slots && !ret; i++)
		ret = lanes_add_symbol(work, ids[from->pairs[i].lane], from->pairs[i].symref,
			from->pairs[i].weight);
	free(ids);
	return ret;
}

static int add_in_two(struct lanes_work *work, struct halves *halves)
{
	struct lanes lanes = *work->lanes;
	struct lanes_work other;
	int ret;

	lanes_work_init(&other, work->query, &lanes);
	other.n_symrefs = work->n_symrefs;
	ret = sieve_share(&work->sieve, &work->half, &other.sieve, &other.half, halves);
	if (!ret)
		ret = halves_run(add_half, work, &other);
	if (!ret)
		ret = take(work, &other);
	lanes_work_fini(&other);
	lanes_fini(&lanes);
	return ret;
}

int lanes_add_all(struct lanes_work *work)
{
	const struct query *query = work->query;
	struct halves halves;
	int ret;

	if (work->sieve.by_fields ||
		!halves_init(
			&halves, query->snapshot, query->from_ns, query->to_ns, query->two_cells))
		return add_half(work);
	ret = add_in_two(work, &halves);
	halves_fini(&halves);
	return ret;
}
