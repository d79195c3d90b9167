/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_refusal.h - one refused perf_event_open(2), while it is explained; private to explain.
 */
#ifndef TUI_EXPLAIN_REFUSAL_H
#define TUI_EXPLAIN_REFUSAL_H

#include "tui/explain_text.h"

#include <string.h>

struct refusal {
	const struct explain_request *request;
	const struct perf_event_attr *attr;
	int error;
	const struct proc_limits *limits;
	const struct explain_system *system;
};

static inline bool is_pmu(const struct refusal *refusal, const char *name)
{
	return !strcmp(refusal->system->pmu, name);
}

/* The processor's own counters, and what is raw for them. */
static inline bool is_hardware(const struct refusal *refusal)
{
	uint32_t type = refusal->attr->type;

	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW ||
		is_pmu(refusal, "cpu") || is_pmu(refusal, "cpu_core") ||
		is_pmu(refusal, "cpu_atom");
}

static inline bool on_cpus(const struct refusal *refusal)
{
	return refusal->request->pid < 0;
}

/* "sampling" or "counting": what was asked for. */
static inline const char *doing(const struct refusal *refusal)
{
	return refusal->request->counted ? "counting" : "sampling";
}

/* Why a BPF program was refused whose event was not. */
void explain_bpf(struct text *text, const struct explain_request *request, int error);
/* Why a filter was refused whose event was not. */
void explain_filter(struct text *text, const struct explain_request *request, int error,
	const struct explain_system *system);

/* EINVAL: what exactly the kernel does not take. */
void explain_invalid(struct text *text, const struct refusal *refusal);
/* Why there is no probe where it was asked for; false: it is no probe. */
bool explain_probe(struct text *text, const struct refusal *refusal);

#endif
