/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pending.h - samples that wait for unwind tables.
 */
#ifndef SAMPLER_ENGINE_PENDING_H
#define SAMPLER_ENGINE_PENDING_H

#include "sampler/store/unwind.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct record;

/* Samples waiting for unwind tables, in their order: see pending.c. */
struct pending {
	uint8_t *bytes;
	size_t len, size;
	uint64_t until_ns; /* during a snapshot: end of the time that it may wait for tables */
};

/* Takes a wanted sample into the store, at once or when its stack can be unwound. */
void pending_take(struct engine *engine, unsigned int index, const struct perf_event_header *header,
	struct record *record);
/* Unwinds a sample that may not wait.  If tables are missing, judges the kernel's chain and counts
 * the sample as late. */
enum unwind_end pending_unwind_now(
	struct engine *engine, unsigned int index, struct record *record);
/* Retries waiting samples.  all: takes in every one. */
void pending_retry(struct engine *engine, bool all);
/* Takes in the waiting samples that a side-band record, which is about to be applied, would give
 * other names. */
void pending_settle(struct engine *engine, const struct record *record);
void pending_fini(struct engine *engine);

#endif
