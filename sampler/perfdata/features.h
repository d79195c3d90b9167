/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * features.h - the feature sections of a recording: data about the recording and its machine.
 *
 * Owned by a reader; one thread.
 */
#ifndef SAMPLER_PERFDATA_FEATURES_H
#define SAMPLER_PERFDATA_FEATURES_H

#include "sampler/perfdata/attrs.h"

struct features {
	struct reader_info info;
	uint64_t held_bytes; /* bytes of growing data: build-ids, tracing data */
	size_t build_ids_capacity, told_capacity;
	size_t kept_len;
	bool is_directory; /* the records are in other files */
};

void features_fini(struct features *features); /* also for zeroed features */

/* Returns the size limit of a section of this kind, in bytes; 0: not needed, not read. */
uint64_t features_limit(unsigned int feature);

/* Counts memory that grows with the file's data.  Returns 0; -EBADMSG above the limit. */
int features_hold(struct features *features, uint64_t bytes);

/* Takes one section, its bytes in the file's byte order.  Returns 0; -EBADMSG if it is malformed
 * (the parts read before are kept); -ENOMEM. */
int features_take(struct features *features, struct attrs *attrs, unsigned int feature,
	const uint8_t *bytes, size_t len, bool swapped);

/* Takes one entry of PERFDATA_BUILD_ID with its header.  Only the argument misc is in this
 * machine's byte order.  Returns 0, -EBADMSG or -ENOMEM. */
int features_build_id(
	struct features *features, const uint8_t *bytes, size_t len, uint16_t misc, bool swapped);

/* Takes the formats of tracepoints, and names unnamed attributes by them.  Takes over bytes
 * (malloc(3)), also on failure. */
int features_tracing_data(struct features *features, struct attrs *attrs, void *bytes, size_t len);

/* Appends to reader_info.kept_fd.  Returns 0; -EBADMSG: too much; -EFBIG: RLIMIT_FSIZE, which
 * limits memory files too; -ENOMEM. */
int features_kept(struct features *features, const uint8_t *bytes, size_t len);

#endif
