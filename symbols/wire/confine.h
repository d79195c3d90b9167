/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confine.h - takes away from a process all that a parser of hostile files does not need.
 *
 * Runs in the child of a fork, single-threaded.
 */
#ifndef SYMBOLS_WIRE_CONFINE_H
#define SYMBOLS_WIRE_CONFINE_H

/* A build with a sanitizer, which needs more memory and system calls than a worker may use. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define CONFINE_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CONFINE_SANITIZED 1
#endif

/* Makes the process a quiet background process with no descriptor but keep_fd, which becomes 3.  It
 * gets null standard streams, default signals, its own session, the given name and the C locale.
 * Returns 0 or -errno. */
int confine_detach(int keep_fd, const char *name);

/* Raises the limit of file sizes, which applies to memory files too, to a worker's maximum.  Call
 * it before confine_privileges(): only CAP_SYS_RESOURCE permits more than the hard limit. */
void confine_allow_output(void);

/* Gives up user, groups and capabilities for good: root becomes a user without other processes.
 * Takes all steps, even after a failure.  Returns 0, or -errno of the first failure. */
int confine_privileges(void);

/* Limits memory (MiB), file sizes and descriptors; no core files, no new processes.  Takes all
 * steps.  Returns 0, or -errno of the first failure. */
int confine_limits(unsigned int memory_mb);

/* Permits only reading, answering and memory from now on: any other system call ends the process.
 * No effect in builds with sanitizers, which need more.  Returns 0 or -errno. */
int confine_syscalls(void);

/* Makes the process die with its parent.  Call it after confine_privileges(), which clears this
 * setting.  Returns 0; -ESRCH if the parent has ended; or -errno. */
int confine_die_with_parent(int parent_pid);

#endif
