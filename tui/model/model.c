/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model.c - functions of a model that do not depend on its source.
 */
#include "tui/model/model.h"
#include "sampler/control/config.h"
#include "sampler/control/status.h"

/* Not quite round numbers, so that samples do not coincide with timers. */
static const uint64_t freq_steps[] = {
	49, 99, 199, 499, 997, 1999, 4999, 9999, 20000, 50000, 100000};
#define N_STEPS (sizeof(freq_steps) / sizeof(*freq_steps))

const struct engine_event_status *model_event(const struct model *model, uint8_t event)
{
	for (size_t i = 0; i < model->status.n_events; i++) {
		if (model->status.events[i].id == event)
			return &model->status.events[i];
	}
	return NULL;
}

size_t model_tabs(const struct model *model, uint8_t ids[ENGINE_EVENTS_TOLD])
{
	size_t n = 0;

	for (size_t i = 0; i < model->status.n_events && n < ENGINE_EVENTS_TOLD; i++) {
		const struct engine_event_status *event = &model->status.events[i];

		if (event->open || event->samples > 0)
			ids[n++] = event->id;
	}
	return n;
}

uint64_t model_freq_step(uint64_t hz, int direction, uint64_t limit_hz)
{
	uint64_t best = hz;

	if (direction > 0) {
		for (size_t i = 0; i < N_STEPS; i++) {
			if (freq_steps[i] > hz) {
				best = freq_steps[i];
				break;
			}
		}
		if (limit_hz && best > limit_hz)
			best = limit_hz > hz ? limit_hz : hz;
		return best;
	}
	for (size_t i = N_STEPS; i-- > 0;) {
		if (freq_steps[i] < hz)
			return freq_steps[i];
	}
	return best;
}

bool model_is_loading(const struct model *model)
{
	return model->recorded &&
		(model->status.state == ENGINE_STARTING || model->status.state == ENGINE_RUNNING);
}

uint64_t model_window_begin(
	const struct model *model, const struct store_status *store, uint64_t to_ns)
{
	const uint64_t length = window_length(&model->window);
	uint64_t from_ns = !model->recorded && to_ns > length ? to_ns - length : 0;

	if (from_ns < store->first_ns)
		from_ns = store->first_ns;
	if (from_ns < model->zero_ns)
		from_ns = model->zero_ns;
	return from_ns;
}

void model_window(const struct model *model, const struct store_status *store, uint64_t *from_ns,
	uint64_t *to_ns)
{
	*to_ns = store->last_ns;
	/* For a target that sleeps, the window must not show old samples as current. */
	if (!model->recorded && model->status.state == ENGINE_RUNNING && store->last_ns &&
		model->now_ns > *to_ns + MODEL_LATE_NS)
		*to_ns = model->now_ns - MODEL_LATE_NS;
	*from_ns = model_window_begin(model, store, *to_ns);
	if (*to_ns < *from_ns)
		*to_ns = *from_ns;
}

struct window_view model_window_view(const struct model *model)
{
	const struct store_status *store = &model->status.store;

	return (struct window_view){
		.first_ns = store->first_ns > model->zero_ns ? store->first_ns : model->zero_ns,
		.last_ns = model->strip_to_ns,
		.from_ns = model->from_ns,
		.to_ns = model->to_ns,
		.whole = model->recorded,
	};
}
