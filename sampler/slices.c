/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slices.c - see slices.h.  Sampling thread.
 */
#include "sampler/slices.h"

#include "sampler/images.h"
#include "sampler/stacks.h"
#include "sampler/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int slices_init(struct slices *slices, struct stacks *stacks, struct tasks *tasks)
{
	*slices = (struct slices){.stacks = stacks, .tasks = tasks};
	return cells_init(&slices->adding);
}

void slices_fini(struct slices *slices)
{
	free(slices->work);
	cells_fini(&slices->adding);
}

size_t slices_memory(const struct slices *slices)
{
	return slices->work_size * sizeof(struct cell) + cells_memory(&slices->adding);
}

#define ADDED_UP_MAX 8192u /* cells of two slices; more are merged in order, which needs no index */
#define WORK_KEPT 65536u /* cells; more are given back after use */

static int need_work(struct slices *slices, size_t n)
{
	struct cell *grown;

	if (n <= slices->work_size)
		return 0;
	grown = realloc(slices->work, n * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	slices->work = grown;
	slices->work_size = n;
	return 0;
}

static void trim_work(struct slices *slices)
{
	if (slices->work_size <= WORK_KEPT)
		return;
	free(slices->work);
	slices->work = NULL;
	slices->work_size = 0;
}

/* One block: the slice, then its columns, widest first. */
static struct sealed *sealed_alloc(uint32_t cells, uint32_t n_totals)
{
	size_t bytes = sizeof(struct sealed) + n_totals * sizeof(struct slice_total) +
		(size_t)cells *
			(sizeof(uint64_t) + 3 * sizeof(uint32_t) + sizeof(uint16_t) +
				sizeof(uint8_t));
	struct sealed *sealed = malloc(bytes);
	struct slice *slice;

	if (!sealed)
		return NULL;
	/* Slices of all sizes come and go: the allocator was seen to need about an eighth more. */
	*sealed = (struct sealed){.bytes = bytes + bytes / 8};
	slice = &sealed->slice;
	slice->cells = cells;
	slice->n_totals = n_totals;
	slice->totals = (struct slice_total *)(sealed + 1);
	slice->weight = (uint64_t *)(slice->totals + n_totals);
	slice->stack = (uint32_t *)(slice->weight + cells);
	slice->task = slice->stack + cells;
	slice->count = slice->task + cells;
	slice->cpu = (uint16_t *)(slice->count + cells);
	slice->event = (uint8_t *)(slice->cpu + cells);
	slice->refs = 1; /* the list's */
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

/* Only while the slice is being made: its columns are its own. */
static void set_cell(struct slice *slice, size_t i, const struct cell *cell)
{
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

static struct sealed *sealed_new(struct slices *slices, const struct sums *sums, uint32_t cells,
	uint64_t start_ns, uint64_t end_ns)
{
	struct sealed *sealed = sealed_alloc(cells, sums->events);
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

static struct sealed *sealed_of_cells(struct slices *slices, const struct cell *cells, uint32_t n,
	uint64_t start_ns, uint64_t end_ns)
{
	struct sums sums = {0};
	struct sealed *sealed;

	for (uint32_t i = 0; i < n; i++)
		sums_add(&sums, cells[i].event, cells[i].weight, cells[i].count);
	sealed = sealed_new(slices, &sums, n, start_ns, end_ns);
	for (uint32_t i = 0; sealed && i < n; i++)
		set_cell(&sealed->slice, i, &cells[i]);
	return sealed;
}

int slices_seal(struct slices *slices, const struct cell *cells, uint32_t n, uint64_t start_ns,
	uint64_t end_ns, struct sealed **out)
{
	*out = sealed_of_cells(slices, cells, n, start_ns, end_ns);
	return *out ? 0 : -ENOMEM;
}

static void take_refs(struct slices *slices, const struct slice *slice)
{
	for (uint32_t i = 0; i < slice->cells; i++) {
		stacks_ref(slices->stacks, slice->stack[i]);
		tasks_label_ref(slices->tasks, slice->task[i]);
	}
}

void slices_destroy(struct slices *slices, struct sealed *sealed)
{
	if (!sealed)
		return;
	for (uint32_t i = 0; i < sealed->slice.cells; i++) {
		stacks_unref(slices->stacks, sealed->slice.stack[i]);
		tasks_label_unref(slices->tasks, sealed->slice.task[i]);
	}
	free(sealed);
}

/* --- merging --- */

static int compare(const struct cell *a, const struct cell *b)
{
	uint64_t left = (uint64_t)a->stack << 32 | a->task;
	uint64_t right = (uint64_t)b->stack << 32 | b->task;

	if (left == right) {
		left = (uint32_t)a->cpu << 8 | a->event;
		right = (uint32_t)b->cpu << 8 | b->event;
	}
	return (left > right) - (left < right);
}

static int compare_cells(const void *a, const void *b)
{
	return compare(a, b);
}

/* The cells of a slice in order: its columns where they are sorted, else a sorted copy. */
struct ordered {
	const struct slice *slice;
	const struct cell *copy; /* or NULL */
	size_t n, i;
};

static void gather(const struct slice *slice, struct cell *to)
{
	for (uint32_t i = 0; i < slice->cells; i++)
		to[i] = get_cell(slice, i);
}

static struct ordered order(const struct sealed *sealed, struct cell *work)
{
	struct ordered ordered = {.slice = &sealed->slice, .n = sealed->slice.cells};

	if (!sealed->sorted) {
		gather(&sealed->slice, work);
		qsort(work, ordered.n, sizeof(*work), compare_cells);
		ordered.copy = work;
	}
	return ordered;
}

static struct cell look(const struct ordered *from)
{
	return from->copy ? from->copy[from->i] : get_cell(from->slice, from->i);
}

/* The next cell of both together, equal ones added up; false at the end. */
static bool next_merged(struct ordered *a, struct ordered *b, struct cell *out)
{
	struct cell left, right;
	int order = 0;

	if (a->i == a->n && b->i == b->n)
		return false;
	if (a->i < a->n)
		left = look(a);
	if (b->i < b->n)
		right = look(b);
	if (a->i == a->n)
		order = 1;
	else if (b->i == b->n)
		order = -1;
	else
		order = compare(&left, &right);
	a->i += order <= 0;
	b->i += order >= 0;
	*out = order <= 0 ? left : right;
	if (!order) {
		out->count += right.count;
		out->weight += right.weight;
	}
	return true;
}

static struct sealed *merge_sorted(
	struct slices *slices, const struct sealed *a, const struct sealed *b)
{
	size_t copied = (a->sorted ? 0 : a->slice.cells) + (b->sorted ? 0 : b->slice.cells);
	struct ordered left, right;
	struct sums sums = {0};
	struct sealed *sealed;
	struct cell cell;
	uint32_t n = 0;

	if (need_work(slices, copied))
		return NULL;
	left = order(a, slices->work);
	right = order(b, slices->work + (a->sorted ? 0 : a->slice.cells));
	while (next_merged(&left, &right, &cell)) {
		sums_add(&sums, cell.event, cell.weight, cell.count);
		n++;
	}
	sealed = sealed_new(slices, &sums, n, a->slice.start_ns, b->slice.end_ns);
	if (sealed) {
		left.i = right.i = 0;
		for (n = 0; next_merged(&left, &right, &cell); n++)
			set_cell(&sealed->slice, n, &cell);
		sealed->sorted = true;
	}
	trim_work(slices);
	return sealed;
}

static int add_up(struct cells *cells, const struct slice *slice)
{
	int err = 0;

	for (uint32_t i = 0; i < slice->cells && !err; i++) {
		struct cell cell = get_cell(slice, i), *have;
		uint32_t where;

		have = cells_find(cells, cell.stack, cell.task, cell.cpu, cell.event, &where);
		if (have) {
			have->count += cell.count;
			have->weight += cell.weight;
		} else {
			err = cells_add(cells, where, &cell);
		}
	}
	return err;
}

/* Most merges are of small slices, for which this is several times faster than sorting. */
static struct sealed *merge_unsorted(
	struct slices *slices, const struct sealed *a, const struct sealed *b)
{
	struct cells *cells = &slices->adding;

	cells_clear(cells);
	if (add_up(cells, &a->slice) || add_up(cells, &b->slice))
		return NULL;
	return sealed_of_cells(slices, cells->at, cells->n, a->slice.start_ns, b->slice.end_ns);
}

int slices_merge(
	struct slices *slices, const struct sealed *a, const struct sealed *b, struct sealed **out)
{
	bool sorted = a->sorted && b->sorted;
	struct sealed *sealed;

	*out = NULL;
	if (a->samples + b->samples > UINT32_MAX)
		return -EOVERFLOW;
	if (sorted || a->slice.cells + b->slice.cells > ADDED_UP_MAX)
		sealed = merge_sorted(slices, a, b);
	else
		sealed = merge_unsorted(slices, a, b);
	if (!sealed)
		return -ENOMEM;
	take_refs(slices, &sealed->slice);
	sealed->detail = a->detail < b->detail ? a->detail : b->detail;
	*out = sealed;
	return 0;
}

/* --- less detail --- */

#define FRAMES_FEW 4u

/* The stack of the leaf-most frames of a stack. */
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
	while (n && !err)
		err = stacks_child(stacks, *out, frames[--n], out);
	return err;
}

static int unknown_stack(struct stacks *stacks, uint32_t *out)
{
	uint32_t frame;
	int err = stacks_frame(stacks, IMAGE_ID_UNKNOWN, 0, FRAME_USER, &frame);

	return err ? err : stacks_child(stacks, STACK_ROOT, frame, out);
}

/* Give every cell of work its shorter stack. */
static int cut_cells(struct slices *slices, size_t n, enum detail detail)
{
	unsigned int keep = detail == DETAIL_FEW ? FRAMES_FEW : 1;
	uint32_t before = STACK_ROOT, after = STACK_ROOT;
	int err = 0;

	if (detail == DETAIL_NONE)
		err = unknown_stack(slices->stacks, &after);
	for (size_t i = 0; i < n && !err; i++) {
		struct cell *cell = &slices->work[i];

		if (detail == DETAIL_NONE) {
			cell->task = TASK_LABEL_MERGED;
		} else if (cell->stack != before) {
			before = cell->stack;
			err = cut_stack(slices->stacks, before, keep, &after);
		}
		cell->stack = after;
	}
	return err;
}

int slices_reduce(
	struct slices *slices, const struct sealed *from, enum detail detail, struct sealed **out)
{
	size_t cells = from->slice.cells;
	struct cell *work;
	uint32_t n = 0;
	int err;

	*out = NULL;
	if (from->samples > UINT32_MAX)
		return -EOVERFLOW;
	err = need_work(slices, cells);
	if (err)
		return err;
	work = slices->work;
	gather(&from->slice, work);
	err = cut_cells(slices, cells, detail);
	if (err)
		goto out;
	qsort(work, cells, sizeof(*work), compare_cells);
	for (size_t i = 0; i < cells; i++) {
		if (n && !compare(&work[n - 1], &work[i])) {
			work[n - 1].count += work[i].count;
			work[n - 1].weight += work[i].weight;
		} else {
			work[n++] = work[i];
		}
	}
	*out = sealed_of_cells(slices, work, n, from->slice.start_ns, from->slice.end_ns);
	if (!*out) {
		err = -ENOMEM;
		goto out;
	}
	take_refs(slices, &(*out)->slice);
	(*out)->detail = detail;
	(*out)->sorted = true;
out:
	trim_work(slices);
	return err;
}
