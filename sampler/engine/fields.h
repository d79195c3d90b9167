/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fields.h - the fields of each event's samples.
 *
 * The sampling thread makes them; any thread reads them as long as the engine lives.
 */
#ifndef SAMPLER_ENGINE_FIELDS_H
#define SAMPLER_ENGINE_FIELDS_H

#include "sampler/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct fields;

struct engine_fields {
	struct fields *of[STORE_EVENTS_MAX]; /* by event id; atomic: any thread reads */
	struct fields **retired; /* replaced fields that other threads may still read */
	size_t n_retired;
};

/* Creates the fields of its future samples. */
void choice_make_fields(struct engine *engine, unsigned int choice);
/* Recreates them without those that the event turned out not to have. */
void choice_remake_fields(struct engine *engine, unsigned int choice);
uint64_t choice_fields_type(const struct engine *engine, unsigned int choice);
/* Continues without the fields of a tracepoint; false if it has none. */
bool choice_leave_fields(struct engine *engine, unsigned int choice);
void engine_free_fields(struct engine *engine);

#endif
