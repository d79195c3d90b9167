/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_engine_chains.c - the mode of call chains changes while events run; late tables are counted.
 */
#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "tests/live/engine_fixture.h"

#include <errno.h>

static enum unwind_answer answer;

static enum unwind_answer find(void *ctx, uint32_t image, uint64_t offset, struct unwind_rule *rule)
{
	(void)ctx;
	(void)image;
	(void)offset;
	(void)rule;
	return answer;
}

static struct rig *begin(const char *events, enum unwind_answer known, int32_t *pid)
{
	struct rig *rig = rig_new(events, 997, 0);

	answer = known;
	rig->config.unwind.find = find;
	rig->config.stack_bytes = 8192;
	rig->config.stack_adapts = true;
	*pid = start_child(body_both, NULL);
	rig_target(rig, pid);
	return rig;
}

static void finish(struct rig *rig, int32_t pid)
{
	end_child(pid);
	rig_free(rig);
}

static bool has_mode(struct rig *rig, uint64_t mode)
{
	const struct engine_note *note = find_note(rig, NOTE_CALL_GRAPH);

	return note && note->value == mode;
}

static void switch_to(struct rig *rig, enum engine_call_graph mode, int error)
{
	assert_int_equal(engine_set_call_graph(rig->engine, mode), 0);
	assert_true(rig_wait(rig, has_mode, mode));
	assert_int_equal(find_note(rig, NOTE_CALL_GRAPH)->error, error);
}

static bool has_faults(struct rig *rig, uint64_t n)
{
	return rig->status.events[1].samples >= n;
}

/* Switches through all modes: sampling continues, and records keep the format of their event. */
static void test_modes(void **state)
{
	static const enum engine_call_graph modes[] = {
		CALL_GRAPH_FP, CALL_GRAPH_DWARF, CALL_GRAPH_NO, CALL_GRAPH_AUTO};
	static const uint32_t copied[] = {0, 8192, 0, 8192};
	int32_t pid;
	struct rig *rig = begin("cpu-clock:u,page-faults:u", UNWIND_NO_DATA, &pid);

	(void)state;
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 50));
	assert_int_equal(rig->status.call_graph, CALL_GRAPH_AUTO);
	if (!unwind_registers()) {
		finish(rig, pid);
		skip();
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		switch_to(rig, modes[i], 0);
		assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + 5));
		const uint64_t judged = rig->status.chains.judged;
		assert_int_equal(rig->status.call_graph, modes[i]);
		assert_int_equal(rig->status.chains.stack_bytes, copied[i]);
		assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + 200));
		if (modes[i] == CALL_GRAPH_NO)
			assert_int_equal(rig->status.chains.judged, judged);
		else
			assert_true(rig->status.chains.judged >= judged + 200);
	}
	assert_true(rig_wait(rig, has_faults, 100));
	rig_stop(rig);
	assert_int_equal(rig->status.unknown_records, 0);
	if (amounts_count())
		assert_int_equal(rig->status.events[0].lost, 0);
	finish(rig, pid);
}

static void test_inherited_events_keep_theirs(void **state)
{
	int32_t pid;
	struct rig *rig = begin("cpu-clock:u", UNWIND_NO_DATA, &pid);

	(void)state;
	rig->config.scope = SCOPE_INHERIT;
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 50));
	switch_to(rig, CALL_GRAPH_NO, EBUSY);
	assert_int_equal(rig->status.call_graph, CALL_GRAPH_AUTO);
	assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + 50));
	finish(rig, pid);
}

static void expect_copied(unsigned int ring_pages, uint32_t bytes)
{
	int32_t pid;
	struct rig *rig = begin("cpu-clock:u", UNWIND_NO_DATA, &pid);

	rig->config.ring_pages = ring_pages;
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 50));
	assert_int_equal(rig->status.chains.stack_bytes, bytes);
	finish(rig, pid);
}

static void test_small_rings(void **state)
{
	(void)state;
	if (!unwind_registers())
		skip();
	expect_copied(1, 0);
	expect_copied(4, 8192);
}

/* A timer has no branch call stack: chains use frame pointers, a note says so, and other modes can
 * be chosen. */
static void test_call_stacks(void **state)
{
	int32_t pid;
	struct rig *rig = begin("cpu-clock:u", UNWIND_NO_DATA, &pid);

	(void)state;
	rig->config.stack_bytes = 0;
	rig->config.stack_adapts = false;
	rig->config.sample_more = PERF_SAMPLE_BRANCH_STACK;
	rig->config.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 50));
	assert_int_equal(rig->status.call_graph, CALL_GRAPH_LBR);
	assert_int_equal(find_note(rig, NOTE_SAMPLES_LESS)->value, PERF_SAMPLE_BRANCH_STACK);
	assert_int_equal(engine_set_call_graph(rig->engine, CALL_GRAPH_LBR), -EINVAL);
	switch_to(rig, CALL_GRAPH_FP, 0);
	assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + 50));
	assert_int_equal(rig->status.call_graph, CALL_GRAPH_FP);
	rig_stop(rig);
	assert_int_equal(rig->status.unknown_records, 0);
	finish(rig, pid);
}

static bool has_late(struct rig *rig, uint64_t n)
{
	return rig->status.chains.late >= n;
}

static bool has_broken(struct rig *rig, uint64_t n)
{
	return rig->status.events[0].chains.broken >= n;
}

/* Samples wait a second for tables, and then are unwound without them.  None is called whole. */
static void test_late_tables(void **state)
{
	int32_t pid;
	struct rig *rig = begin("cpu-clock:u", UNWIND_PENDING, &pid);

	(void)state;
	if (!unwind_registers()) {
		finish(rig, pid);
		skip();
	}
	rig_start(rig);
	assert_true(rig_wait(rig, has_late, 1));
	const uint64_t late = rig->status.chains.late;
	/* A change of format waits for no tables. */
	switch_to(rig, CALL_GRAPH_FP, 0);
	assert_true(rig->status.chains.late > late);
	assert_true(rig_wait(rig, has_broken, rig->status.events[0].chains.broken + 1));
	rig_stop(rig);
	assert_int_equal(rig->status.events[0].chains.whole, 0);
	assert_int_equal(rig->status.unknown_records, 0);
	finish(rig, pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_call_stacks),
		cmocka_unit_test(test_inherited_events_keep_theirs),
		cmocka_unit_test(test_small_rings),
		cmocka_unit_test(test_late_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
