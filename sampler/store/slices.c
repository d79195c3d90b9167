/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slices.c - makes, merges, reduces and renames sealed slices; see slices.h.  Sampling thread. */
#include "sampler/store/slices.h"

#include "sampler/fields/values.h"
#include "sampler/store/images.h"
#include "sampler/store/stacks.h"
#include "sampler/store/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int slices_init(struct slices *slices, struct stacks *stacks, struct tasks *tasks, uint32_t kept)
{
	*slices = (struct slices){.stacks = stacks, .tasks = tasks, .kept = kept};
	return cells_init(&slices->adding);
}

void slices_fini(struct slices *slices)
{
	cells_fini(&slices->adding);
}

size_t slices_memory(const struct slices *slices)
{
	return cells_memory(&slices->adding);
}

#define CELLS_A_STEP 32u /* cells prefetched together */

/* Allocates one block: the slice, then its columns, widest first. */
static struct sealed *sealed_alloc(uint32_t cells, bool with_values, uint32_t n_totals)
{
	size_t bytes = sizeof(struct sealed) + n_totals * sizeof(struct slice_total) +
		(size_t)cells *
			(sizeof(uint64_t) + (3u + with_values) * sizeof(uint32_t) +
				sizeof(uint16_t) + sizeof(uint8_t));
	struct sealed *sealed = malloc(bytes);
	struct slice *slice;

	if (!sealed)
		return NULL;
	/* Slices have many sizes and lifetimes: the allocator was seen to need about an eighth
	 * more. */
	*sealed = (struct sealed){.bytes = bytes + bytes / 8};
	slice = &sealed->slice;
	slice->cells = cells;
	slice->n_totals = n_totals;
	slice->totals = (struct slice_total *)(sealed + 1);
	slice->weight = (uint64_t *)(slice->totals + n_totals);
	slice->stack = (uint32_t *)(slice->weight + cells);
	slice->task = slice->stack + cells;
	slice->count = slice->task + cells;
	slice->values = with_values ? slice->count + cells : NULL;
	slice->cpu = (uint16_t *)(slice->count + (with_values ? 2u : 1u) * (size_t)cells);
	slice->event = (uint8_t *)(slice->cpu + cells);
	slice->refs = 1; /* held by the list */
	return sealed;
}

static struct cell get_cell(const struct slice *slice, size_t i)
{
	return (struct cell){.stack = slice->stack[i],
		.task = slice->task[i],
		.cpu = slice->cpu[i],
		.event = slice->event[i],
		.count = slice->count[i],
		.weight = slice->weight[i]};
}

static uint32_t get_values(const struct slice *slice, size_t i)
{
	return slice->values ? slice->values[i] : VALUES_NONE;
}

/* Writes a cell of a slice that is still being made. */
static void set_cell(struct slice *slice, size_t i, const struct cell *cell, uint32_t values)
{
	if (slice->values)
		((uint32_t *)slice->values)[i] = values;
	((uint64_t *)slice->weight)[i] = cell->weight;
	((uint32_t *)slice->stack)[i] = cell->stack;
	((uint32_t *)slice->task)[i] = cell->task;
	((uint32_t *)slice->count)[i] = cell->count;
	((uint16_t *)slice->cpu)[i] = cell->cpu;
	((uint8_t *)slice->event)[i] = cell->event;
}

/* Sums by event, for the totals of a slice. */
struct sums {
	uint64_t weight[STORE_EVENTS_MAX], count[STORE_EVENTS_MAX];
	uint64_t samples;
	uint32_t events;
};

static void sums_add(struct sums *sums, uint8_t event, uint64_t weight, uint64_t count)
{
	sums->events += !sums->count[event];
	sums->weight[event] += weight;
	sums->count[event] += count;
	sums->samples += count;
}

static struct sealed *sealed_new(struct slices *slices, const struct sums *sums,
	const struct cells *cells, uint64_t start_ns, uint64_t end_ns)
{
	struct sealed *sealed = sealed_alloc(cells->n, cells->n_values, sums->events);
	struct slice_total *total;

	if (!sealed)
		return NULL;
	sealed->slice.serial = ++slices->last_serial;
	sealed->slice.start_ns = start_ns;
	sealed->slice.end_ns = end_ns;
	sealed->samples = sums->samples;
	total = (struct slice_total *)sealed->slice.totals;
	for (unsigned int event = 0; event < STORE_EVENTS_MAX; event++)
		if (sums->count[event])
			*total++ = (struct slice_total){.event = (uint8_t)event,
				.weight = sums->weight[event],
				.count = sums->count[event]};
	return sealed;
}

static struct sealed *sealed_of_cells(
	struct slices *slices, struct cells *cells, uint64_t start_ns, uint64_t end_ns)
{
	const struct radix_item *order = cells_by_stack(cells);
	struct sums sums = {0};
	struct sealed *sealed;

	if (!order)
		return NULL;
	for (uint32_t i = 0; i < cells->n; i++)
		sums_add(&sums, cells->at[i].event, cells->at[i].weight, cells->at[i].count);
	sealed = sealed_new(slices, &sums, cells, start_ns, end_ns);
	for (uint32_t i = 0; sealed && i < cells->n; i++)
		set_cell(&sealed->slice, i, &cells->at[order[i].id],
			cells_values(cells, order[i].id));
	return sealed;
}

int slices_seal(struct slices *slices, struct cells *cells, uint64_t start_ns, uint64_t end_ns,
	struct sealed **out)
{
	*out = sealed_of_cells(slices, cells, start_ns, end_ns);
	return *out ? 0 : -ENOMEM;
}

static void take_refs(struct slices *slices, const struct slice *slice)
{
	for (uint32_t i = 0; i < slice->cells; i++) {
		stacks_ref(slices->stacks, slice->stack[i]);
		tasks_label_ref(slices->tasks, slice->task[i]);
	}
	for (uint32_t i = 0; slice->values && i < slice->cells; i++)
		values_ref(slices->values, slice->values[i], 1);
}

void slices_destroy(struct slices *slices, struct sealed *sealed)
{
	if (!sealed)
		return;
	for (uint32_t i = 0; i < sealed->slice.cells; i++) {
		stacks_unref(slices->stacks, sealed->slice.stack[i]);
		tasks_label_unref(slices->tasks, sealed->slice.task[i]);
	}
	for (uint32_t i = 0; sealed->slice.values && i < sealed->slice.cells; i++)
		values_unref(slices->values, sealed->slice.values[i], 1);
	free(sealed);
}

/* --- merging --- */

static int add_one(struct cells *cells, uint32_t hash, const struct cell *cell, uint32_t values)
{
	uint32_t where;
	struct cell *have = cells_find_hashed(
		cells, hash, cell->stack, cell->task, cell->cpu, cell->event, values, &where);

	if (!have)
		return cells_add(cells, where, cell, values);
	have->count += cell->count;
	have->weight += cell->weight;
	have->more++;
	return 0;
}

static int add_up(struct cells *cells, const struct slice *slice)
{
	uint32_t hashes[CELLS_A_STEP], end;

	for (uint32_t start = 0; start < slice->cells; start = end) {
		end = slice->cells - start > CELLS_A_STEP ? start + CELLS_A_STEP : slice->cells;
		for (uint32_t i = start; i < end; i++) {
			uint32_t hash = cells_hash(slice->stack[i], slice->task[i], slice->cpu[i],
				slice->event[i], get_values(slice, i));

			hashes[i - start] = hash;
			cells_prefetch_slot(cells, hash);
		}
		for (uint32_t i = start; i < end; i++)
			cells_prefetch_cell(cells, hashes[i - start]);
		for (uint32_t i = start; i < end; i++) {
			const struct cell cell = get_cell(slice, i);
			int err = add_one(cells, hashes[i - start], &cell, get_values(slice, i));

			if (err)
				return err;
		}
	}
	return 0;
}

int slices_merge(
	struct slices *slices, struct sealed *const *from, unsigned int n, struct sealed **out)
{
	struct cells *cells = &slices->adding;
	enum detail detail = DETAIL_NONE;
	bool reduced = false;
	uint64_t samples = 0;
	int err = 0;

	*out = NULL;
	for (unsigned int i = 0; i < n; i++) {
		samples += from[i]->samples;
		reduced |= from[i]->slice.reduced;
		if (from[i]->detail < detail)
			detail = from[i]->detail;
	}
	if (samples > UINT32_MAX)
		return -EOVERFLOW;
	cells_clear(cells);
	for (unsigned int i = 0; i < n && !err; i++)
		err = add_up(cells, &from[i]->slice);
	if (err)
		return err;
	*out = sealed_of_cells(slices, cells, from[0]->slice.start_ns, from[n - 1]->slice.end_ns);
	if (!*out)
		return -ENOMEM;
	(*out)->detail = detail;
	(*out)->slice.reduced = reduced;
	return 0;
}

/* Drops the surplus references of cells that the merge joined.  `adding` still holds the cells of
 * the merge. */
static void drop_surplus(struct slices *slices)
{
	const struct cells *cells = &slices->adding;

	for (uint32_t i = 0; i < cells->n; i++) {
		const struct cell *cell = &cells->at[i];

		if (!cell->more)
			continue;
		stacks_unref_some(slices->stacks, cell->stack, cell->more);
		for (unsigned int more = cell->more; more; more--)
			tasks_label_unref(slices->tasks, cell->task);
		values_unref(slices->values, cells_values(cells, i), cell->more);
	}
}

void slices_settle(struct slices *slices, const struct sealed *merged, struct sealed *const *from,
	const bool *unheld, unsigned int n)
{
	bool all = true;

	for (unsigned int i = 0; i < n; i++)
		all = all && unheld[i];
	if (all)
		drop_surplus(slices);
	else
		take_refs(slices, &merged->slice);
	for (unsigned int i = 0; i < n; i++) {
		if (all)
			free(from[i]);
		else if (unheld[i])
			slices_destroy(slices, from[i]);
	}
	cells_trim(&slices->adding, slices->kept);
}

/* --- less detail --- */

#define FRAMES_FEW 4u

/* Makes a stack of only the leaf-most `keep` frames of a stack. */
static int cut_stack(struct stacks *stacks, uint32_t stack, unsigned int keep, uint32_t *out)
{
	uint32_t frames[FRAMES_FEW], n = 0;
	int err = 0;

	*out = stack;
	if (stacks_node(stacks, stack)->depth <= keep)
		return 0;
	for (; n < keep; n++) {
		frames[n] = stacks_node(stacks, stack)->frame;
		stack = stacks_node(stacks, stack)->parent;
	}
	*out = STACK_ROOT;
	while (n > 1 && !err)
		err = stacks_child(stacks, *out, frames[--n], out);
	return err ? err : stacks_leaf(stacks, *out, frames[0], out);
}

static int unknown_stack(struct stacks *stacks, uint32_t *out)
{
	uint32_t frame;
	int err = stacks_frame(stacks, IMAGE_ID_UNKNOWN, 0, FRAME_USER, &frame);

	return err ? err : stacks_leaf(stacks, STACK_ROOT, frame, out);
}

/* Adds up the cells of a slice with their shorter stacks, without values. */
static int add_reduced(struct slices *slices, const struct slice *slice, enum detail detail)
{
	unsigned int keep = detail == DETAIL_FEW ? FRAMES_FEW : 1;
	uint32_t before = STACK_ROOT, after = STACK_ROOT;
	int err = 0;

	if (detail == DETAIL_NONE)
		err = unknown_stack(slices->stacks, &after);
	for (uint32_t i = 0; i < slice->cells && !err; i++) {
		struct cell cell = get_cell(slice, i);

		if (detail == DETAIL_NONE) {
			cell.task = TASK_LABEL_MERGED;
		} else if (detail == DETAIL_PLAIN) {
			after = cell.stack;
		} else if (cell.stack != before) {
			before = cell.stack;
			err = cut_stack(slices->stacks, before, keep, &after);
		}
		cell.stack = after;
		if (!err)
			err = add_one(&slices->adding,
				cells_hash(
					cell.stack, cell.task, cell.cpu, cell.event, VALUES_NONE),
				&cell, VALUES_NONE);
	}
	return err;
}

/* Returns a hash of the leaf-most frames of a stack; equal frames have equal hashes. */
static uint32_t hash_of_leaf(const struct stacks *stacks, uint32_t stack, unsigned int keep)
{
	uint32_t hash = 0;

	for (; keep && stack != STACK_ROOT; keep--) {
		const struct stack_node *node = stacks_node(stacks, stack);

		hash = idtable_mix(hash, node->frame);
		stack = node->parent;
	}
	return hash;
}

/* Returns the number of nodes that are freed if a stack loses that many references. */
static uint64_t nodes_freed(const struct stacks *stacks, uint32_t stack, uint32_t refs)
{
	uint64_t n = 0;

	for (; stack != STACK_ROOT && stacks_node(stacks, stack)->refs == refs; n++) {
		stack = stacks_node(stacks, stack)->parent;
		refs = 1;
	}
	return n;
}

/* Cells of a slice with less detail, and the nodes freed and made with it. */
struct reduction {
	uint64_t cells, freed, made;
};

#define MARK_TASK UINT32_MAX /* task of an entry that is no cell, but marks a stack as present */

/* Adds the cells of one stack to the estimate. */
static int weigh_stack(struct slices *slices, const struct slice *slice, uint32_t first,
	uint32_t end, enum detail detail, struct reduction *out)
{
	unsigned int keep = detail == DETAIL_FEW ? FRAMES_FEW : detail == DETAIL_LEAF;
	uint32_t stack = slice->stack[first], leaf = hash_of_leaf(slices->stacks, stack, keep);
	struct cell cell = {.stack = leaf, .task = MARK_TASK};
	uint32_t n = slices->adding.n;
	int err;

	if (stacks_node(slices->stacks, stack)->depth > keep) {
		out->freed += nodes_freed(slices->stacks, stack, end - first);
		err = add_one(&slices->adding, cells_hash(leaf, MARK_TASK, 0, 0, VALUES_NONE),
			&cell, VALUES_NONE);
		if (err)
			return err;
		out->made += slices->adding.n > n ? keep : 0;
		n = slices->adding.n;
	}
	for (uint32_t i = first; i < end; i++) {
		cell = get_cell(slice, i);
		cell.stack = leaf;
		cell.task = detail == DETAIL_NONE ? TASK_LABEL_MERGED : cell.task;
		err = add_one(&slices->adding,
			cells_hash(cell.stack, cell.task, cell.cpu, cell.event, VALUES_NONE), &cell,
			VALUES_NONE);
		if (err)
			return err;
	}
	out->cells += slices->adding.n - n;
	return 0;
}

bool slices_worth_reducing(struct slices *slices, const struct sealed *from, enum detail detail)
{
	const struct slice *slice = &from->slice;
	struct reduction less = {0};
	uint64_t bytes = from->bytes, left;
	int err = 0;

	cells_clear(&slices->adding);
	for (uint32_t first = 0, end; first < slice->cells && !err; first = end) {
		for (end = first + 1;
			end < slice->cells && slice->stack[end] == slice->stack[first];)
			end++;
		err = weigh_stack(slices, slice, first, end, detail, &less);
	}
	cells_trim(&slices->adding, slices->kept);
	left = bytes * less.cells / (slice->cells ? slice->cells : 1) +
		less.made * stacks_node_bytes();
	return !err && left <= bytes / 4 * 3 + less.freed * stacks_node_bytes();
}

int slices_reduce(
	struct slices *slices, const struct sealed *from, enum detail detail, struct sealed **out)
{
	struct cells *cells = &slices->adding;
	int err;

	*out = NULL;
	if (from->samples > UINT32_MAX)
		return -EOVERFLOW;
	cells_clear(cells);
	err = add_reduced(slices, &from->slice, detail);
	if (!err)
		*out = sealed_of_cells(slices, cells, from->slice.start_ns, from->slice.end_ns);
	cells_trim(cells, slices->kept);
	if (!*out)
		return err ? err : -ENOMEM;
	take_refs(slices, &(*out)->slice);
	(*out)->detail = detail;
	(*out)->slice.reduced = true;
	return 0;
}

/* --- other stacks --- */

struct parts {
	uint64_t cuts[SLICES_CUTS_MAX + 1]; /* end of each part, ns */
	uint32_t stacks[SLICES_CUTS_MAX + 1]; /* stack of the current cell in each part */
	/* samples that each part still lacks; negative: has too many */
	double owed[SLICES_CUTS_MAX + 1];
	size_t n;
	uint64_t start_ns;
};

static void find_parts(
	const struct slice *slice, const struct slices_renaming *renaming, struct parts *parts)
{
	*parts = (struct parts){.start_ns = slice->start_ns};
	parts->n = renaming->cuts(
		renaming->ctx, slice->start_ns, slice->end_ns, parts->cuts, SLICES_CUTS_MAX);
	parts->cuts[parts->n++] = slice->end_ns;
}

/* Finds the stacks of one stack in all parts.  Clears *same if one differs. */
static int rename_stack(
	const struct slices_renaming *renaming, struct parts *parts, uint32_t stack, bool *same)
{
	uint64_t from_ns = parts->start_ns;
	int err = 0;

	for (size_t i = 0; i < parts->n && !err; i++) {
		err = renaming->stack(
			renaming->ctx, stack, from_ns, parts->cuts[i], &parts->stacks[i]);
		*same &= parts->stacks[i] == stack;
		from_ns = parts->cuts[i];
	}
	return err;
}

/* Adds one cell as several.  A sample stays whole; a part that rounding leaves short gets more from
 * later cells. */
static int add_parts(
	struct slices *slices, const struct cell *cell, uint32_t values, struct parts *parts)
{
	const double all_ns = (double)(parts->cuts[parts->n - 1] - parts->start_ns);
	uint64_t from_ns = parts->start_ns, weight = cell->weight;
	uint32_t count = cell->count;
	int err = 0;

	for (size_t i = 0; i < parts->n && count && !err; i++) {
		struct cell part = *cell;

		/* Neighbouring parts with equal stacks are one. */
		if (i + 1 < parts->n && parts->stacks[i] == parts->stacks[i + 1])
			continue;
		parts->owed[i] += cell->count * (double)(parts->cuts[i] - from_ns) / all_ns;
		from_ns = parts->cuts[i];
		if (i + 1 < parts->n) {
			const double due = parts->owed[i] + 0.5;

			part.count = due < 1 ? 0 : due >= count ? count : (uint32_t)due;
		} else {
			part.count = count;
		}
		parts->owed[i] -= part.count;
		if (!part.count)
			continue;
		part.stack = parts->stacks[i];
		part.more = 0;
		part.weight = part.count == count ? weight
						  : (uint64_t)((double)weight * part.count / count);
		count -= part.count;
		weight -= part.weight;
		err = add_one(&slices->adding,
			cells_hash(part.stack, part.task, part.cpu, part.event, values), &part,
			values);
	}
	return err;
}

int slices_rename(struct slices *slices, const struct sealed *from,
	const struct slices_renaming *renaming, struct sealed **out)
{
	const struct slice *slice = &from->slice;
	struct cells *cells = &slices->adding;
	struct parts parts;
	bool same = true;
	int err = 0;

	*out = NULL;
	if (from->samples > UINT32_MAX)
		return 0;
	cells_clear(cells);
	find_parts(slice, renaming, &parts);
	for (uint32_t i = 0; i < slice->cells && !err; i++) {
		const struct cell cell = get_cell(slice, i);

		if (!i || cell.stack != slice->stack[i - 1])
			err = rename_stack(renaming, &parts, cell.stack, &same);
		if (!err)
			err = add_parts(slices, &cell, get_values(slice, i), &parts);
	}
	if (!err && !same) {
		*out = sealed_of_cells(slices, cells, slice->start_ns, slice->end_ns);
		err = *out ? 0 : -ENOMEM;
	}
	cells_trim(cells, slices->kept);
	if (*out) {
		take_refs(slices, &(*out)->slice);
		(*out)->detail = from->detail;
		(*out)->slice.reduced = slice->reduced;
	}
	return err;
}
