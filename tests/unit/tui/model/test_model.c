/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_model.c - tabs, steps of the rate, the window.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/control/config.h"
#include "sampler/control/status.h"
#include "tui/model/model.h"

#include <stdlib.h>

static void test_frequency_steps(void **state)
{
	uint64_t hz = 49;

	(void)state;
	assert_int_equal(model_freq_step(997, 1, 0), 1999);
	assert_int_equal(model_freq_step(997, -1, 0), 499);
	assert_int_equal(model_freq_step(1000, -1, 0), 997);
	assert_int_equal(model_freq_step(20000, 1, 25000), 25000);
	assert_int_equal(model_freq_step(25000, 1, 25000), 25000);
	assert_int_equal(model_freq_step(30000, 1, 25000), 30000);
	assert_int_equal(model_freq_step(49, -1, 0), 49);
	/* Steps up and down are inverse. */
	for (int i = 0; i < 8; i++) {
		uint64_t next = model_freq_step(hz, 1, 0);

		assert_true(next > hz);
		assert_int_equal(model_freq_step(next, -1, 0), hz);
		hz = next;
	}
}

static void test_tabs_are_open_or_have_samples(void **state)
{
	struct model *model = calloc(1, sizeof(*model));
	uint8_t ids[ENGINE_EVENTS_TOLD];

	(void)state;
	assert_non_null(model);
	model->status.n_events = 3;
	model->status.events[0] = (struct engine_event_status){.id = 4, .open = true};
	model->status.events[1] = (struct engine_event_status){.id = 5, .error = 2};
	model->status.events[2] = (struct engine_event_status){.id = 9, .samples = 1};
	assert_int_equal(model_tabs(model, ids), 2);
	assert_int_equal(ids[0], 4);
	assert_int_equal(ids[1], 9);
	assert_ptr_equal(model_event(model, 9), &model->status.events[2]);
	assert_null(model_event(model, 0));
	free(model);
}

static void test_window_goes_on_without_samples(void **state)
{
	struct model *model = calloc(1, sizeof(*model));
	struct store_status store = {.first_ns = 5000000000u, .last_ns = 8000000000u};
	uint64_t from_ns, to_ns;

	(void)state;
	assert_non_null(model);
	model->status.state = ENGINE_RUNNING;
	model->now_ns = store.last_ns + MODEL_LATE_NS / 2;
	model_window(model, &store, &from_ns, &to_ns);
	assert_int_equal(from_ns, store.first_ns);
	assert_int_equal(to_ns, store.last_ns);
	/* After a minute without samples, the window has none of the old ones. */
	model->now_ns = store.last_ns + 60000000000u;
	model_window(model, &store, &from_ns, &to_ns);
	assert_int_equal(to_ns, model->now_ns - MODEL_LATE_NS);
	assert_int_equal(from_ns, to_ns - WINDOW_LENGTH_NS);
	assert_true(from_ns > store.last_ns);
	/* The window of a target that is gone ends at its last sample. */
	model->status.state = ENGINE_ENDED;
	model_window(model, &store, &from_ns, &to_ns);
	assert_int_equal(from_ns, store.first_ns);
	assert_int_equal(to_ns, store.last_ns);
	model->zero_ns = 7000000000u;
	model_window(model, &store, &from_ns, &to_ns);
	assert_int_equal(from_ns, model->zero_ns);
	free(model);
}

/* A recording is shown as a whole, also while it is loaded. Its times are unrelated to the current
 * time. */
static void test_window_of_recording(void **state)
{
	struct model model = {
		.recorded = true, .now_ns = 5000 * MODEL_LATE_NS, .status.state = ENGINE_RUNNING};
	const struct store_status store = {
		.first_ns = 3 * MODEL_LATE_NS, .last_ns = 300 * MODEL_LATE_NS};
	uint64_t from_ns, to_ns;

	(void)state;
	model_window(&model, &store, &from_ns, &to_ns);
	assert_int_equal(from_ns, 3 * MODEL_LATE_NS);
	assert_int_equal(to_ns, 300 * MODEL_LATE_NS);
	assert_true(model_is_loading(&model));
	model.status.state = ENGINE_ENDED;
	assert_false(model_is_loading(&model));
	model.recorded = false;
	model.status.state = ENGINE_RUNNING;
	assert_false(model_is_loading(&model));
	model_window(&model, &store, &from_ns, &to_ns);
	assert_int_equal(to_ns, 4999 * MODEL_LATE_NS);
}

/* Results with and without the name "[outside]" for pid 0 differ, also while idle samples are
 * shown. */
static void test_idle_and_outside(void **state)
{
	struct model model = {.recorded = true};
	unsigned int before = model_idle(&model);

	(void)state;
	model.status.pid_namespace = true;
	assert_int_not_equal(model_idle(&model), before);
	assert_false(model_idle(&model) & MODEL_IDLE_HIDDEN);
	before = model_idle(&model);
	model.hide_idle = true;
	assert_int_not_equal(model_idle(&model), before);
	before = model_idle(&model);
	model.status.pid_namespace = false;
	assert_int_not_equal(model_idle(&model), before);
	assert_true(model_idle(&model) & MODEL_IDLE_HIDDEN);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_of_recording),
		cmocka_unit_test(test_frequency_steps),
		cmocka_unit_test(test_tabs_are_open_or_have_samples),
		cmocka_unit_test(test_window_goes_on_without_samples),
		cmocka_unit_test(test_idle_and_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
