/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * attrs.h - the attributes of a recording: their ids and names, and the attribute of each record.
 *
 * Owned by a reader; one thread.
 */
#ifndef SAMPLER_PERFDATA_ATTRS_H
#define SAMPLER_PERFDATA_ATTRS_H

#include "sampler/base/idmap.h"
#include "sampler/perfdata/reader.h"
#include "sampler/perfdata/tracing.h"

#define ATTRS_MAX 65536
#define ATTRS_IDS_MAX (4u << 20)

struct attrs {
	struct reader_attr *list;
	size_t n, capacity;
	size_t n_ids; /* ids of all attributes together */
	struct idmap by_id; /* id -> number + 1 */
	uint64_t last_id; /* last id found, because records come in runs */
	uint32_t last;
	bool has_last;
	bool has_build_ids; /* at least one event asked for them in its mappings */
};

void attrs_fini(struct attrs *attrs); /* also for zeroed attrs */

/* Adds an attribute.  bytes, len: the attribute as recorded, at least PERF_ATTR_SIZE_VER0; ids:
 * n_ids words at any address.  Returns 0, -EBADMSG, -E2BIG beyond ATTRS_MAX or ATTRS_IDS_MAX, or
 * -ENOMEM. */
int attrs_add(struct attrs *attrs, const void *bytes, size_t len, const void *ids, size_t n_ids,
	bool swapped);

/* Adds one id to attribute i.  Returns 0, -EBADMSG, -E2BIG or -ENOMEM. */
int attrs_add_id(struct attrs *attrs, uint64_t i, uint64_t id);

/* Names the attribute with this id or, if none has it, attribute number i.  The text ends at a NUL
 * or after len bytes. */
void attrs_name(struct attrs *attrs, const uint64_t *id, size_t i, const char *text, size_t len);

/* Names tracepoints without a recorded name by their formats: "sched:sched_switch". */
void attrs_name_tracepoints(struct attrs *attrs, const struct tracing *tracing);

/* Appends its cgroup to each event of "perf record -e X,X -G a,b" (words: its command line): X@a.
 * Nothing else distinguishes such events.  Other recordings stay unchanged. */
void attrs_name_cgroups(struct attrs *attrs, char *const *words, size_t n);

/* Finds the attribute of a kernel record.  The record is whole and aligned, its header in this
 * machine's byte order, its body as recorded.  Returns true and *number, or false if no attribute
 * has its id. */
bool attrs_find(struct attrs *attrs, const struct perf_event_header *header, bool swapped,
	uint32_t *number);

#endif
