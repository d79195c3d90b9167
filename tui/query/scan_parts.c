/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_parts.c - see scan_private.h: splits the weights of entries into equal parts of a time
 * range.
 *
 * Slices come in the order of time, and most of them lie in one part.  Weights are assigned only
 * when the part changes, so that cells cost no more than without parts.
 */
#include "tui/query/scan_private.h"

#include "tui/base/grow.h"

static struct scan_spread spread_of(const struct scan_question *question, const struct slice *slice)
{
	double start = (double)(int64_t)(slice->start_ns - question->parts_from_ns);
	double end = (double)(int64_t)(slice->end_ns - question->parts_from_ns);
	double length = (double)(question->parts_to_ns - question->parts_from_ns) / SCAN_PARTS;
	struct scan_spread spread = {.only = -1};

	for (int k = 0; k < SCAN_PARTS && end > start; k++) {
		double left = k * length > start ? k * length : start;
		double right = (k + 1) * length < end ? (k + 1) * length : end;

		spread.part[k] = right > left ? (right - left) / (end - start) : 0.0;
		if (left <= start && right >= end)
			spread.only = k;
	}
	return spread;
}

int scan_parts_room(struct scan_work *work, uint32_t entry)
{
	return grow_zeroed((void **)&work->scan->parts, entry, &work->parting.parts_room,
		sizeof(*work->scan->parts));
}

/* Assigns the weight that was added since the last call to the parts. */
static int part(struct scan_work *work)
{
	struct scan_parting *parting = &work->parting;
	const struct scan_spread *spread = &parting->spread;
	const struct scan *scan = work->scan;
	uint32_t n = scan->n_entries;

	if (n == parting->first)
		return 0;
	if (scan_parts_room(work, n - 1) ||
		grow_zeroed((void **)&parting->counted, n - 1, &parting->counted_room,
			sizeof(*parting->counted)))
		return -ENOMEM;
	for (uint32_t i = parting->first; i < n; i++) {
		uint64_t weight = scan->entries[i].weight - parting->counted[i];

		parting->counted[i] += weight;
		if (spread->only >= 0) {
			scan->parts[i][spread->only] += weight;
			continue;
		}
		for (uint32_t k = 0; weight && k < SCAN_PARTS; k++)
			scan->parts[i][k] += (uint64_t)((double)weight * spread->part[k] + 0.5);
	}
	return 0;
}

int scan_parts_begin(struct scan_work *work, const struct slice *slice)
{
	struct scan_spread spread = spread_of(work->question, slice);
	int ret = 0;

	if (spread.only < 0 || spread.only != work->parting.spread.only)
		ret = part(work);
	work->parting.spread = spread;
	return ret;
}

int scan_parts_end(struct scan_work *work)
{
	int ret = part(work);

	work->parting.first = work->scan->n_entries;
	return ret;
}
