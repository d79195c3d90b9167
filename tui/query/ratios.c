/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ratios.c - see ratios.h.
 */
#include "tui/query/ratios.h"

#include "sampler/events/spec.h"
#include "sampler/kernel/attr.h"

#include <string.h>

#define NAMES 2
#define HARDWARE(what) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##what
#define SOFTWARE(what) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##what
#define MISS ((uint64_t)PERF_COUNT_HW_CACHE_RESULT_MISS << 16)
#define LOADS(cache) PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##cache

enum kind {
	CYCLES,
	INSTRUCTIONS,
	BRANCHES,
	BRANCH_MISSES,
	CACHE_REFERENCES,
	CACHE_MISSES,
	STALLED_FRONTEND,
	STALLED_BACKEND,
	L1D_LOADS,
	L1D_MISSES,
	LLC_LOADS,
	LLC_MISSES,
	DTLB_LOADS,
	DTLB_MISSES,
	ITLB_LOADS,
	ITLB_MISSES,
	CLOCK,
	FAULTS,
	MINOR_FAULTS,
	MAJOR_FAULTS,
	SWITCHES,
	MIGRATIONS,
	KINDS
};

/* Each kind by attribute and by names. */
static const struct {
	uint32_t type;
	uint64_t config;
	const char *names[NAMES];
} kinds[KINDS] = {
	[CYCLES] = {HARDWARE(CPU_CYCLES), {"cycles", "cpu-cycles"}},
	[INSTRUCTIONS] = {HARDWARE(INSTRUCTIONS), {"instructions"}},
	[BRANCHES] = {HARDWARE(BRANCH_INSTRUCTIONS), {"branches", "branch-instructions"}},
	[BRANCH_MISSES] = {HARDWARE(BRANCH_MISSES), {"branch-misses"}},
	[CACHE_REFERENCES] = {HARDWARE(CACHE_REFERENCES), {"cache-references"}},
	[CACHE_MISSES] = {HARDWARE(CACHE_MISSES), {"cache-misses"}},
	[STALLED_FRONTEND] = {HARDWARE(STALLED_CYCLES_FRONTEND),
		{"stalled-cycles-frontend", "idle-cycles-frontend"}},
	[STALLED_BACKEND] = {HARDWARE(STALLED_CYCLES_BACKEND),
		{"stalled-cycles-backend", "idle-cycles-backend"}},
	[L1D_LOADS] = {LOADS(L1D), {"L1-dcache-loads"}},
	[L1D_MISSES] = {LOADS(L1D) | MISS, {"L1-dcache-load-misses"}},
	[LLC_LOADS] = {LOADS(LL), {"LLC-loads"}},
	[LLC_MISSES] = {LOADS(LL) | MISS, {"LLC-load-misses"}},
	[DTLB_LOADS] = {LOADS(DTLB), {"dTLB-loads"}},
	[DTLB_MISSES] = {LOADS(DTLB) | MISS, {"dTLB-load-misses"}},
	[ITLB_LOADS] = {LOADS(ITLB), {"iTLB-loads"}},
	[ITLB_MISSES] = {LOADS(ITLB) | MISS, {"iTLB-load-misses"}},
	[CLOCK] = {SOFTWARE(TASK_CLOCK), {"task-clock", "cpu-clock"}},
	[FAULTS] = {SOFTWARE(PAGE_FAULTS), {"page-faults", "faults"}},
	[MINOR_FAULTS] = {SOFTWARE(PAGE_FAULTS_MIN), {"minor-faults"}},
	[MAJOR_FAULTS] = {SOFTWARE(PAGE_FAULTS_MAJ), {"major-faults"}},
	[SWITCHES] = {SOFTWARE(CONTEXT_SWITCHES), {"context-switches", "cs"}},
	[MIGRATIONS] = {SOFTWARE(CPU_MIGRATIONS), {"cpu-migrations", "migrations"}},
};

#define PER_THOUSAND "per 1,000 instructions"

struct rule {
	const char *name, *brief;
	const char *unit; /* for ratios_of(); NULL: not used there */
	enum kind part, other;
	double factor;
	enum ratio_form form;
};

static const struct rule rules[] = {
	{"instructions per cycle", "IPC", "per cycle", INSTRUCTIONS, CYCLES, 1, RATIO_NUMBER},
	{"branch miss rate", "branch misses", "% of branches", BRANCH_MISSES, BRANCHES, 100,
		RATIO_PERCENT},
	{"branch misses per 1,000 instructions", "branch MPKI", PER_THOUSAND, BRANCH_MISSES,
		INSTRUCTIONS, 1000, RATIO_NUMBER},
	{"cache miss rate", "cache misses", "% of cache references", CACHE_MISSES, CACHE_REFERENCES,
		100, RATIO_PERCENT},
	{"cache misses per 1,000 instructions", "cache MPKI", PER_THOUSAND, CACHE_MISSES,
		INSTRUCTIONS, 1000, RATIO_NUMBER},
	{"L1 data cache miss rate", "L1d misses", NULL, L1D_MISSES, L1D_LOADS, 100, RATIO_PERCENT},
	{"L1 data cache misses per 1,000 instructions", "L1d MPKI", NULL, L1D_MISSES, INSTRUCTIONS,
		1000, RATIO_NUMBER},
	{"last level cache miss rate", "LLC misses", NULL, LLC_MISSES, LLC_LOADS, 100,
		RATIO_PERCENT},
	{"last level cache misses per 1,000 instructions", "LLC MPKI", NULL, LLC_MISSES,
		INSTRUCTIONS, 1000, RATIO_NUMBER},
	{"data TLB miss rate", "dTLB misses", NULL, DTLB_MISSES, DTLB_LOADS, 100, RATIO_PERCENT},
	{"data TLB misses per 1,000 instructions", "dTLB MPKI", NULL, DTLB_MISSES, INSTRUCTIONS,
		1000, RATIO_NUMBER},
	{"instruction TLB miss rate", "iTLB misses", NULL, ITLB_MISSES, ITLB_LOADS, 100,
		RATIO_PERCENT},
	{"cycles stalled in the frontend", "frontend stalls", "% of cycles", STALLED_FRONTEND,
		CYCLES, 100, RATIO_PERCENT},
	{"cycles stalled in the backend", "backend stalls", "% of cycles", STALLED_BACKEND, CYCLES,
		100, RATIO_PERCENT},
	{"clock frequency", "clock Hz", NULL, CYCLES, CLOCK, 1e9, RATIO_PER_SECOND},
	{"page faults", "faults", NULL, FAULTS, CLOCK, 1e9, RATIO_PER_SECOND},
	{"minor faults", "minor faults", NULL, MINOR_FAULTS, CLOCK, 1e9, RATIO_PER_SECOND},
	{"major faults", "major faults", NULL, MAJOR_FAULTS, CLOCK, 1e9, RATIO_PER_SECOND},
	{"context switches", "switches", NULL, SWITCHES, CLOCK, 1e9, RATIO_PER_SECOND},
	{"migrations", "migrations", NULL, MIGRATIONS, CLOCK, 1e9, RATIO_PER_SECOND},
};

_Static_assert(sizeof(rules) / sizeof(*rules) <= RATIOS_MAX, "every ratio has room");

/* Modifiers that select the code that is counted; others do not change a count. */
#define CHOOSING "ukhGH"

static size_t base_len(const char *name)
{
	return strcspn(name, ":");
}

static bool is_kind(const struct ratio_part *part, enum kind kind)
{
	size_t len;

	if (part->attr && kind == CLOCK)
		return attr_is_clock(part->attr);
	if (part->attr)
		return part->attr->type == kinds[kind].type &&
			part->attr->config == kinds[kind].config;
	len = base_len(part->name);
	for (size_t i = 0; i < NAMES && kinds[kind].names[i]; i++)
		if (strlen(kinds[kind].names[i]) == len &&
			!memcmp(kinds[kind].names[i], part->name, len))
			return true;
	return false;
}

static unsigned int choosing_of(const char *name)
{
	unsigned int bits = 0;

	for (const char *at = name + base_len(name); *at; at++) {
		const char *found = strchr(CHOOSING, *at);

		if (found)
			bits |= 1u << (found - CHOOSING);
	}
	return bits;
}

/* Whether both count in the same modes. */
static bool same_modes(const struct ratio_part *part, const struct ratio_part *other)
{
	const struct perf_event_attr *a = part->attr, *b = other->attr;

	if (!a || !b)
		return choosing_of(part->name) == choosing_of(other->name);
	return a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel &&
		a->exclude_hv == b->exclude_hv && a->exclude_idle == b->exclude_idle &&
		a->exclude_host == b->exclude_host && a->exclude_guest == b->exclude_guest;
}

/* Whether two counts can be compared.  A clock counts the same in all modes. */
static bool compare_well(
	const struct ratio_part *part, const struct ratio_part *other, bool with_clock)
{
	if (!(other->count > 0) ||
		strcmp(part->cgroup ? part->cgroup : "", other->cgroup ? other->cgroup : "") != 0)
		return false;
	if (!(part->group && part->group == other->group) && !(part->always && other->always))
		return false;
	return with_clock || same_modes(part, other);
}

static size_t find_other(const struct ratio_part *parts, size_t n, size_t part, enum kind kind)
{
	for (size_t i = 0; i < n; i++)
		if (i != part && is_kind(&parts[i], kind) &&
			compare_well(&parts[part], &parts[i], kind == CLOCK))
			return i;
	return SIZE_MAX;
}

static bool apply(const struct rule *rule, const struct ratio_part *parts, size_t n, size_t part,
	struct ratio *out)
{
	size_t other;

	if (!is_kind(&parts[part], rule->part))
		return false;
	other = find_other(parts, n, part, rule->other);
	if (other == SIZE_MAX)
		return false;
	*out = (struct ratio){
		.name = rule->name,
		.brief = rule->brief,
		.unit = rule->unit,
		.form = rule->form,
		.value = parts[part].count / parts[other].count * rule->factor,
		.part = part,
		.other = other,
	};
	return true;
}

size_t ratios_find(const struct ratio_part *parts, size_t n, struct ratio out[RATIOS_MAX])
{
	size_t found = 0;

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		bool done = false;

		for (size_t part = 0; part < n && !done; part++)
			done = apply(&rules[i], parts, n, part, &out[found]);
		found += done;
	}
	return found;
}

/* Computes misses of any cache as a share of its accesses, else per 1,000 instructions. */
static bool cache_misses(const struct ratio_part *parts, size_t n, size_t part, struct ratio *out)
{
	const struct perf_event_attr *attr = parts[part].attr;
	double factor = 100;
	size_t other = SIZE_MAX;

	if (!attr || attr->type != PERF_TYPE_HW_CACHE || attr->config >> 16 != MISS >> 16)
		return false;
	for (size_t i = 0; i < n && other == SIZE_MAX; i++)
		if (parts[i].attr && parts[i].attr->type == PERF_TYPE_HW_CACHE &&
			parts[i].attr->config == (attr->config & 0xffff) &&
			compare_well(&parts[part], &parts[i], false))
			other = i;
	if (other == SIZE_MAX) {
		other = find_other(parts, n, part, INSTRUCTIONS);
		factor = 1000;
	}
	if (other == SIZE_MAX)
		return false;
	*out = (struct ratio){
		.name = "misses",
		.brief = "misses",
		.unit = factor > 100 ? PER_THOUSAND : "% of accesses",
		.form = factor > 100 ? RATIO_NUMBER : RATIO_PERCENT,
		.value = parts[part].count / parts[other].count * factor,
		.part = part,
		.other = other,
	};
	return true;
}

bool ratios_of(const struct ratio_part *parts, size_t n, size_t part, struct ratio *out)
{
	static const struct rule frequency = {
		"clock frequency", "clock", "GHz", CYCLES, CLOCK, 1, RATIO_NUMBER};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].unit && apply(&rules[i], parts, n, part, out))
			return true;
	return cache_misses(parts, n, part, out) || apply(&frequency, parts, n, part, out);
}
