// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * event.c - from the text of -e to perf_event_attr.
 *
 * The text is cut into items at commas outside of /.../ and {...}; an item's form says its family
 * (generic, tracepoint, raw, PMU, breakpoint, cache, group), and each family has its parser.  So far
 * only the generic one opens anything.
 */
#include "sampler/event.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HW(id, n, a, d)                                         \
	{                                                       \
		n, a, d, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id \
	}
#define SW(id, n, a, d)                                         \
	{                                                       \
		n, a, d, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id \
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
};

const struct event_info *event_catalogue(size_t *n)
{
	*n = sizeof(catalogue) / sizeof(*catalogue);
	return catalogue;
}

/* A piece of the text that is parsed. */
struct piece {
	const char *at;
	size_t len;
};

static bool piece_is(struct piece piece, const char *text)
{
	return text && strlen(text) == piece.len && !memcmp(piece.at, text, piece.len);
}

static bool starts_with(struct piece piece, const char *prefix)
{
	size_t len = strlen(prefix);

	return piece.len >= len && !memcmp(piece.at, prefix, len);
}

static const struct event_info *find_generic(struct piece name)
{
	for (size_t i = 0; i < sizeof(catalogue) / sizeof(*catalogue); i++)
		if (piece_is(name, catalogue[i].name) || piece_is(name, catalogue[i].alias))
			return &catalogue[i];
	return NULL;
}

/* --- suggestions --- */

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

/* Insertions, deletions, replacements and swaps of neighbours between them, case ignored. */
static unsigned int edit_distance(struct piece a, const char *b)
{
	unsigned int rows[3][EVENT_NAME_MAX + 1];
	unsigned int *before = rows[0], *above = rows[1], *row = rows[2];
	size_t b_len = strlen(b);

	for (size_t j = 0; j <= b_len; j++)
		above[j] = (unsigned int)j;
	for (size_t i = 1; i <= a.len; i++) {
		int c = tolower((unsigned char)a.at[i - 1]);
		unsigned int *swap;

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_len; j++) {
			bool same = c == b[j - 1];

			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same);
			if (i > 1 && j > 1 && c == b[j - 2] &&
				tolower((unsigned char)a.at[i - 2]) == b[j - 1] &&
				before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		swap = before;
		before = above;
		above = row;
		row = swap;
	}
	return above[b_len];
}

/* The catalogue's nearest name, near enough to be meant: some letters wrong, or cut short. */
static const char *suggest(struct piece name)
{
	const char *best = NULL;
	unsigned int least = name.len < 5 ? 2 : name.len < 9 ? 3 : 4; /* below this */

	if (name.len < 2 || name.len >= EVENT_NAME_MAX)
		return NULL;
	for (size_t i = 0; i < sizeof(catalogue) / sizeof(*catalogue); i++) {
		const char *names[] = {catalogue[i].name, catalogue[i].alias};

		for (size_t k = 0; k < 2 && names[k]; k++) {
			unsigned int distance = edit_distance(name, names[k]);

			if (distance < least) {
				least = distance;
				best = names[k];
			}
		}
	}
	for (size_t i = 0; !best && name.len >= 3 && i < sizeof(catalogue) / sizeof(*catalogue);
		i++)
		if (strlen(catalogue[i].name) > name.len &&
			!strncasecmp(catalogue[i].name, name.at, name.len))
			best = catalogue[i].name;
	return best;
}

/* --- modifiers --- */

#define MODIFIERS "ukhGHIp"

struct modifiers {
	bool u, k, h, guest, host, idle;
	unsigned int precise;
};

/* The offset of the first byte that is wrong, or len. */
static size_t parse_modifiers(struct piece text, struct modifiers *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < text.len; i++) {
		bool *flag = NULL;

		switch (text.at[i]) {
		case 'u':
			flag = &out->u;
			break;
		case 'k':
			flag = &out->k;
			break;
		case 'h':
			flag = &out->h;
			break;
		case 'G':
			flag = &out->guest;
			break;
		case 'H':
			flag = &out->host;
			break;
		case 'I':
			flag = &out->idle;
			break;
		case 'p':
			if (out->precise++ == 3)
				return i;
			continue;
		}
		if (!flag || *flag) /* unknown, or given twice */
			return i;
		*flag = true;
	}
	return text.len;
}

static bool are_modifiers(struct piece text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!strchr(MODIFIERS, text.at[i]) || !text.at[i])
			return false;
	return true;
}

/* As perf does: naming any of u, k and h leaves out those not named, and the guest unless asked for. */
static void apply_modifiers(struct event_spec *spec, const struct modifiers *mod)
{
	size_t len = strlen(spec->name);
	const struct {
		bool set;
		char letter;
	} order[] = {{mod->u, 'u'}, {mod->k, 'k'}, {mod->h, 'h'}, {mod->guest, 'G'},
		{mod->host, 'H'}, {mod->idle, 'I'}, {mod->precise > 0, 'p'},
		{mod->precise > 1, 'p'}, {mod->precise > 2, 'p'}};
	bool colon = false;

	if (mod->u || mod->k || mod->h) {
		spec->attr.exclude_user = !mod->u;
		spec->attr.exclude_kernel = !mod->k;
		spec->attr.exclude_hv = !mod->h;
	}
	spec->attr.exclude_guest = !mod->guest;
	spec->attr.exclude_host = mod->guest && !mod->host;
	spec->attr.exclude_idle = mod->idle;
	spec->attr.precise_ip = mod->precise & 3;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (!order[i].set)
			continue;
		if (!colon)
			spec->name[len++] = ':';
		colon = true;
		spec->name[len++] = order[i].letter;
	}
	spec->name[len] = 0;
}

/* --- families --- */

enum family {
	FAMILY_GENERIC, /* cycles, cycles:u */
	FAMILY_TRACEPOINT, /* sched:sched_switch, sched:sched_switch:u */
	FAMILY_RAW, /* r1a8, r1a8:u */
	FAMILY_PMU, /* cpu/event=0x3c,umask=1/u */
	FAMILY_BREAKPOINT, /* mem:0x1000/8:rw */
	FAMILY_CACHE, /* L1-dcache-load-misses */
	FAMILY_GROUP, /* {cycles,instructions} */
};

static bool is_raw(struct piece name)
{
	if (name.len < 2 || name.len > 17 || name.at[0] != 'r')
		return false;
	for (size_t i = 1; i < name.len; i++)
		if (!isxdigit((unsigned char)name.at[i]))
			return false;
	return true;
}

static bool is_cache(struct piece name)
{
	static const char *const caches[] = {
		"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
	static const char *const ops[] = {"load", "store", "prefetch", "speculative"};

	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
		size_t len = strlen(caches[i]);
		struct piece rest;

		if (!starts_with(name, caches[i]))
			continue;
		if (name.len == len)
			return i != 5; /* "branch" alone is a generic name cut short */
		if (name.at[len] != '-')
			continue;
		rest = (struct piece){name.at + len + 1, name.len - len - 1};
		for (size_t k = 0; k < sizeof(ops) / sizeof(*ops); k++)
			if (starts_with(rest, ops[k]))
				return true;
	}
	return false;
}

/* What stands before the first colon is *name, what stands behind it *rest (at NULL: no colon). */
static enum family classify(struct piece item, struct piece *name, struct piece *rest)
{
	const char *colon = memchr(item.at, ':', item.len);

	*name = item;
	*rest = (struct piece){0};
	if (colon) {
		name->len = (size_t)(colon - item.at);
		rest->at = colon + 1;
		rest->len = item.len - name->len - 1;
	}
	if (item.at[0] == '{')
		return FAMILY_GROUP;
	if (starts_with(item, "mem:"))
		return FAMILY_BREAKPOINT;
	if (memchr(item.at, '/', item.len))
		return FAMILY_PMU;
	if (find_generic(*name))
		return FAMILY_GENERIC;
	if (is_raw(*name))
		return FAMILY_RAW;
	if (is_cache(*name))
		return FAMILY_CACHE;
	/* A misspelt generic event with modifiers looks like a tracepoint. */
	if (colon && name->len && rest->len && !are_modifiers(*rest))
		return FAMILY_TRACEPOINT;
	return FAMILY_GENERIC;
}

static int fail(struct event_error *error, enum event_error_kind kind, size_t offset)
{
	error->kind = kind;
	error->offset = offset;
	return -EINVAL;
}

static int parse_generic(struct piece name, struct piece rest, size_t offset,
	struct event_spec *out, struct event_error *error)
{
	const struct event_info *info = find_generic(name);
	struct modifiers modifiers = {0};
	size_t good;

	if (!info) {
		const char *near = suggest(name);

		if (near)
			memcpy(error->near, near, strlen(near) + 1);
		return fail(error, EVENT_ERROR_UNKNOWN, offset);
	}
	if (rest.at) {
		good = parse_modifiers(rest, &modifiers);
		if (good < rest.len || !rest.len)
			return fail(error, EVENT_ERROR_MODIFIER, offset + name.len + 1 + good);
	}
	memcpy(out->name, info->name, strlen(info->name) + 1);
	out->attr.size = sizeof(out->attr);
	out->attr.type = info->type;
	out->attr.config = info->config;
	apply_modifiers(out, &modifiers);
	return 0;
}

static int parse_item(
	struct piece item, size_t offset, struct event_spec *out, struct event_error *error)
{
	struct piece name, rest;

	if (!item.len)
		return fail(error, EVENT_ERROR_EMPTY, offset);
	if (item.len >= EVENT_NAME_MAX)
		return fail(error, EVENT_ERROR_TOO_LONG, offset);
	switch (classify(item, &name, &rest)) {
	case FAMILY_GENERIC:
		return parse_generic(name, rest, offset, out, error);
	case FAMILY_TRACEPOINT:
	case FAMILY_RAW:
	case FAMILY_PMU:
	case FAMILY_BREAKPOINT:
	case FAMILY_CACHE:
	case FAMILY_GROUP:
		break;
	}
	return fail(error, EVENT_ERROR_UNSUPPORTED, offset);
}

/* The length of the item at `text`: to a comma or the end. */
static size_t item_len(const char *text)
{
	bool terms = false;
	size_t depth = 0, len;

	for (len = 0; text[len]; len++) {
		if (text[len] == '/')
			terms = !terms;
		else if (text[len] == '{')
			depth++;
		else if (text[len] == '}' && depth)
			depth--;
		else if (text[len] == ',' && !depth) {
			/* A breakpoint has one slash: a comma ends it all the same. */
			if (!terms || !strncmp(text, "mem:", 4))
				break;
		}
	}
	return len;
}

int event_parse_list(
	const char *text, struct event_spec **specs, size_t *n, struct event_error *error)
{
	struct event_spec *list;
	size_t most = 1, count = 0, offset = 0;
	int err = 0;

	*specs = NULL;
	*n = 0;
	memset(error, 0, sizeof(*error));
	for (const char *at = text; *at; at++)
		most += *at == ',';
	list = calloc(most, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (;;) {
		size_t len = item_len(text + offset), end = offset + len;
		struct piece item = {text + offset, len};

		while (item.len && isspace((unsigned char)item.at[0])) {
			item.at++;
			item.len--;
		}
		while (item.len && isspace((unsigned char)item.at[item.len - 1]))
			item.len--;
		err = parse_item(item, (size_t)(item.at - text), &list[count], error);
		if (err)
			break;
		count++;
		if (!text[end])
			break;
		offset = end + 1;
	}
	if (err) {
		free(list);
		return err;
	}
	*specs = list;
	*n = count;
	return 0;
}

void event_default(struct event_spec *out)
{
	struct piece name = {"cycles", strlen("cycles")}, rest = {0};
	struct event_error error;

	memset(out, 0, sizeof(*out));
	parse_generic(name, rest, 0, out, &error);
	out->by_default = true;
}

void event_set_freq(struct event_spec *spec, uint64_t hz)
{
	spec->attr.freq = 1;
	spec->attr.sample_freq = hz;
}

void event_set_period(struct event_spec *spec, uint64_t period)
{
	spec->attr.freq = 0;
	spec->attr.sample_period = period;
}

bool event_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
		(attr->config == PERF_COUNT_SW_CPU_CLOCK ||
			attr->config == PERF_COUNT_SW_TASK_CLOCK);
}
