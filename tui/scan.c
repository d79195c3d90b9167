/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan.c - see scan.h.
 *
 * What a label, a CPU or a stack's leaf means is found once and kept in arrays by id, so that a cell costs a few
 * loads.  The entries of the first sides are found by arrays as long as the stacks' ids, those of the others by
 * one hash table.
 */
#include "tui/scan.h"

#include "tui/clean.h"
#include "tui/grow.h"

#define DENSE_SIDES 4u
#define AHEAD 8u /* cells whose sums are fetched before they are needed */

enum { LEAF_KNOWN = 1, LEAF_RESOLVED = 2, LEAF_IDLE = 4 };

struct label_info {
	uint32_t task; /* + 1; 0: not known yet */
	bool idle;
};

struct dense {
	uint32_t *entries; /* + 1, by node */
	uint32_t room;
};

struct work {
	const struct scan_question *question;
	struct scan *scan;
	uint32_t entries_room, sides_room, tasks_room, columns_room;
	struct intern task_keys, column_keys;
	struct label_info *labels;
	uint32_t labels_room;
	uint8_t *leaves; /* by node */
	uint32_t leaves_room;
	struct dense dense[DENSE_SIDES];
	uint32_t *hashed; /* entry + 1, by (node, side) */
	uint32_t n_hashed, hashed_slots;
	uint32_t *side_slots; /* side + 1 */
	uint32_t n_side_slots;
	uint32_t last_side;
	uint32_t event_sides[STORE_EVENTS_MAX]; /* + 1; where the event alone makes the side */
};

/* The key of a task or column, all of whose bytes count. */
struct task_key {
	int32_t pid, tid;
	char comm[TASK_COMM_MAX];
};

static int intern_task(struct work *work, const struct task_label *label, uint32_t *task)
{
	unsigned int by = work->question->by;
	struct task_key key;
	struct scan_task *made;

	memset(&key, 0, sizeof(key));
	if (by & (SCAN_PROCESS | SCAN_THREAD))
		key.pid = label ? label->pid : -1;
	if (by & SCAN_THREAD)
		key.tid = label ? label->tid : -1;
	if (label && by & SCAN_COMMAND)
		clean_text(key.comm, sizeof(key.comm), label->comm, TASK_COMM_MAX);
	if (intern_id(&work->task_keys, &key, sizeof(key), task))
		return -ENOMEM;
	if (*task == work->scan->n_tasks) {
		if (grow_room((void **)&work->scan->tasks, *task, &work->tasks_room, sizeof(*made)))
			return -ENOMEM;
		made = &work->scan->tasks[work->scan->n_tasks++];
		*made = (struct scan_task){.pid = key.pid, .tid = key.tid};
		memcpy(made->comm, key.comm, sizeof(made->comm));
	}
	made = &work->scan->tasks[*task];
	if (label && label->since_ns >= made->since_ns) {
		made->since_ns = label->since_ns;
		clean_text(made->process_comm, sizeof(made->process_comm), label->process_comm,
			TASK_COMM_MAX);
		if (!(by & SCAN_COMMAND))
			clean_text(made->comm, sizeof(made->comm), label->comm, TASK_COMM_MAX);
	}
	return 0;
}

static uint8_t event_of(const struct scan_question *question, const struct slice *slice, uint32_t i)
{
	return question->stands_for ? question->stands_for[slice->event[i]] : slice->event[i];
}

/* The column of a cell; the thread's, where it is one, is known by its label. */
static int intern_column(struct work *work, const struct slice *slice, uint32_t i, uint32_t *column)
{
	const struct task_label *label = NULL;
	uint32_t key[4] = {event_of(work->question, slice, i)};
	struct scan_column *made;

	if (work->question->column == GROUP_CPU) {
		key[1] = slice->cpu[i];
	} else if (work->question->column == GROUP_THREAD) {
		label = tasks_label_get(work->question->tasks, slice->task[i]);
		key[2] = label ? (uint32_t)label->pid : UINT32_MAX;
		key[3] = label ? (uint32_t)label->tid : UINT32_MAX;
	}
	if (intern_id(&work->column_keys, key, sizeof(key), column))
		return -ENOMEM;
	if (*column < work->scan->n_columns)
		return 0;
	if (grow_room((void **)&work->scan->columns, *column, &work->columns_room, sizeof(*made)))
		return -ENOMEM;
	made = &work->scan->columns[work->scan->n_columns++];
	*made = (struct scan_column){.pid = (int32_t)key[2],
		.tid = (int32_t)key[3],
		.number = key[1],
		.event = (uint8_t)key[0]};
	clean_text(made->comm, sizeof(made->comm), label ? label->comm : "", TASK_COMM_MAX);
	return 0;
}

static int learn_label(struct work *work, uint32_t id)
{
	const struct task_label *label = tasks_label_get(work->question->tasks, id);
	struct label_info info = {.task = SCAN_NONE};
	int ret = 0;

	info.idle = label && label->pid == 0;
	if (work->question->by & (SCAN_PROCESS | SCAN_THREAD | SCAN_COMMAND)) {
		ret = intern_task(work, label, &info.task);
		info.task++;
	}
	if (!ret)
		ret = grow_zeroed(
			(void **)&work->labels, id, &work->labels_room, sizeof(*work->labels));
	if (!ret)
		work->labels[id] = info;
	return ret;
}

static int learn_leaf(struct work *work, uint32_t node)
{
	const struct scan_question *question = work->question;
	const struct symref *name;

	if (grow_zeroed((void **)&work->leaves, node, &work->leaves_room, sizeof(*work->leaves)))
		return -ENOMEM;
	name = names_peek(question->names,
		node == STACK_ROOT ? 0
				   : names_symref(question->names,
					     stacks_node(question->stacks, node)->frame));
	work->leaves[node] = (uint8_t)(LEAF_KNOWN | (name->resolved ? LEAF_RESOLVED : 0) |
		(name->idle ? LEAF_IDLE : 0));
	return 0;
}

static int leaf_of(struct work *work, uint32_t node)
{
	if (node >= work->leaves_room || !work->leaves[node]) {
		if (learn_leaf(work, node))
			return -ENOMEM;
	}
	return work->leaves[node];
}

static uint32_t mix(uint32_t a, uint32_t b)
{
	uint64_t hash = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(hash >> 32 ^ hash >> 17);
}

static uint32_t hash_of_side(const struct scan_side *side)
{
	return mix(side->task,
		mix(side->column,
			mix(side->fields,
				(uint32_t)side->cgroup << 24 | (uint32_t)side->cpu << 8 |
					side->event)));
}

static bool same_side(const struct scan_side *a, const struct scan_side *b)
{
	return a->task == b->task && a->column == b->column && a->cpu == b->cpu &&
		a->event == b->event && a->fields == b->fields && a->cgroup == b->cgroup;
}

static int grow_side_slots(struct work *work)
{
	uint32_t n = work->n_side_slots ? work->n_side_slots * 2 : 256;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < work->scan->n_sides; i++) {
		uint32_t slot = hash_of_side(&work->scan->sides[i]) & (n - 1);

		while (slots[slot])
			slot = (slot + 1) & (n - 1);
		slots[slot] = i + 1;
	}
	free(work->side_slots);
	work->side_slots = slots;
	work->n_side_slots = n;
	return 0;
}

static int intern_side(struct work *work, const struct scan_side *side, uint32_t *id)
{
	struct scan *scan = work->scan;
	uint32_t slot;

	if (scan->n_sides && same_side(&scan->sides[work->last_side], side)) {
		*id = work->last_side;
		return 0;
	}
	if (scan->n_sides >= work->n_side_slots / 2 && grow_side_slots(work))
		return -ENOMEM;
	for (slot = hash_of_side(side) & (work->n_side_slots - 1); work->side_slots[slot];
		slot = (slot + 1) & (work->n_side_slots - 1)) {
		*id = work->side_slots[slot] - 1;
		if (same_side(&scan->sides[*id], side)) {
			work->last_side = *id;
			return 0;
		}
	}
	if (grow_room((void **)&scan->sides, scan->n_sides, &work->sides_room, sizeof(*side)))
		return -ENOMEM;
	*id = work->last_side = scan->n_sides++;
	scan->sides[*id] = *side;
	work->side_slots[slot] = *id + 1;
	return 0;
}

static int new_entry(struct work *work, uint32_t node, uint32_t side, uint32_t *id)
{
	struct scan *scan = work->scan;

	if (grow_room((void **)&scan->entries, scan->n_entries, &work->entries_room,
		    sizeof(*scan->entries)))
		return -ENOMEM;
	*id = scan->n_entries++;
	scan->entries[*id] = (struct scan_entry){.node = node, .side = side};
	return 0;
}

static int grow_hashed(struct work *work)
{
	uint32_t n = work->hashed_slots ? work->hashed_slots * 2 : 4096;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < work->hashed_slots; i++) {
		const struct scan_entry *entry;
		uint32_t slot;

		if (!work->hashed[i])
			continue;
		entry = &work->scan->entries[work->hashed[i] - 1];
		slot = mix(entry->node, entry->side) & (n - 1);
		while (slots[slot])
			slot = (slot + 1) & (n - 1);
		slots[slot] = work->hashed[i];
	}
	free(work->hashed);
	work->hashed = slots;
	work->hashed_slots = n;
	return 0;
}

static int hashed_entry(struct work *work, uint32_t node, uint32_t side, uint32_t *id)
{
	uint32_t slot;

	if (work->n_hashed >= work->hashed_slots / 2 && grow_hashed(work))
		return -ENOMEM;
	for (slot = mix(node, side) & (work->hashed_slots - 1); work->hashed[slot];
		slot = (slot + 1) & (work->hashed_slots - 1)) {
		const struct scan_entry *entry = &work->scan->entries[work->hashed[slot] - 1];

		if (entry->node == node && entry->side == side) {
			*id = work->hashed[slot] - 1;
			return 0;
		}
	}
	if (new_entry(work, node, side, id))
		return -ENOMEM;
	work->hashed[slot] = *id + 1;
	work->n_hashed++;
	return 0;
}

static int dense_entry(
	struct work *work, struct dense *dense, uint32_t node, uint32_t side, uint32_t *id)
{
	if (grow_zeroed((void **)&dense->entries, node, &dense->room, sizeof(*dense->entries)))
		return -ENOMEM;
	if (!dense->entries[node]) {
		if (new_entry(work, node, side, id))
			return -ENOMEM;
		dense->entries[node] = *id + 1;
	}
	*id = dense->entries[node] - 1;
	return 0;
}

static int count(struct work *work, const struct slice *slice, uint32_t i, uint32_t side)
{
	uint32_t node = work->question->by & SCAN_STACK ? slice->stack[i] : STACK_ROOT;
	struct scan_entry *entry;
	uint32_t id;
	int ret;

	if (side < DENSE_SIDES)
		ret = dense_entry(work, &work->dense[side], node, side, &id);
	else
		ret = hashed_entry(work, node, side, &id);
	if (ret)
		return ret;
	entry = &work->scan->entries[id];
	entry->weight += slice->weight[i];
	entry->samples += slice->count[i];
	return 0;
}

/* The parts of a cell's side that were asked for. */
static int side_of(struct work *work, const struct slice *slice, uint32_t i, struct scan_side *side)
{
	const struct scan_question *question = work->question;
	uint32_t label = slice->task[i];

	*side = (struct scan_side){.task = SCAN_NONE,
		.column = SCAN_NONE,
		.fields = SCAN_NONE,
		.event = event_of(question, slice, i)};
	if (label >= work->labels_room || !work->labels[label].task) {
		if (learn_label(work, label))
			return -ENOMEM;
	}
	if (question->by & (SCAN_PROCESS | SCAN_THREAD | SCAN_COMMAND))
		side->task = work->labels[label].task - 1;
	if (question->by & SCAN_CPU)
		side->cpu = slice->cpu[i];
	if (question->by & SCAN_CGROUP)
		side->cgroup = slice->event[i];
	if (question->by & SCAN_FIELDS &&
		scan_fields_id(&work->scan->fields, question->schemas, question->fields,
			question->names, slice->event[i],
			slice->values ? slice->values[i] : VALUES_NONE, &side->fields))
		return -ENOMEM;
	if (question->column != GROUP_KEYS)
		return intern_column(work, slice, i, &side->column);
	return 0;
}

/* 1: it does not count at all. */
static int is_idle(struct work *work, const struct slice *slice, uint32_t i)
{
	uint32_t label = slice->task[i];
	int leaf;

	if (work->question->idle_by_name) {
		leaf = leaf_of(work, slice->stack[i]);
		return leaf < 0 ? leaf : !!(leaf & LEAF_IDLE);
	}
	if (label >= work->labels_room || !work->labels[label].task) {
		if (learn_label(work, label))
			return -ENOMEM;
	}
	return work->labels[label].idle;
}

static int add_cell(struct work *work, const struct slice *slice, uint32_t i)
{
	const struct scan_question *question = work->question;
	uint8_t event = event_of(question, slice, i);
	struct scan_sums *sums = &work->scan->sums[event];
	uint64_t weight = slice->weight[i], samples = slice->count[i];
	struct scan_column *column = NULL;
	struct scan_side side;
	uint32_t id;
	int leaf, ret;

	if (question->event >= 0 && event != question->event)
		return 0;
	if (question->hide_idle) {
		ret = is_idle(work, slice, i);
		if (ret)
			return ret < 0 ? ret : 0;
	}
	ret = side_of(work, slice, i, &side);
	if (ret)
		return ret;
	if (side.column != SCAN_NONE) {
		column = &work->scan->columns[side.column];
		column->all_weight += weight;
		column->all_samples += samples;
	}
	sums->all_weight += weight;
	sums->all_samples += samples;
	if (!filter_pass(question->filter, slice, i))
		return 0;
	leaf = question->leave_unresolved ? LEAF_RESOLVED : leaf_of(work, slice->stack[i]);
	if (leaf < 0)
		return leaf;
	sums->weight += weight;
	sums->samples += samples;
	if (!(leaf & LEAF_RESOLVED))
		sums->unresolved += weight;
	if (column) {
		column->weight += weight;
		column->samples += samples;
	}
	ret = intern_side(work, &side, &id);
	return ret ? ret : count(work, slice, i, id);
}

static int add_slice(struct work *work, const struct slice *slice)
{
	int ret = 0;

	for (uint32_t i = 0; i < slice->cells && !ret; i++)
		ret = add_cell(work, slice, i);
	return ret;
}

/* Nothing is left out and the event is the whole side: the case in which speed matters most. */
static bool is_plain(const struct scan_question *question)
{
	return !question->filter && !question->hide_idle && question->by == SCAN_STACK &&
		!question->stands_for && question->column == GROUP_KEYS;
}

/* The sums are spread over more memory than any cache holds, and where they lie is known long before. */
static void fetch_ahead(const struct work *work, const struct slice *slice, uint32_t i)
{
	const struct dense *dense = &work->dense[0];

	if (i + 2 * AHEAD >= slice->cells)
		return;
	if (slice->stack[i + 2 * AHEAD] < dense->room)
		__builtin_prefetch(&dense->entries[slice->stack[i + 2 * AHEAD]]);
	if (slice->stack[i + AHEAD] < dense->room && dense->entries[slice->stack[i + AHEAD]])
		__builtin_prefetch(
			&work->scan->entries[dense->entries[slice->stack[i + AHEAD]] - 1]);
}

static int add_plain_slice(struct work *work, const struct slice *slice)
{
	const struct scan_question *question = work->question;
	int ret = 0;

	for (uint32_t i = 0; i < slice->cells && !ret; i++) {
		uint8_t event = slice->event[i];
		uint32_t node = slice->stack[i], side = work->event_sides[event] - 1;

		fetch_ahead(work, slice, i);
		if (side < DENSE_SIDES && node < work->dense[side].room &&
			work->dense[side].entries[node]) {
			struct scan_entry *entry =
				&work->scan->entries[work->dense[side].entries[node] - 1];

			entry->weight += slice->weight[i];
			entry->samples += slice->count[i];
			continue;
		}
		if (question->event >= 0 && event != question->event)
			continue;
		if (!work->event_sides[event]) {
			const struct scan_side made = {.task = SCAN_NONE,
				.column = SCAN_NONE,
				.fields = SCAN_NONE,
				.event = event};

			ret = intern_side(work, &made, &side);
			if (ret)
				break;
			work->event_sides[event] = side + 1;
		}
		ret = count(work, slice, i, side);
	}
	return ret;
}

static int sum_plain(struct work *work)
{
	for (uint32_t i = 0; i < work->scan->n_entries; i++) {
		const struct scan_entry *entry = &work->scan->entries[i];
		struct scan_sums *sums = &work->scan->sums[work->scan->sides[entry->side].event];
		int leaf = work->question->leave_unresolved ? LEAF_RESOLVED
							    : leaf_of(work, entry->node);

		if (leaf < 0)
			return leaf;
		sums->weight += entry->weight;
		sums->samples += entry->samples;
		sums->all_weight += entry->weight;
		sums->all_samples += entry->samples;
		if (!(leaf & LEAF_RESOLVED))
			sums->unresolved += entry->weight;
	}
	return 0;
}

int scan_run(const struct scan_question *question, struct scan *out)
{
	struct work work = {.question = question, .scan = out};
	bool plain = is_plain(question);
	uint64_t first_ns = UINT64_MAX;
	int ret = 0;

	memset(out, 0, sizeof(*out));
	out->fields.n_names = question->by & SCAN_FIELDS ? (uint32_t)question->n_fields : 0;
	for (size_t i = 0; i < question->snapshot->n && !ret; i++) {
		const struct slice *slice = question->snapshot->slices[i];

		if (!slice_is_in(slice, question->from_ns, question->to_ns))
			continue;
		if (slice->start_ns < first_ns)
			first_ns = slice->start_ns;
		out->span_ns = slice->end_ns - first_ns;
		ret = plain ? add_plain_slice(&work, slice) : add_slice(&work, slice);
	}
	if (!ret && plain)
		ret = sum_plain(&work);
	intern_fini(&work.task_keys);
	intern_fini(&work.column_keys);
	for (uint32_t i = 0; i < DENSE_SIDES; i++)
		free(work.dense[i].entries);
	free(work.labels);
	free(work.leaves);
	free(work.hashed);
	free(work.side_slots);
	if (ret)
		scan_fini(out);
	return ret;
}

void scan_fini(struct scan *scan)
{
	free(scan->entries);
	free(scan->sides);
	free(scan->tasks);
	free(scan->columns);
	scan_fields_fini(&scan->fields);
	memset(scan, 0, sizeof(*scan));
}
