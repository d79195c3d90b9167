/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * callgrind.c - the profile format of Callgrind, for callgrind_annotate and KCachegrind.
 *
 * It follows the "Callgrind Format Specification" of the Valgrind manual.  Functions have their own
 * cost by source line, calls have inclusive costs.  Functions are compiled functions, like in a
 * report.  Lines of inlined functions follow fi=, like in files of Callgrind.  A call's count is
 * its number of samples.  Calls of a function by itself are left out, since readers would add their
 * cost twice.  Unknown lines are 0 and unknown files are ???.  UI thread.
 */
#include "tui/base/clean.h"
#include "tui/export/frames.h"

#include "sampler/base/idtable.h"
#include "tui/base/grow.h"
#include "tui/base/intern.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TELL_EVERY 8192
#define NUMBER_MAX 8u /* room for the number that makes an event's name unique */
#define WORD_MAX (EVENT_NAME_MAX + 32u)
#define NO_CALLEE UINT32_MAX

/* A source position; file 0 is unknown. */
struct place {
	uint32_t file, line;
};

/* A function and its spots in the output. */
struct function {
	uint32_t spots; /* first spot of its list, + 1 */
	uint32_t file, line; /* file of its outermost lines, and the lowest line; 0: unknown */
};

/* The cost of a function at a place: its own, or that of its calls of one callee. */
struct spot {
	uint32_t function, callee; /* frame numbers; callee: NO_CALLEE for own cost */
	struct place place;
	uint32_t next; /* next spot of the function, + 1 */
	uint64_t count; /* samples, or calls */
};

/* A caller and a callee, for calls from any place. */
struct edge {
	uint32_t caller, callee;
	uint32_t seen; /* last walk that counted it */
};

/* A frame in a stack. */
struct step {
	uint32_t function;
	struct place place;
};

struct graph {
	const struct profile *profile;
	struct frames frames; /* one per function */
	struct function *functions; /* indexed by function number */
	uint32_t functions_room;
	struct spot *spots;
	uint32_t n_spots, spots_room;
	uint64_t *costs; /* indexed by [spot][event] */
	uint32_t costs_room;
	struct idtable by_spot; /* values: spot + 1 */
	struct edge *edges;
	uint32_t n_edges, edges_room;
	struct idtable by_pair; /* values: edge + 1 */
	uint32_t walk;
	struct step *steps; /* indexed by frame id; here function is + 1 */
	uint32_t steps_room;
	struct step *path; /* the current stack, leaf first */
	uint32_t path_room;
	struct intern objects, files; /* interned names; the first file is "???" */
};

static void graph_fini(struct graph *graph)
{
	frames_fini(&graph->frames);
	free(graph->functions);
	free(graph->spots);
	free(graph->costs);
	free(graph->edges);
	free(graph->steps);
	free(graph->path);
	idtable_fini(&graph->by_spot);
	idtable_fini(&graph->by_pair);
	intern_fini(&graph->objects);
	intern_fini(&graph->files);
}

/* --- places --- */

static int find_place(struct graph *graph, const struct names_line *at, struct place *place)
{
	char file[4096];

	*place = (struct place){.line = at->line};
	if (!*at->file)
		return 0;
	clean_string(file, sizeof(file), at->file);
	return intern_id(&graph->files, file, strlen(file), &place->file);
}

/* Records a function's file, and the lowest sampled line in that file. */
static void note_own(struct function *function, const struct place *own)
{
	if (!function->file)
		function->file = own->file;
	if (own->file == function->file && own->line &&
		(!function->line || own->line < function->line))
		function->line = own->line;
}

/* Finds the function of a frame, and its innermost line; with --no-inline, the function's own
 * line. */
static int find_step(struct graph *graph, uint32_t frame, struct step *step)
{
	struct names_line at[NAMES_INLINED_MAX + 1];
	struct place own;
	struct step *kept;
	size_t n;
	int ret = grow_zeroed(
		(void **)&graph->steps, frame, &graph->steps_room, sizeof(*graph->steps));

	if (ret)
		return ret;
	kept = &graph->steps[frame];
	if (!kept->function) {
		n = names_lines(graph->profile->names, frame, at);
		ret = frames_number(&graph->frames, at[n - 1].symref, &step->function);
		if (!ret)
			ret = grow_zeroed((void **)&graph->functions, step->function,
				&graph->functions_room, sizeof(*graph->functions));
		if (!ret)
			ret = find_place(graph, &at[n - 1], &own);
		if (!ret)
			ret = find_place(
				graph, &at[graph->profile->inlines ? 0 : n - 1], &kept->place);
		if (ret)
			return ret;
		note_own(&graph->functions[step->function], &own);
		kept->function = step->function + 1;
	}
	*step = (struct step){kept->function - 1, kept->place};
	return 0;
}

/* Finds the steps of a stack.  A stack without frames becomes an unknown function. */
static int find_path(struct graph *graph, uint32_t stack, uint32_t *n)
{
	int ret = 0;

	for (*n = 0; !ret && (stack != STACK_ROOT || !*n); ++*n) {
		ret = grow_room((void **)&graph->path, *n, &graph->path_room, sizeof(*graph->path));
		if (ret)
			break;
		if (stack == STACK_ROOT) {
			graph->path[0] = (struct step){0};
			ret = frames_number(&graph->frames, 0, &graph->path[0].function);
			if (!ret)
				ret = grow_zeroed((void **)&graph->functions,
					graph->path[0].function, &graph->functions_room,
					sizeof(*graph->functions));
		} else {
			const struct stack_node *node = stacks_node(graph->profile->stacks, stack);

			ret = find_step(graph, node->frame, &graph->path[*n]);
			stack = node->parent;
		}
	}
	return ret;
}

/* --- costs --- */

static int find_spot(
	struct graph *graph, const struct step *at, uint32_t callee, struct spot **spot)
{
	size_t n = graph->profile->n_events;
	uint32_t hash = idtable_mix((uint64_t)at->function << 32 | callee,
			 idtable_mix(at->place.file, at->place.line)),
		 id;
	int ret;

	IDTABLE_FOR_EACH(&graph->by_spot, hash, id)
	{
		*spot = &graph->spots[id - 1];
		if ((*spot)->function == at->function && (*spot)->callee == callee &&
			(*spot)->place.file == at->place.file &&
			(*spot)->place.line == at->place.line)
			return 0;
	}
	ret = grow_room((void **)&graph->spots, graph->n_spots, &graph->spots_room, sizeof(**spot));
	if (!ret)
		ret = grow_zeroed((void **)&graph->costs, graph->n_spots, &graph->costs_room,
			n * sizeof(*graph->costs));
	if (!ret)
		ret = idtable_put(&graph->by_spot, hash, graph->n_spots + 1);
	if (ret)
		return ret;
	*spot = &graph->spots[graph->n_spots++];
	**spot = (struct spot){.function = at->function,
		.callee = callee,
		.place = at->place,
		.next = graph->functions[at->function].spots};
	graph->functions[at->function].spots = graph->n_spots;
	return 0;
}

static int find_edge(struct graph *graph, uint32_t caller, uint32_t callee, struct edge **edge)
{
	uint32_t hash = idtable_mix(caller, callee), id;
	int ret;

	IDTABLE_FOR_EACH(&graph->by_pair, hash, id)
	{
		*edge = &graph->edges[id - 1];
		if ((*edge)->caller == caller && (*edge)->callee == callee)
			return 0;
	}
	ret = grow_room((void **)&graph->edges, graph->n_edges, &graph->edges_room, sizeof(**edge));
	if (!ret)
		ret = idtable_put(&graph->by_pair, hash, graph->n_edges + 1);
	if (ret)
		return ret;
	*edge = &graph->edges[graph->n_edges++];
	**edge = (struct edge){.caller = caller, .callee = callee};
	return 0;
}

static int add_cost(struct graph *graph, const struct step *at, uint32_t callee,
	const struct profile_cell *cell)
{
	struct spot *spot;
	int ret = find_spot(graph, at, callee, &spot);

	if (ret)
		return ret;
	spot->count += cell->count;
	graph->costs[(size_t)(spot - graph->spots) * graph->profile->n_events + cell->event] +=
		cell->weight;
	return 0;
}

/* Adds each call once per stack, even if it recurs or comes from several lines. */
static int add_calls(struct graph *graph, const struct profile_cell *cell, uint32_t depth)
{
	const struct step *path = graph->path;
	struct edge *edge;
	int ret = 0;

	graph->walk++;
	for (uint32_t i = 1; i < depth && !ret; i++) {
		if (path[i].function == path[i - 1].function)
			continue;
		ret = find_edge(graph, path[i].function, path[i - 1].function, &edge);
		if (ret || edge->seen == graph->walk)
			continue;
		edge->seen = graph->walk;
		ret = add_cost(graph, &path[i], path[i - 1].function, cell);
	}
	return ret;
}

static int add(struct graph *graph, const struct profile_cell *cell)
{
	uint32_t depth;
	int ret = find_path(graph, cell->stack, &depth);

	if (!ret)
		ret = add_cost(graph, &graph->path[0], NO_CALLEE, cell);
	return ret ? ret : add_calls(graph, cell, depth);
}

/* --- writing --- */

/* Writes an event's name as one word of letters, digits and underscores. */
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

/* Like event_word(), but appends the event's number if another event has the same word. */
static void unique_word(char out[WORD_MAX], const struct profile *profile, size_t event)
{
	event_word(out, EVENT_NAME_MAX, profile->events[event].name);
	for (size_t len = strlen(out);
		is_word_of_another(profile, event, out) && len + NUMBER_MAX < WORD_MAX; len++)
		snprintf(out + len, WORD_MAX - len, "_%zu", event + 1);
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

		for (uint32_t i = 0; i < graph->n_spots; i++)
			if (graph->spots[i].callee == NO_CALLEE)
				sum += graph->costs[i * profile->n_events + e];
		fprintf(out, " %" PRIu64, sum);
	}
	fputs("\n\n", out);
}

/* Writes "(3) name" the first time, "(3)" after that. */
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

/* Functions and files whose names were written already. */
struct named {
	uint8_t *functions, *files;
};

static void write_file(
	FILE *out, const struct graph *graph, const char *key, uint32_t file, struct named *named)
{
	fprintf(out, "%s=(%" PRIu32 ")", key, file + 1);
	if (!named->files[file])
		fprintf(out, " %.*s", (int)graph->files.entries[file].len,
			(const char *)graph->files.entries[file].bytes);
	named->files[file] = 1;
	putc('\n', out);
}

static void write_function(
	FILE *out, const struct graph *graph, const char *key, uint32_t frame, struct named *named)
{
	const uint32_t symref = graph->frames.symrefs[frame];
	char mark[PROFILE_MARK_BYTES];

	fprintf(out, "%s=(%" PRIu32 ")", key, frame + 1);
	if (!named->functions[frame])
		fprintf(out, " %s%s", names_get(graph->profile->names, symref)->symbol,
			profile_mark(graph->profile, symref, mark));
	named->functions[frame] = 1;
	putc('\n', out);
}

static void write_costs(FILE *out, const struct graph *graph, const struct spot *spot)
{
	size_t n = graph->profile->n_events;
	const uint64_t *costs = &graph->costs[(size_t)(spot - graph->spots) * n];

	fprintf(out, "%" PRIu32, spot->place.line);
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %" PRIu64, costs[i]);
	putc('\n', out);
}

static int write_call(FILE *out, struct graph *graph, const struct spot *spot, struct named *named)
{
	const struct function *callee = &graph->functions[spot->callee];
	const struct symref *symref =
		names_get(graph->profile->names, graph->frames.symrefs[spot->callee]);
	int ret = write_object(out, graph, "cob", symref);

	write_file(out, graph, "cfi", callee->file, named);
	write_function(out, graph, "cfn", spot->callee, named);
	fprintf(out, "calls=%" PRIu64 " %" PRIu32 "\n", spot->count, callee->line);
	return ret;
}

/* Sorts own costs before calls, and each by file and line. */
static int by_place(const void *a, const void *b)
{
	const struct spot *x = *(const struct spot *const *)a, *y = *(const struct spot *const *)b;

	if ((x->callee == NO_CALLEE) != (y->callee == NO_CALLEE))
		return x->callee == NO_CALLEE ? -1 : 1;
	if (x->place.file != y->place.file)
		return x->place.file < y->place.file ? -1 : 1;
	if (x->place.line != y->place.line)
		return x->place.line < y->place.line ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

/* Writes a function's spots: fi= before lines of an inlined file, fe= before a return to the
 * function's own. */
static int write_spots(FILE *out, struct graph *graph, uint32_t frame, const struct spot **spots,
	struct named *named)
{
	const uint32_t own = graph->functions[frame].file;
	uint32_t file = own;
	size_t n = 0;
	int ret = 0;

	for (uint32_t at = graph->functions[frame].spots; at; at = graph->spots[at - 1].next)
		spots[n++] = &graph->spots[at - 1];
	qsort(spots, n, sizeof(*spots), by_place);
	for (size_t i = 0; i < n && !ret; i++) {
		/* A place without a file lies in the function's file. */
		uint32_t its = spots[i]->place.file ? spots[i]->place.file : own;

		if (its != file)
			write_file(out, graph, its == own ? "fe" : "fi", its, named);
		file = its;
		if (spots[i]->callee != NO_CALLEE)
			ret = write_call(out, graph, spots[i], named);
		write_costs(out, graph, spots[i]);
	}
	return ret;
}

static int write_graph(FILE *out, struct graph *graph)
{
	struct named named = {.functions = calloc((size_t)graph->frames.n + 1, 1),
		.files = calloc((size_t)graph->files.n + 1, 1)};
	const struct spot **spots = calloc((size_t)graph->n_spots + 1, sizeof(*spots));
	int ret = named.functions && named.files && spots ? 0 : -ENOMEM;

	if (!ret)
		write_head(out, graph);
	for (uint32_t i = 0; i < graph->frames.n && !ret; i++) {
		const struct symref *symref =
			names_get(graph->profile->names, graph->frames.symrefs[i]);

		ret = write_object(out, graph, "ob", symref);
		write_file(out, graph, "fl", graph->functions[i].file, &named);
		write_function(out, graph, "fn", i, &named);
		if (!ret)
			ret = write_spots(out, graph, i, spots, &named);
		putc('\n', out);
		if (!ret && ferror(out))
			ret = -EIO;
	}
	free(named.functions);
	free(named.files);
	free(spots);
	return ret;
}

int export_callgrind(FILE *out, const struct profile *profile)
{
	struct graph graph = {.profile = profile};
	struct profile_cell *cells;
	uint32_t unknown;
	size_t n;
	int ret = profile_sum(profile, &cells, &n);

	if (!ret)
		ret = intern_id(&graph.files, "???", 3, &unknown);
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
