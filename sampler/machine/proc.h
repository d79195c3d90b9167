/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * proc.h - /proc: processes, their threads, and the rights and limits of this user.
 *
 * Parsers take text, thin wrappers read files.  Any thread.
 */
#ifndef SAMPLER_MACHINE_PROC_H
#define SAMPLER_MACHINE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_process {
	int32_t pid, ppid;
	uid_t uid;
	char state; /* /proc/PID/stat: R S D Z T t X I */
	bool kernel_thread;
	uint32_t threads;
	uint64_t cpu_ticks; /* utime + stime */
	uint64_t start_ticks; /* since boot; never reused together with the pid */
	char comm[64]; /* raw bytes */
	char cmdline[256]; /* raw bytes, arguments joined by blanks; empty for kernel threads */
};

/* Returns whether /proc belongs to this process's pid namespace, as getpid(2) and events do.  If
 * not, all functions below that take or give a pid fail with -EXDEV. */
bool proc_is_own(void);
/* Decides it from the text of /proc/self/status and this process's own pid. */
bool proc_parse_own(const char *status, size_t len, int32_t pid);

/* Lists all processes, by pid.  Returns 0 and an array of *n, which the caller frees with free(),
 * or -errno and *out = NULL. */
int proc_list(struct proc_process **out, size_t *n);

/* Reads one process; pid may be the tid of any of its threads.  Returns 0, -ESRCH if there is none,
 * or another -errno. */
int proc_read(int32_t pid, struct proc_process *out);

/* A process's name, read now or when it was last seen. */
struct proc_name {
	int32_t pid;
	uint64_t start_ticks; /* 0: not seen yet */
	char comm[64]; /* raw bytes; "" before it is seen */
};
/* Rereads the name.  Returns false, and keeps it, if the process has ended or its pid was
 * reused. */
bool proc_name_update(struct proc_name *name);

/* One thread, where proc_read() reads its process.  The state in /proc/TID/stat is the thread's.
 * Its counters are the process's: /proc/PID/task/TID/stat has those of the thread. */
struct proc_thread {
	char state; /* see struct proc_process */
	bool has_times; /* the kernel reports them */
	uint64_t cpu_ns,
		wait_ns; /* total time on a CPU and waiting for one; exact for a sleeping thread */
};
int proc_read_thread(int32_t tid, struct proc_thread *out); /* 0, -ESRCH, ... */
/* Reads only wait_ns.  Returns 0, -ESRCH, or -ENODATA if the kernel does not report it. */
int proc_read_wait(int32_t tid, uint64_t *wait_ns);

/* Parses the text of /proc/PID/stat; comm may contain blanks and parentheses.  Returns 0 or
 * -EBADMSG. */
int proc_parse_stat(const char *text, size_t len, struct proc_process *out);

/* Lists the thread ids of a process; the caller frees the array with free().  Returns 0, -ESRCH if
 * the process is gone, or another -errno. */
int proc_threads(int32_t pid, int32_t **tids, size_t *n);

/* Lists the direct child processes of pid, from /proc/PID/task/TID/children; the caller frees the
 * array with free().  Returns 0, -ESRCH, -ENOENT if the kernel has no such files, or another
 * -errno. */
int proc_children(int32_t pid, int32_t **pids, size_t *n);

/* Reads the thread group id (pid) of a thread.  Returns 0, -ESRCH or another -errno. */
int proc_tgid(int32_t tid, int32_t *pid);

/* Parses "0-3,8" into {0,1,2,3,8}, sorted and distinct; the caller frees the array.  Returns 0,
 * -EINVAL with *bad_offset set, or -ENOMEM. */
int proc_parse_cpu_list(const char *text, int **cpus, size_t *n, size_t *bad_offset);
int proc_online_cpus(int **cpus, size_t *n);
/* Whether a CPU is offline.  Returns false if that cannot be read, or if cpu is negative (any
 * CPU). */
bool proc_is_offline(int cpu);

/* Rights and system settings that limit perf_event_open(2).  A setting is -1 if it cannot be
 * read. */
struct proc_limits {
	int paranoid; /* /proc/sys/kernel/perf_event_paranoid */
	int64_t max_sample_rate; /* perf_event_max_sample_rate, Hz */
	int64_t mlock_kb; /* perf_event_mlock_kb, per CPU */
	int64_t max_stack; /* perf_event_max_stack */
	int64_t cpu_time_max_percent;
	int kptr_restrict;
	uint64_t nofile_soft, nofile_hard; /* RLIMIT_NOFILE */
	uint64_t memlock_soft, memlock_hard; /* RLIMIT_MEMLOCK, bytes */
	uint64_t memory_max; /* RLIMIT_AS, bytes; 0: unlimited */
	bool cap_perfmon, cap_sys_admin, cap_ipc_lock, cap_sys_ptrace, cap_syslog; /* effective */
	bool user_namespace; /* not the initial one; for events, only cap_sys_ptrace counts there */
	uid_t euid;
	bool foreign_proc; /* see proc_is_own() */
	/* not the initial one (a container): tasks outside have pid 0 here, like idle tasks */
	bool pid_namespace;
};
void proc_limits(struct proc_limits *out);

#endif
