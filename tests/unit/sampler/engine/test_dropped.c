/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_dropped.c - side-band records without memory are counted and noted.
 *
 * Functions of the test stand for the rings, the store and the list of followed tasks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/control/notes.h"
#include "sampler/engine/internal.h"

#include <errno.h>

struct task_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

static const struct task_record forked = {
	.header = {.type = PERF_RECORD_FORK, .size = sizeof(forked)},
	.pid = 2,
	.ppid = 1,
	.tid = 2,
	.ptid = 1,
	.time_ns = 1000,
};

static bool store_fails, follow_fails;

int __wrap_merge_drain(struct merge_source *sources, size_t n, const struct record_format *format,
	uint64_t limit_ns, merge_record_fn *fn, void *ctx);
int __wrap_tasks_apply(struct tasks *tasks, const struct record *record);
int __wrap_follow_fork(struct follow *follow, const struct record_task *fork,
	struct follow_task **born, struct point **stale);

int __wrap_merge_drain(struct merge_source *sources, size_t n, const struct record_format *format,
	uint64_t limit_ns, merge_record_fn *fn, void *ctx)
{
	struct channel channel = {.wakes = false};

	(void)sources;
	(void)n;
	(void)format;
	(void)limit_ns;
	return fn(&forked.header, &channel, ctx);
}

int __wrap_tasks_apply(struct tasks *tasks, const struct record *record)
{
	(void)tasks;
	assert_int_equal(record->type, PERF_RECORD_FORK);
	return store_fails ? -ENOMEM : 0;
}

int __wrap_follow_fork(struct follow *follow, const struct record_task *fork,
	struct follow_task **born, struct point **stale)
{
	(void)follow;
	assert_int_equal(fork->tid, forked.tid);
	*born = NULL;
	*stale = NULL;
	return follow_fails ? -ENOMEM : 0;
}

static int setup(void **state)
{
	const int32_t pid = 1;
	const struct event_spec spec = {.name = "page-faults",
		.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS}};
	const struct engine_config config = {.events = &spec,
		.n_events = 1,
		.memory_bytes = 16 << 20,
		.target = {.pids = &pid, .n_pids = 1}};
	struct engine *engine;

	assert_int_equal(engine_new(&engine, &config), 0);
	engine->format = (struct record_format){0};
	engine->filter = true;
	assert_non_null(follow_add_process(&engine->follow, pid, true));
	*state = engine;
	store_fails = follow_fails = false;
	return 0;
}

static int teardown(void **state)
{
	struct engine *engine = *state;

	follow_fini(&engine->follow);
	engine_free(engine);
	return 0;
}

/* Returns the records that the notes name, and the number of notes. */
static uint64_t noted(struct engine *engine, unsigned int *n_notes)
{
	struct engine_note notes[8];
	size_t n = engine_notes(engine, 0, notes, 8);
	uint64_t records = 0;

	*n_notes = 0;
	for (size_t i = 0; i < n; i++) {
		assert_int_not_equal(notes[i].kind, NOTE_TASKS_MISSED);
		if (notes[i].kind != NOTE_RECORDS_DROPPED)
			continue;
		records = notes[i].value; /* each note has the sum so far */
		++*n_notes;
	}
	return records;
}

static void check(struct engine *engine, uint64_t records, unsigned int notes)
{
	unsigned int n;

	engine_tick(engine, true);
	assert_int_equal(engine->status.records_dropped, records);
	assert_int_equal(noted(engine, &n), records);
	assert_int_equal(n, notes);
}

static void test_store(void **state)
{
	engine_round(*state, true, true);
	check(*state, 0, 0);
	store_fails = true;
	engine_round(*state, true, true);
	check(*state, 1, 1);
	engine_round(*state, true, true);
	engine_round(*state, true, true);
	check(*state, 3, 2);
	check(*state, 3, 2);
}

/* The task has not ended early: that cause would be wrong. */
static void test_follow(void **state)
{
	struct engine *engine = *state;

	follow_fails = true;
	engine_round(engine, true, true);
	check(engine, 1, 1);
	assert_int_equal(engine->status.tasks_missed, 0);
	/* One record counts once. */
	store_fails = true;
	engine_round(engine, true, true);
	check(engine, 2, 2);
}

/* The flight recorder holds records, and passes them to the store later. */
static void test_held(void **state)
{
	struct engine *engine = *state;

	engine->flight.on = true;
	store_fails = true;
	engine_round(engine, true, true);
	check(engine, 0, 0);
	flight_let_in(engine, UINT64_MAX);
	check(engine, 1, 1);
	engine->flight.on = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_store, setup, teardown),
		cmocka_unit_test_setup_teardown(test_follow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_held, setup, teardown),
	};

	return cmocka_run_group_tests_name("dropped", tests, NULL, NULL);
}
