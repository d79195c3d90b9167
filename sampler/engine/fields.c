/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fields.c - the fields of each event's samples.
 *
 * The sampling thread creates them when it adds the event; any thread reads them.  They live as
 * long as the engine, since samples in the store refer to them.
 */
#include "sampler/fields/fields.h"
#include "sampler/base/grow.h"
#include "sampler/engine/internal.h"

#include <stdlib.h>

void choice_make_fields(struct engine *engine, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];
	const uint8_t id = engine->status.events[index].id;
	struct perf_event_attr attr = choice->attr;
	struct fields *fields;

	if (engine->config.no_fields || engine->fields.of[id])
		return;
	attr.sample_type |= engine->config.sample_more & ~choice->without;
	/* If the format is unreadable, the event has no fields. */
	if (fields_new(&fields, &attr, choice->spec.pmu, system_dirs(), NULL))
		return;
	ingest_fields(&engine->ingest, id, fields);
	__atomic_store_n(&engine->fields.of[id], fields, __ATOMIC_RELEASE);
}

/* The event has no samples yet, but another thread may still read the old fields. */
void choice_remake_fields(struct engine *engine, unsigned int index)
{
	const uint8_t id = engine->status.events[index].id;
	struct fields *fields = engine->fields.of[id];

	if (!(fields_sample_type(fields) & engine->choices[index].without))
		return;
	if (grow_exact(&engine->fields.retired, engine->fields.n_retired + 1,
		    sizeof(*engine->fields.retired)))
		return;
	engine->fields.retired[engine->fields.n_retired++] = fields;
	ingest_fields(&engine->ingest, id, NULL);
	__atomic_store_n(&engine->fields.of[id], NULL, __ATOMIC_RELEASE);
	choice_make_fields(engine, index);
}

uint64_t choice_fields_type(const struct engine *engine, unsigned int index)
{
	return fields_sample_type(engine->ingest.fields[engine->status.events[index].id]);
}

/* Opens the event without fields if its format is secret or the user may not read raw data. */
bool choice_leave_fields(struct engine *engine, unsigned int index)
{
	struct choice *choice = &engine->choices[index];
	uint8_t id = engine->status.events[index].id;

	if (choice->attr.type != PERF_TYPE_TRACEPOINT || !engine->ingest.fields[id])
		return false;
	ingest_fields(&engine->ingest, id, NULL);
	return true;
}

void engine_free_fields(struct engine *engine)
{
	for (size_t i = 0; i < STORE_EVENTS_MAX; i++)
		fields_free(engine->fields.of[i]);
	for (size_t i = 0; i < engine->fields.n_retired; i++)
		fields_free(engine->fields.retired[i]);
	free(engine->fields.retired);
}

const struct fields *engine_fields(struct engine *engine, uint8_t id)
{
	return __atomic_load_n(&engine->fields.of[id], __ATOMIC_ACQUIRE);
}

const struct values *engine_values(const struct engine *engine)
{
	return engine->ingest.values;
}
