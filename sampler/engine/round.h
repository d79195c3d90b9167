/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * round.h - a drain round: stores the records of all rings in time order.
 */
#ifndef SAMPLER_ENGINE_ROUND_H
#define SAMPLER_ENGINE_ROUND_H

#include "sampler/kernel/merge.h"
#include "sampler/kernel/record.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct channel;
struct engine;
struct point_event;

struct round {
	uint64_t begun_ns;
	struct point_event *last_event; /* event of the last sample */
	struct merge_source *sources; /* room for all channels */
	struct point_event **touched; /* events that consumed overflows in this round */
	size_t n_touched, touched_capacity;
	bool have_doomed; /* points must be closed at the end of the round */
	bool tell_ids; /* set if any choice has tells_id */
};

void engine_round(struct engine *engine, bool all, bool final);
void round_drain_channel(struct engine *engine, struct channel *channel);
void round_close_doomed(struct engine *engine);
/* round_take_sample() takes in one sample of a choice.  event: NULL if it reads no group.  of_task:
 * skip the check whether its task is followed.  round_take_in() takes in a side-band record when it
 * is due. */
void round_take_sample(struct engine *engine, unsigned int choice, struct point_event *event,
	const struct perf_event_header *header, bool of_task);
int round_take_in(struct engine *engine, const struct perf_event_header *header,
	const struct record *record, bool tap);
/* Returns whether its samples may carry the id of another software event. */
bool round_may_share_id(const struct engine *engine, unsigned int choice);
/* Returns the index of the word with the event's own id in its samples (tells_id).  The value and
 * two times precede it. */
size_t round_own_id_at(const struct record_format *format);
bool round_cpu_wanted(const struct engine *engine, uint32_t cpu);

#endif
