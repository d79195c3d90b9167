/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_lanes.h - the running times of the fake model's threads, and its activity by tenths of
 * seconds.
 */
#ifndef TESTS_SCREENS_FAKE_LANES_H
#define TESTS_SCREENS_FAKE_LANES_H

#include "tui/model/model.h"

struct lanes;

/* Implement the operations of these names in model_queries. */
int fake_lanes(
	struct model *model, enum query_group group, size_t columns, const struct lanes **out);
char fake_task_state(struct model *model, int32_t tid);
int fake_heat(struct model *model, uint64_t from_ns, size_t seconds, const uint64_t **cells);

/* number of task states read so far */
extern unsigned int fake_states_read;

#endif
