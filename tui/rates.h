/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rates.h - how fast each event of a session counts: now, and in each second of the last minute.
 *
 * Plain data, made of one status after the other.  UI thread.
 */
#ifndef TUI_RATES_H
#define TUI_RATES_H

#include "sampler/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RATES_HISTORY 60

struct rate {
	uint8_t event;
	uint64_t per_second[RATES_HISTORY]; /* of whole seconds, oldest first */
	size_t n;
	/* Private: what was counted when the second at work began. */
	uint64_t begun_ns, begun_count;
};

struct rates {
	struct rate of[ENGINE_EVENTS_TOLD];
	size_t n;
};

/* A count as it would be if the event had counted all the time that it was enabled; *estimated: it had not. */
uint64_t rates_scaled(const struct engine_event_status *event, bool *estimated);

/* Whether the event never counted though it was enabled: there is no number then. */
bool rates_not_counted(const struct engine_event_status *event);

void rates_update(struct rates *rates, const struct engine_status *status);

/* NULL: nothing is known yet. */
const struct rate *rates_find(const struct rates *rates, uint8_t event);

#endif
