/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan.c - see scan.h.
 *
 * Facts on a label, a CPU or a stack's leaf are found once and kept in arrays by id.  A cell then
 * costs a few loads.  Entries of the first sides are found in arrays by stack id, those of the
 * other sides in one hash table.
 */
#include "tui/query/scan_private.h"

#include "sampler/base/hugepages.h"
#include "tui/base/clean.h"
#include "tui/base/grow.h"
#include "tui/names/forest.h"

#define ENTRIES_AHEAD 16u /* distance, in entries, between a prefetch and its use */
#define WALK_PART \
	64u /* walks n / WALK_PART stacks one by one before it looks at all n nodes of the forest */

/* Key of a task.  All bytes count, so it must be zeroed first. */
struct task_key {
	int32_t pid, tid;
	char comm[TASK_COMM_MAX];
};

int scan_add_task(struct scan_work *work, const struct scan_task *seen, uint32_t *task)
{
	bool by_command = work->question->by & SCAN_COMMAND;
	struct task_key key;
	struct scan_task *made;

	memset(&key, 0, sizeof(key));
	key.pid = seen->pid;
	key.tid = seen->tid;
	if (by_command)
		memcpy(key.comm, seen->comm, sizeof(key.comm));
	if (intern_id(&work->task_keys, &key, sizeof(key), task))
		return -ENOMEM;
	if (*task == work->scan->n_tasks) {
		if (grow_room((void **)&work->scan->tasks, *task, &work->tasks_room, sizeof(*made)))
			return -ENOMEM;
		work->scan->tasks[work->scan->n_tasks++] = *seen;
	}
	made = &work->scan->tasks[*task];
	if (seen->since_ns >= made->since_ns)
		*made = *seen;
	return 0;
}

static int intern_task(struct scan_work *work, const struct task_label *label, uint32_t *task)
{
	unsigned int by = work->question->by;
	struct scan_task seen;

	memset(&seen, 0, sizeof(seen));
	if (by & (SCAN_PROCESS | SCAN_THREAD))
		seen.pid = label ? label->pid : -1;
	if (by & SCAN_THREAD)
		seen.tid = label ? label->tid : -1;
	if (label) {
		seen.since_ns = label->since_ns;
		clean_text(seen.comm, sizeof(seen.comm), label->comm, TASK_COMM_MAX);
		clean_text(seen.process_comm, sizeof(seen.process_comm), label->process_comm,
			TASK_COMM_MAX);
	}
	return scan_add_task(work, &seen, task);
}

/* Returns the column of a cell.  The cell's label gives the thread of a thread column. */
static int intern_column(
	struct scan_work *work, const struct slice *slice, uint32_t i, uint32_t *column)
{
	const struct task_label *label = NULL;
	uint32_t key[4] = {scan_event(work->question, slice, i)};
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

int scan_task_of(struct scan_work *work, uint32_t label, uint32_t *task)
{
	if (label < work->labels_room && work->label_tasks[label]) {
		*task = work->label_tasks[label] - 1;
		return 0;
	}
	if (intern_task(work, tasks_label_get(work->question->tasks, label), task) ||
		grow_zeroed((void **)&work->label_tasks, label, &work->labels_room,
			sizeof(*work->label_tasks)))
		return -ENOMEM;
	work->label_tasks[label] = *task + 1;
	return 0;
}

/* --- the place of the requested symbol --- */

static enum scan_place place_of(const struct scan_work *work, uint32_t number)
{
	if (work->forest->symref[number] == work->question->symref)
		return SCAN_LEAF;
	return work->has[number] ? SCAN_ABOVE : SCAN_NOWHERE;
}

static int take_forest(struct scan_work *work)
{
	if (!work->forest)
		work->forest = forest_of(work->question->names, work->question->stacks);
	return work->forest ? 0 : -ENOMEM;
}

/* Extends `has` to new nodes of the forest.  Callers come before their callees. */
static int find_has(struct scan_work *work)
{
	const struct scan_question *question = work->question;
	const struct forest *forest;

	if (take_forest(work))
		return -ENOMEM;
	forest = work->forest;
	if (grow_zeroed((void **)&work->has, forest->n - 1, &work->has_room, 1))
		return -ENOMEM;
	for (; work->n_has < forest->n; work->n_has++) {
		uint32_t i = work->n_has;

		work->has[i] = i > FOREST_ROOT &&
			(work->has[forest->parent[i]] || forest->symref[i] == question->symref);
	}
	return 0;
}

/* Finds the place on one stack by walking its callers. */
static enum scan_place walk_to_place(const struct scan_work *work, uint32_t number)
{
	const struct forest *forest = work->forest;

	for (uint32_t at = number; at != FOREST_ROOT; at = forest->parent[at])
		if (forest->symref[at] == work->question->symref)
			return at == number ? SCAN_LEAF : SCAN_ABOVE;
	return SCAN_NOWHERE;
}

/* Walks the first few stacks one by one, then builds `has` for all nodes. */
static int find_place(struct scan_work *work, uint32_t stack, uint32_t *place)
{
	uint32_t number;

	if (take_forest(work) || forest_number(work->forest, stack, &number))
		return -ENOMEM;
	if (work->n_walked < work->forest->n / WALK_PART) {
		work->n_walked++;
		*place = walk_to_place(work, number);
		return 0;
	}
	if (find_has(work))
		return -ENOMEM;
	*place = place_of(work, number);
	return 0;
}

int scan_prepare_places(struct scan_work *work, struct scan_work *other, uint32_t n_stacks)
{
	uint32_t node, number;

	if (!work->question->only)
		return 0;
	work->places = hugepages_zeroed(sizeof(uint64_t), n_stacks);
	if (!work->places || find_has(work))
		return -ENOMEM;
	for (uint32_t i = 0; i < work->forest->n_asked; i++)
		if (forest_asked(work->forest, i, &node, &number) && node < n_stacks)
			work->places[node] = (uint8_t)place_of(work, number);
	work->places_room = other->places_room = n_stacks;
	other->places = work->places;
	other->places_shared = true;
	return 0;
}

static int learn_place(struct scan_work *work, uint32_t stack, uint32_t *place)
{
	int ret;

	sieve_lock(&work->sieve);
	ret = find_place(work, stack, place);
	sieve_unlock(&work->sieve);
	if (ret ||
		(stack >= work->places_room &&
			grow_zeroed((void **)&work->places, stack, &work->places_room, 1)))
		return -ENOMEM;
	work->places[stack] = (uint8_t)*place;
	return 0;
}

int scan_entry_node(struct scan_work *work, uint32_t stack, uint32_t *node)
{
	if (!work->question->only) {
		*node = work->question->by & SCAN_STACK ? stack : STACK_ROOT;
		return 0;
	}
	if (stack >= work->places_room || !work->places[stack])
		return learn_place(work, stack, node);
	*node = work->places[stack];
	return 0;
}

/* --- sides and entries --- */

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

static int grow_side_slots(struct scan_work *work)
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

int scan_side_id(struct scan_work *work, const struct scan_side *side, uint32_t *id)
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

int scan_new_entry(struct scan_work *work, uint32_t node, uint32_t side, uint32_t *id)
{
	struct scan *scan = work->scan;

	if (grow_room((void **)&scan->entries, scan->n_entries, &work->entries_room,
		    sizeof(*scan->entries)))
		return -ENOMEM;
	*id = scan->n_entries++;
	scan->entries[*id] = (struct scan_entry){.node = node, .side = side};
	return 0;
}

static int grow_hashed(struct scan_work *work)
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

static int hashed_entry(struct scan_work *work, uint32_t node, uint32_t side, uint32_t *id)
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
	if (scan_new_entry(work, node, side, id))
		return -ENOMEM;
	work->hashed[slot] = *id + 1;
	work->n_hashed++;
	return 0;
}

static int side_entry(struct scan_work *work, uint32_t place, uint32_t side, uint32_t *id)
{
	uint32_t at = side * SCAN_PLACES + place;

	if (grow_zeroed((void **)&work->side_entries, at, &work->side_entries_room,
		    sizeof(*work->side_entries)))
		return -ENOMEM;
	if (!work->side_entries[at]) {
		if (scan_new_entry(work, place, side, id))
			return -ENOMEM;
		work->side_entries[at] = *id + 1;
	}
	*id = work->side_entries[at] - 1;
	return 0;
}

/* Finds or adds a stack's entry.  A new one also gets the sieve's verdict on the stack. */
static int dense_entry(struct scan_work *work, uint32_t node, uint32_t side, uint32_t *id)
{
	struct scan_dense *dense = &work->dense[side];
	unsigned int verdict;

	if (grow_zeroed((void **)&dense->entries, node, &dense->room, sizeof(*dense->entries)))
		return -ENOMEM;
	if (!dense->entries[node]) {
		if (work->scan->n_entries >= SCAN_DENSE_ID || scan_new_entry(work, node, side, id))
			return -ENOMEM;
		dense->entries[node] = *id + 1;
		verdict = sieve_node(&work->sieve, node);
		if (verdict & SIEVE_FAILS)
			dense->entries[node] |= SCAN_DENSE_FAILS;
		if (verdict & work->idle_bit)
			dense->entries[node] |= SCAN_DENSE_IDLE;
	}
	*id = (dense->entries[node] & SCAN_DENSE_ID) - 1;
	return 0;
}

int scan_entry_id(struct scan_work *work, uint32_t node, uint32_t side, uint32_t *id)
{
	if (!(work->question->by & SCAN_STACK) && side < UINT32_MAX / SCAN_PLACES)
		return side_entry(work, node, side, id);
	if (side < SCAN_DENSE_SIDES)
		return dense_entry(work, node, side, id);
	return hashed_entry(work, node, side, id);
}

static int count(struct scan_work *work, const struct slice *slice, uint32_t i, uint32_t side)
{
	struct scan_entry *entry;
	uint32_t node, id;

	if (scan_entry_node(work, slice->stack[i], &node) || scan_entry_id(work, node, side, &id))
		return -ENOMEM;
	entry = &work->scan->entries[id];
	entry->weight += slice->weight[i];
	entry->samples += slice->count[i];
	return 0;
}

/* Sets the requested parts of a cell's side, except the column. */
static int side_of(
	struct scan_work *work, const struct slice *slice, uint32_t i, struct scan_side *side)
{
	const struct scan_question *question = work->question;

	*side = (struct scan_side){.task = SCAN_NONE,
		.column = SCAN_NONE,
		.fields = SCAN_NONE,
		.event = scan_event(question, slice, i)};
	if (question->by & (SCAN_PROCESS | SCAN_THREAD | SCAN_COMMAND) &&
		scan_task_of(work, slice->task[i], &side->task))
		return -ENOMEM;
	if (question->by & SCAN_CPU)
		side->cpu = slice->cpu[i];
	if (question->by & SCAN_CGROUP)
		side->cgroup = slice->event[i];
	if (question->by & SCAN_FIELDS &&
		scan_fields_id(&work->scan->fields, question->schemas, question->fields,
			question->names, slice->event[i],
			slice->values ? slice->values[i] : VALUES_NONE, &side->fields))
		return -ENOMEM;
	return 0;
}

static int add_cell(struct scan_work *work, const struct slice *slice, uint32_t i)
{
	const struct scan_question *question = work->question;
	uint8_t event = scan_event(question, slice, i);
	struct scan_sums *sums = &work->scan->sums[event];
	uint64_t weight = slice->weight[i], samples = slice->count[i];
	struct scan_column *column = NULL;
	struct scan_side side;
	uint32_t id, column_id = SCAN_NONE;
	unsigned int verdict;
	int ret;

	if (question->event >= 0 && event != question->event)
		return 0;
	verdict = sieve_cell(&work->sieve, slice, i);
	if (verdict & work->idle_bit)
		return 0;
	if (question->column != GROUP_KEYS) {
		ret = intern_column(work, slice, i, &column_id);
		if (ret)
			return ret;
		column = &work->scan->columns[column_id];
		column->all_weight += weight;
		column->all_samples += samples;
	}
	sums->all_weight += weight;
	sums->all_samples += samples;
	if (verdict & SIEVE_FAILS)
		return 0;
	sums->weight += weight;
	sums->samples += samples;
	if (verdict & SIEVE_UNRESOLVED)
		sums->unresolved += weight;
	if (column) {
		column->weight += weight;
		column->samples += samples;
	}
	/* After the filter: only cells that pass may set the newest name of a task. */
	ret = side_of(work, slice, i, &side);
	side.column = column_id;
	if (!ret)
		ret = scan_side_id(work, &side, &id);
	return ret ? ret : count(work, slice, i, id);
}

static int add_slice(struct scan_work *work, const struct slice *slice)
{
	int ret = 0;

	for (uint32_t i = 0; i < slice->cells && !ret; i++)
		ret = add_cell(work, slice, i);
	return ret;
}

void scan_work_init(struct scan_work *work, const struct scan_question *question, struct scan *scan)
{
	*work = (struct scan_work){.question = question, .scan = scan};
	memset(scan, 0, sizeof(*scan));
	work->idle_bit = (uint8_t)sieve_idle_bit(question->hide_idle, question->idle_by_name);
	sieve_init(&work->sieve, question->filter, question->stacks, question->tasks,
		question->names,
		work->idle_bit | (question->leave_unresolved ? 0 : SIEVE_UNRESOLVED));
	work->asks_cells = work->sieve.by_label || work->sieve.by_cpu || work->sieve.by_fields;
	scan->fields.n_names = question->by & SCAN_FIELDS ? (uint32_t)question->n_fields : 0;
}

void scan_work_fini(struct scan_work *work)
{
	intern_fini(&work->task_keys);
	intern_fini(&work->column_keys);
	sieve_fini(&work->sieve);
	half_fini(&work->half);
	forest_put(work->forest);
	for (uint32_t i = 0; i < SCAN_DENSE_SIDES; i++)
		free(work->dense[i].entries);
	for (uint32_t i = 0; i < STORE_EVENTS_MAX; i++) {
		free(work->sides[i].at);
		free(work->quick[i].at);
	}
	free(work->parting.counted);
	free(work->abouts);
	free(work->has);
	if (!work->places_shared)
		free(work->places);
	free(work->side_entries);
	free(work->label_tasks);
	free(work->hashed);
	free(work->side_slots);
}

static int add_slices(struct scan_work *work)
{
	const struct scan_question *question = work->question;
	bool quick = scan_is_quick(question);
	int ret = 0;

	for (size_t i = 0; i < question->snapshot->n && !ret; i++) {
		const struct slice *slice = question->snapshot->slices[i];

		if (!slice_is_in(slice, question->from_ns, question->to_ns))
			continue;
		if (question->in_parts)
			ret = scan_parts_begin(work, slice);
		if (!ret)
			ret = quick ? scan_quick_slice(work, slice, i) : add_slice(work, slice);
	}
	if (!ret && question->in_parts)
		ret = scan_parts_end(work);
	return ret;
}

int scan_slices(struct scan_work *work)
{
	int ret = 0;

	while (!ret && half_next(&work->half))
		ret = add_slices(work);
	return ret;
}

static uint64_t span_of(const struct scan_question *question)
{
	uint64_t first_ns = UINT64_MAX, span_ns = 0;

	for (size_t i = 0; i < question->snapshot->n; i++) {
		const struct slice *slice = question->snapshot->slices[i];

		if (!slice_is_in(slice, question->from_ns, question->to_ns))
			continue;
		if (slice->start_ns < first_ns)
			first_ns = slice->start_ns;
		span_ns = slice->end_ns - first_ns;
	}
	return span_ns;
}

int scan_run(const struct scan_question *question, struct scan *out)
{
	struct scan_work work;
	int ret;

	scan_work_init(&work, question, out);
	out->span_ns = span_of(question);
	ret = scan_is_quick(question) ? scan_in_two(&work) : scan_slices(&work);
	if (!ret && scan_is_quick(question))
		ret = scan_quick_sums(&work);
	scan_work_fini(&work);
	if (ret)
		scan_fini(out);
	return ret;
}

void scan_fini(struct scan *scan)
{
	free(scan->entries);
	free(scan->parts);
	free(scan->sides);
	free(scan->tasks);
	free(scan->columns);
	scan_fields_fini(&scan->fields);
	memset(scan, 0, sizeof(*scan));
}

int scan_entries(const struct scan *scan, struct forest *forest, uint32_t **at)
{
	uint32_t *numbers = malloc((scan->n_entries ? scan->n_entries : 1) * sizeof(*numbers));
	int ret = numbers ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < scan->n_entries && !ret; i++) {
		if (i + ENTRIES_AHEAD < scan->n_entries)
			forest_fetch(forest, scan->entries[i + ENTRIES_AHEAD].node);
		ret = forest_number(forest, scan->entries[i].node, &numbers[i]);
	}
	if (ret) {
		free(numbers);
		numbers = NULL;
	}
	*at = numbers;
	return ret;
}
