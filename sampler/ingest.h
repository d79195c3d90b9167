/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ingest.h - the steady path of a sample: decoded record -> label, stack -> store.
 *
 * Owned and run by the sampling thread (or, for recordings, by whoever reads the file).  It does
 * not know where records come from: live rings, a file, a bench's prepared bytes.
 */
#ifndef SAMPLER_INGEST_H
#define SAMPLER_INGEST_H

#include "sampler/images.h"
#include "sampler/record.h"
#include "sampler/stacks.h"
#include "sampler/store.h"
#include "sampler/tasks.h"

#define INGEST_SECRET_LEN 192

struct ingest {
	struct images *images;
	struct tasks *tasks;
	struct stacks *stacks;
	struct store *store;
	uint8_t hash_secret
		[INGEST_SECRET_LEN]; /* random: chains come from other people's programs */
	uint64_t hash_seed;
	uint64_t samples; /* accepted */
	uint64_t truncated; /* chains cut at the maximum depth: outermost frames are missing */
	uint32_t hypervisor, guest; /* images */
};

int ingest_init(struct ingest *ingest, const struct tasks_reader *reader, size_t budget_bytes);
void ingest_fini(struct ingest *ingest);

/* Apply one record.  Samples are counted under `event` (a store event id) with their period as
 * weight, or 1 where the format has no period.  In a chain, PERF_CONTEXT_* markers switch the mode of the addresses
 * that follow and are no frames; without a chain, or with one of markers alone, the ip is the stack.  Addresses of 0
 * and those after a marker not known are left out.
 * The first address after a marker is where the code is; those that follow are return addresses, of which the
 * one before (address - 1) is looked up and becomes the frame's offset, since a call may be the last
 * instruction of its function.  Returns 0 or -ENOMEM. */
int ingest_record(struct ingest *ingest, const struct record *record, uint8_t event);

#endif
