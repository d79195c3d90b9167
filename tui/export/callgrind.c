/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * callgrind.c - the profile format of Callgrind, for callgrind_annotate and KCachegrind.
 *
 * By "Callgrind Format Specification" of the Valgrind manual: functions with their own cost, and calls with inclusive
 * costs.  A call's count is that of the samples it was seen in; calls of a function by itself are left out, since
 * readers would add their cost twice.  Positions are lines, all 0 where they are not known.
 */
#include "tui/export/frames.h"

#include "sampler/idtable.h"
#include "tui/grow.h"
#include "tui/intern.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TELL_EVERY 8192
#define NUMBER_MAX 8u /* bytes that tell events apart */
#define WORD_MAX (EVENT_NAME_MAX + 32u)

struct edge {
	uint32_t caller, callee; /* numbers of frames */
	uint32_t next; /* of the same caller, + 1 */
	uint32_t seen; /* the walk that met it last */
	uint64_t count;
};

struct graph {
	const struct profile *profile;
	struct frames frames;
	uint64_t *self; /* [frame][event] */
	uint32_t self_room;
	struct edge *edges;
	uint32_t n_edges, edges_room;
	uint64_t *inclusive; /* [edge][event] */
	uint32_t inclusive_room;
	struct idtable by_pair; /* edge + 1 */
	uint32_t *first; /* edge + 1, by caller */
	uint32_t first_room;
	uint32_t walk;
	struct intern objects;
};

static void graph_fini(struct graph *graph)
{
	frames_fini(&graph->frames);
	free(graph->self);
	free(graph->edges);
	free(graph->inclusive);
	free(graph->first);
	idtable_fini(&graph->by_pair);
	intern_fini(&graph->objects);
}

static int edge_of(struct graph *graph, uint32_t caller, uint32_t callee, uint32_t *edge)
{
	size_t n = graph->profile->n_events;
	uint32_t hash = idtable_mix(caller, callee), id;
	int ret;

	IDTABLE_FOR_EACH(&graph->by_pair, hash, id)
	if (graph->edges[id - 1].caller == caller && graph->edges[id - 1].callee == callee)
		break;
	if (!id) {
		ret = grow_room((void **)&graph->edges, graph->n_edges, &graph->edges_room,
			sizeof(*graph->edges));
		if (!ret)
			ret = grow_zeroed((void **)&graph->inclusive, graph->n_edges,
				&graph->inclusive_room, n * sizeof(*graph->inclusive));
		if (!ret)
			ret = grow_zeroed((void **)&graph->first, caller, &graph->first_room,
				sizeof(*graph->first));
		if (!ret)
			ret = idtable_put(&graph->by_pair, hash, graph->n_edges + 1);
		if (ret)
			return ret;
		graph->edges[graph->n_edges++] = (struct edge){
			.caller = caller, .callee = callee, .next = graph->first[caller]};
		graph->first[caller] = id = graph->n_edges;
	}
	*edge = id - 1;
	return 0;
}

/* Each call once a stack, however often it recurs on it. */
static int add_calls(struct graph *graph, const struct profile_cell *cell, uint32_t depth)
{
	const uint32_t *path = graph->frames.path;
	size_t n = graph->profile->n_events;
	uint32_t edge;
	int ret = 0;

	graph->walk++;
	for (uint32_t i = 1; i < depth && !ret; i++) {
		if (path[i] == path[i - 1])
			continue;
		ret = edge_of(graph, path[i], path[i - 1], &edge);
		if (ret || graph->edges[edge].seen == graph->walk)
			continue;
		graph->edges[edge].seen = graph->walk;
		graph->edges[edge].count += cell->count;
		graph->inclusive[edge * n + cell->event] += cell->weight;
	}
	return ret;
}

static int add(struct graph *graph, const struct profile_cell *cell)
{
	size_t n = graph->profile->n_events;
	uint32_t depth;
	int ret = frames_stack(&graph->frames, graph->profile, cell->stack, &depth);

	if (ret)
		return ret;
	ret = grow_zeroed((void **)&graph->self, graph->frames.n, &graph->self_room,
		n * sizeof(*graph->self));
	if (!ret) {
		graph->self[graph->frames.path[0] * n + cell->event] += cell->weight;
		ret = add_calls(graph, cell, depth);
	}
	/* One more for the calls of frames met in this stack alone. */
	if (!ret)
		ret = grow_zeroed((void **)&graph->first, graph->frames.n, &graph->first_room,
			sizeof(*graph->first));
	return ret;
}

/* An event's name as one word of letters, digits and underscores. */
static void event_word(char *out, size_t size, const char *name)
{
	size_t n = 0;

	for (; *name && n + 1 < size; name++) {
		char c = *name;
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			(c >= '0' && c <= '9' && n);

		if (plain || n)
			out[n++] = plain ? c : '_';
	}
	if (!n)
		out[n++] = 'e';
	out[n] = '\0';
}

static bool is_word_of_another(const struct profile *profile, size_t event, const char *word)
{
	char other[EVENT_NAME_MAX];

	for (size_t i = 0; i < profile->n_events; i++) {
		event_word(other, sizeof(other), profile->events[i].name);
		if (i != event && !strcmp(other, word))
			return true;
	}
	return false;
}

/* The same for an event of those exported; where another's name becomes the same word, with its number at the end. */
static void unique_word(char out[WORD_MAX], const struct profile *profile, size_t event)
{
	event_word(out, EVENT_NAME_MAX, profile->events[event].name);
	for (size_t len = strlen(out);
		is_word_of_another(profile, event, out) && len + NUMBER_MAX < WORD_MAX; len++)
		snprintf(out + len, WORD_MAX - len, "_%zu", event + 1);
}

static void write_costs(FILE *out, const struct graph *graph, const uint64_t *costs)
{
	fputs("0", out);
	for (size_t i = 0; i < graph->profile->n_events; i++)
		fprintf(out, " %" PRIu64, costs[i]);
	putc('\n', out);
}

static void write_head(FILE *out, const struct graph *graph)
{
	const struct profile *profile = graph->profile;
	char word[WORD_MAX];

	fprintf(out,
		"# callgrind format\nversion: 1\ncreator: strobe " STROBE_VERSION
		"\ncmd: %s\npositions: line\n",
		profile->title);
	for (size_t i = 0; i < profile->n_events; i++) {
		unique_word(word, profile, i);
		fprintf(out, "event: %s : %s%s\n", word, profile->events[i].name,
			profile->events[i].is_clock ? " (ns)" : "");
	}
	fputs("events:", out);
	for (size_t i = 0; i < profile->n_events; i++) {
		unique_word(word, profile, i);
		fprintf(out, " %s", word);
	}
	fputs("\nsummary:", out);
	for (size_t e = 0; e < profile->n_events; e++) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < graph->frames.n; i++)
			sum += graph->self[i * profile->n_events + e];
		fprintf(out, " %" PRIu64, sum);
	}
	fputs("\n\n", out);
}

/* "(3) name" the first time, "(3)" from then on. */
static int write_object(
	FILE *out, struct graph *graph, const char *key, const struct symref *symref)
{
	const char *name = symref->path[0] == '/' ? symref->path : symref->image;
	uint32_t known = graph->objects.n, id;
	int ret = intern_id(&graph->objects, name, strlen(name), &id);

	if (ret)
		return ret;
	fprintf(out, "%s=(%" PRIu32 ")", key, id + 1);
	if (id == known)
		fprintf(out, " %s", name);
	putc('\n', out);
	return 0;
}

static void write_function(
	FILE *out, const char *key, uint32_t frame, const struct symref *symref, uint8_t *named)
{
	fprintf(out, "%s=(%" PRIu32 ")", key, frame + 1);
	if (!named[frame])
		fprintf(out, " %s", symref->symbol);
	named[frame] = 1;
	putc('\n', out);
}

static int write_frame(FILE *out, struct graph *graph, uint32_t frame, uint8_t *named)
{
	struct names *names = graph->profile->names;
	size_t n = graph->profile->n_events;
	const struct symref *symref = names_get(names, graph->frames.symrefs[frame]);
	int ret = write_object(out, graph, "ob", symref);

	fputs(frame ? "fl=(1)\n" : "fl=(1) ???\n", out);
	write_function(out, "fn", frame, symref, named);
	write_costs(out, graph, &graph->self[frame * n]);
	for (uint32_t at = graph->first[frame]; at && !ret; at = graph->edges[at - 1].next) {
		const struct edge *edge = &graph->edges[at - 1];

		symref = names_get(names, graph->frames.symrefs[edge->callee]);
		ret = write_object(out, graph, "cob", symref);
		fputs("cfi=(1)\n", out);
		write_function(out, "cfn", edge->callee, symref, named);
		fprintf(out, "calls=%" PRIu64 " 0\n", edge->count);
		write_costs(out, graph, &graph->inclusive[(at - 1) * n]);
	}
	putc('\n', out);
	if (!ret && ferror(out))
		ret = -EIO;
	return ret;
}

static int write_graph(FILE *out, struct graph *graph)
{
	uint8_t *named = calloc((size_t)graph->frames.n + 1, 1);
	int ret = named ? 0 : -ENOMEM;

	if (!ret)
		write_head(out, graph);
	for (uint32_t i = 0; i < graph->frames.n && !ret; i++)
		ret = write_frame(out, graph, i, named);
	free(named);
	return ret;
}

int export_callgrind(FILE *out, const struct profile *profile)
{
	struct graph graph = {.profile = profile};
	struct profile_cell *cells;
	size_t n;
	int ret = profile_sum(profile, &cells, &n);

	for (size_t i = 0; i < n && !ret; i++) {
		ret = add(&graph, &cells[i]);
		if (!ret && i % TELL_EVERY == 0 && profile_interrupted(profile))
			ret = -EINTR;
	}
	if (!ret)
		ret = write_graph(out, &graph);
	free(cells);
	graph_fini(&graph);
	return ret;
}
