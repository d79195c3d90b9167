/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * labelled_task.h - a thread that goes by a name from some time on, as a COMM record tells it.
 */
#ifndef TESTS_LABELLED_TASK_H
#define TESTS_LABELLED_TASK_H

#include "sampler/store/tasks.h"

/* The label under which its samples are taken, with a reference that the caller has. */
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
