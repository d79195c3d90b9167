/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sums.c - sums samples by address of a function, and adds these sums to the rows.
 *
 * A slice never changes, so each is read once and leaves a digest: the function's samples by
 * address and event.  A refresh reads only new slices and adds up digests.  UI thread.
 */
#include "tui/annotate/private.h"

#include "symbols/wire/codetab.h"
#include "tui/base/grow.h"

#define BLOCK_ROWS 256u

const uint64_t annotate_zeros[ANNOTATE_EVENTS_MAX];

/* Sums of one slice while it is read. */
struct parts {
	struct annotate_part *list;
	uint32_t n, room;
};

static int add_part(
	struct parts *parts, uint32_t offset, uint8_t event, uint64_t weight, uint64_t samples)
{
	if (grow_room((void **)&parts->list, parts->n, &parts->room, sizeof(*parts->list)))
		return -ENOMEM;
	parts->list[parts->n++] = (struct annotate_part){offset, event, weight, samples};
	return 0;
}

static int compare_parts(const void *a, const void *b)
{
	const struct annotate_part *left = a, *right = b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	return left->event < right->event ? -1 : left->event > right->event;
}

static void join_parts(struct parts *parts)
{
	uint32_t kept = 0;

	qsort(parts->list, parts->n, sizeof(*parts->list), compare_parts);
	for (uint32_t i = 0; i < parts->n; i++) {
		struct annotate_part *last = kept ? &parts->list[kept - 1] : NULL;

		if (last && !compare_parts(last, &parts->list[i])) {
			last->weight += parts->list[i].weight;
			last->samples += parts->list[i].samples;
		} else {
			parts->list[kept++] = parts->list[i];
		}
	}
	parts->n = kept;
}

/* Returns 1 if the stack's leaf is in the function, 0 if not, or -ENOMEM. */
static int is_ours(struct annotation *annotation, uint32_t node)
{
	const struct stack_node *at;
	struct annotate_verdict *verdict;

	if (node == STACK_ROOT)
		return 0;
	at = stacks_node(annotation->question.stacks, node);
	if (grow_zeroed((void **)&annotation->verdicts, node, &annotation->verdicts_room,
		    sizeof(*annotation->verdicts)))
		return -ENOMEM;
	verdict = &annotation->verdicts[node];
	if (!verdict->known || verdict->generation != at->generation)
		*verdict = (struct annotate_verdict){at->generation, true,
			names_symref(annotation->question.names, at->frame) ==
				annotation->question.symref};
	return verdict->ours;
}

static int add_cell(
	struct annotation *annotation, struct parts *parts, const struct slice *slice, uint32_t i)
{
	const struct stacks *stacks = annotation->question.stacks;
	uint64_t offset;
	uint32_t number;
	int ours = is_ours(annotation, slice->stack[i]);

	if (ours <= 0)
		return ours;
	offset = stacks_frame_get(stacks, stacks_node(stacks, slice->stack[i])->frame)->offset;
	if (!annotate_covers(annotation, offset))
		return 0;
	if (intern_id(&annotation->offsets, &offset, sizeof(offset), &number))
		return -ENOMEM;
	return add_part(parts, number, slice->event[i], slice->weight[i], slice->count[i]);
}

/* Returns NULL if memory runs out. */
static struct annotate_digest *digest_slice(
	struct annotation *annotation, const struct slice *slice, struct filter *filter)
{
	uint64_t whole[STORE_EVENTS_MAX] = {0};
	struct annotate_digest *digest = NULL;
	struct parts parts = {0};
	int ret = 0;

	for (uint32_t i = 0; i < slice->cells && !ret; i++) {
		if (filter) {
			if (!filter_pass(filter, slice, i))
				continue;
			whole[slice->event[i]] += slice->weight[i];
		}
		ret = add_cell(annotation, &parts, slice, i);
	}
	if (parts.n)
		join_parts(&parts);
	for (uint32_t i = 0; i < slice->n_totals && !ret; i++) {
		uint8_t event = slice->totals[i].event;

		ret = add_part(&parts, ANNOTATE_WHOLE, event,
			filter ? whole[event] : slice->totals[i].weight, 0);
	}
	if (!ret)
		digest = malloc(sizeof(*digest) + parts.n * sizeof(digest->parts[0]));
	if (digest) {
		digest->serial = slice->serial;
		digest->n = parts.n;
		if (parts.n)
			memcpy(digest->parts, parts.list, parts.n * sizeof(digest->parts[0]));
	}
	free(parts.list);
	return digest;
}

static int compare_digests(const void *a, const void *b)
{
	const struct annotate_digest *const *left = a, *const *right = b;

	return (*left)->serial < (*right)->serial ? -1 : (*left)->serial > (*right)->serial;
}

/* Takes the digest of a slice that was read before and marks it in taken[]; NULL if there is
 * none. */
static struct annotate_digest *take_digest(
	struct annotation *annotation, uint64_t serial, uint8_t *taken)
{
	size_t low = 0, high = annotation->n_digests;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (annotation->digests[middle]->serial < serial)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == annotation->n_digests || annotation->digests[low]->serial != serial ||
		taken[low])
		return NULL;
	taken[low] = 1;
	return annotation->digests[low];
}

static void forget_digests(struct annotation *annotation)
{
	for (size_t i = 0; i < annotation->n_digests; i++)
		free(annotation->digests[i]);
	free(annotation->digests);
	annotation->digests = NULL;
	annotation->n_digests = 0;
}

/* Makes a digest for each slice in the range, and keeps those of the snapshot's other slices. */
static int digest_all(struct annotation *annotation, const struct snapshot *snapshot,
	uint64_t from_ns, uint64_t to_ns, struct filter *filter)
{
	struct annotate_digest **made = calloc(snapshot->n + 1, sizeof(struct annotate_digest *));
	uint8_t *taken = calloc(annotation->n_digests + 1, 1);
	size_t n = 0;
	int ret = made && taken ? 0 : -ENOMEM;

	for (size_t i = 0; i < snapshot->n && !ret; i++) {
		const struct slice *slice = snapshot->slices[i];

		made[n] = take_digest(annotation, slice->serial, taken);
		if (!made[n] && slice_is_in(slice, from_ns, to_ns)) {
			made[n] = digest_slice(annotation, slice, filter);
			if (!made[n])
				ret = -ENOMEM;
		}
		n += made[n] != NULL;
	}
	/* Free the digests that were not taken over. */
	for (size_t i = 0; taken && i < annotation->n_digests; i++)
		if (!taken[i])
			free(annotation->digests[i]);
	if (taken)
		free(annotation->digests);
	else
		forget_digests(annotation);
	free(taken);
	annotation->digests = made;
	annotation->n_digests = n;
	if (made)
		qsort(made, n, sizeof(struct annotate_digest *), compare_digests);
	return ret;
}

static void forget_blocks(struct annotation *annotation)
{
	for (uint32_t i = 0; i < annotation->n_blocks; i++)
		free(annotation->blocks[i]);
	annotation->n_blocks = 0;
	annotation->n_slots = 0;
}

/* Drops the sums of all rows. */
static void clear_rows(struct annotation *annotation)
{
	for (uint32_t i = 0; i < annotation->n_rows; i++)
		annotation->rows[i].weight = annotation->rows[i].samples = annotate_zeros;
	if (annotation->slots)
		memset(annotation->slots, 0, annotation->slots_room * sizeof(*annotation->slots));
	forget_blocks(annotation);
}

static int take_events(struct annotation *annotation, const uint8_t *events, size_t n)
{
	uint32_t rooms = annotation->offsets.n ? annotation->offsets.n : 1;
	bool same = n == annotation->n_events && !memcmp(events, annotation->events, n);

	if (!same) {
		clear_rows(annotation);
		memcpy(annotation->events, events, n);
		annotation->n_events = n;
	}
	if (!same || rooms > annotation->sums_room) {
		free(annotation->sums);
		annotation->sums_room = rooms + rooms / 2;
		annotation->sums = calloc(
			(size_t)annotation->sums_room * (n ? n : 1), 2 * sizeof(*annotation->sums));
		if (!annotation->sums)
			annotation->sums_room = 0;
	} else {
		memset(annotation->sums, 0, (size_t)rooms * n * 2 * sizeof(*annotation->sums));
	}
	memset(annotation->weight, 0, sizeof(annotation->weight));
	memset(annotation->samples, 0, sizeof(annotation->samples));
	memset(annotation->whole, 0, sizeof(annotation->whole));
	return annotation->sums ? 0 : -ENOMEM;
}

static void add_digest(struct annotation *annotation, const struct annotate_digest *digest,
	const int16_t columns[STORE_EVENTS_MAX])
{
	for (uint32_t i = 0; i < digest->n; i++) {
		const struct annotate_part *part = &digest->parts[i];
		int16_t column = columns[part->event];
		uint64_t *sum;

		if (column < 0)
			continue;
		if (part->offset == ANNOTATE_WHOLE) {
			annotation->whole[column] += part->weight;
			continue;
		}
		sum = annotation->sums + 2 * (part->offset * annotation->n_events + (size_t)column);
		sum[0] += part->weight;
		sum[1] += part->samples;
		annotation->weight[column] += part->weight;
		annotation->samples[column] += part->samples;
	}
}

static const struct annotate_digest *find_digest(
	const struct annotation *annotation, uint64_t serial)
{
	struct {
		uint64_t serial;
	} key = {serial};
	const void *wanted = &key;
	struct annotate_digest **found = bsearch(&wanted, annotation->digests,
		annotation->n_digests, sizeof(struct annotate_digest *), compare_digests);

	return found ? *found : NULL;
}

int annotate_update(struct annotation *annotation, const struct snapshot *snapshot,
	uint64_t from_ns, uint64_t to_ns, struct filter *filter, const uint8_t *events,
	size_t n_events)
{
	uint64_t epoch = names_epoch(annotation->question.names);
	int16_t columns[STORE_EVENTS_MAX];
	int ret;

	if (filter_serial(filter) != annotation->filter_serial || epoch != annotation->epoch) {
		forget_digests(annotation);
		free(annotation->verdicts);
		annotation->verdicts = NULL;
		annotation->verdicts_room = 0;
		annotation->filter_serial = filter_serial(filter);
		annotation->epoch = epoch;
	}
	if (n_events > ANNOTATE_EVENTS_MAX)
		n_events = ANNOTATE_EVENTS_MAX;
	for (size_t i = 0; i < STORE_EVENTS_MAX; i++)
		columns[i] = -1;
	for (size_t i = 0; i < n_events; i++)
		columns[events[i]] = (int16_t)i;
	ret = digest_all(annotation, snapshot, from_ns, to_ns, filter);
	if (!ret)
		ret = take_events(annotation, events, n_events);
	for (size_t i = 0; i < snapshot->n && !ret; i++) {
		const struct slice *slice = snapshot->slices[i];

		if (slice_is_in(slice, from_ns, to_ns))
			add_digest(annotation, find_digest(annotation, slice->serial), columns);
	}
	return ret ? ret : annotate_spread(annotation);
}

/* --- sums to rows --- */

/* Returns the row of an address without code; rows are sorted by offset. */
static uint32_t address_row(const struct annotation *annotation, uint64_t offset)
{
	uint32_t low = 0, high = annotation->n_rows;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (annotation->rows[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < annotation->n_rows && annotation->rows[low].offset == offset ? low
										  : ANNOTATE_NO_ROW;
}

static struct annotate_places find_places(const struct annotation *annotation, uint64_t offset)
{
	const struct annotate_places none = {ANNOTATE_NO_ROW, ANNOTATE_NO_ROW};
	int64_t entry;

	if (!annotation->table)
		return (struct annotate_places){address_row(annotation, offset), ANNOTATE_NO_ROW};
	entry = codetab_find(annotation->table, offset);
	return entry < 0 || !annotation->by_entry ? none : annotation->by_entry[entry];
}

static uint64_t *row_sums(struct annotation *annotation, uint32_t slot)
{
	return annotation->blocks[slot / BLOCK_ROWS] + slot % BLOCK_ROWS * 2 * annotation->n_events;
}

/* Returns the sums of a row and adds them if it has none; NULL if memory runs out. */
static uint64_t *sums_of_row(struct annotation *annotation, uint32_t row)
{
	uint32_t slot = annotation->slots[row];
	uint64_t *sums;

	if (slot)
		return row_sums(annotation, slot - 1);
	if (annotation->n_slots == annotation->n_blocks * BLOCK_ROWS) {
		uint64_t *block;

		if (grow_room((void **)&annotation->blocks, annotation->n_blocks,
			    &annotation->blocks_room, sizeof(uint64_t *)))
			return NULL;
		block = calloc(BLOCK_ROWS * annotation->n_events, 2 * sizeof(*block));
		if (!block)
			return NULL;
		annotation->blocks[annotation->n_blocks++] = block;
	}
	slot = annotation->n_slots++;
	annotation->slots[row] = slot + 1;
	sums = row_sums(annotation, slot);
	memset(sums, 0, 2 * annotation->n_events * sizeof(*sums));
	annotation->rows[row].weight = sums;
	annotation->rows[row].samples = sums + annotation->n_events;
	return sums;
}

static int add_to_row(struct annotation *annotation, uint32_t row, const uint64_t *sums)
{
	uint64_t *into;

	if (row == ANNOTATE_NO_ROW)
		return 0;
	into = sums_of_row(annotation, row);
	if (!into)
		return -ENOMEM;
	for (size_t i = 0; i < annotation->n_events; i++) {
		into[i] += sums[2 * i];
		into[annotation->n_events + i] += sums[2 * i + 1];
	}
	return 0;
}

static bool is_empty(const uint64_t *sums, size_t n)
{
	for (size_t i = 0; i < 2 * n; i++)
		if (sums[i])
			return false;
	return true;
}

int annotate_spread(struct annotation *annotation)
{
	int ret = 0;

	if (!annotation->n_events || !annotation->n_rows || !annotation->sums)
		return 0;
	if (grow_zeroed((void **)&annotation->slots, annotation->n_rows - 1,
		    &annotation->slots_room, sizeof(*annotation->slots)))
		return -ENOMEM;
	for (uint32_t i = 0; i < annotation->n_slots; i++)
		memset(row_sums(annotation, i), 0,
			2 * annotation->n_events * sizeof(**annotation->blocks));
	for (uint32_t i = 0; i < annotation->offsets.n && i < annotation->sums_room && !ret; i++) {
		const uint64_t *sums = annotation->sums + 2 * i * annotation->n_events;

		if (i == annotation->n_places) {
			if (grow_room((void **)&annotation->places, i, &annotation->places_room,
				    sizeof(*annotation->places)))
				return -ENOMEM;
			annotation->places[annotation->n_places++] =
				find_places(annotation, annotate_offset(annotation, i));
		}
		if (is_empty(sums, annotation->n_events))
			continue;
		ret = add_to_row(annotation, annotation->places[i].at, sums);
		if (!ret)
			ret = add_to_row(annotation, annotation->places[i].also, sums);
	}
	return ret;
}

void annotate_rows_changed(struct annotation *annotation)
{
	annotation->n_places = 0;
	clear_rows(annotation);
}

void annotate_sums_fini(struct annotation *annotation)
{
	forget_digests(annotation);
	forget_blocks(annotation);
	free(annotation->blocks);
	free(annotation->slots);
	free(annotation->places);
	free(annotation->sums);
	free(annotation->verdicts);
	intern_fini(&annotation->offsets);
}
