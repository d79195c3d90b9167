/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lanes.c - see lanes.h.
 *
 * A slice is first summed by label (or CPU) and symbol of the leaf.  These sums, its parts, are
 * cached.  Each label, CPU and leaf is looked up only once.  A part then costs three additions, one
 * of them in the sums by (lane, symbol).  The weights of a lane are spread over its columns once
 * for all slices in one column.
 */
#include "tui/tables/lanes_private.h"

#include "tui/base/clean.h"
#include "tui/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_BYTES ((size_t)32 << 20) /* for all arrays by symbol */
#define PARTS_MAX ((size_t)1 << 20) /* maximum number of cached parts */

int lanes_find(struct lanes_work *work, const struct lanes_key *key, uint32_t *id)
{
	struct lanes *lanes = work->lanes;

	if (intern_id(&work->keys, key, sizeof(*key), id))
		return -ENOMEM;
	if (*id < lanes->n)
		return 0;
	if (grow_room((void **)&lanes->lane, lanes->n, &work->lanes_room, sizeof(*lanes->lane)))
		return -ENOMEM;
	lanes->lane[lanes->n] = (struct lane){
		.pid = key->pid, .tid = key->tid, .cpu = key->cpu, .symref = LANES_NO_SYMBOL};
	memcpy(lanes->lane[lanes->n++].name, key->name, sizeof(key->name));
	return 0;
}

static int lane_of_label(struct lanes_work *work, uint32_t label_id, uint32_t *id)
{
	const struct task_label *label = tasks_label_get(work->query->tasks, label_id);
	enum query_group group = work->query->group;
	struct lanes_key key;
	struct lane *lane;

	memset(&key, 0, sizeof(key));
	if (group == GROUP_COMMAND) {
		clean_text(key.name, sizeof(key.name), label ? label->comm : "", TASK_COMM_MAX);
	} else {
		key.pid = label ? label->pid : -1;
		key.tid = group == GROUP_PROCESS ? 0 : label ? label->tid : -1;
	}
	if (lanes_find(work, &key, id))
		return -ENOMEM;
	lane = &work->lanes->lane[*id];
	if (label && group != GROUP_COMMAND && label->since_ns >= lane->since_ns) {
		lane->since_ns = label->since_ns;
		clean_text(lane->name, sizeof(lane->name),
			group == GROUP_PROCESS ? label->process_comm : label->comm, TASK_COMM_MAX);
	}
	return 0;
}

static int lane_of(struct lanes_work *work, uint32_t at, uint32_t *id)
{
	bool by_cpu = work->query->group == GROUP_CPU;
	uint32_t **table = by_cpu ? &work->of_cpu : &work->of_label;
	struct lanes_key key;
	int ret;

	if (grow_zeroed((void **)table, at, by_cpu ? &work->cpus_room : &work->labels_room,
		    sizeof(**table)))
		return -ENOMEM;
	if (!(*table)[at]) {
		memset(&key, 0, sizeof(key));
		key.cpu = at;
		ret = by_cpu ? lanes_find(work, &key, id) : lane_of_label(work, at, id);
		if (ret)
			return ret;
		(*table)[at] = *id + 1;
	}
	*id = (*table)[at] - 1;
	return 0;
}

/* --- the hottest symbols --- */

static struct lanes_pair *slot_of(
	struct lanes_pair *pairs, uint32_t n_slots, uint32_t lane, uint32_t symref)
{
	uint64_t hash = ((uint64_t)lane << 32 | symref) * 0x9e3779b97f4a7c15ull;
	uint32_t slot = (uint32_t)(hash >> 32 ^ hash >> 17) & (n_slots - 1);

	while (pairs[slot].weight && (pairs[slot].lane != lane || pairs[slot].symref != symref))
		slot = (slot + 1) & (n_slots - 1);
	return &pairs[slot];
}

static int grow_pairs(struct lanes_work *work)
{
	uint32_t n = work->n_slots ? work->n_slots * 2 : 1024;
	struct lanes_pair *pairs = calloc(n, sizeof(*pairs));

	if (!pairs)
		return -ENOMEM;
	for (uint32_t i = 0; i < work->n_slots; i++) {
		const struct lanes_pair *pair = &work->pairs[i];

		if (pair->weight)
			*slot_of(pairs, n, pair->lane, pair->symref) = *pair;
	}
	free(work->pairs);
	work->pairs = pairs;
	work->n_slots = n;
	return 0;
}

static int add_pair(struct lanes_work *work, uint32_t lane, uint32_t symref, uint64_t weight)
{
	struct lanes_pair *pair;

	if (work->n_pairs >= work->n_slots / 2 && grow_pairs(work))
		return -ENOMEM;
	pair = slot_of(work->pairs, work->n_slots, lane, symref);
	if (!pair->weight) {
		pair->lane = lane;
		pair->symref = symref;
		work->n_pairs++;
	}
	pair->weight += weight;
	return 0;
}

/* Whether a cell counts.  *symref: symbol of its leaf. */
static bool take_cell(
	struct lanes_work *work, const struct slice *slice, uint32_t i, uint32_t *symref)
{
	const struct query *query = work->query;
	uint32_t known;
	unsigned int verdict;

	if (slice->event[i] != query->event)
		return false;
	known = sieve_stack(&work->sieve, slice->stack[i]);
	verdict = sieve_stack_verdict(known) | sieve_rest(&work->sieve, slice, i);
	*symref = sieve_stack_leaf(known);
	return query_mask(query, verdict);
}

/* Symbols first met after the start of the pass, and lanes beyond the limit, use pairs. */
static bool is_for_row(const struct lanes_work *work, uint32_t lane, uint32_t symref)
{
	return lane < ROWS_BYTES / sizeof(uint64_t) / (work->n_symrefs + 1) &&
		symref < work->n_symrefs;
}

static int add_row(struct lanes_work *work, uint32_t lane)
{
	if (lanes_has_row(work, lane))
		return 0;
	if (grow_zeroed((void **)&work->rows, lane, &work->rows_room, sizeof(*work->rows)))
		return -ENOMEM;
	work->rows[lane] = calloc(work->n_symrefs, sizeof(**work->rows));
	return work->rows[lane] ? 0 : -ENOMEM;
}

int lanes_add_symbol(struct lanes_work *work, uint32_t lane, uint32_t symref, uint64_t weight)
{
	if (!weight)
		return 0;
	if (!is_for_row(work, lane, symref))
		return add_pair(work, lane, symref, weight);
	if (add_row(work, lane))
		return -ENOMEM;
	work->rows[lane][symref] += weight;
	return 0;
}

int lanes_add_symbols(struct lanes_work *work, uint32_t lane, const uint64_t *weights)
{
	uint32_t n = work->n_symrefs;
	int ret = 0;

	/* All rows have the same length, so a row for the last symbol suffices for all. */
	if (is_for_row(work, lane, n - 1)) {
		ret = add_row(work, lane);
		for (uint32_t i = 0; i < n && !ret; i++)
			work->rows[lane][i] += weights[i];
	} else {
		for (uint32_t i = 0; i < n && !ret; i++)
			ret = lanes_add_symbol(work, lane, i, weights[i]);
	}
	return ret;
}

static void choose(
	struct lanes_work *work, uint64_t *best, uint32_t at, uint32_t symref, uint64_t weight)
{
	struct lane *lane = &work->lanes->lane[at];

	if (weight < best[at] || (weight == best[at] && symref > lane->symref))
		return;
	best[at] = weight;
	lane->symref = symref;
}

static int choose_hottest(struct lanes_work *work)
{
	uint64_t *best = calloc(work->lanes->n + 1, sizeof(*best));

	if (!best)
		return -ENOMEM;
	for (uint32_t lane = 0; lane < work->lanes->n && lane < work->rows_room; lane++)
		for (uint32_t i = 0; work->rows[lane] && i < work->n_symrefs; i++)
			if (work->rows[lane][i])
				choose(work, best, lane, i, work->rows[lane][i]);
	for (uint32_t i = 0; i < work->n_slots; i++)
		if (work->pairs[i].weight)
			choose(work, best, work->pairs[i].lane, work->pairs[i].symref,
				work->pairs[i].weight);
	free(best);
	return 0;
}

/* --- time --- */

static uint64_t edge_of(const struct lanes *lanes, size_t column)
{
	unsigned __int128 length = lanes->to_ns - lanes->from_ns;

	return (uint64_t)((length * column + lanes->columns - 1) / lanes->columns);
}

static size_t column_of(const struct lanes *lanes, uint64_t since)
{
	unsigned __int128 length = lanes->to_ns - lanes->from_ns;

	return (size_t)((unsigned __int128)since * lanes->columns / length);
}

static struct lanes_spread spread_of(const struct lanes *lanes, const struct slice *slice)
{
	uint64_t from_ns = slice->start_ns > lanes->from_ns ? slice->start_ns : lanes->from_ns;
	uint64_t to_ns = slice->end_ns < lanes->to_ns ? slice->end_ns : lanes->to_ns;
	struct lanes_spread spread = {
		.from = from_ns - lanes->from_ns, .to = to_ns - lanes->from_ns};

	if (spread.to <= spread.from)
		spread.to = spread.from + 1;
	spread.first = column_of(lanes, spread.from);
	spread.last = column_of(lanes, spread.to - 1);
	return spread;
}

static void add_weight(const struct lanes *lanes, struct lane *lane,
	const struct lanes_spread *spread, uint64_t weight)
{
	uint64_t done = 0;

	for (size_t column = spread->first; column < spread->last; column++) {
		uint64_t upto = (uint64_t)((unsigned __int128)weight *
			(edge_of(lanes, column + 1) - spread->from) / (spread->to - spread->from));

		lane->columns[column] += upto - done;
		done = upto;
	}
	lane->columns[spread->last] += weight - done;
}

/* --- slices --- */

static int grow_part_slots(struct lanes_work *work, uint32_t cells)
{
	uint32_t n = work->n_part_slots ? work->n_part_slots : 1024;

	while (n / 2 < cells && n < UINT32_MAX / 2)
		n *= 2;
	if (n == work->n_part_slots)
		return 0;
	free(work->part_slots);
	work->part_slots = calloc(n, sizeof(*work->part_slots));
	work->n_part_slots = work->part_slots ? n : 0;
	return work->part_slots ? 0 : -ENOMEM;
}

static int add_part(
	struct lanes_work *work, uint32_t at, uint32_t symref, uint64_t weight, uint64_t samples)
{
	uint64_t hash = ((uint64_t)at << 32 | symref) * 0x9e3779b97f4a7c15ull;
	uint32_t mask = work->n_part_slots - 1, slot = (uint32_t)(hash >> 32 ^ hash >> 17) & mask;
	struct lanes_part *part;

	for (; work->part_slots[slot].slice == work->n_slices; slot = (slot + 1) & mask) {
		part = &work->parts[work->part_slots[slot].part];
		if (part->at == at && part->symref == symref) {
			part->weight += weight;
			part->samples += samples;
			return 0;
		}
	}
	if (grow_room(
		    (void **)&work->parts, work->n_parts, &work->parts_room, sizeof(*work->parts)))
		return -ENOMEM;
	work->part_slots[slot] = (struct lanes_part_slot){work->n_slices, work->n_parts};
	work->parts[work->n_parts++] = (struct lanes_part){at, symref, weight, samples};
	return 0;
}

/* Sums a slice into parts. */
static int divide(struct lanes_work *work, const struct slice *slice)
{
	bool by_cpu = work->query->group == GROUP_CPU;
	int ret = grow_part_slots(work, slice->cells);

	work->n_parts = 0;
	work->n_slices++;
	for (uint32_t i = 0; i < slice->cells && !ret; i++) {
		uint32_t symref;

		if (take_cell(work, slice, i, &symref))
			ret = add_part(work, by_cpu ? slice->cpu[i] : slice->task[i], symref,
				slice->weight[i], slice->count[i]);
	}
	return ret;
}

/* See lanes_private.h. */
int lanes_count(struct lanes_work *work, const struct lanes_part *part)
{
	uint32_t id;

	if (lane_of(work, part->at, &id) ||
		grow_zeroed((void **)&work->fresh, id, &work->fresh_room, sizeof(*work->fresh)))
		return -ENOMEM;
	if (!work->fresh[id].samples) {
		if (grow_room(
			    (void **)&work->met, work->n_met, &work->met_room, sizeof(*work->met)))
			return -ENOMEM;
		work->met[work->n_met++] = id;
	}
	work->fresh[id].weight += part->weight;
	work->fresh[id].samples += part->samples;
	return lanes_add_symbol(work, id, part->symref, part->weight);
}

void lanes_spread_out(struct lanes_work *work)
{
	while (work->n_met) {
		uint32_t id = work->met[--work->n_met];
		struct lane *lane = &work->lanes->lane[id];

		lane->weight += work->fresh[id].weight;
		lane->samples += work->fresh[id].samples;
		add_weight(work->lanes, lane, &work->spread, work->fresh[id].weight);
		work->fresh[id] = (struct lanes_fresh){0};
	}
}

/* Consecutive slices in one column are spread together. */
void lanes_begin_slice(struct lanes_work *work, const struct slice *slice)
{
	const struct lanes_spread spread = spread_of(work->lanes, slice);

	if (spread.first != spread.last || work->spread.first != work->spread.last ||
		spread.first != work->spread.first)
		lanes_spread_out(work);
	work->spread = spread;
}

static int add_parts(struct lanes_work *work, const struct slice *slice,
	const struct lanes_part *parts, uint32_t n)
{
	int ret = 0;

	lanes_begin_slice(work, slice);
	for (uint32_t i = 0; i < n && !ret; i++)
		ret = lanes_count(work, &parts[i]);
	return ret;
}

/* --- cache --- */

static void digest_fini(struct lanes_digest *digest)
{
	free(digest->parts);
	digest->parts = NULL;
}

static void forget_digests(struct lanes_memory *memory)
{
	for (size_t i = 0; i < memory->n; i++)
		digest_fini(&memory->digests[i]);
	free(memory->digests);
}

void lanes_forget(struct lanes_memory *memory)
{
	forget_digests(memory);
	*memory = (struct lanes_memory){.digests = NULL};
}

/* Clears the cache if the query has changed. */
static void remember_question(struct lanes_memory *memory, const struct query *query)
{
	const struct lanes_memory now = {
		.epoch = names_epoch(query->names),
		.changes = query->filter ? names_changes(query->names) : 0,
		.filter = filter_serial(query->filter),
		.event = query->event,
		.by_cpu = query->group == GROUP_CPU,
		.hide_idle = query->hide_idle,
		.idle_by_name = query->idle_by_name,
	};

	if (memory->epoch == now.epoch && memory->changes == now.changes &&
		memory->filter == now.filter && memory->event == now.event &&
		memory->by_cpu == now.by_cpu && memory->hide_idle == now.hide_idle &&
		memory->idle_by_name == now.idle_by_name)
		return;
	lanes_forget(memory);
	*memory = now;
}

/* Moves the cached digest of a slice, from *at on, to *out.  Digests before it belong to slices
 * that are gone. */
static bool recall(
	struct lanes_memory *memory, size_t *at, uint64_t serial, struct lanes_digest *out)
{
	size_t i = *at;

	while (i < memory->n && memory->digests[i].serial != serial)
		i++;
	if (i == memory->n)
		return false;
	*out = memory->digests[i];
	memory->digests[i].parts = NULL;
	*at = i + 1;
	return true;
}

/* Caches the current parts.  If memory runs out, they are not cached. */
static bool remember(const struct lanes_work *work, uint64_t serial, struct lanes_digest *out)
{
	*out = (struct lanes_digest){.serial = serial, .n = work->n_parts};
	out->parts = malloc((out->n ? out->n : 1) * sizeof(*out->parts));
	if (!out->parts)
		return false;
	if (out->n)
		memcpy(out->parts, work->parts, out->n * sizeof(*out->parts));
	return true;
}

/* Only a part of so long a range would fit in the cache, which is not worthwhile. */
static bool is_long(const struct query *query)
{
	size_t cells = 0;

	for (size_t i = 0; i < query->snapshot->n; i++)
		if (slice_is_in(query->snapshot->slices[i], query->from_ns, query->to_ns))
			cells += query->snapshot->slices[i]->cells;
	return cells > 2 * PARTS_MAX;
}

static int add_slices(struct lanes_work *work, struct lanes_memory *memory)
{
	const struct query *query = work->query;
	struct lanes_digest *kept = NULL;
	size_t n_kept = 0, at = 0, parts = 0;
	int ret = 0;

	kept = calloc(query->snapshot->n + 1, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	for (size_t i = 0; i < query->snapshot->n && !ret; i++) {
		const struct slice *slice = query->snapshot->slices[i];

		if (!slice_is_in(slice, query->from_ns, query->to_ns))
			continue;
		if (recall(memory, &at, slice->serial, &kept[n_kept])) {
			parts += kept[n_kept].n;
			ret = add_parts(work, slice, kept[n_kept].parts, kept[n_kept].n);
			n_kept++;
			continue;
		}
		if (parts + slice->cells > PARTS_MAX) {
			ret = lanes_add_cells(work, slice, i);
			continue;
		}
		ret = divide(work, slice);
		if (!ret)
			ret = add_parts(work, slice, work->parts, work->n_parts);
		if (!ret && remember(work, slice->serial, &kept[n_kept]))
			parts += kept[n_kept++].n;
	}
	lanes_spread_out(work);
	forget_digests(memory);
	memory->digests = kept;
	memory->n = n_kept;
	return ret;
}

/* --- all at once --- */

void lanes_work_init(struct lanes_work *work, const struct query *query, struct lanes *lanes)
{
	*work = (struct lanes_work){.query = query, .lanes = lanes};
	query_sieve(query, &work->sieve);
	work->sieve.by_stack = true; /* symbols of leaves are always needed */
	work->n_symrefs = names_limit(query->names);
}

void lanes_work_fini(struct lanes_work *work)
{
	half_fini(&work->half);
	intern_fini(&work->keys);
	free(work->of_label);
	free(work->of_cpu);
	for (uint32_t i = 0; i < work->rows_room; i++)
		free(work->rows[i]);
	free(work->rows);
	free(work->pairs);
	free(work->parts);
	free(work->part_slots);
	free(work->fresh);
	free(work->met);
	sieve_fini(&work->sieve);
}

int lanes_run(const struct query *query, size_t columns, struct lanes *out)
{
	return lanes_follow(query, columns, NULL, out);
}

int lanes_follow(
	const struct query *query, size_t columns, struct lanes_memory *memory, struct lanes *out)
{
	bool remembers = memory && !is_long(query);
	struct lanes_work work;
	int ret;

	if (remembers)
		remember_question(memory, query);
	else if (memory)
		lanes_forget(memory);
	*out = (struct lanes){
		.columns = columns < 1		      ? 1
			: columns > LANES_COLUMNS_MAX ? LANES_COLUMNS_MAX
						      : columns,
		.from_ns = query->from_ns,
		.to_ns = query->to_ns,
	};
	lanes_work_init(&work, query, out);
	ret = remembers ? add_slices(&work, memory) : lanes_add_all(&work);
	if (!ret)
		ret = choose_hottest(&work);
	lanes_work_fini(&work);
	if (ret)
		lanes_fini(out);
	return ret;
}

void lanes_fini(struct lanes *lanes)
{
	free(lanes->lane);
	*lanes = (struct lanes){.lane = NULL};
}
