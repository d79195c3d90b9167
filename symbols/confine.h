/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confine.h - take away from a process what a parser of hostile files does not need.
 *
 * For the child side of a fork, single-threaded.
 */
#ifndef SYMBOLS_CONFINE_H
#define SYMBOLS_CONFINE_H

/* Built with a sanitizer, which needs more memory and system calls than a worker may have. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define CONFINE_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CONFINE_SANITIZED 1
#endif

/* Become a quiet background process that owns no descriptor but keep_fd, which becomes 3: null
 * standard streams, default signals, own session, the given name, the C locale.  0 or -errno. */
int confine_detach(int keep_fd, const char *name);

/* Raise the limit of file sizes, which counts memory files too, to what a worker may write.  Call it
 * before confine_privileges(): beyond the hard limit only CAP_SYS_RESOURCE permits it. */
void confine_allow_output(void);

/* Give up user, groups and capabilities for good: root becomes a user without other processes.
 * Takes all steps.  Returns 0, or -errno of the first that failed. */
int confine_privileges(void);

/* Limit memory (MiB), files and descriptors; no core files, no new processes.  0 or -errno as above. */
int confine_limits(unsigned int memory_mb);

/* From here on only reading, answering and memory: any other system call ends the process.  Built
 * without effect under the sanitizers, which need more.  0 or -errno. */
int confine_syscalls(void);

/* Die with the parent; after confine_privileges(), which clears it.  0 or -errno. */
int confine_die_with_parent(int parent_pid);

#endif
