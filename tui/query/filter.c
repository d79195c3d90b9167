/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * filter.c - see filter.h.
 *
 * A cell is judged by its label, CPU, leaf frame, stack and sample fields.  Verdicts are cached:
 * those of CPUs are computed when the filter is made, all others when an item is first met.
 */
#include "tui/query/filter.h"

#include "tui/base/clean.h"
#include "tui/base/grow.h"
#include "tui/names/called.h"
#include "tui/names/forest.h"
#include "tui/query/line_text.h"

#include <inttypes.h>
#include <stdio.h>

#define CPUS 65536u

enum verdict { UNJUDGED, PASSES, FAILS };

struct label_verdict {
	uint32_t generation;
	uint8_t verdict;
};

struct frame_verdict {
	uint16_t generation;
	uint8_t verdict;
};

/* Bits of a symbol or stack: it was judged; matches a positive term; matches a negated term. */
enum { STACK_JUDGED = 1, STACK_MET = 2, STACK_MET_NEGATED = 4 };

/* Verdict of a tuple of field values.  Ids of tuples are reused, but not while a slice has them. */
struct value_verdict {
	uint64_t serial; /* serial of the slice */
	uint8_t event, verdict;
};

struct filter {
	const struct filter_term *terms;
	size_t n_terms;
	const struct stacks *stacks;
	const struct tasks *tasks;
	struct names *names;
	uint64_t serial;
	struct filter *next; /* AND: must pass as well */
	bool by_label, by_frame, by_cpu, by_stack, by_line, by_field;
	uint64_t epoch; /* epoch of the names used for the verdicts */
	uint64_t changes; /* names_changes() when symbols and nodes were judged */
	struct label_verdict *labels;
	uint32_t labels_room;
	struct frame_verdict *frames; /* the verdict at FRAME_NONE is for samples without a stack */
	uint32_t frames_room;
	uint8_t *symbols; /* by symref: STACK_* bits of its matches */
	uint32_t symbols_room;
	struct forest *forest; /* or NULL */
	/* by number in the forest: STACK_* bits of all frames from the outermost to this one */
	uint8_t *nodes;
	uint32_t n_nodes, nodes_room;
	const struct field_schemas *schemas;
	struct value_verdict *values;
	uint32_t values_room;
	uint8_t cpus[CPUS / 8];
};

static bool has_field(const struct filter *filter, enum filter_field field)
{
	for (size_t i = 0; i < filter->n_terms; i++)
		if (filter->terms[i].field == field)
			return true;
	return false;
}

/* Combines the terms of one field.  match checks a single term. */
static bool judge(const struct filter *filter, enum filter_field field,
	bool (*match)(const struct filter_term *term, const void *of), const void *of)
{
	bool any_positive = false, met = false;

	for (size_t i = 0; i < filter->n_terms; i++) {
		const struct filter_term *term = &filter->terms[i];

		if (term->field != field)
			continue;
		if (term->negated) {
			if (match(term, of))
				return false;
			continue;
		}
		any_positive = true;
		met = met || match(term, of);
	}
	return met || !any_positive;
}

static bool match_number(const struct filter_term *term, const void *of)
{
	const int64_t *number = of;

	return *number >= term->first && *number <= term->last;
}

static bool found(const struct filter_term *term, const char *text)
{
	return regexec(term->regex, text, 0, NULL, 0) == 0;
}

static bool match_text(const struct filter_term *term, const void *of)
{
	if (term->regex)
		return found(term, of);
	return term->exact ? !strcmp(term->text, of) : called_matches(term->text, of, strlen(of));
}

static bool match_image(const struct filter_term *term, const void *of)
{
	const struct symref *name = of;

	return match_text(term, name->image) || match_text(term, name->path);
}

static bool match_symbol(const struct filter_term *term, const void *of)
{
	const struct symref *name = of;

	return match_text(term, name->symbol) ||
		(!term->regex && !term->exact && called(term->text, name, CALLED_CLONE));
}

struct place {
	struct filter *filter;
	const struct symref *name;
	uint32_t frame;
};

static bool match_address(const struct filter_term *term, const void *of)
{
	const struct place *place = of;
	const struct frame *frame = place->frame == FRAME_NONE
		? NULL
		: stacks_frame_get(place->filter->stacks, place->frame);
	char text[512];

	snprintf(text, sizeof(text), "%.400s+0x%" PRIx64, place->name->image,
		frame ? names_address(place->filter->names, frame->image, frame->offset) : 0);
	return match_text(term, text);
}

static bool match_line(const struct filter_term *term, const void *of)
{
	const struct place *place = of;
	struct names_line line = line_of(place->filter->names, place->frame);
	char text[LINE_TEXT_MAX];
	const char *slash;

	line_text(place->filter->names, &line, text);
	slash = line.line ? strrchr(text, '/') : NULL;
	return match_text(term, text) || (slash && match_text(term, slash + 1));
}

static bool match_field(const struct filter_term *term, const void *of)
{
	const struct field_text *text = of;

	if (term->has_range && text->is_number && text->number >= term->first &&
		text->number <= term->last)
		return true;
	return match_text(term, text->bytes);
}

static uint64_t new_serial(void)
{
	static uint64_t serials; /* no lock: one thread, see filter.h */

	return ++serials;
}

/* Lines and the symbols of field values can arrive without a new epoch. */
static uint64_t epoch_of(const struct filter *filter)
{
	return filter->by_line || filter->by_field ? names_changes(filter->names)
						   : names_epoch(filter->names);
}

int filter_new(struct filter **out, const struct filter_term *terms, size_t n,
	const struct stacks *stacks, const struct tasks *tasks, struct names *names)
{
	struct filter *filter;

	*out = NULL;
	if (!n)
		return 0;
	filter = calloc(1, sizeof(*filter));
	if (!filter)
		return -ENOMEM;
	filter->serial = new_serial();
	filter->terms = terms;
	filter->n_terms = n;
	filter->stacks = stacks;
	filter->tasks = tasks;
	filter->names = names;
	filter->by_label = has_field(filter, FILTER_COMM) || has_field(filter, FILTER_PID) ||
		has_field(filter, FILTER_TID);
	filter->by_line = has_field(filter, FILTER_LINE);
	filter->by_frame = has_field(filter, FILTER_IMAGE) || has_field(filter, FILTER_SYMBOL) ||
		has_field(filter, FILTER_ADDRESS) || filter->by_line;
	filter->by_field = has_field(filter, FILTER_SAMPLE_FIELD);
	filter->epoch = epoch_of(filter);
	filter->by_cpu = has_field(filter, FILTER_CPU);
	filter->by_stack = has_field(filter, FILTER_STACK);
	for (int64_t cpu = 0; filter->by_cpu && cpu < CPUS; cpu++)
		if (judge(filter, FILTER_CPU, match_number, &cpu))
			filter->cpus[cpu / 8] |= (uint8_t)(1u << (cpu % 8));
	*out = filter;
	return 0;
}

const char *filter_field_name(enum filter_field field)
{
	static const char *const fields[] = {
		[FILTER_COMM] = "comm",
		[FILTER_PID] = "pid",
		[FILTER_TID] = "tid",
		[FILTER_CPU] = "cpu",
		[FILTER_IMAGE] = "image",
		[FILTER_SYMBOL] = "symbol",
		[FILTER_STACK] = "stack",
		[FILTER_ADDRESS] = "address",
		[FILTER_LINE] = "line",
	};

	return field < FILTER_FIELDS ? fields[field] : "field";
}

void filter_set_schemas(struct filter *filter, const struct field_schemas *schemas)
{
	for (; filter; filter = filter->next)
		filter->schemas = schemas;
}

void filter_describe(const struct filter_term *terms, size_t n, char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < n && len + 1 < size; i++) {
		const struct filter_term *term = &terms[i];
		char raw[160], clean[sizeof(raw)];
		int written;

		if (term->text)
			snprintf(raw, sizeof(raw), "%s", term->text);
		else if (term->first == term->last)
			snprintf(raw, sizeof(raw), "%" PRId64, term->first);
		else
			snprintf(raw, sizeof(raw), "%" PRId64 "-%" PRId64, term->first, term->last);
		clean_string(clean, sizeof(clean), raw);
		written = snprintf(out + len, size - len, "%s%s%s %s", i ? ", " : "",
			term->negated ? "!" : "",
			term->field_name ? term->field_name : filter_field_name(term->field),
			clean);
		len += written > 0 ? (size_t)written : 0;
	}
}

void filter_free(struct filter *filter)
{
	while (filter) {
		struct filter *next = filter->next;

		free(filter->labels);
		free(filter->frames);
		free(filter->symbols);
		free(filter->nodes);
		free(filter->values);
		forest_put(filter->forest);
		free(filter);
		filter = next;
	}
}

struct filter *filter_and(struct filter *filter, struct filter *more)
{
	struct filter *last = filter;

	if (!filter || !more)
		return filter ? filter : more;
	while (last->next)
		last = last->next;
	last->next = more;
	filter->serial = new_serial();
	return filter;
}

uint64_t filter_serial(const struct filter *filter)
{
	return filter ? filter->serial : 0;
}

static bool judge_label(const struct filter *filter, const struct task_label *label)
{
	int64_t pid = label ? label->pid : -1, tid = label ? label->tid : -1;
	char comm[TASK_COMM_MAX];

	clean_text(comm, sizeof(comm), label ? label->comm : "", TASK_COMM_MAX);
	return judge(filter, FILTER_PID, match_number, &pid) &&
		judge(filter, FILTER_TID, match_number, &tid) &&
		judge(filter, FILTER_COMM, match_text, comm);
}

static bool label_passes(struct filter *filter, uint32_t id)
{
	const struct task_label *label = tasks_label_get(filter->tasks, id);
	uint32_t generation = label ? label->generation : 0;
	struct label_verdict *known;
	bool passes;

	if (id < filter->labels_room) {
		known = &filter->labels[id];
		if (known->verdict && known->generation == generation)
			return known->verdict == PASSES;
	}
	passes = judge_label(filter, label);
	/* If memory runs out, the verdict is not cached; the result is still right. */
	if (!grow_zeroed((void **)&filter->labels, id, &filter->labels_room, sizeof(*known)))
		filter->labels[id] = (struct label_verdict){generation, passes ? PASSES : FAILS};
	return passes;
}

/* A mangled name may later be replaced by the demangled one, without a new epoch. */
static bool is_final(const struct symref *name)
{
	return !name->pending && !(name->symbol[0] == '_' && strchr("ZRDG_", name->symbol[1]));
}

static void follow_names(struct filter *filter)
{
	if (filter->epoch == epoch_of(filter))
		return;
	if (filter->frames_room)
		memset(filter->frames, 0, filter->frames_room * sizeof(*filter->frames));
	if (filter->values_room)
		memset(filter->values, 0, filter->values_room * sizeof(*filter->values));
	filter->epoch = epoch_of(filter);
}

static bool symref_passes(const struct filter *filter, const struct symref *name)
{
	return judge(filter, FILTER_IMAGE, match_image, name) &&
		judge(filter, FILTER_SYMBOL, match_symbol, name);
}

static bool frame_passes(struct filter *filter, uint32_t node)
{
	uint32_t frame = node == STACK_ROOT ? FRAME_NONE : stacks_node(filter->stacks, node)->frame;
	uint16_t generation =
		frame == FRAME_NONE ? 0 : stacks_frame_get(filter->stacks, frame)->generation;
	struct frame_verdict *known;
	const struct symref *name;
	struct place place;
	bool passes;

	follow_names(filter);
	if (frame < filter->frames_room) {
		known = &filter->frames[frame];
		if (known->verdict && known->generation == generation)
			return known->verdict == PASSES;
	}
	name = names_get(
		filter->names, frame == FRAME_NONE ? 0 : names_symref(filter->names, frame));
	passes = symref_passes(filter, name);
	place = (struct place){filter, name, frame};
	passes = passes && judge(filter, FILTER_ADDRESS, match_address, &place) &&
		judge(filter, FILTER_LINE, match_line, &place);
	if (is_final(name) &&
		!grow_zeroed((void **)&filter->frames, frame, &filter->frames_room, sizeof(*known)))
		filter->frames[frame] = (struct frame_verdict){generation, passes ? PASSES : FAILS};
	return passes;
}

static uint8_t met_by_symbol(struct filter *filter, uint32_t symref)
{
	const struct symref *name;
	uint8_t met = STACK_JUDGED;

	if (symref < filter->symbols_room && filter->symbols[symref])
		return filter->symbols[symref];
	name = names_get(filter->names, symref);
	for (size_t i = 0; i < filter->n_terms; i++) {
		const struct filter_term *term = &filter->terms[i];

		if (term->field == FILTER_STACK && match_symbol(term, name))
			met |= term->negated ? STACK_MET_NEGATED : STACK_MET;
	}
	if (is_final(name) &&
		!grow_zeroed((void **)&filter->symbols, symref, &filter->symbols_room,
			sizeof(*filter->symbols)))
		filter->symbols[symref] = met;
	return met;
}

/* Returns the STACK_* bits of a stack.  Used if memory runs out for the cache: visits every
 * frame. */
static uint8_t met_by_walking(struct filter *filter, uint32_t node)
{
	uint8_t met = 0;

	for (; node != STACK_ROOT; node = stacks_node(filter->stacks, node)->parent)
		met |= met_by_symbol(filter,
			names_symref(filter->names, stacks_node(filter->stacks, node)->frame));
	return met;
}

/* Judges the nodes added since the last call.  Callers come before their callees. */
static int judge_nodes(struct filter *filter)
{
	const struct forest *forest = filter->forest;

	if (forest->n &&
		grow_zeroed((void **)&filter->nodes, forest->n - 1, &filter->nodes_room, 1))
		return -ENOMEM;
	for (; filter->n_nodes < forest->n; filter->n_nodes++) {
		uint32_t i = filter->n_nodes, symref = forest->symref[i];
		uint8_t met = symref < filter->symbols_room ? filter->symbols[symref] : 0;

		if (i <= FOREST_NOWHERE)
			met = STACK_JUDGED;
		else if (!met)
			met = met_by_symbol(filter, symref);
		filter->nodes[i] = filter->nodes[forest->parent[i]] | met;
	}
	return 0;
}

/* Drops outdated verdicts.  Demangled names replace mangled ones without a new epoch. */
static void follow_changes(struct filter *filter)
{
	struct forest *forest = forest_of(filter->names, filter->stacks);

	if (forest != filter->forest || filter->changes != names_changes(filter->names)) {
		filter->n_nodes = 0;
		if (filter->symbols_room)
			memset(filter->symbols, 0, filter->symbols_room);
		filter->changes = names_changes(filter->names);
	}
	forest_put(filter->forest);
	filter->forest = forest;
}

static uint8_t met_by(struct filter *filter, uint32_t node)
{
	uint32_t number;

	if (node == STACK_ROOT)
		return 0;
	follow_changes(filter);
	if (!filter->forest || forest_number(filter->forest, node, &number) || judge_nodes(filter))
		return met_by_walking(filter, node);
	return filter->nodes[number];
}

static bool met_passes(const struct filter *filter, uint8_t met)
{
	bool any_positive = false;

	if (met & STACK_MET_NEGATED)
		return false;
	for (size_t i = 0; i < filter->n_terms; i++)
		any_positive |= filter->terms[i].field == FILTER_STACK && !filter->terms[i].negated;
	return !any_positive || (met & STACK_MET);
}

static bool stack_passes(struct filter *filter, uint32_t node)
{
	return met_passes(filter, met_by(filter, node));
}

bool filter_judge_forest(struct filter *filter)
{
	for (; filter; filter = filter->next) {
		if (has_field(filter, FILTER_ADDRESS) || has_field(filter, FILTER_LINE))
			return false;
		if (!filter->by_stack)
			continue;
		follow_changes(filter);
		if (!filter->forest || judge_nodes(filter))
			return false;
	}
	return true;
}

bool filter_pass_symref(struct filter *filter, uint32_t symref)
{
	for (; filter; filter = filter->next)
		if (filter->by_frame && !symref_passes(filter, names_get(filter->names, symref)))
			return false;
	return true;
}

bool filter_pass_number(const struct filter *filter, uint32_t number)
{
	for (; filter; filter = filter->next)
		if (filter->by_stack && !met_passes(filter, filter->nodes[number]))
			return false;
	return true;
}

static bool judge_field(struct filter *filter, uint8_t event, uint32_t values)
{
	const struct field_schemas *schemas = filter->schemas;
	struct field_text text = {.bytes = FIELD_MISSING};
	struct field_ref ref;
	struct value value;

	if (schemas && schemas->of[event] && values != VALUES_NONE &&
		field_find(schemas->of[event], filter->terms[0].field_name, &ref) &&
		values_get(schemas->values, values, (size_t)ref.at, &value))
		field_text(filter->names, schemas->of[event], ref, &value, &text);
	return judge(filter, FILTER_SAMPLE_FIELD, match_field, &text);
}

static bool field_passes(struct filter *filter, const struct slice *slice, uint32_t i)
{
	uint32_t values = slice->values ? slice->values[i] : VALUES_NONE;
	uint8_t event = slice->event[i];
	struct value_verdict *known;
	bool passes;

	follow_names(filter);
	if (values < filter->values_room) {
		known = &filter->values[values];
		if (known->verdict && known->serial == slice->serial && known->event == event)
			return known->verdict == PASSES;
	}
	passes = judge_field(filter, event, values);
	if (slice->serial &&
		!grow_zeroed(
			(void **)&filter->values, values, &filter->values_room, sizeof(*known)))
		filter->values[values] =
			(struct value_verdict){slice->serial, event, passes ? PASSES : FAILS};
	return passes;
}

bool filter_pass_label(struct filter *filter, uint32_t label)
{
	for (; filter; filter = filter->next)
		if (filter->by_label && !label_passes(filter, label))
			return false;
	return true;
}

bool filter_pass_cpu(const struct filter *filter, uint16_t cpu)
{
	for (; filter; filter = filter->next)
		if (filter->by_cpu && !(filter->cpus[cpu / 8] & 1u << (cpu % 8)))
			return false;
	return true;
}

bool filter_pass_stack(struct filter *filter, uint32_t node)
{
	for (; filter; filter = filter->next) {
		if (filter->by_frame && !frame_passes(filter, node))
			return false;
		if (filter->by_stack && !stack_passes(filter, node))
			return false;
	}
	return true;
}

bool filter_asks_label(const struct filter *filter)
{
	while (filter && !filter->by_label)
		filter = filter->next;
	return filter;
}

bool filter_asks_cpu(const struct filter *filter)
{
	while (filter && !filter->by_cpu)
		filter = filter->next;
	return filter;
}

bool filter_asks_stack(const struct filter *filter)
{
	while (filter && !filter->by_frame && !filter->by_stack)
		filter = filter->next;
	return filter;
}

bool filter_pass_fields(struct filter *filter, const struct slice *slice, uint32_t i)
{
	for (; filter; filter = filter->next)
		if (filter->by_field && !field_passes(filter, slice, i))
			return false;
	return true;
}

bool filter_asks_fields(const struct filter *filter)
{
	while (filter && !filter->by_field)
		filter = filter->next;
	return filter;
}

bool filter_pass(struct filter *filter, const struct slice *slice, uint32_t i)
{
	return filter_pass_cpu(filter, slice->cpu[i]) &&
		filter_pass_label(filter, slice->task[i]) &&
		filter_pass_stack(filter, slice->stack[i]) && filter_pass_fields(filter, slice, i);
}
