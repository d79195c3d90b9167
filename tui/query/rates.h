/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rates.h - the rate of each event in a session: now, and in each second of the last minute.
 *
 * Plain data, updated by each new status.  UI thread.
 */
#ifndef TUI_QUERY_RATES_H
#define TUI_QUERY_RATES_H

#include "sampler/control/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_status;
struct engine_event_status;

#define RATES_HISTORY 60

struct rate {
	uint8_t event;
	uint64_t per_second[RATES_HISTORY]; /* for whole seconds, oldest first */
	size_t n;
	/* Private: time and count at the start of the current second. */
	uint64_t begun_ns, begun_count;
};

struct rates {
	struct rate of[ENGINE_EVENTS_TOLD];
	size_t n;
};

/* Returns a count scaled to the time that the event was enabled.  *estimated: it did not count all
 * of that time. */
uint64_t rates_scaled(const struct engine_event_status *event, bool *estimated);

/* Whether the event never counted although it was enabled; it then has no count. */
bool rates_not_counted(const struct engine_event_status *event);

void rates_update(struct rates *rates, const struct engine_status *status);

/* Returns the rate of an event; NULL if nothing is known yet. */
const struct rate *rates_find(const struct rates *rates, uint8_t event);

#endif
