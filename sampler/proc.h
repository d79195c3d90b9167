/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * proc.h - what /proc tells: processes, their threads, and what this user may do.
 *
 * Parsers take text, thin wrappers read files.  Any thread.
 */
#ifndef SAMPLER_PROC_H
#define SAMPLER_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_process {
	int32_t pid, ppid;
	uid_t uid;
	char state; /* of /proc/PID/stat: R S D Z T t X I */
	bool kernel_thread;
	uint32_t threads;
	uint64_t cpu_ticks; /* utime + stime */
	uint64_t start_ticks; /* since boot; with the pid it names one process for ever */
	char comm[64]; /* raw bytes */
	char cmdline[256]; /* raw bytes, arguments joined by blanks; empty for kernel threads */
};

/* Returns whether /proc belongs to this process's pid namespace, as getpid(2) and events do.  If
 * not, all functions below that take or give a pid fail with -EXDEV. */
bool proc_is_own(void);
/* Decides it by the text of /proc/self/status and by this process's own pid. */
bool proc_parse_own(const char *status, size_t len, int32_t pid);

/* All processes, by pid.  Returns 0 and an array of *n for free(); or -errno and *out = NULL. */
int proc_list(struct proc_process **out, size_t *n);

/* One process; tid may be any thread's.  -ESRCH when there is none. */
int proc_read(int32_t pid, struct proc_process *out);

/* A process's name, now or when it was last seen. */
struct proc_name {
	int32_t pid;
	uint64_t start_ticks; /* 0: not seen yet */
	char comm[64]; /* raw bytes; "" until it was seen */
};
/* Reread the name.  Returns false, and keeps it, if the process has ended or its pid was reused. */
bool proc_name_update(struct proc_name *name);

/* One thread by itself, of which proc_read() tells its process. */
struct proc_thread {
	char state; /* as above */
	bool has_times; /* the kernel tells them */
	uint64_t cpu_ns,
		wait_ns; /* on a CPU, and waiting for one, ever; exact of a thread that sleeps */
};
int proc_read_thread(int32_t tid, struct proc_thread *out); /* -ESRCH */
/* Reads wait_ns alone.  Returns 0, -ESRCH, or -ENODATA if the kernel does not report it. */
int proc_read_wait(int32_t tid, uint64_t *wait_ns);

/* Parse the text of /proc/PID/stat (comm may hold blanks and parentheses). -EBADMSG. */
int proc_parse_stat(const char *text, size_t len, struct proc_process *out);

/* Thread ids of a process.  -ESRCH when it is gone. */
int proc_threads(int32_t pid, int32_t **tids, size_t *n);

/* Child processes of pid, direct ones, by /proc/PID/task/TID/children. -ENOENT where the kernel lacks it. */
int proc_children(int32_t pid, int32_t **pids, size_t *n);

/* Thread group of a thread. -ESRCH. */
int proc_tgid(int32_t tid, int32_t *pid);

/* "0-3,8" -> {0,1,2,3,8}, sorted, distinct.  -EINVAL with *bad_offset set. */
int proc_parse_cpu_list(const char *text, int **cpus, size_t *n, size_t *bad_offset);
int proc_online_cpus(int **cpus, size_t *n);
/* False also if that cannot be read, or cpu is negative: any. */
bool proc_is_offline(int cpu);

/* The system's settings that decide what perf_event_open(2) allows; -1: could not be read. */
struct proc_limits {
	int paranoid; /* /proc/sys/kernel/perf_event_paranoid */
	int64_t max_sample_rate; /* perf_event_max_sample_rate, Hz */
	int64_t mlock_kb; /* perf_event_mlock_kb, per CPU */
	int64_t max_stack; /* perf_event_max_stack */
	int64_t cpu_time_max_percent;
	int kptr_restrict;
	uint64_t nofile_soft, nofile_hard; /* RLIMIT_NOFILE */
	uint64_t memlock_soft, memlock_hard; /* RLIMIT_MEMLOCK, bytes */
	uint64_t memory_max; /* RLIMIT_AS, bytes; 0: there is none */
	bool cap_perfmon, cap_sys_admin, cap_ipc_lock, cap_sys_ptrace, cap_syslog; /* effective */
	bool user_namespace; /* not the first: events ignore its capabilities but cap_sys_ptrace */
	uid_t euid;
	bool foreign_proc; /* see proc_is_own() */
	bool pid_namespace; /* one of our own (a container): tasks outside of it have pid 0 here, as idle ones */
};
void proc_limits(struct proc_limits *out);

#endif
