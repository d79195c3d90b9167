/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.c - see table.h.
 *
 * The entries of one side are spread over the forest of stacks.  If there are many, one pass adds
 * each node's weight to its caller; else each entry walks up to the root.  A node counts for its
 * part unless a node above has the same part, which folds recursion.
 */
#include "tui/query/table.h"

#include "sampler/base/hugepages.h"
#include "tui/base/grow.h"
#include "tui/names/forest.h"
#include "tui/query/line_text.h"

#include <inttypes.h>
#include <stdio.h>

struct sum {
	uint64_t self, total, samples;
};

struct work {
	const struct table_question *question;
	struct table *table;
	struct forest *forest;
	uint32_t n; /* number of its nodes */
	uint32_t *at; /* by entry of the scan: its node */
	bool by_stack;
	uint32_t *parts; /* by node: its part */
	bool of_symbols; /* all nodes of each part have the same symbol */
	bool *reached; /* by node: part of a requested stack; only for addresses and lines */
	const uint32_t *above;
	uint32_t *made_above; /* memory of `above`, unless the forest owns it */
	struct sum *sums; /* by part */
	uint64_t *below; /* by node: weight to add to the callers */
	uint32_t *touched; /* parts with nonzero sums */
	uint32_t n_touched, touched_room;
	uint32_t *row_of; /* by part: index + 1 of its row in the current line */
	uint32_t *order; /* sides sorted by line, then column */
	uint32_t *first; /* by side: index of its first entry in by_side; one more for the end */
	uint32_t *by_side; /* entries sorted by side */
};

static bool has_key(const struct table_question *question, enum query_group key)
{
	for (size_t i = 0; i < question->n_keys; i++)
		if (question->keys[i] == key)
			return true;
	return false;
}

/* --- parts --- */

static int new_part(struct table *table, uint32_t *room, uint32_t symref, uint64_t offset)
{
	if (grow_room((void **)&table->parts, table->n_parts, room, sizeof(*table->parts)))
		return -ENOMEM;
	table->parts[table->n_parts++] = (struct table_part){.offset = offset, .symref = symref};
	return 0;
}

/* Returns the part of a symbol's name or image; makes it if it is new. */
static int name_part(
	struct work *work, struct intern *texts, uint32_t *room, uint32_t symref, uint32_t *part)
{
	bool by_symbol = has_key(work->question, GROUP_SYMBOL);
	int ret = 0;

	*part = work->table->n_parts;
	/* With images, each symref is a symbol of its own; else equal names share a part. */
	if (!by_symbol || !has_key(work->question, GROUP_IMAGE)) {
		const struct symref *name = names_get(work->question->scan.names, symref);
		const char *text = by_symbol ? name->symbol : name->image;

		ret = intern_id(texts, text, strlen(text), part);
	}
	if (!ret && *part == work->table->n_parts)
		ret = new_part(work->table, room, symref, 0);
	return ret;
}

static int name_parts(struct work *work)
{
	uint32_t limit = names_limit(work->question->scan.names), room = 0, n_symrefs = 0;
	uint32_t *known = calloc(limit, sizeof(*known)); /* part + 1, by symref */
	struct intern texts = {0};
	int ret = known ? 0 : -ENOMEM;

	for (uint32_t i = FOREST_NOWHERE; i < work->n && !ret; i++) {
		uint32_t symref = work->forest->symref[i], part;

		if (!known[symref]) {
			ret = name_part(work, &texts, &room, symref, &part);
			known[symref] = part + 1;
			n_symrefs++;
		}
		work->parts[i] = known[symref] - 1;
	}
	/* If parts are the same as symbols, the forest already knows `above`. */
	if (!ret && n_symrefs == work->table->n_parts)
		work->above = work->forest->above;
	intern_fini(&texts);
	free(known);
	return ret;
}

/* Parts are by image name and offset, so that a library is one image in all processes. */
static int address_part(struct work *work, struct intern *images, struct intern *addresses,
	uint32_t *room, uint32_t node, uint32_t *id)
{
	const struct scan_question *scan = &work->question->scan;
	uint32_t symref = work->forest->symref[node], frame = work->forest->frame[node];
	const char *image = names_get(scan->names, symref)->image;
	struct {
		uint64_t offset, image;
	} key = {0};
	struct names_line line = {.file = ""};
	int ret;

	if (frame != FRAME_NONE)
		key.offset = stacks_frame_get(scan->stacks, frame)->offset;
	ret = intern_id(images, image, strlen(image), id);
	key.image = *id;
	if (!ret)
		ret = intern_id(addresses, &key, sizeof(key), id);
	if (ret || *id < work->table->n_parts)
		return ret;
	if (has_key(work->question, GROUP_LINE))
		line = line_of(scan->names, frame);
	ret = new_part(work->table, room, symref, key.offset);
	if (!ret) {
		work->table->parts[*id].line = line.line;
		work->table->parts[*id].file = line.file;
	}
	return ret;
}

/* Functions that share a line share its part, unless rows are also by symbol or image. */
static int line_part(
	struct work *work, struct intern *lines, uint32_t *room, uint32_t node, uint32_t *id)
{
	bool by_symref =
		has_key(work->question, GROUP_SYMBOL) || has_key(work->question, GROUP_IMAGE);
	uint32_t symref = work->forest->symref[node];
	const struct names_line line =
		line_of(work->question->scan.names, work->forest->frame[node]);
	struct {
		uint64_t file, line, symref;
	} key = {0};
	int ret;

	/* Equal names of files are the same string. */
	key.file = line.line ? (uint64_t)(uintptr_t)line.file : 0;
	key.line = line.line;
	key.symref = line.line && !by_symref ? 0 : symref;
	ret = intern_id(lines, &key, sizeof(key), id);
	if (ret || *id < work->table->n_parts)
		return ret;
	ret = new_part(work->table, room, symref, 0);
	if (!ret) {
		work->table->parts[*id].line = line.line;
		work->table->parts[*id].file = line.file;
	}
	return ret;
}

/* Makes parts of addresses or lines, which depend on frames.  Looks only at reached nodes: a frame
 * of a freed stack may have been reused. */
static int frame_parts(struct work *work)
{
	bool by_address = has_key(work->question, GROUP_ADDRESS);
	struct intern images = {0}, texts = {0};
	uint32_t room = 0, known_room = 0, *known = NULL; /* part + 1, by frame */
	int ret = 0;

	work->of_symbols = true;
	for (uint32_t i = FOREST_NOWHERE; i < work->n && !ret; i++) {
		uint32_t frame = work->forest->frame[i], part;

		work->parts[i] = FOREST_NO_PART;
		if (!work->reached[i])
			continue;
		ret = grow_zeroed((void **)&known, frame, &known_room, sizeof(*known));
		if (!ret && !known[frame]) {
			ret = by_address ? address_part(work, &images, &texts, &room, i, &part)
					 : line_part(work, &texts, &room, i, &part);
			known[frame] = part + 1;
		}
		if (ret)
			break;
		part = known[frame] - 1;
		work->parts[i] = part;
		work->of_symbols &= work->table->parts[part].symref == work->forest->symref[i];
	}
	intern_fini(&images);
	intern_fini(&texts);
	free(known);
	return ret;
}

/* Marks the nodes on the stacks of the scan's entries. */
static int find_reached(struct work *work)
{
	work->reached = calloc(work->n, sizeof(*work->reached));
	if (!work->reached)
		return -ENOMEM;
	for (uint32_t i = 0; i < work->table->scan.n_entries; i++)
		work->reached[work->at[i]] = true;
	for (uint32_t i = work->n - 1; i > FOREST_ROOT; i--)
		if (work->reached[i])
			work->reached[work->forest->parent[i]] = true;
	return 0;
}

/* Replaces this part of the scan, since the leaves' symrefs are known here. */
static void sum_unresolved(struct work *work)
{
	const struct names *names = work->question->scan.names;
	struct scan *scan = &work->table->scan;

	for (uint32_t i = 0; i < scan->n_entries; i++) {
		const struct scan_entry *entry = &scan->entries[i];

		if (!names_peek(names, work->forest->symref[work->at[i]])->resolved)
			scan->sums[scan->sides[entry->side].event].unresolved += entry->weight;
	}
}

static int find_parts(struct work *work)
{
	const struct table_question *question = work->question;
	uint32_t room = 0;
	int ret;

	if (!work->by_stack)
		return new_part(work->table, &room, question->only ? question->symref : 0, 0);
	work->forest = forest_of(question->scan.names, question->scan.stacks);
	if (!work->forest)
		return -ENOMEM;
	ret = scan_entries(&work->table->scan, work->forest, &work->at);
	if (ret)
		return ret;
	work->n = work->forest->n;
	work->parts = hugepages_alloc(sizeof(uint64_t), work->n * sizeof(*work->parts));
	work->below = hugepages_zeroed(sizeof(uint64_t), work->n * sizeof(*work->below));
	if (!work->parts || !work->below)
		return -ENOMEM;
	work->parts[FOREST_ROOT] = FOREST_NO_PART;
	if (has_key(question, GROUP_ADDRESS) || has_key(question, GROUP_LINE)) {
		ret = find_reached(work);
		if (!ret)
			ret = frame_parts(work);
	} else {
		ret = name_parts(work);
	}
	if (!ret)
		sum_unresolved(work);
	if (!ret && !work->above) {
		ret = forest_above(
			work->forest, work->n, work->parts, work->of_symbols, &work->made_above);
		work->above = work->made_above;
	}
	return ret;
}

/* --- lines: sides that differ only in their column share the rows of a line --- */

static int compare_lines(
	const struct scan_side *a, const struct scan_side *b, bool events_are_columns)
{
	if (a->event != b->event && !events_are_columns)
		return a->event < b->event ? -1 : 1;
	if (a->task != b->task)
		return a->task < b->task ? -1 : 1;
	if (a->fields != b->fields)
		return a->fields < b->fields ? -1 : 1;
	if (a->cgroup != b->cgroup)
		return a->cgroup < b->cgroup ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

static int compare_sides(const void *a, const void *b, void *ctx)
{
	const struct work *work = ctx;
	const uint32_t *left = a, *right = b;
	const struct scan_side *l = &work->table->scan.sides[*left];
	const struct scan_side *r = &work->table->scan.sides[*right];
	int result = compare_lines(l, r, work->table->column == GROUP_EVENT);

	return result ? result : l->column < r->column ? -1 : l->column > r->column;
}

static int order_sides(struct work *work)
{
	const struct scan *scan = &work->table->scan;
	uint32_t n = scan->n_sides ? scan->n_sides : 1;

	work->order = malloc(n * sizeof(*work->order));
	work->first = calloc((size_t)n + 1, sizeof(*work->first));
	work->by_side = malloc((scan->n_entries ? scan->n_entries : 1) * sizeof(*work->by_side));
	if (!work->order || !work->first || !work->by_side)
		return -ENOMEM;
	for (uint32_t i = 0; i < scan->n_entries; i++)
		work->first[scan->entries[i].side + 1]++;
	for (uint32_t i = 0; i < scan->n_sides; i++) {
		work->first[i + 1] += work->first[i];
		work->order[i] = i;
	}
	/* Filling moves each start to the next one's place, so shift them back afterwards. */
	for (uint32_t i = 0; i < scan->n_entries; i++)
		work->by_side[work->first[scan->entries[i].side]++] = i;
	for (uint32_t i = scan->n_sides; i; i--)
		work->first[i] = work->first[i - 1];
	work->first[0] = 0;
	qsort_r(work->order, scan->n_sides, sizeof(*work->order), compare_sides, work);
	return 0;
}

/* --- sums of one side --- */

static struct sum *touch(struct work *work, uint32_t part)
{
	struct sum *sum = &work->sums[part];

	if (sum->total || sum->samples)
		return sum;
	if (grow_room((void **)&work->touched, work->n_touched, &work->touched_room,
		    sizeof(*work->touched)))
		return NULL;
	work->touched[work->n_touched++] = part;
	return sum;
}

static int add_above(struct work *work, uint32_t node, uint64_t weight)
{
	const struct forest *forest = work->forest;

	for (; node != FOREST_ROOT; node = forest->parent[node]) {
		struct sum *sum;

		if (work->parts[node] == FOREST_NO_PART || work->above[node])
			continue;
		sum = touch(work, work->parts[node]);
		if (!sum)
			return -ENOMEM;
		sum->total += weight;
	}
	return 0;
}

static int add_all_above(struct work *work)
{
	const struct forest *forest = work->forest;

	for (uint32_t i = work->n - 1; i > FOREST_ROOT; i--) {
		uint64_t weight = work->below[i];
		struct sum *sum;

		if (!weight)
			continue;
		work->below[i] = 0;
		work->below[forest->parent[i]] += weight;
		if (work->parts[i] == FOREST_NO_PART || work->above[i])
			continue;
		sum = touch(work, work->parts[i]);
		if (!sum)
			return -ENOMEM;
		sum->total += weight;
	}
	work->below[FOREST_ROOT] = 0;
	return 0;
}

/* With a single symbol: self counts only if it is the leaf. */
static void add_place(struct sum *sum, const struct scan_entry *entry)
{
	sum->total += entry->weight;
	if (entry->node != SCAN_LEAF)
		return;
	sum->self += entry->weight;
	sum->samples += entry->samples;
}

static int add_entry(struct work *work, uint32_t i, bool many)
{
	const struct scan_entry *entry = &work->table->scan.entries[i];
	uint32_t node = work->by_stack ? work->at[i] : 0;
	struct sum *sum;

	if (work->question->only && entry->node == SCAN_NOWHERE)
		return 0;
	sum = touch(work, work->by_stack ? work->parts[node] : 0);
	if (!sum)
		return -ENOMEM;
	if (work->question->only) {
		add_place(sum, entry);
		return 0;
	}
	sum->self += entry->weight;
	sum->samples += entry->samples;
	if (!work->by_stack)
		sum->total += entry->weight;
	else if (!many)
		return add_above(work, node, entry->weight);
	if (many)
		work->below[node] += entry->weight;
	return 0;
}

static int add_side(struct work *work, uint32_t side)
{
	uint32_t from = work->first[side], to = work->first[side + 1];
	bool many = work->by_stack && to - from > work->n / 64;
	int ret = 0;

	for (uint32_t i = from; i < to && !ret; i++)
		ret = add_entry(work, work->by_side[i], many);
	return !ret && many ? add_all_above(work) : ret;
}

/* --- rows --- */

static struct table_row *row_of(struct work *work, uint32_t part, const struct scan_side *side)
{
	struct table *table = work->table;
	struct table_row *row;

	if (!work->row_of[part]) {
		if (grow_room((void **)&table->rows, table->n_rows, &table->rows_room,
			    sizeof(*table->rows)))
			return NULL;
		row = &table->rows[table->n_rows++];
		*row = (struct table_row){.part = part,
			.task = side->task,
			.fields = side->fields,
			.cgroup = side->cgroup,
			.cpu = side->cpu,
			.event = side->event};
		if (table->column == GROUP_EVENT)
			row->event = 0;
		work->row_of[part] = table->n_rows;
	}
	return &table->rows[work->row_of[part] - 1];
}

static int add_to_row(struct work *work, uint32_t part, const struct scan_side *side)
{
	struct table *table = work->table;
	const struct sum *sum = &work->sums[part];
	struct table_row *row = row_of(work, part, side);

	if (!row)
		return -ENOMEM;
	if (table->column != GROUP_EVENT) {
		row->self += sum->self;
		row->total += sum->total;
		row->samples += sum->samples;
	}
	if (side->column == SCAN_NONE)
		return 0;
	if (grow_room((void **)&table->cells, table->n_cells, &table->cells_room,
		    sizeof(*table->cells)))
		return -ENOMEM;
	table->cells[table->n_cells] =
		(struct table_cell){sum->self, sum->total, sum->samples, side->column, row->cells};
	row->cells = ++table->n_cells;
	return 0;
}

/* Moves the sums of a side into rows of its line, and clears them. */
static int emit_side(struct work *work, const struct scan_side *side, int ret)
{
	for (uint32_t i = 0; i < work->n_touched; i++) {
		struct sum *sum = &work->sums[work->touched[i]];

		/* A part without weight and samples may have been touched twice. */
		if (!ret && (sum->total || sum->samples))
			ret = add_to_row(work, work->touched[i], side);
		*sum = (struct sum){0};
	}
	work->n_touched = 0;
	return ret;
}

static int make_rows(struct work *work)
{
	const struct table *table = work->table;
	const struct scan *scan = &table->scan;
	uint32_t line_rows = 0;
	int ret = 0;

	work->sums = calloc(table->n_parts ? table->n_parts : 1, sizeof(*work->sums));
	work->row_of = calloc(table->n_parts ? table->n_parts : 1, sizeof(*work->row_of));
	if (!work->sums || !work->row_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < scan->n_sides && !ret; i++) {
		const struct scan_side *side = &scan->sides[work->order[i]];

		if (i &&
			compare_lines(&scan->sides[work->order[i - 1]], side,
				table->column == GROUP_EVENT)) {
			for (; line_rows < table->n_rows; line_rows++)
				work->row_of[table->rows[line_rows].part] = 0;
		}
		ret = emit_side(work, side, add_side(work, work->order[i]));
	}
	return ret;
}

static unsigned int asked_of_scan(const struct table_question *question)
{
	unsigned int by = 0;

	for (size_t i = 0; i < question->n_keys; i++) {
		switch (question->keys[i]) {
		case GROUP_SYMBOL:
		case GROUP_IMAGE:
		case GROUP_ADDRESS:
		case GROUP_LINE:
			by |= SCAN_STACK;
			break;
		case GROUP_PROCESS:
			by |= SCAN_PROCESS;
			break;
		case GROUP_THREAD:
			by |= SCAN_THREAD;
			break;
		case GROUP_COMMAND:
			by |= SCAN_COMMAND;
			break;
		case GROUP_CPU:
			by |= SCAN_CPU;
			break;
		case GROUP_CGROUP:
			by |= SCAN_CGROUP;
			break;
		default:
			if (question->keys[i] >= GROUP_FIELD)
				by |= SCAN_FIELDS;
			break;
		}
	}
	return by;
}

int table_new(struct table **out, const struct table_question *question)
{
	struct work work = {.question = question};
	struct scan_question scan = question->scan;
	struct table *table = calloc(1, sizeof(*table));
	int ret = -ENOMEM;

	*out = NULL;
	if (!table)
		return -ENOMEM;
	work.table = table;
	table->names = scan.names;
	table->column = scan.column;
	table->n_keys = question->n_keys < QUERY_KEYS_MAX ? question->n_keys : QUERY_KEYS_MAX;
	if (table->n_keys)
		memcpy(table->keys, question->keys, table->n_keys * sizeof(*table->keys));
	scan.by = asked_of_scan(question);
	work.by_stack = scan.by & SCAN_STACK;
	scan.leave_unresolved |= work.by_stack;
	scan.only = question->only;
	scan.symref = question->symref;
	ret = scan_run(&scan, &table->scan);
	if (!ret)
		ret = find_parts(&work);
	if (!ret)
		ret = order_sides(&work);
	if (!ret)
		ret = make_rows(&work);
	forest_put(work.forest);
	free(work.at);
	free(work.parts);
	free(work.reached);
	free(work.made_above);
	free(work.sums);
	free(work.below);
	free(work.touched);
	free(work.row_of);
	free(work.order);
	free(work.first);
	free(work.by_side);
	free(table->scan.entries);
	free(table->scan.sides);
	table->scan.entries = NULL;
	table->scan.sides = NULL;
	table->scan.n_entries = table->scan.n_sides = 0;
	if (ret) {
		table_free(table);
		return ret;
	}
	*out = table;
	return 0;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	scan_fini(&table->scan);
	free(table->rows);
	free(table->cells);
	free(table->parts);
	free(table);
}

const struct table_cell *table_cell(
	const struct table *table, const struct table_row *row, uint32_t column)
{
	for (uint32_t at = row->cells; at; at = table->cells[at - 1].next)
		if (table->cells[at - 1].column == column)
			return &table->cells[at - 1];
	return NULL;
}

static void name_task(struct table_key *out, const char *comm, int32_t id)
{
	if (comm[0])
		snprintf(out->bytes, sizeof(out->bytes), "%s (%" PRId32 ")", comm, id);
	else
		snprintf(out->bytes, sizeof(out->bytes), "%" PRId32, id);
	out->number = id;
	out->is_number = true;
}

static void name_field(
	const struct table *table, const struct table_row *row, size_t i, struct table_key *out)
{
	const struct scan_value *value = scan_fields_value(&table->scan.fields, row->fields, i);

	out->text = value->text;
	out->number = value->number;
	out->is_number = value->is_number;
	out->is_missing = value->is_missing;
}

void table_place(const struct table *table, const struct table_row *row, struct names_place *out)
{
	(void)names_place(table->names, table->parts[row->part].symref, out);
}

void table_key(
	const struct table *table, const struct table_row *row, size_t i, struct table_key *out)
{
	const struct table_part *part = &table->parts[row->part];
	const struct scan_task *task =
		row->task == SCAN_NONE ? NULL : &table->scan.tasks[row->task];

	out->text = out->bytes;
	out->bytes[0] = '\0';
	out->number = 0;
	out->is_number = false;
	out->is_missing = false;
	switch (table->keys[i]) {
	case GROUP_SYMBOL:
		out->text = names_get(table->names, part->symref)->symbol;
		break;
	case GROUP_IMAGE:
		out->text = names_get(table->names, part->symref)->image;
		break;
	case GROUP_ADDRESS:
		snprintf(out->bytes, sizeof(out->bytes), "%.400s+0x%" PRIx64,
			names_get(table->names, part->symref)->image,
			names_address(table->names, names_get(table->names, part->symref)->image_id,
				part->offset));
		break;
	case GROUP_LINE:
		line_text(table->names, &(struct names_line){part->symref, part->line, part->file},
			out->bytes);
		break;
	case GROUP_PROCESS:
		name_task(out, task->process_comm, task->pid);
		break;
	case GROUP_THREAD:
		name_task(out, task->comm, task->tid);
		break;
	case GROUP_COMMAND:
		out->text = task->comm;
		break;
	case GROUP_CPU:
		out->number = row->cpu;
		out->is_number = true;
		snprintf(out->bytes, sizeof(out->bytes), "%u", row->cpu);
		break;
	case GROUP_EVENT:
		out->number = row->event;
		break;
	case GROUP_CGROUP:
		out->number = row->cgroup;
		break;
	default:
		if (table->keys[i] >= GROUP_FIELD)
			name_field(table, row, table->keys[i] - GROUP_FIELD, out);
		break;
	}
}
