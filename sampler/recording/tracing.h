/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tracing.h - the section of a perf.data file that has the formats of its tracepoints (PERFDATA_TRACING_DATA).
 *
 * The layout is that of trace-cmd's file format, version 6 (trace-cmd.dat.v6(5)), up to the events, which is what
 * perf writes (tools/perf/util/trace-event-info.c).  What is read may be anything.
 */
#ifndef SAMPLER_RECORDING_TRACING_H
#define SAMPLER_RECORDING_TRACING_H

#include "sampler/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACING_EVENTS_MAX 65536

struct tracing;

/* What can be understood; what cannot ends it, and what came before stays.  0 or -ENOMEM. */
int tracing_new(struct tracing **out, const void *bytes, size_t len);
void tracing_free(struct tracing *tracing); /* NULL is a no-op */

size_t tracing_count(const struct tracing *tracing);
/* The text of a tracepoint's format file by its number (perf_event_attr.config); or NULL, also of NULL. */
const char *tracing_format(const struct tracing *tracing, uint64_t id);

/* The machine that wrote it. */
struct tracing_source {
	bool swapped; /* its byte order is the other one */
	unsigned int long_bytes; /* 0: not told */
	const char *texts; /* printk_formats; NULL: not told */
	size_t texts_len;
};

const struct tracing_source *tracing_source(
	const struct tracing *tracing); /* of NULL: nothing is told */

/* Writes a name like "sched:sched_switch".  Returns false, with out unchanged, if the number is
 * unknown or its name does not fit. */
bool tracing_name(const struct tracing *tracing, uint64_t id, char *out, size_t size);

/* The section for these tracepoints, as this machine describes them: bytes for free(), NULL where none can be described.
 * 0 or -ENOMEM. */
int tracing_make(const struct event_system *system, const uint64_t *ids, size_t n, void **bytes,
	size_t *len);

#endif
