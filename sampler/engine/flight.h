/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flight.h - the flight recorder: rings that overwrite themselves, and what is held for them.
 *
 * Without a flight recorder these functions do nothing, but flight_open_ring() and flight_hold()
 * must not be called.
 */
#ifndef SAMPLER_ENGINE_FLIGHT_H
#define SAMPLER_ENGINE_FLIGHT_H

#include "sampler/control/config.h"
#include "sampler/control/trigger.h"
#include "sampler/engine/engine.h"
#include "sampler/kernel/backward.h"
#include "sampler/kernel/record.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct point;

/* The ring that a point's samples overwrite.  A dummy that is never enabled owns it. */
struct flight_ring {
	struct backward *ring;
	int fd;
	uint64_t taken; /* position of the last snapshot */
};

/* State of an event that may have written to a ring, at the time of the copy. */
struct flight_event {
	uint64_t id;
	unsigned int choice;
	uint8_t event; /* event number in the store */
	uint64_t sample_type;
	bool may_share; /* see round_may_share_id() */
};

/* Copy of a ring's content. */
struct flight_kept {
	struct flight_kept *next;
	struct backward_copy copy;
	uint64_t time_ns;
	bool of_task; /* all samples are of a followed task */
	size_t n_events;
	struct flight_event events[];
};

/* A side-band record held until all samples before it are taken in or overwritten. */
struct flight_held {
	struct flight_held *next;
	uint64_t time_ns;
	bool tap;
	uint64_t record[]; /* the whole record */
};

struct flight {
	bool on;
	uint64_t ns; /* flight_s in ns */
	struct flight_held *held, **held_end; /* oldest first */
	struct flight_kept *kept; /* copies of rings of closed points, newest first */
	size_t held_bytes, kept_bytes;
	uint64_t ring_pages; /* pages of all flight rings */
	double holds_s, noted_holds_s;
	struct trigger trigger;
	uint64_t machine_ticks, looked_ns; /* at the trigger's last look */
};

/* flight.c; without a flight recorder these do nothing, but flight_open_ring() and
 * flight_hold() must not be called. */
bool flight_is_valid(const struct engine_config *config);
void flight_init(struct engine *engine);
void flight_fini(struct engine *engine);
/* Loads the machine's processes before the first record, since they may be gone later. */
void flight_begin(struct engine *engine);
int flight_open_ring(struct engine *engine, struct point *point);
void flight_close_ring(struct engine *engine, struct point *point);
/* Called before a point's events are closed: keeps its samples as long as its ring would have. */
void flight_keep(struct engine *engine, struct point *point);
/* Copies the ring of a point that continues; NULL if memory runs out or there are no new
 * samples. */
struct flight_kept *flight_copy(struct engine *engine, struct point *point);
void flight_forget_kept(struct engine *engine);
/* Holds a side-band record until the samples before it are taken in.  Returns 0 or -ENOMEM. */
int flight_hold(struct engine *engine, const struct perf_event_header *header,
	const struct record *record, bool tap);
/* Takes in held records up to time_ns. */
void flight_let_in(struct engine *engine, uint64_t time_ns);
void flight_pause(struct engine *engine, bool pause);
/* Called at each sweep: drops data that is too old. */
void flight_sweep(struct engine *engine);
/* Returns the start of the recorder's window; older data is dropped. */
uint64_t flight_begin_ns(const struct engine *engine, uint64_t now_ns);
/* Called each second: checks the trigger. */
void flight_tick(struct engine *engine);
void flight_snapshot(struct engine *engine);

#endif
