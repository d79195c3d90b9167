/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * features.h - what a recording says of itself: its feature sections, one by one.
 *
 * Owned by a reader; one thread.
 */
#ifndef SAMPLER_RECORDING_FEATURES_H
#define SAMPLER_RECORDING_FEATURES_H

#include "sampler/recording/attrs.h"

struct features {
	struct reader_info info;
	uint64_t held_bytes; /* of what grows: build-ids, tracing data */
	size_t build_ids_capacity, told_capacity;
	size_t kept_len;
	bool is_directory; /* the records are in other files */
};

void features_fini(struct features *features); /* a zeroed one is legal */

/* The most that a section of this kind may hold; 0: of no use here, not worth reading. */
uint64_t features_limit(unsigned int feature);

/* Counts memory that grows with what a file says.  0; -EBADMSG: it is too much. */
int features_hold(struct features *features, uint64_t bytes);

/* One section, bytes in the order of the file: 0; -EBADMSG where it does not make sense (what was
 * understood is kept); -ENOMEM. */
int features_take(struct features *features, struct attrs *attrs, unsigned int feature,
	const uint8_t *bytes, size_t len, bool swapped);

/* One entry of PERFDATA_BUILD_ID with its header, whose misc alone is in this machine's order: 0, -EBADMSG, -ENOMEM. */
int features_build_id(
	struct features *features, const uint8_t *bytes, size_t len, uint16_t misc, bool swapped);

/* Takes the formats of tracepoints, which name unnamed attributes.  bytes (malloc(3)) is taken,
 * also on failure. */
int features_tracing_data(struct features *features, struct attrs *attrs, void *bytes, size_t len);

/* Appends to reader_info.kept_fd: 0, -EBADMSG (too much), -EFBIG
 * (RLIMIT_FSIZE, which limits memory files too), -ENOMEM. */
int features_kept(struct features *features, const uint8_t *bytes, size_t len);

#endif
