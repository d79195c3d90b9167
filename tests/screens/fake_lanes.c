/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_lanes.c - see fake_lanes.h.
 *
 * Five threads of three processes: one always runs, one runs in each third column, one at the end,
 * two rarely.
 */
#include "tests/screens/fake_lanes.h"
#include "tui/model/queries.h"
#include "tui/tables/lanes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SECOND 1000000000ull
#define HEAT_MAX 4096

unsigned int fake_states_read;

static const struct lane threads[] = {
	{.pid = 4711, .tid = 4711, .name = "postgres", .symref = 1},
	{.pid = 4711, .tid = 4713, .name = "walwriter", .symref = 5},
	{.pid = 4790, .tid = 4790, .name = "pg_dump", .symref = 7},
	{.pid = 4790, .tid = 4791, .name = "pg_dump", .symref = 13},
	{.pid = 9, .tid = 9, .name = "kworker/1:2-events_unbound", .symref = 6},
};
#define N_THREADS (sizeof(threads) / sizeof(*threads))

/* Returns a thread's CPU time in a column, in per mille of a CPU. */
static uint64_t busy(size_t thread, size_t column, size_t columns)
{
	switch (thread) {
	case 0:
		return 700 + column * 37 % 300;
	case 1:
		return column % 3 ? 0 : 600;
	case 2:
		return column * 4 < columns * 3 ? 0 : 950;
	case 3:
		return column == 2 ? 80 : 0;
	default:
		return column % 7 ? 0 : 12;
	}
}

static struct lane *lane_of(
	struct lanes *lanes, struct lane *made, enum query_group group, size_t thread)
{
	struct lane key = threads[thread];

	if (group != GROUP_THREAD)
		key.tid = 0;
	if (group == GROUP_COMMAND || group == GROUP_CPU)
		key.pid = 0;
	if (group == GROUP_CPU) {
		key.cpu = (uint32_t)thread % 2;
		key.name[0] = '\0';
	}
	for (uint32_t i = 0; i < lanes->n; i++)
		if (made[i].pid == key.pid && made[i].tid == key.tid && made[i].cpu == key.cpu &&
			(group == GROUP_PROCESS || !strcmp(made[i].name, key.name)))
			return &made[i];
	made[lanes->n] = key;
	return &made[lanes->n++];
}

int fake_lanes(
	struct model *model, enum query_group group, size_t columns, const struct lanes **out)
{
	static struct lane made[N_THREADS];
	static struct lanes lanes;

	lanes = (struct lanes){
		.lane = made, .columns = columns, .from_ns = model->from_ns, .to_ns = model->to_ns};
	for (size_t thread = 0; thread < N_THREADS; thread++) {
		struct lane *lane = lane_of(&lanes, made, group, thread);

		for (size_t column = 0; column < columns; column++) {
			uint64_t weight = busy(thread, column, columns) *
				((model->to_ns - model->from_ns) / columns) / 1000;

			lane->columns[column] += weight;
			lane->weight += weight;
			lane->samples += weight / 1000000;
		}
	}
	if (model->has_baseline) {
		/* In a recorded baseline, one thread has another number. */
		struct lane before[] = {
			{.pid = 4711, .tid = 4711, .name = "postgres", .weight = 15 * SECOND},
			{.pid = 4711,
				.tid = model->base_recorded ? 6013 : 4713,
				.name = "walwriter",
				.weight = 5 * SECOND},
		};
		const struct lanes base = {
			.lane = before, .n = group == GROUP_THREAD ? 2 : 0, .to_ns = 20 * SECOND};

		if (lanes_compare(&lanes, &base, group, model->base_recorded))
			return -ENOMEM;
	}
	*out = &lanes;
	return 0;
}

char fake_task_state(struct model *model, int32_t tid)
{
	(void)model;
	fake_states_read++;
	return tid == 4711 ? 'R' : tid == 4713 ? 'D' : tid == 4791 ? 'X' : 'S';
}

/* Quiet, except for a spike of three tenths every seven seconds, and one that moves by a tenth
 * each second. */
int fake_heat(struct model *model, uint64_t from_ns, size_t seconds, const uint64_t **cells)
{
	static uint64_t made[HEAT_MAX * HEAT_ROWS];

	memset(made, 0, sizeof(made));
	for (size_t i = 0; i < seconds * HEAT_ROWS && i < HEAT_MAX * HEAT_ROWS; i++) {
		uint64_t at_ns = from_ns + i * (SECOND / HEAT_ROWS);
		uint64_t second = at_ns / SECOND, row = at_ns % SECOND * HEAT_ROWS / SECOND;

		if (at_ns < model->status.store.first_ns || at_ns >= model->strip_to_ns)
			continue;
		made[i] = (second * 3 + row * 5) % 4 * SECOND / 20;
		if (second % 7 == 0 && row >= 4 && row < 7)
			made[i] = SECOND * 19 / 10;
		if (second % HEAT_ROWS == row)
			made[i] = SECOND;
	}
	*cells = made;
	return 0;
}
