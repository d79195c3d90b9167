/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ratios.c - see ratios.h.
 */
#include "tui/ratios.h"

#include <string.h>

#define NAMES 4

/* Events of the same meaning stand in one list, ended by NULL where it is shorter. */
struct rule {
	const char *name, *brief;
	const char *part[NAMES], *other[NAMES];
	double factor;
	enum ratio_form form;
};

#define CYCLES                         \
	{                              \
		"cycles", "cpu-cycles" \
	}
#define BRANCHES                                  \
	{                                         \
		"branches", "branch-instructions" \
	}
#define CLOCKS                            \
	{                                 \
		"task-clock", "cpu-clock" \
	}
#define FAULTS                          \
	{                               \
		"page-faults", "faults" \
	}
#define SWITCHES                         \
	{                                \
		"context-switches", "cs" \
	}

static const struct rule rules[] = {
	{"instructions per cycle", "IPC", {"instructions"}, CYCLES, 1, RATIO_NUMBER},
	{"branch miss rate", "branch misses", {"branch-misses"}, BRANCHES, 100, RATIO_PERCENT},
	{"branch misses per 1,000 instructions", "branch MPKI", {"branch-misses"}, {"instructions"},
		1000, RATIO_NUMBER},
	{"cache miss rate", "cache misses", {"cache-misses"}, {"cache-references"}, 100,
		RATIO_PERCENT},
	{"cache misses per 1,000 instructions", "cache MPKI", {"cache-misses"}, {"instructions"},
		1000, RATIO_NUMBER},
	{"L1 data cache miss rate", "L1d misses", {"L1-dcache-load-misses"}, {"L1-dcache-loads"},
		100, RATIO_PERCENT},
	{"L1 data cache misses per 1,000 instructions", "L1d MPKI", {"L1-dcache-load-misses"},
		{"instructions"}, 1000, RATIO_NUMBER},
	{"last level cache miss rate", "LLC misses", {"LLC-load-misses"}, {"LLC-loads"}, 100,
		RATIO_PERCENT},
	{"last level cache misses per 1,000 instructions", "LLC MPKI", {"LLC-load-misses"},
		{"instructions"}, 1000, RATIO_NUMBER},
	{"data TLB miss rate", "dTLB misses", {"dTLB-load-misses"}, {"dTLB-loads"}, 100,
		RATIO_PERCENT},
	{"data TLB misses per 1,000 instructions", "dTLB MPKI", {"dTLB-load-misses"},
		{"instructions"}, 1000, RATIO_NUMBER},
	{"instruction TLB miss rate", "iTLB misses", {"iTLB-load-misses"}, {"iTLB-loads"}, 100,
		RATIO_PERCENT},
	{"cycles stalled in the frontend", "frontend stalls",
		{"stalled-cycles-frontend", "idle-cycles-frontend"}, CYCLES, 100, RATIO_PERCENT},
	{"cycles stalled in the backend", "backend stalls",
		{"stalled-cycles-backend", "idle-cycles-backend"}, CYCLES, 100, RATIO_PERCENT},
	{"clock frequency", "clock Hz", CYCLES, CLOCKS, 1e9, RATIO_PER_SECOND},
	{"page faults", "faults", FAULTS, CLOCKS, 1e9, RATIO_PER_SECOND},
	{"minor faults", "minor faults", {"minor-faults"}, CLOCKS, 1e9, RATIO_PER_SECOND},
	{"major faults", "major faults", {"major-faults"}, CLOCKS, 1e9, RATIO_PER_SECOND},
	{"context switches", "switches", SWITCHES, CLOCKS, 1e9, RATIO_PER_SECOND},
	{"migrations", "migrations", {"cpu-migrations", "migrations"}, CLOCKS, 1e9,
		RATIO_PER_SECOND},
};

_Static_assert(sizeof(rules) / sizeof(*rules) <= RATIOS_MAX, "every ratio has room");

/* The modifiers of a name that choose what is counted; others do not change a count. */
#define CHOOSING "ukhGH"

static size_t base_len(const char *name)
{
	return strcspn(name, ":");
}

static bool is_one_of(const char *name, const char *const names[NAMES])
{
	size_t len = base_len(name);

	for (size_t i = 0; i < NAMES && names[i]; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
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

/* A clock tells the same time whatever the mode. */
static bool compare_well(
	const struct ratio_part *part, const struct ratio_part *other, enum ratio_form form)
{
	if (!(part->group && part->group == other->group) && !(part->always && other->always))
		return false;
	return form == RATIO_PER_SECOND || choosing_of(part->name) == choosing_of(other->name);
}

static bool find_pair(const struct rule *rule, const struct ratio_part *parts, size_t n,
	size_t *part, size_t *other)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_one_of(parts[i].name, rule->part))
			continue;
		for (size_t j = 0; j < n; j++) {
			if (j == i || !is_one_of(parts[j].name, rule->other) ||
				!(parts[j].count > 0) ||
				!compare_well(&parts[i], &parts[j], rule->form))
				continue;
			*part = i;
			*other = j;
			return true;
		}
	}
	return false;
}

size_t ratios_find(const struct ratio_part *parts, size_t n, struct ratio out[RATIOS_MAX])
{
	size_t found = 0;

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		const struct rule *rule = &rules[i];
		size_t part, other;

		if (!find_pair(rule, parts, n, &part, &other))
			continue;
		out[found++] = (struct ratio){
			.name = rule->name,
			.brief = rule->brief,
			.form = rule->form,
			.value = parts[part].count / parts[other].count * rule->factor,
			.part = part,
			.other = other,
		};
	}
	return found;
}
