/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tap.h - passes all data that goes into the store to the tap.  Without a tap nothing is done.
 */
#ifndef SAMPLER_ENGINE_TAP_H
#define SAMPLER_ENGINE_TAP_H

#include "sampler/control/config.h"
#include "sampler/engine/engine.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct engine;
struct record_sample;

struct tap {
	struct engine_tap to;
	bool on, begun;
	uint64_t ns; /* data learned now is valid for records from here on */
	uint8_t index[ENGINE_EVENTS_MAX]; /* by choice: index in begin()'s list */
	uint8_t wakes; /* the tap's index for wake-ups */
};

void tap_init(struct engine *engine, const struct engine_tap *tap);
void tap_time(struct engine *engine, uint64_t time_ns);
/* unwound: the sample's chain as ingested; NULL for other records. */
void tap_sample(struct engine *engine, const struct perf_event_header *header, unsigned int choice,
	const struct record_sample *unwound);
/* For a sample that read counters: passes their sums (tap_sum). */
void tap_reads(struct engine *engine, const struct perf_event_header *header,
	const struct record_sample *sample, unsigned int choice);
void tap_wake(struct engine *engine, const struct perf_event_header *header);
void tap_side_band(struct engine *engine, const struct perf_event_header *header);
void tap_round(struct engine *engine);

#endif
