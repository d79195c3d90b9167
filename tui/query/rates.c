/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rates.c - see rates.h.
 */
#include "tui/query/rates.h"
#include "sampler/control/config.h"
#include "sampler/control/status.h"

#include <string.h>

#define SECOND_NS 1000000000ull

uint64_t rates_scaled(const struct engine_event_status *event, bool *estimated)
{
	*estimated = event->running_ns && event->running_ns < event->enabled_ns;
	if (!*estimated)
		return event->count;
	return (uint64_t)((double)event->count * (double)event->enabled_ns /
		(double)event->running_ns);
}

bool rates_not_counted(const struct engine_event_status *event)
{
	return event->enabled_ns && !event->running_ns;
}

const struct rate *rates_find(const struct rates *rates, uint8_t event)
{
	for (size_t i = 0; i < rates->n; i++)
		if (rates->of[i].event == event)
			return &rates->of[i];
	return NULL;
}

static void push(struct rate *rate, uint64_t per_second)
{
	if (rate->n == RATES_HISTORY)
		memmove(rate->per_second, rate->per_second + 1,
			--rate->n * sizeof(*rate->per_second));
	rate->per_second[rate->n++] = per_second;
}

/* Finds or adds an entry.  An event's number is not reused, so an entry has only one event. */
static struct rate *take(struct rates *rates, uint8_t event)
{
	for (size_t i = 0; i < rates->n; i++)
		if (rates->of[i].event == event)
			return &rates->of[i];
	if (rates->n == ENGINE_EVENTS_TOLD)
		return NULL;
	rates->of[rates->n] = (struct rate){.event = event};
	return &rates->of[rates->n++];
}

static void forget_dropped(struct rates *rates, const struct engine_status *status)
{
	size_t kept = 0;

	for (size_t i = 0; i < rates->n; i++) {
		for (size_t j = 0; j < status->n_events; j++) {
			if (status->events[j].id != rates->of[i].event)
				continue;
			if (kept != i)
				rates->of[kept] = rates->of[i];
			kept++;
			break;
		}
	}
	rates->n = kept;
}

void rates_update(struct rates *rates, const struct engine_status *status)
{
	forget_dropped(rates, status);
	for (size_t i = 0; i < status->n_events; i++) {
		const struct engine_event_status *event = &status->events[i];
		struct rate *rate = take(rates, event->id);
		bool estimated;
		uint64_t count = rates_scaled(event, &estimated), passed, seconds, per_second;

		if (!rate)
			continue;
		if (!rate->begun_ns || status->now_ns < rate->begun_ns) {
			rate->begun_ns = status->now_ns;
			rate->begun_count = count;
			continue;
		}
		passed = status->now_ns - rate->begun_ns;
		seconds = passed / SECOND_NS;
		if (!seconds)
			continue;
		/* An estimate may fall when the event counts less than expected. */
		per_second = count > rate->begun_count
			? (uint64_t)((double)(count - rate->begun_count) * SECOND_NS /
				  (double)passed)
			: 0;
		for (uint64_t k = 0; k < seconds && k < RATES_HISTORY; k++)
			push(rate, per_second);
		rate->begun_ns = status->now_ns;
		rate->begun_count = count;
	}
}
