/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * failure.h - a refusal, with the data for its message.
 */
#ifndef SAMPLER_CONTROL_FAILURE_H
#define SAMPLER_CONTROL_FAILURE_H

#include "sampler/events/clash.h"
#include "sampler/events/spec.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* Parts of the request beyond the attribute, and the refused one; texts belong to event_spec. */
struct engine_asked {
	const char *probe, *cgroup;
	const char *filter; /* set if the filter was refused; else NULL */
	const char *bpf; /* set if the BPF program was refused */
	bool inherited; /* inheritance by new tasks was refused, not the event itself */
	bool ring; /* the event opened, but its ring could not be mapped */
	const char *ioctl; /* this ioctl on the open event was refused: "PERF_EVENT_IOC_ENABLE" */
	bool user_refused; /* user space alone was refused, too */
	bool in_group; /* requested as a member of another event's group */
	bool mixed_group; /* that group has members of several PMUs */
	bool counted; /* requested for counting only (counting.h) */
	struct event_clash clash; /* the engine's own reason, without an open */
};

/* A refusal, with the data for its message (tui/explain/explain.h). */
struct engine_failure {
	enum engine_failure_kind {
		FAIL_NONE,
		FAIL_OPEN, /* perf_event_open */
		FAIL_MMAP, /* the ring */
		FAIL_TARGET, /* the process or thread: ESRCH, a zombie (EINVAL), ... */
		FAIL_COMMAND, /* fork or exec of the command */
		FAIL_SYSTEM, /* epoll, eventfd, thread, memory */
	} what;
	int error; /* positive errno */
	struct perf_event_attr attr; /* the requested attribute */
	char event[EVENT_NAME_MAX];
	int32_t pid; /* -1: all */
	int cpu; /* -1: any */
	struct engine_asked asked;
};

#endif
