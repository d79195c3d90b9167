/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_recorded_rows.c - a recording as the baseline of rows other than symbols: tables, threads
 * and breakdowns.
 *
 * The expected values are summed from the other recording's store.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/model_fixture.h"
#include "tui/model/commands.h"
#include "tui/model/queries.h"

#include <inttypes.h>
#include <math.h>

#define TEXT 128
#define SUMS 256
/* pids of the other recording start here if its processes were started again */
#define AGAIN 1100

struct sums {
	struct {
		char text[TEXT];
		uint64_t weight;
	} at[SUMS];
	size_t n;
	uint64_t all;
};

static uint64_t *sum_of(struct sums *sums, const char *text)
{
	size_t i = 0;

	while (i < sums->n && strcmp(sums->at[i].text, text) != 0)
		i++;
	if (i == sums->n) {
		assert_true(sums->n < SUMS);
		sums->n++;
		snprintf(sums->at[i].text, TEXT, "%s", text);
		sums->at[i].weight = 0;
	}
	return &sums->at[i].weight;
}

static double share_in(struct sums *sums, const char *text)
{
	return sums->all ? (double)*sum_of(sums, text) / (double)sums->all : 0;
}

/* Text that identifies the row of cell i. pids and tids are relative to `first`, the first
 * process. */
static void text_of_cell(const struct session *session, const struct slice *slice, uint32_t i,
	enum query_group group, int32_t first, char text[TEXT])
{
	const struct stacks *stacks = session_stacks(session);
	const struct task_label *label = tasks_label_get(session_tasks(session), slice->task[i]);
	const uint32_t frame = stacks_node(stacks, slice->stack[i])->frame;

	switch (group) {
	case GROUP_PROCESS:
		snprintf(text, TEXT, "%d", label->pid - first);
		break;
	case GROUP_THREAD:
		snprintf(text, TEXT, "%d", label->tid - first);
		break;
	case GROUP_CPU:
		snprintf(text, TEXT, "%u", slice->cpu[i]);
		break;
	case GROUP_COMMAND:
		snprintf(text, TEXT, "%s", label->comm);
		break;
	default:
		snprintf(text, TEXT, "%s",
			names_get(session->names, names_symref(session->names, frame))->symbol);
		break;
	}
}

static bool has_symbol(const struct session *session, uint32_t node, const char *symbol)
{
	const struct stacks *stacks = session_stacks(session);

	for (; symbol && node != STACK_ROOT; node = stacks_node(stacks, node)->parent) {
		uint32_t symref = names_symref(session->names, stacks_node(stacks, node)->frame);

		if (!strcmp(names_get(session->names, symref)->symbol, symbol))
			return true;
	}
	return !symbol;
}

/* Sums up a recording by row: samples of `event`, of one command or all (NULL), of one symbol or
 * all (NULL). */
static void add_up(struct sums *sums, const struct model_fixture *fixture, uint8_t event,
	const char *comm, const char *symbol, enum query_group group, int32_t first)
{
	const struct session *session = &fixture->session;
	struct snapshot snapshot;
	char text[TEXT];

	memset(sums, 0, sizeof(*sums));
	assert_int_equal(store_snapshot(session_store(session), 0, UINT64_MAX, &snapshot), 0);
	for (size_t s = 0; s < snapshot.n; s++)
		for (uint32_t i = 0; i < snapshot.slices[s]->cells; i++) {
			const struct slice *slice = snapshot.slices[s];
			const struct task_label *label =
				tasks_label_get(session_tasks(session), slice->task[i]);

			if (slice->event[i] != event || (comm && strcmp(label->comm, comm) != 0) ||
				!has_symbol(session, slice->stack[i], symbol))
				continue;
			text_of_cell(session, slice, i, group, first, text);
			*sum_of(sums, text) += slice->weight[i];
			sums->all += slice->weight[i];
		}
	snapshot_release(session_store(session), &snapshot);
}

/* The rows of the table show how their shares differ. */
static void compare_table(struct model *model, enum query_group group, struct sums *own,
	struct sums *base, bool expect_gone)
{
	const struct group_by by = {.group = group};
	const struct hot_query query = {.event = model->event};
	const struct hot_row *rows;
	struct hot_sums sums;
	size_t n, gone = 0;

	assert_int_equal(model->queries->groups->rows(model, &by, &query, &rows, &n, &sums), 0);
	assert_int_equal(sums.weight, own->all);
	for (size_t i = 0; i < n; i++) {
		const struct group_key *key = model->queries->groups->key(model, rows[i].symref);
		char text[TEXT];
		double change;

		if (group == GROUP_PROCESS || group == GROUP_THREAD)
			snprintf(text, TEXT, "%" PRId64, key->number - FIXTURE_PID);
		else if (group == GROUP_CPU)
			snprintf(text, TEXT, "%" PRId64, key->number);
		else
			snprintf(text, TEXT, "%s", key->name.symbol);
		change = share_in(own, text) - share_in(base, text);
		if (fabs(rows[i].change - change) > 1e-9)
			fail_msg("by %d, %s: %f, not %f", (int)group, text, rows[i].change, change);
		gone += !rows[i].total;
		/* A symbol that only the baseline has, has no place in this recording's code. */
		assert_true(key->foreign == !rows[i].total);
		assert_true(!key->foreign || key->symref == GROUPS_NO_SYMBOL);
	}
	assert_int_equal(gone > 0, expect_gone);
}

static void compare_lanes(struct model *model, enum query_group group, struct sums *base)
{
	const struct lanes *lanes;

	assert_int_equal(model->queries->lanes(model, group, 10, &lanes), 0);
	assert_true(lanes->n > 0);
	assert_int_equal(lanes->base_whole, base->all);
	for (uint32_t i = 0; i < lanes->n; i++) {
		const struct lane *lane = &lanes->lane[i];
		char text[TEXT];

		if (group == GROUP_PROCESS)
			snprintf(text, TEXT, "%d", lane->pid - FIXTURE_PID);
		else if (group == GROUP_THREAD)
			snprintf(text, TEXT, "%d", lane->tid - FIXTURE_PID);
		else if (group == GROUP_CPU)
			snprintf(text, TEXT, "%u", lane->cpu);
		else
			snprintf(text, TEXT, "%s", lane->name);
		assert_int_equal(lane->base, *sum_of(base, text));
	}
}

/* The rows of the baseline's breakdown have the pids of the other recording. */
static void compare_breakdown(struct model *model, enum query_group group, uint32_t symref,
	struct sums *base, int32_t first)
{
	const struct model_breakdown question = {
		.symref = symref, .group = group, .baseline = true};
	struct query_row *rows;
	uint64_t all = 0;
	size_t n;

	assert_int_equal(model->queries->breakdown(model, &question, &rows, &n), 0);
	for (size_t i = 0; i < n; i++) {
		char text[TEXT];

		if (group == GROUP_CPU)
			snprintf(text, TEXT, "%u", rows[i].cpu);
		else
			snprintf(text, TEXT, "%d",
				(group == GROUP_THREAD ? rows[i].tid : rows[i].pid) - first);
		assert_int_equal(rows[i].total, *sum_of(base, text));
		all += rows[i].total;
	}
	assert_int_equal(all, base->all);
	free(rows);
}

static void test_rows(void **state)
{
	static const enum query_group groups[] = {
		GROUP_PROCESS, GROUP_THREAD, GROUP_CPU, GROUP_COMMAND, GROUP_ADDRESS};
	static const char *const events[] = {"cpu-clock", "page-faults"};
	static struct sums own, base;

	(void)state;
	/* Both recordings have the same processes; then the other one has processes that were
	 * started again. */
	for (int again = 0; again < 2; again++) {
		const int32_t first = again ? AGAIN : FIXTURE_PID;
		struct model_fixture fixture, other;
		struct model *model;
		char message[200];
		size_t at;

		model_fixture_open(&fixture, 4, 12);
		model_fixture_open_as(&other, 5, 24, first, "make");
		model = fixture.model;
		model_fixture_compare(&fixture, other.path);
		assert_true(model->has_baseline && model->base_recorded);
		for (int step = 0; step < 4; step++) {
			const char *comm = step < 2 ? NULL : "server", *event = events[step % 2];

			if (step == 2)
				assert_int_equal(model->commands->crumb_add(model, "comm:server",
							 &at, message, sizeof(message)),
					0);
			model->event = model_fixture_event(&fixture, event);
			model_fixture_refresh(&fixture);
			for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
				const enum query_group group = groups[i];

				add_up(&own, &fixture, model->event, comm, NULL, group,
					FIXTURE_PID);
				add_up(&base, &other, model_fixture_event(&other, event), comm,
					NULL, group, first);
				compare_table(model, group, &own, &base, group == GROUP_ADDRESS);
				if (group != GROUP_ADDRESS)
					compare_lanes(model, group, &base);
			}
		}
		model_fixture_close(&other);
		model_fixture_close(&fixture);
	}
}

static void test_breakdowns(void **state)
{
	static const enum query_group groups[] = {GROUP_PROCESS, GROUP_THREAD, GROUP_CPU};
	static struct sums base;
	struct model_fixture fixture, other;
	const struct hot_query query = {0};
	const struct hot_row *rows;
	struct hot_sums sums;
	struct model *model;
	size_t n, with_some = 0;

	(void)state;
	model_fixture_open(&fixture, 4, 12);
	model_fixture_open_as(&other, 5, 24, AGAIN, "make");
	model = fixture.model;
	model_fixture_compare(&fixture, other.path);
	assert_int_equal(model->event, 0);
	assert_int_equal(model->queries->rows(model, &query, &rows, &n, &sums), 0);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(groups) / sizeof(*groups); k++) {
			const uint32_t symref = rows[i].symref;

			add_up(&base, &other,
				model_fixture_event(&other, model->status.events[0].name), NULL,
				model->queries->symbol(model, symref)->symbol, groups[k], AGAIN);
			compare_breakdown(model, groups[k], symref, &base, AGAIN);
			with_some += base.all > 0;
		}
	assert_true(with_some > 3);
	model_fixture_close(&other);
	model_fixture_close(&fixture);
}

/* In the baseline, another process had the pid. */
static void test_another_process(void **state)
{
	static struct sums own, base;
	const struct group_by by = {.group = GROUP_PROCESS};
	const struct hot_query query = {0};
	struct model_fixture fixture, other;
	const struct lanes *lanes;
	const struct hot_row *rows;
	struct hot_sums sums;
	struct model *model;
	bool gone = false;
	size_t n;

	(void)state;
	model_fixture_open(&fixture, 4, 24);
	model_fixture_open_as(&other, 6, 24, FIXTURE_PID, "cc");
	model = fixture.model;
	model_fixture_compare(&fixture, other.path);
	add_up(&own, &fixture, 0, NULL, NULL, GROUP_PROCESS, FIXTURE_PID);
	add_up(&base, &other, 0, NULL, NULL, GROUP_PROCESS, FIXTURE_PID);
	assert_int_equal(model->queries->groups->rows(model, &by, &query, &rows, &n, &sums), 0);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++) {
		const struct group_key *key = model->queries->groups->key(model, rows[i].symref);
		double change = share_in(&own, "0") - share_in(&base, "0");

		if (!strcmp(key->name.symbol, "make (200)")) {
			change = share_in(&own, "100");
		} else if (!strcmp(key->name.symbol, "cc (200)")) {
			change = -share_in(&base, "100");
			gone = true;
		}
		if (fabs(rows[i].change - change) > 1e-9)
			fail_msg("%s: %f, not %f", key->name.symbol, rows[i].change, change);
	}
	assert_true(gone);
	assert_int_equal(model->queries->lanes(model, GROUP_PROCESS, 10, &lanes), 0);
	assert_int_equal(lanes->n, 2);
	for (uint32_t i = 0; i < lanes->n; i++)
		assert_int_equal(lanes->lane[i].base,
			lanes->lane[i].pid == FIXTURE_PID ? *sum_of(&base, "0") : 0);
	model_fixture_close(&other);
	model_fixture_close(&fixture);
}

/* Each baseline replaces the one before it completely: a time, a recording, another recording. */
static void test_one_after_the_other(void **state)
{
	static struct sums own, base;
	struct model_fixture all[3];
	struct model *model;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		model_fixture_open(&all[i], 6 + 2 * i, 24);
	model = all[0].model;
	add_up(&own, &all[0], model->event, NULL, NULL, GROUP_THREAD, FIXTURE_PID);
	for (int step = 0; step < 6; step++) {
		struct model_fixture *of = &all[step % 3];

		if (step % 3)
			model_fixture_compare(&all[0], of->path);
		else
			assert_int_equal(model->commands->baseline(model, true), 0);
		model_fixture_refresh(&all[0]);
		add_up(&base, of, model->event, NULL, NULL, GROUP_THREAD, FIXTURE_PID);
		compare_table(model, GROUP_THREAD, &own, &base, false);
		compare_lanes(model, GROUP_THREAD, &base);
	}
	for (uint32_t i = 0; i < 3; i++)
		model_fixture_close(&all[i]);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_breakdowns),
		cmocka_unit_test(test_another_process),
		cmocka_unit_test(test_one_after_the_other),
	};

	symbols_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
