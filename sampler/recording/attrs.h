/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * attrs.h - the attributes of a recording: their ids, their names, and which of them a record belongs to.
 *
 * Owned by a reader; one thread.
 */
#ifndef SAMPLER_RECORDING_ATTRS_H
#define SAMPLER_RECORDING_ATTRS_H

#include "sampler/idmap.h"
#include "sampler/recording/reader.h"
#include "sampler/recording/tracing.h"

#define ATTRS_MAX 65536
#define ATTRS_IDS_MAX (4u << 20)

struct attrs {
	struct reader_attr *list;
	size_t n, capacity;
	size_t n_ids; /* of all */
	struct idmap by_id; /* id -> number + 1 */
	uint64_t last_id; /* found last: records come in runs */
	uint32_t last;
	bool has_last;
	bool has_build_ids; /* at least one event asked for them in its mappings */
};

void attrs_fini(struct attrs *attrs); /* a zeroed one is legal */

/* bytes, len: the attribute as recorded, of any size from PERF_ATTR_SIZE_VER0; ids: n_ids words at any address.
 * 0, -EBADMSG, -E2BIG beyond what is sensible, -ENOMEM. */
int attrs_add(struct attrs *attrs, const void *bytes, size_t len, const void *ids, size_t n_ids,
	bool swapped);

/* One more id of attribute i.  0, -EBADMSG, -E2BIG, -ENOMEM. */
int attrs_add_id(struct attrs *attrs, uint64_t i, uint64_t id);

/* Name the attribute that has this id (or, where none has, number i); text ends at a NUL or after len. */
void attrs_name(struct attrs *attrs, const uint64_t *id, size_t i, const char *text, size_t len);

/* Names tracepoints without a name in the recording by their formats: "sched:sched_switch". */
void attrs_name_tracepoints(struct attrs *attrs, const struct tracing *tracing);

/* Of "perf record -e X,X -G a,b" (words: its command line) nothing else tells the events apart: each gets its cgroup behind
 * its name, X@a.  Of all else nothing happens. */
void attrs_name_cgroups(struct attrs *attrs, char *const *words, size_t n);

/* The attribute of a kernel record (whole, aligned, its header in this machine's order, its body as recorded):
 * true and *number, or false where none has its id. */
bool attrs_find(struct attrs *attrs, const struct perf_event_header *header, bool swapped,
	uint32_t *number);

#endif
