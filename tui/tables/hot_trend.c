/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_trend.c - the self weight of a symbol over time.
 *
 * Screens query the same few symbols in all digests ten times a second, and only one digest is new
 * each time.  So the weights in the other digests are cached.
 */
#include "tui/tables/hot_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TREND_PART 20u /* trends without digests are recomputed after the range moved by 1/20 */
#define PROBES 4u

void hot_trend_time(uint64_t first_ns, uint64_t last_ns, uint64_t from_ns, uint64_t to_ns,
	struct hot_trends *trends)
{
	/* Parts cover the requested range if it is bounded and wider than the history. */
	trends->from_ns = from_ns && from_ns < first_ns ? from_ns : first_ns;
	trends->to_ns = to_ns != UINT64_MAX && to_ns > last_ns ? to_ns : last_ns;
}

void hot_lines_fini(struct hot *hot)
{
	for (size_t i = 0; i < HOT_LINES; i++)
		free(hot->lines[i].selfs);
	memset(hot->lines, 0, sizeof(hot->lines));
}

/* Finds the line of a symbol, or takes over another one. */
static struct hot_line *find_line(struct hot *hot, uint32_t symref, uint8_t event)
{
	const uint32_t at = (symref ^ (uint32_t)event << 24) * 0x9e3779b1u >> 24;
	struct hot_line *line = &hot->lines[at];

	for (uint32_t i = 0; i < PROBES; i++) {
		struct hot_line *other = &hot->lines[(at + i) % HOT_LINES];

		if (!other->selfs || (other->symref == symref && other->event == event)) {
			line = other;
			break;
		}
	}
	if (line->selfs && (line->symref != symref || line->event != event))
		line->end = 0;
	line->symref = symref;
	line->event = event;
	return line;
}

/* Returns the weights of a symbol in all digests; NULL if memory runs out. */
static const struct hot_line *line_of(struct hot *hot, uint32_t symref, uint8_t event)
{
	const uint64_t first = hot->digests[0].number, end = first + hot->n_digests;
	struct hot_line *line;

	if (hot->n_digests > hot->ring) {
		hot_lines_fini(hot);
		for (hot->ring = 256; hot->ring < hot->n_digests;)
			hot->ring *= 2;
	}
	line = find_line(hot, symref, event);
	if (!line->selfs) {
		line->end = 0;
		line->selfs = calloc(hot->ring, sizeof(*line->selfs));
		if (!line->selfs)
			return NULL;
	}
	for (uint64_t i = line->end > first ? line->end : first; i < end; i++)
		line->selfs[i & (hot->ring - 1)] =
			digest_self(&hot->digests[i - first], event, symref);
	line->end = end;
	return line;
}

/* Returns the part in [from, to) of a weight spread evenly over [start, end). */
static uint64_t overlap(uint64_t weight, uint64_t start, uint64_t end, double from, double to)
{
	double left = (double)start > from ? (double)start : from;
	double right = (double)end < to ? (double)end : to;

	if (right <= left)
		return 0;
	return (uint64_t)((double)weight * (right - left) / (double)(end - start) + 0.5);
}

/* Returns a trend without digests.  Trends of all symbols are computed at once, but not at each
 * step of a moving range. */
static void bulk_trend(
	struct hot *hot, uint32_t symref, const struct hot_trends *wanted, uint64_t out[HOT_TREND])
{
	struct hot_trends *trends = &hot->trends;
	uint64_t from_ns = wanted->from_ns, to_ns = wanted->to_ns;
	uint64_t most = (to_ns - from_ns) / TREND_PART;
	struct snapshot snapshot;

	hot->wants_trends = true;
	if (!trends->of || trends->event != wanted->event || trends->from_ns + most < from_ns ||
		from_ns + most < trends->from_ns || trends->to_ns + most < to_ns ||
		to_ns + most < trends->to_ns) {
		struct scan_question question =
			hot_question(hot, &snapshot, hot->from_ns, hot->to_ns);

		if (store_snapshot(hot->store, hot->from_ns, hot->to_ns, &snapshot))
			return;
		trends->event = wanted->event;
		trends->from_ns = from_ns;
		trends->to_ns = to_ns;
		(void)hot_trends_make(&question, trends);
		snapshot_release(hot->store, &snapshot);
	}
	if (symref < trends->room)
		memcpy(out, trends->of[symref], HOT_TREND * sizeof(*out));
}

void hot_trend(struct hot *hot, uint32_t symref, uint8_t event, uint64_t out[HOT_TREND])
{
	struct hot_trends wanted = {.event = event};
	const struct hot_line *line;
	double part;

	memset(out, 0, HOT_TREND * sizeof(*out));
	if (!hot->n_digests)
		return;
	hot_trend_time(hot->digests[0].start_ns, hot->digests[hot->n_digests - 1].end_ns,
		hot->from_ns, hot->to_ns, &wanted);
	if (hot->n_bare) {
		bulk_trend(hot, symref, &wanted, out);
		return;
	}
	line = line_of(hot, symref, event);
	part = (double)(wanted.to_ns - wanted.from_ns) / HOT_TREND;
	for (size_t i = 0; i < hot->n_digests && part > 0; i++) {
		const struct digest *digest = &hot->digests[i];
		const uint64_t self = line ? line->selfs[digest->number & (hot->ring - 1)]
					   : digest_self(digest, event, symref);
		uint64_t start = digest->start_ns - wanted.from_ns,
			 end = digest->end_ns - wanted.from_ns;
		int k;

		if (!self || end <= start)
			continue;
		k = (int)((double)start / part);
		for (; k < HOT_TREND && k * part < (double)end; k++)
			out[k] += overlap(self, start, end, k * part, (k + 1) * part);
	}
}
