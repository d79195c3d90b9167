/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tracing.h - the section of a perf.data file with the formats of its tracepoints
 * (PERFDATA_TRACING_DATA).
 *
 * The layout is trace-cmd's file format, version 6 (trace-cmd.dat.v6(5)), up to the events.  perf
 * writes the same (tools/perf/util/trace-event-info.c).  No byte of the input is trusted.
 */
#ifndef SAMPLER_PERFDATA_TRACING_H
#define SAMPLER_PERFDATA_TRACING_H

#include "sampler/events/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACING_EVENTS_MAX 65536

struct tracing;

/* Parses a section up to the first malformed part; keeps the parts before.  Returns 0 or
 * -ENOMEM. */
int tracing_new(struct tracing **out, const void *bytes, size_t len);
void tracing_free(struct tracing *tracing); /* NULL is a no-op */

size_t tracing_count(const struct tracing *tracing);
/* Returns the text of a tracepoint's format file by its id (perf_event_attr.config); NULL if
 * unknown, or if tracing is NULL. */
const char *tracing_format(const struct tracing *tracing, uint64_t id);

/* The machine that wrote the section. */
struct tracing_source {
	bool swapped; /* it has the other byte order */
	unsigned int long_bytes; /* 0 if not recorded */
	const char *texts; /* printk_formats; NULL if not recorded */
	size_t texts_len;
};

const struct tracing_source *tracing_source(const struct tracing *tracing); /* all zero for NULL */

/* Writes a name like "sched:sched_switch".  Returns false, with out unchanged, if the id is unknown
 * or the name does not fit. */
bool tracing_name(const struct tracing *tracing, uint64_t id, char *out, size_t size);

/* Makes the section for these tracepoints, with the formats of this machine.  The caller frees
 * *bytes with free(); NULL if no format is available.  Returns 0 or -ENOMEM. */
int tracing_make(
	const struct system_dirs *system, const uint64_t *ids, size_t n, void **bytes, size_t *len);

#endif
