/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sys.h - perf_event_open(2) and its ioctls, and the engine's part of an attribute.
 *
 * A dummy event of the calling thread probes once which fields this kernel accepts.  So a later
 * EINVAL concerns the event or the target.  No state; any thread.
 */
#ifndef SAMPLER_KERNEL_SYS_H
#define SAMPLER_KERNEL_SYS_H

#include "sampler/kernel/record.h"

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

/* Probes this kernel.  Returns 0, or -errno if even the plainest dummy event is refused: ENOSYS (no
 * perf events), EACCES or EPERM (paranoid, seccomp), EINVAL (older than 4.1: no use_clockid). */
int sys_probe(struct sys_features *out);

/* The engine's fields of an attribute; sys_setup() leaves the event's own fields unchanged.  It
 * adds bits to the event's sample_type, except ID and STREAM_ID, which would move others. */
struct sys_setup {
	bool callchain;
	bool read_group; /* each sample has the counters of its group */
	bool read_self; /* each sample has the event's own counter */
	uint64_t sample_more; /* more bits of sample_type */
	uint64_t branch_sample_type; /* with PERF_SAMPLE_BRANCH_STACK; 0: any branch */
	uint32_t stack_bytes; /* bytes of the user stack; 0: none */
	uint64_t stack_registers; /* if stack_bytes: sample_regs_user */
	bool fork_records; /* FORK and EXIT */
	bool map_records; /* MMAP, MMAP2, COMM, KSYMBOL, BPF_EVENT */
	bool data_maps; /* MMAP and MMAP2 also for mappings that are not executable */
	bool inherit;
	bool inherit_thread; /* if inherit: only by threads, not by child processes */
	bool inherit_stat; /* if inherit: a READ record of each thread's own counts at its end */
	bool on_exec; /* enable_on_exec */
	bool until_exec; /* remove_on_exec; not together with on_exec */
	bool no_kernel_chain, no_user_chain; /* exclude_callchain_kernel, exclude_callchain_user */
	bool backward; /* write_backward: for a ring that is overwritten */
	uint32_t wakeup_bytes; /* watermark of the ring that this event will own */
	/* or wake after this many samples of this event; 0: by the watermark */
	uint32_t wakeup_events;
};
void sys_setup(struct perf_event_attr *attr, const struct sys_features *features,
	const struct sys_setup *setup);

/* Sets up a software dummy event for users without rights on the kernel.  Must be completed by
 * sys_setup(). */
void sys_dummy(struct perf_event_attr *attr);

/* Returns the format of the tracker's records, and of all trailers.  The id is first in samples and
 * last in trailers.  Ids and times are at the same place in all records.  Events with a fixed
 * period lack PERF_SAMPLE_PERIOD: with it, the kernel takes a sample of such a software event at
 * every count. */
void sys_format(struct record_format *out, const struct sys_features *features, bool callchain);

/* Returns the format of the records of an event with this attribute. */
void sys_format_of(struct record_format *out, const struct perf_event_attr *attr);

/* Opens an event.  Returns a close-on-exec descriptor, or -errno. */
int sys_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

/* Target of an event, and a field that older attribute headers lack. */
struct sys_place {
	pid_t pid; /* -1: all; with PERF_FLAG_PID_CGROUP a directory's descriptor */
	int cpu; /* -1: any CPU */
	int group_fd; /* descriptor of the leader; -1: none */
	unsigned long flags; /* PERF_FLAG_*, in addition to PERF_FLAG_FD_CLOEXEC */
	uint64_t config3; /* 0: none; needs Linux 6.3, E2BIG before */
};
int sys_open_at(const struct perf_event_attr *attr, const struct sys_place *place);

struct sys_counts {
	uint64_t value, enabled_ns, running_ns, id;
	uint64_t lost; /* 0 without features->lost */
};
/* Reads an event.  Returns 0; -ENODATA: a pinned event without room on the hardware (it reads as
 * end of file); other -errno. */
int sys_read(int fd, const struct sys_features *features, struct sys_counts *out);
/* sys_read() for an event that reads its group.  Returns only its own values. */
int sys_read_leader(int fd, const struct sys_features *features, struct sys_counts *out);

/* The ioctls.  Return 0 or -errno. */
int sys_id(int fd, uint64_t *id);
int sys_enable(int fd);
int sys_disable(int fd);
int sys_refresh(int fd, uint32_t overflows);
int sys_set_output(int fd, int ring_fd);
/* Sets the frequency in Hz of an event with freq, otherwise the period.  Timer clocks lose freq
 * when they are opened, so theirs is always a period in ns. */
int sys_set_period(int fd, const struct perf_event_attr *attr);
int sys_set_filter(int fd, const char *filter);
int sys_pause(int ring_fd, bool pause);
/* Waits for hits that began before their event was disabled, up to some 20 ms.  They are counted
 * and written only after that.  The kernel handles hits without being preempted, so this is an RCU
 * grace period (synchronize_rcu() in kernel/sched/membarrier.c).  If membarrier() is refused, there
 * is no wait. */
void sys_wait_for_hits(void);
/* Changes address, access and length of a breakpoint.  All other fields must be as they were
 * opened, or it fails with -EINVAL. */
int sys_modify(int fd, const struct perf_event_attr *attr);

/* Writes a watched variable of the calling thread.  Returns false if no hit is counted: some
 * virtual machines accept breakpoints but never trigger them.  Returns true if the test cannot
 * run. */
bool sys_breakpoints_fire(void);

uint64_t sys_now_ns(void); /* CLOCK_MONOTONIC, the clock of every record */
/* Returns the CPU time of a process and of its ended threads.  A thread that runs may have up to a
 * tick more.  0: no such process. */
uint64_t sys_cpu_ns(int32_t pid);

/* Raises RLIMIT_NOFILE to the hard limit.  Returns the limit now in force. */
uint64_t sys_raise_nofile(void);

#endif
