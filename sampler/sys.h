/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sys.h - perf_event_open(2) and its ioctls, and the engine's half of an attribute.
 *
 * What this kernel accepts is probed once on a dummy event of the calling thread, so that a later
 * EINVAL is the event's or the target's own.  No state; any thread.
 */
#ifndef SAMPLER_SYS_H
#define SAMPLER_SYS_H

#include "sampler/record.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Parts of an attribute that older kernels refuse. */
struct sys_features {
	bool mmap2; /* since 3.16 */
	bool comm_exec; /* since 3.16 */
	bool lost; /* PERF_FORMAT_LOST, since 6.0 */
	bool ksymbol; /* with BPF_EVENT, since 5.1 */
};

/* Returns 0, or -errno when even the plainest dummy event is refused: ENOSYS (no perf events),
 * EACCES or EPERM (paranoid, seccomp), EINVAL (older than 4.1: no clock to share). */
int sys_probe(struct sys_features *out);

/* Fields of the engine's side; the event's own are left as they are: bits of sample_type are added to those it has
 * (never ID and STREAM_ID, which would move the others). */
struct sys_setup {
	bool callchain;
	bool read_group; /* with each sample, the counters of its group */
	bool read_self; /* with each sample, the event's own counter */
	uint64_t sample_more; /* more bits of sample_type */
	uint64_t branch_sample_type; /* with PERF_SAMPLE_BRANCH_STACK; 0: any branch */
	uint32_t stack_bytes; /* so much of the user's stack; 0: none */
	uint64_t stack_registers; /* with it: their bits */
	bool fork_records; /* FORK and EXIT */
	bool map_records; /* MMAP, MMAP2, COMM, KSYMBOL, BPF_EVENT */
	bool data_maps; /* MMAP and MMAP2 also of what is not executable */
	bool inherit;
	bool inherit_thread; /* with it: by threads alone, not by children */
	bool inherit_stat; /* with it: a READ record of each thread's own counts when it ends */
	bool on_exec; /* enable_on_exec */
	bool until_exec; /* remove_on_exec; not with the one before */
	bool no_kernel_chain, no_user_chain; /* exclude_callchain_kernel, exclude_callchain_user */
	bool backward; /* write_backward: for a ring that overwrites itself */
	uint32_t wakeup_bytes; /* watermark of the ring this event is to own */
	uint32_t
		wakeup_events; /* or wake after so many samples of this event; 0: by the watermark */
};
void sys_setup(struct perf_event_attr *attr, const struct sys_features *features,
	const struct sys_setup *setup);

/* A software dummy event for users without rights on the kernel; to be completed by sys_setup(). */
void sys_dummy(struct perf_event_attr *attr);

/* The format of the tracker's records, and of the trailers of all: the id stands first in samples and last in trailers,
 * ids and times at the same place, whatever an event's samples carry besides.  Events with a fixed
 * period lack PERF_SAMPLE_PERIOD: with it the kernel takes a sample of such a software event at each single count. */
void sys_format(struct record_format *out, const struct sys_features *features, bool callchain);

/* The format of what an event of this attribute writes. */
void sys_format_of(struct record_format *out, const struct perf_event_attr *attr);

/* A close-on-exec descriptor, or -errno. */
int sys_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

/* Where an event is opened, and what the header of attributes has no room for. */
struct sys_place {
	pid_t pid; /* -1: all; with PERF_FLAG_PID_CGROUP a descriptor of a directory */
	int cpu; /* -1: any */
	int group_fd; /* of the leader; -1: none */
	unsigned long flags; /* PERF_FLAG_*, besides PERF_FLAG_FD_CLOEXEC */
	uint64_t config3; /* not 0: an attribute of Linux 6.3, E2BIG before */
};
int sys_open_at(const struct perf_event_attr *attr, const struct sys_place *place);

struct sys_counts {
	uint64_t value, enabled_ns, running_ns, id;
	uint64_t lost; /* 0 without features->lost */
};
/* 0; -ENODATA: a pinned event that has no room on the hardware (it reads as end of file); other -errno. */
int sys_read(int fd, const struct sys_features *features, struct sys_counts *out);
/* The same of an event that reads its group: what concerns itself. */
int sys_read_leader(int fd, const struct sys_features *features, struct sys_counts *out);

/* The ioctls: 0 or -errno. */
int sys_id(int fd, uint64_t *id);
int sys_enable(int fd);
int sys_disable(int fd);
int sys_refresh(int fd, uint32_t overflows);
int sys_set_output(int fd, int ring_fd);
/* Hz for an event with freq; else the period.  Timer clocks lose freq where they are opened, so
 * theirs is always a period in ns. */
int sys_set_period(int fd, const struct perf_event_attr *attr);
int sys_set_filter(int fd, const char *filter);
int sys_pause(int ring_fd, bool pause);
/* Wait for hits that had begun before their event was disabled, up to some 20 ms.  They are counted
 * and written afterwards only.  The kernel handles hits without being preempted, so it is a grace
 * period of RCU (synchronize_rcu() of kernel/sched/membarrier.c).  Where membarrier() is refused,
 * nothing is waited for. */
void sys_wait_for_hits(void);
/* Of a breakpoint: address, access and length; all else as it was opened with, or EINVAL. */
int sys_modify(int fd, const struct perf_event_attr *attr);

/* Writes a watched variable of the calling thread.  Returns false if no hit is counted: some
 * virtual machines accept breakpoints but never trigger them.  Returns true if the test cannot
 * run. */
bool sys_breakpoints_fire(void);

uint64_t sys_now_ns(void); /* CLOCK_MONOTONIC, the clock of every record */

/* Raise RLIMIT_NOFILE to the hard limit; the limit now in force. */
uint64_t sys_raise_nofile(void);

#endif
