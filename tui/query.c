/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * query.c - see query.h.
 *
 * Cells are joined by group first and walked only for the symbol's sake.  UI thread.
 */
#include "tui/query.h"

#include "tui/clean.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where a symbol stands in a stack. */
enum { ON_LEAF = 1, ON_STACK = 2 };

/* Rows by key, and what is known of nodes: two small hash tables. */
struct work {
	const struct query *query;
	struct query_row *rows;
	uint64_t *keys;
	size_t n_rows, rows_room;
	uint32_t *slots; /* row + 1 */
	size_t n_slots;
	uint32_t *nodes; /* STACK_ROOT: free */
	uint8_t *marks;
	size_t n_nodes, nodes_slots;
};

static size_t hash(uint64_t key, size_t slots)
{
	return (size_t)(key * 0x9e3779b97f4a7c15ull >> 20) & (slots - 1);
}

static int grow_slots(struct work *work)
{
	size_t n = work->n_slots ? work->n_slots * 2 : 64;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < work->n_rows; i++) {
		size_t slot = hash(work->keys[i], n);

		while (slots[slot])
			slot = (slot + 1) & (n - 1);
		slots[slot] = (uint32_t)i + 1;
	}
	free(work->slots);
	work->slots = slots;
	work->n_slots = n;
	return 0;
}

static int grow_rows(struct work *work)
{
	size_t room = work->rows_room ? work->rows_room * 2 : 32;
	struct query_row *rows = reallocarray(work->rows, room, sizeof(*rows));
	uint64_t *keys;

	if (!rows)
		return -ENOMEM;
	work->rows = rows;
	keys = reallocarray(work->keys, room, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	work->keys = keys;
	work->rows_room = room;
	return 0;
}

/* The row of a key, *made when it is new and has only zeros; NULL when out of memory. */
static struct query_row *row_of(struct work *work, uint64_t key, bool *made)
{
	size_t slot;

	*made = false;
	if (work->n_rows >= work->n_slots / 2 && grow_slots(work))
		return NULL;
	for (slot = hash(key, work->n_slots); work->slots[slot];
		slot = (slot + 1) & (work->n_slots - 1)) {
		uint32_t i = work->slots[slot] - 1;

		if (work->keys[i] == key)
			return &work->rows[i];
	}
	if (work->n_rows == work->rows_room && grow_rows(work))
		return NULL;
	work->slots[slot] = (uint32_t)work->n_rows + 1;
	work->keys[work->n_rows] = key;
	work->rows[work->n_rows] = (struct query_row){0};
	*made = true;
	return &work->rows[work->n_rows++];
}

static uint8_t walk(const struct query *query, uint32_t node)
{
	uint8_t mark = 0, place = ON_LEAF | ON_STACK;

	for (; node != STACK_ROOT; place = ON_STACK) {
		const struct stack_node *at = stacks_node(query->stacks, node);

		if (names_symref(query->names, at->frame) == query->symref) {
			mark |= place;
			break;
		}
		node = at->parent;
	}
	return mark;
}

static int grow_nodes(struct work *work)
{
	size_t n = work->nodes_slots ? work->nodes_slots * 2 : 1024;
	uint32_t *nodes = calloc(n, sizeof(*nodes));
	uint8_t *marks = calloc(n, sizeof(*marks));

	if (!nodes || !marks) {
		free(nodes);
		free(marks);
		return -ENOMEM;
	}
	for (size_t i = 0; i < work->nodes_slots; i++) {
		size_t slot;

		if (work->nodes[i] == STACK_ROOT)
			continue;
		slot = hash(work->nodes[i], n);
		while (nodes[slot] != STACK_ROOT)
			slot = (slot + 1) & (n - 1);
		nodes[slot] = work->nodes[i];
		marks[slot] = work->marks[i];
	}
	free(work->nodes);
	free(work->marks);
	work->nodes = nodes;
	work->marks = marks;
	work->nodes_slots = n;
	return 0;
}

/* Each stack is walked once, however many cells have it.  -ENOMEM, or a mark. */
static int mark_of(struct work *work, uint32_t node)
{
	size_t slot;

	if (node == STACK_ROOT)
		return work->query->symref ? 0 : ON_LEAF | ON_STACK;
	if (work->n_nodes >= work->nodes_slots / 2 && grow_nodes(work))
		return -ENOMEM;
	for (slot = hash(node, work->nodes_slots); work->nodes[slot] != STACK_ROOT;
		slot = (slot + 1) & (work->nodes_slots - 1))
		if (work->nodes[slot] == node)
			return work->marks[slot];
	work->nodes[slot] = node;
	work->marks[slot] = walk(work->query, node);
	work->n_nodes++;
	return work->marks[slot];
}

static bool is_idle(const struct query *query, const struct slice *slice, uint32_t i)
{
	const struct task_label *label = tasks_label_get(query->tasks, slice->task[i]);
	const struct stack_node *leaf;

	if (!label || label->pid != 0)
		return false;
	if (!query->idle_by_name)
		return true;
	if (slice->stack[i] == STACK_ROOT)
		return false;
	leaf = stacks_node(query->stacks, slice->stack[i]);
	return names_get(query->names, names_symref(query->names, leaf->frame))->idle;
}

static int add_cell(struct work *work, const struct slice *slice, uint32_t i)
{
	const struct query *query = work->query;
	const struct task_label *label = tasks_label_get(query->tasks, slice->task[i]);
	int mark = ON_LEAF | ON_STACK;
	struct query_row *row;
	uint64_t key;
	bool made;

	if (slice->event[i] != query->event || (query->hide_idle && is_idle(query, slice, i)))
		return 0;
	if (query->by_symbol) {
		mark = mark_of(work, slice->stack[i]);
		if (mark <= 0)
			return mark;
	}
	if (query->group == GROUP_CPU)
		key = slice->cpu[i];
	else if (query->group == GROUP_PROCESS)
		key = label ? (uint32_t)label->pid : UINT32_MAX;
	else
		key = label ? (uint64_t)(uint32_t)label->pid << 32 | (uint32_t)label->tid
			    : UINT64_MAX;
	row = row_of(work, key, &made);
	if (!row)
		return -ENOMEM;
	if (query->group == GROUP_CPU) {
		row->cpu = slice->cpu[i];
	} else if (label) {
		bool process = query->group == GROUP_PROCESS;

		row->pid = label->pid;
		row->tid = process ? 0 : label->tid;
		/* Slices come by time, so the last name seen is the newest. */
		clean_text(row->name, sizeof(row->name),
			process ? label->process_comm : label->comm, TASK_COMM_MAX);
	}
	row->total += slice->weight[i];
	if (mark & ON_LEAF) {
		row->self += slice->weight[i];
		row->samples += slice->count[i];
	}
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct query_row *left = a, *right = b;

	if (left->total != right->total)
		return left->total > right->total ? -1 : 1;
	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	return left->cpu < right->cpu ? -1 : left->cpu > right->cpu;
}

int query_run(const struct query *query, struct query_row **rows, size_t *n)
{
	struct work work = {.query = query};
	int ret = 0;

	*rows = NULL;
	*n = 0;
	for (size_t i = 0; i < query->snapshot->n && !ret; i++) {
		const struct slice *slice = query->snapshot->slices[i];

		for (uint32_t j = 0; j < slice->cells && !ret; j++)
			ret = add_cell(&work, slice, j);
	}
	if (!ret && work.n_rows) {
		qsort(work.rows, work.n_rows, sizeof(*work.rows), compare_rows);
		*rows = work.rows;
		*n = work.n_rows;
		work.rows = NULL;
	}
	free(work.rows);
	free(work.keys);
	free(work.slots);
	free(work.nodes);
	free(work.marks);
	return ret;
}

/* Weight of the event in a slice; the totals serve unless single samples must be left out. */
static uint64_t slice_weight(const struct query *query, const struct slice *slice)
{
	uint64_t weight = 0;

	if (!query->hide_idle) {
		for (uint32_t i = 0; i < slice->n_totals; i++)
			if (slice->totals[i].event == query->event)
				return slice->totals[i].weight;
		return 0;
	}
	for (uint32_t i = 0; i < slice->cells; i++) {
		if (slice->event[i] == query->event && !is_idle(query, slice, i))
			weight += slice->weight[i];
	}
	return weight;
}

int query_activity(
	const struct query *query, uint64_t from_ns, uint64_t to_ns, uint64_t *out, size_t columns)
{
	double part, *weights;

	memset(out, 0, columns * sizeof(*out));
	if (!columns || to_ns <= from_ns)
		return 0;
	weights = calloc(columns, sizeof(*weights));
	if (!weights)
		return -ENOMEM;
	part = (double)(to_ns - from_ns) / (double)columns;
	for (size_t i = 0; i < query->snapshot->n; i++) {
		const struct slice *slice = query->snapshot->slices[i];
		double start, end, density;
		size_t k;

		if (slice->end_ns <= from_ns || slice->start_ns >= to_ns ||
			slice->end_ns <= slice->start_ns)
			continue;
		/* Even over the slice, of which only the part in the range counts. */
		start = (double)slice->start_ns - (double)from_ns;
		end = (double)slice->end_ns - (double)from_ns;
		density = (double)slice_weight(query, slice) / (end - start);
		if (start < 0)
			start = 0;
		for (k = (size_t)(start / part); k < columns && (double)k * part < end; k++) {
			double left = (double)k * part, right = left + part;

			if (left < start)
				left = start;
			if (right > end)
				right = end;
			if (right > left)
				weights[k] += density * (right - left);
		}
	}
	for (size_t i = 0; i < columns; i++)
		out[i] = (uint64_t)(weights[i] * 1e9 / part + 0.5);
	free(weights);
	return 0;
}
