/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * labelled_task.h - a thread that has a name from some time on, set by a COMM record.
 */
#ifndef TESTS_LABELLED_TASK_H
#define TESTS_LABELLED_TASK_H

#include "sampler/store/tasks.h"

/* Returns the label of the thread's samples; the caller owns a reference. */
static inline uint32_t labelled_task(
	struct tasks *tasks, int32_t pid, int32_t tid, const char *comm, uint64_t time_ns)
{
	struct record record = {.type = PERF_RECORD_COMM,
		.id = {.pid = (uint32_t)pid, .tid = (uint32_t)tid, .time_ns = time_ns},
		.comm = {.pid = (uint32_t)pid, .tid = (uint32_t)tid, .comm = comm}};
	uint32_t label;

	assert_int_equal(tasks_apply(tasks, &record), 0);
	assert_int_equal(tasks_label(tasks, pid, tid, time_ns, &label), 0);
	tasks_label_ref(tasks, label);
	return label;
}

#endif
