// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * named.c - events with the same names on every machine.
 *
 * These are generic, cache and raw events, and bare numbers.
 */
#include "sampler/events/event.h"
#include "sampler/events/parse.h"
#include "sampler/events/private.h"
#include "sampler/machine/tracefs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HW(id, n, a, d)                                                          \
	{                                                                        \
		n, a, d, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, EVENT_SPAN_NONE \
	}
#define SW(id, n, a, d)                                                          \
	{                                                                        \
		n, a, d, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, EVENT_SPAN_NONE \
	}
#define SPAN(kind, n, d)                                                                          \
	{                                                                                         \
		n, NULL, d, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, EVENT_SPAN_##kind \
	}
#define MADE(kind, n, d)                                                               \
	{                                                                              \
		n, NULL, d, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, EVENT_SPAN_##kind \
	}

static const struct event_info catalogue[] = {
	HW(CPU_CYCLES, "cycles", "cpu-cycles",
		"CPU cycles; their rate follows the clock frequency"),
	HW(INSTRUCTIONS, "instructions", NULL, "Instructions retired"),
	HW(CACHE_REFERENCES, "cache-references", NULL, "Cache accesses, mostly of the last level"),
	HW(CACHE_MISSES, "cache-misses", NULL, "Cache misses, mostly of the last level"),
	HW(BRANCH_INSTRUCTIONS, "branches", "branch-instructions", "Branch instructions retired"),
	HW(BRANCH_MISSES, "branch-misses", NULL, "Branches that were predicted wrong"),
	HW(BUS_CYCLES, "bus-cycles", NULL, "Bus cycles, at a rate of their own"),
	HW(STALLED_CYCLES_FRONTEND, "stalled-cycles-frontend", "idle-cycles-frontend",
		"Cycles in which no instruction was issued"),
	HW(STALLED_CYCLES_BACKEND, "stalled-cycles-backend", "idle-cycles-backend",
		"Cycles in which no instruction was retired"),
	HW(REF_CPU_CYCLES, "ref-cycles", NULL, "CPU cycles at the nominal clock frequency"),
	SW(CPU_CLOCK, "cpu-clock", NULL, "Time on a CPU, by a timer; works everywhere"),
	SW(TASK_CLOCK, "task-clock", NULL, "Time that tasks spent on a CPU"),
	SW(PAGE_FAULTS, "page-faults", "faults", "Page faults of both kinds"),
	SW(PAGE_FAULTS_MIN, "minor-faults", NULL, "Page faults served without reading a disk"),
	SW(PAGE_FAULTS_MAJ, "major-faults", NULL, "Page faults that had to read a disk"),
	SW(CONTEXT_SWITCHES, "context-switches", "cs", "Switches from one task to another"),
	SW(CPU_MIGRATIONS, "cpu-migrations", "migrations", "Moves of a task to another CPU"),
	SW(CGROUP_SWITCHES, "cgroup-switches", NULL, "Switches to a task of another cgroup"),
	SW(ALIGNMENT_FAULTS, "alignment-faults", NULL, "Unaligned accesses the kernel had to mend"),
	SW(EMULATION_FAULTS, "emulation-faults", NULL, "Instructions the kernel had to emulate"),
	SW(BPF_OUTPUT, "bpf-output", NULL, "What BPF programs write"),
	SW(DUMMY, "dummy", NULL, "Counts nothing; carries records of mappings and tasks"),
	SPAN(BLOCKED, "off-cpu", "Time that threads wait for something: a lock, a timer, a disk"),
	SPAN(PREEMPTED, "preempted", "Time that threads could run and wait for a CPU"),
	MADE(WALL, "wall", "All time of threads: cpu-clock, off-cpu and preempted in one"),
	MADE(WOKEN, "woken", "off-cpu once it is over, with who ended it (sched:sched_waking)"),
};

const struct event_info *event_catalogue(size_t *n)
{
	*n = sizeof(catalogue) / sizeof(*catalogue);
	return catalogue;
}

static const struct event_info *find_generic(struct event_piece name)
{
	for (size_t i = 0; i < sizeof(catalogue) / sizeof(*catalogue); i++)
		if (event_piece_is(name, catalogue[i].name) ||
			event_piece_is(name, catalogue[i].alias))
			return &catalogue[i];
	return NULL;
}

/* --- cache events --- */

#define ALIASES 5
#define CACHES PERF_COUNT_HW_CACHE_MAX
#define OPS PERF_COUNT_HW_CACHE_OP_MAX
#define RESULTS PERF_COUNT_HW_CACHE_RESULT_MAX

/* perf's names; the first is canonical.  An operation without a result uses its second name. */
static const char *const caches[CACHES][ALIASES] = {
	[PERF_COUNT_HW_CACHE_L1D] = {"L1-dcache", "l1-d", "l1d", "L1-data"},
	[PERF_COUNT_HW_CACHE_L1I] = {"L1-icache", "l1-i", "l1i", "L1-instruction"},
	[PERF_COUNT_HW_CACHE_LL] = {"LLC", "L2"},
	[PERF_COUNT_HW_CACHE_DTLB] = {"dTLB", "d-tlb", "Data-TLB"},
	[PERF_COUNT_HW_CACHE_ITLB] = {"iTLB", "i-tlb", "Instruction-TLB"},
	[PERF_COUNT_HW_CACHE_BPU] = {"branch", "branches", "bpu", "btb", "bpc"},
	[PERF_COUNT_HW_CACHE_NODE] = {"node"},
};
static const char *const ops[OPS][ALIASES] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = {"load", "loads", "read"},
	[PERF_COUNT_HW_CACHE_OP_WRITE] = {"store", "stores", "write"},
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = {"prefetch", "prefetches", "speculative-read",
		"speculative-load"},
};
static const char *const results[RESULTS][ALIASES] = {
	{"refs", "Reference", "ops", "access"},
	{"misses", "miss"},
};

/* Returns whether a cache has an operation; instruction caches have no writes. */
static bool has_op(unsigned int cache, unsigned int op)
{
	switch (cache) {
	case PERF_COUNT_HW_CACHE_L1I:
		return op != PERF_COUNT_HW_CACHE_OP_WRITE;
	case PERF_COUNT_HW_CACHE_ITLB:
	case PERF_COUNT_HW_CACHE_BPU:
		return op == PERF_COUNT_HW_CACHE_OP_READ;
	default:
		return true;
	}
}

/* Takes the longest name in the table that the text begins with, up to its end or a dash.  Returns
 * its row, or -1. */
static int take_name(
	struct event_piece *text, const char *const (*table)[ALIASES], unsigned int rows)
{
	size_t longest = 0;
	int found = -1;

	for (unsigned int row = 0; row < rows; row++)
		for (unsigned int i = 0; i < ALIASES && table[row][i]; i++) {
			size_t len = strlen(table[row][i]);

			if (len <= longest || len > text->len ||
				memcmp(text->at, table[row][i], len) ||
				(len < text->len && text->at[len] != '-'))
				continue;
			longest = len;
			found = (int)row;
		}
	if (found >= 0) {
		longest += longest < text->len; /* the dash */
		text->at += longest;
		text->len -= longest;
	}
	return found;
}

static bool parse_cache(
	struct event_piece text, unsigned int *cache, unsigned int *op, unsigned int *result)
{
	int row, op_row = -1, result_row = -1;

	if (!text.len || text.at[text.len - 1] == '-')
		return false;
	row = take_name(&text, caches, CACHES);
	if (row < 0)
		return false;
	/* Like in perf: at most one of each, in any order. */
	for (unsigned int i = 0; i < 2 && text.len; i++) {
		if (op_row < 0) {
			op_row = take_name(&text, ops, OPS);
			if (op_row >= 0)
				continue;
		}
		if (result_row < 0)
			result_row = take_name(&text, results, RESULTS);
	}
	*cache = (unsigned int)row;
	*op = op_row < 0 ? PERF_COUNT_HW_CACHE_OP_READ : (unsigned int)op_row;
	*result = result_row < 0 ? PERF_COUNT_HW_CACHE_RESULT_ACCESS : (unsigned int)result_row;
	return !text.len && has_op(*cache, *op);
}

static void name_cache(
	char *out, size_t size, unsigned int cache, unsigned int op, unsigned int result)
{
	if (result == PERF_COUNT_HW_CACHE_RESULT_MISS)
		snprintf(out, size, "%s-%s-%s", caches[cache][0], ops[op][0], results[result][0]);
	else
		snprintf(out, size, "%s-%s", caches[cache][0], ops[op][1]);
}

bool event_cache_name(size_t i, char *out, size_t size)
{
	for (unsigned int cache = 0; cache < CACHES; cache++)
		for (unsigned int op = 0; op < OPS; op++) {
			if (!has_op(cache, op))
				continue;
			for (unsigned int result = 0; result < RESULTS; result++) {
				if (i--)
					continue;
				name_cache(out, size, cache, op, result);
				return true;
			}
		}
	return false;
}

/* --- raw events --- */

static bool parse_raw(struct event_piece name, uint64_t *config)
{
	uint64_t value = 0;

	if (name.len < 2 || name.len > 17 || name.at[0] != 'r')
		return false;
	for (size_t i = 1; i < name.len; i++) {
		char c = name.at[i];

		if (!isxdigit((unsigned char)c))
			return false;
		value = value << 4 | (unsigned int)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	*config = value;
	return true;
}

/* --- parsing --- */

static int add_generic(struct event_parser *parser, const struct event_info *info)
{
	struct event_item *item;
	int err = event_add(parser, &item);

	if (err)
		return err;
	event_set_name(&item->spec, "%s", info->name);
	item->spec.attr.type = info->type;
	item->spec.attr.config = info->config;
	item->spec.span = info->span;
	/* Every switch counts; a rate would leave some out. */
	if (info->span) {
		item->spec.attr.sample_period = 1;
		item->spec.attr.context_switch = event_is_of_switches(info->span);
		item->spec.has_rate = true;
	}
	return 0;
}

static int add_part(struct event_parser *parser, const struct event_info *info)
{
	int err = add_generic(parser, info);

	if (!err)
		parser->items[parser->n - 1].spec.part = true;
	return err;
}

static bool is_listed(const struct event_parser *parser, const char *name)
{
	for (size_t i = 0; i < parser->n; i++)
		if (!strcmp(parser->items[i].spec.name, name))
			return true;
	return false;
}

/* Without tracefs the wakers are unknown, which the engine reports. */
static int add_waking(struct event_parser *parser)
{
	struct event_item *item;
	uint64_t id;
	int err;

	if (is_listed(parser, EVENT_WAKING) ||
		tracefs_id(parser->system, "sched", "sched_waking", &id))
		return 0;
	err = event_add(parser, &item);
	if (err)
		return err;
	event_set_name(&item->spec, "%s", EVENT_WAKING);
	item->spec.part = true;
	item->spec.attr.type = PERF_TYPE_TRACEPOINT;
	item->spec.attr.config = id;
	item->spec.attr.sample_period = 1;
	item->spec.has_rate = true;
	return 0;
}

/* Adds the events that a derived event needs. */
static int add_parts(struct event_parser *parser, enum event_span span)
{
	static const char *const wall[] = {"cpu-clock", "off-cpu", "preempted", NULL};
	static const char *const woken[] = {"off-cpu", NULL};
	const char *const *name = span == EVENT_SPAN_WALL ? wall : woken;
	int err = 0;

	for (; *name && !err; name++)
		if (!is_listed(parser, *name))
			err = add_part(
				parser, find_generic((struct event_piece){*name, strlen(*name)}));
	return err || span != EVENT_SPAN_WOKEN ? err : add_waking(parser);
}

int event_parse_named(struct event_parser *parser, struct event_piece word, bool *found)
{
	const struct event_info *info = find_generic(word);
	unsigned int cache = 0, op = 0, result = 0;
	struct event_item *item;
	uint64_t config = 0;
	bool raw = !info && parse_raw(word, &config);
	int err;

	*found = info || raw || parse_cache(word, &cache, &op, &result);
	if (!*found)
		return 0;
	if (info) {
		err = add_generic(parser, info);
		if (!err && info->span && !event_is_of_switches(info->span))
			err = add_parts(parser, info->span);
		parser->at += err ? 0 : word.len;
		return err;
	}
	err = event_add(parser, &item);
	if (err)
		return err;
	if (raw) {
		event_set_name(&item->spec, "%.*s", (int)word.len, word.at);
		item->spec.attr.type = PERF_TYPE_RAW;
		item->spec.attr.config = config;
	} else {
		name_cache(item->spec.name, EVENT_NAME_MAX, cache, op, result);
		item->spec.attr.type = PERF_TYPE_HW_CACHE;
		item->spec.attr.config = cache | op << 8 | result << 16;
	}
	parser->at += word.len;
	return 0;
}

int event_parse_numbers(struct event_parser *parser, struct event_piece word, bool *found)
{
	struct event_piece second;
	struct event_item *item;
	uint64_t type, config;
	int err;

	*found = word.at[word.len] == ':' && event_number(word, &type);
	if (!*found)
		return 0;
	second = event_word(word.at + word.len + 1);
	if (type > UINT32_MAX)
		return event_fail(parser, EVENT_ERROR_VALUE, parser->at);
	if (!event_number(second, &config))
		return event_fail(parser, EVENT_ERROR_VALUE, parser->at + word.len + 1);
	err = event_add(parser, &item);
	if (err)
		return err;
	event_set_name(
		&item->spec, "%.*s:%.*s", (int)word.len, word.at, (int)second.len, second.at);
	item->spec.attr.type = (uint32_t)type;
	item->spec.attr.config = config;
	parser->at += word.len + 1 + second.len;
	return 0;
}
