// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * rate.c - an event's sampling rate, its changes while it runs, and the weight of a sample.
 *
 * The samples of a clock carry the period that the clock was opened with, even after
 * PERF_EVENT_IOC_PERIOD (perf_swevent_hrtimer(), last_period).  Samples of a fixed period carry
 * none.  So a choice remembers its rates.  Runs in the sampling thread.
 */
#include "sampler/engine/rate.h"
#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/engine/attr.h"
#include "sampler/engine/change.h"
#include "sampler/engine/internal.h"
#include "sampler/kernel/attr.h"

#include <errno.h>
#include <string.h>

#define CLOCK_PERIOD_MIN_NS 10000u /* the minimum in perf_swevent_hrtimer() */

void rate_limit(struct perf_event_attr *attr)
{
	if (!attr_is_clock(attr))
		return;
	if (attr->freq && attr->sample_freq > NS_PER_S / CLOCK_PERIOD_MIN_NS)
		attr->sample_freq = NS_PER_S / CLOCK_PERIOD_MIN_NS;
	else if (!attr->freq && attr->sample_period < CLOCK_PERIOD_MIN_NS)
		attr->sample_period = CLOCK_PERIOD_MIN_NS;
}

/* --- weights --- */

/* Returns the period of the rate; 0 if the samples carry it. */
static uint64_t find_period(const struct perf_event_attr *attr)
{
	if (!attr->freq)
		return attr->sample_period;
	return attr_is_clock(attr) && attr->sample_freq ? NS_PER_S / attr->sample_freq : 0;
}

void rate_weigh(const struct engine *engine, unsigned int index, const struct point_event *event,
	struct record *record)
{
	const struct choice *choice = &engine->choices[index];
	uint64_t period = find_period(&choice->attr), until_ns;

	for (unsigned int i = choice->n_rates; i-- > 0; period = choice->rates[i].period) {
		until_ns = choice->rates[i].until_ns;
		/* Each event got the newest rate at a time of its own. */
		if (event && i + 1 == choice->n_rates)
			until_ns = event->rate_ns;
		if (record->id.time_ns >= until_ns)
			break;
	}
	if (period)
		record->sample.period = period;
}

/* Records the rate that the choice had up to now. */
static void remember_rate(struct choice *choice, const struct perf_event_attr *before)
{
	if (choice->n_rates == CHOICE_RATES_MAX)
		memmove(choice->rates, choice->rates + 1,
			--choice->n_rates * sizeof(choice->rates[0]));
	choice->rates[choice->n_rates++] =
		(struct choice_rate){.until_ns = sys_now_ns(), .period = find_period(before)};
}

/* --- changes --- */

static void tell_rate(struct engine *engine, unsigned int index)
{
	const struct perf_event_attr *attr = &engine->choices[index].attr;

	choice_show_rate(engine, index);
	engine->status.events[index].rate_varies = true;
	engine_note(engine, NOTE_FREQUENCY, 0, 0,
		attr->freq ? attr->sample_freq : attr->sample_period,
		engine->status.events[index].name);
}

/* Sets the attribute's rate on the events of the first *n points; on an error, *n becomes the
 * number of points done.  Returns 0 or a positive errno. */
static int set_everywhere(
	struct engine *engine, unsigned int index, const struct perf_event_attr *attr, size_t *n)
{
	int error = 0;

	for (size_t i = 0; i < *n && !error; i++) {
		struct point_event *event = point_find_event(engine->points[i], index);
		int ret;

		if (!event)
			continue;
		ret = sys_set_period(event->fd, attr);
		if (!ret || ret == -ESRCH)
			event->rate_ns = sys_now_ns();
		/* The kernel also restarts the period at zero. */
		if (!ret)
			event->coverage.rest = 0;
		/* ESRCH: the thread has ended, so all its samples are older. */
		if (ret && ret != -ESRCH) {
			error = -ret;
			/* EINVAL rejects the rate itself, not the ioctl. */
			if (ret != -EINVAL)
				engine->choices[index].ioctl_refused = "PERF_EVENT_IOC_PERIOD";
			*n = i;
		}
	}
	return error;
}

/* The ioctl does not reach children of an inherited event, and a reopened event would lose them. */
static bool is_fixed(const struct engine *engine)
{
	return engine->status.scope == SCOPE_INHERIT;
}

/* Changes the frequency, or the period of an event that has one, in place. */
void change_rate(struct engine *engine, unsigned int index, uint64_t rate)
{
	struct choice *choice = &engine->choices[index];
	struct perf_event_attr asked = choice->attr;
	size_t n = engine->n_points;
	int error = choice->counts_only || choice->spec.span ? EINVAL : 0;

	if (asked.freq)
		asked.sample_freq = rate;
	else
		asked.sample_period = rate;
	rate_limit(&asked);
	if (is_fixed(engine)) {
		change_refuse(engine, index, &asked, EBUSY, EVENT_CLASH_INHERITED);
		return;
	}
	if (!error) {
		/* Samples and counts up to now have the old rate.  The flight recorder's samples
		 * stay in its rings. */
		change_settle(engine);
		if (!engine->flight.on)
			choice->n_rates = 0;
		error = set_everywhere(engine, index, &asked, &n);
		if (error)
			(void)set_everywhere(engine, index, &choice->attr, &n);
	}
	if (error) {
		change_refuse(engine, index, &asked, error, EVENT_CLASH_NONE);
		return;
	}
	remember_rate(choice, &choice->attr);
	choice->attr = asked;
	choice->spec.attr.sample_freq = asked.sample_freq;
	tell_rate(engine, index);
}

void change_period(struct engine *engine, unsigned int index, uint64_t period)
{
	struct choice *choice = &engine->choices[index];
	struct choice before = *choice;
	int ret;

	if (!choice->attr.freq || choice->counts_only || is_fixed(engine)) {
		change_rate(engine, index, period);
		return;
	}
	ret = change_owns_ring(engine, index) ? -EBUSY : 0;
	if (!ret) {
		/* The rings still hold records in the old format. */
		change_close(engine, index);
		choice->n_rates = 0;
		choice->attr.freq = 0;
		choice->attr.sample_period = period;
		rate_limit(&choice->attr);
		choice->spec.attr.freq = 0;
		choice->spec.attr.sample_period = choice->attr.sample_period;
		choice_begin_stack(engine, choice);
		choice_set_format(engine, index);
		ret = change_open(engine, index);
	}
	if (!ret || ret == -ESRCH) {
		tell_rate(engine, index);
		return;
	}
	if (ret == -EBUSY) {
		struct perf_event_attr asked = before.attr;

		asked.freq = 0;
		asked.sample_period = period;
		change_refuse(engine, index, &asked, EBUSY, EVENT_CLASH_NONE);
		return;
	}
	change_refuse(engine, index, &choice->attr, -ret, EVENT_CLASH_NONE);
	change_restore(engine, index, &before);
}
