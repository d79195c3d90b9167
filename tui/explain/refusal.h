/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refusal.h - one refused perf_event_open(2) under explanation; private to explain.
 */
#ifndef TUI_EXPLAIN_REFUSAL_H
#define TUI_EXPLAIN_REFUSAL_H

#include "tui/explain/text.h"

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

/* Returns true for the processor's own counters, including raw events. */
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

/* Returns the verb of the request: "sampling" or "counting". */
static inline const char *doing(const struct refusal *refusal)
{
	return refusal->request->counted ? "counting" : "sampling";
}

/* Explains why a BPF program was refused although its event was accepted. */
void explain_bpf(struct text *text, const struct explain_request *request, int error,
	const struct explain_system *system);
/* Explains why a filter was refused although its event was accepted. */
void explain_filter(struct text *text, const struct explain_request *request, int error,
	const struct explain_system *system);

/* Explains why an ioctl was refused although its event was accepted. */
void explain_ioctl(
	struct text *text, const char *name, int error, const struct explain_system *system);

/* Explains EINVAL: which part of the request the kernel refuses. */
void explain_invalid(struct text *text, const struct refusal *refusal);
/* Explains why a probe cannot be placed.  Returns false if the event is no probe. */
bool explain_probe(struct text *text, const struct refusal *refusal);

#endif
