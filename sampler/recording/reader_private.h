/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader_private.h - what the files of the reader share: reader_open.c (header and sections), reader_own.c (records
 * that it takes in itself) and reader.c (the records one after the other).
 */
#ifndef SAMPLER_RECORDING_READER_PRIVATE_H
#define SAMPLER_RECORDING_READER_PRIVATE_H

#include "sampler/recording/attrs.h"
#include "sampler/recording/features.h"
#include "sampler/recording/reader.h"
#include "sampler/recording/source.h"
#include "sampler/recording/unpack.h"

struct reader {
	int fd;
	struct source source;
	struct unpacker unpacker;
	struct attrs attrs;
	struct features features;
	struct reader_status status;
	bool swapped;
	bool has_end; /* the header tells where the records end */
	uint64_t end;
	int ended; /* what is returned from now on: 1: not yet */
	bool unpacking; /* the pack stands at the source's place */
	size_t pending; /* bytes of the record that was given out last, to be passed over */
	uint64_t following; /* and what follows it, which is no record */
	size_t pack_size;
	uint64_t copy[65536 / 8 + 1]; /* a record that is not aligned */
};

/* The first place where something is missing counts. */
static inline void reader_cut(struct reader *reader, uint64_t offset)
{
	if (!reader->status.truncated || offset < reader->status.truncated_at)
		reader->status.truncated_at = offset;
	reader->status.truncated = true;
}

/* Pass over what the last call gave out: 1; 0 where the end comes before; -errno. */
int reader_pass_over(struct reader *reader);

/* A record of the reader's own, its header in this machine's order, of size bytes: 1; 0 where it is none of
 * these; -EBADMSG or -E2BIG where it does not make sense; -ENOMEM, -errno. */
int reader_take_own(struct reader *reader, const struct perf_event_header *header, size_t size);

#endif
