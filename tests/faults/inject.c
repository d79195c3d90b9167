/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inject.c - a library for LD_PRELOAD that makes strobe's calls fail, and counts them.
 *
 * STROBE_FAULT_FILE names a file of 2 * N_CALLS counters of 64 bits: for the main process, then for
 * its helpers (spawners and workers together).  All processes share them, so they number calls
 * across processes.
 *
 * STROBE_FAULT is "main|helper CALL N ERRNO once|on [TRACE]": call number N, from 0, fails; with
 * "on" so do all later ones.  TRACE names a file for the callers of the first failing call, or of
 * the first STROBE_FAULT_TRACES.  CALL is a call listed below, "memory" (all that allocate, threads
 * and processes included) or "descriptors" (all that open).  Without STROBE_FAULT calls are only
 * counted.
 *
 * Calls inside the C library are out of reach, except its calls of malloc() and the like.  Any
 * thread.
 */
/* Functions with two names need both defined in this file. */
#undef _FILE_OFFSET_BITS

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define CALLS(X)           \
	X(malloc)          \
	X(calloc)          \
	X(realloc)         \
	X(reallocarray)    \
	X(posix_memalign)  \
	X(aligned_alloc)   \
	X(mmap)            \
	X(open)            \
	X(openat)          \
	X(openat2)         \
	X(fopen)           \
	X(fdopen)          \
	X(fdopendir)       \
	X(opendir)         \
	X(readdir)         \
	X(read)            \
	X(pread)           \
	X(write)           \
	X(pwrite)          \
	X(fread)           \
	X(fwrite)          \
	X(fgets)           \
	X(getdelim)        \
	X(fflush)          \
	X(ioctl)           \
	X(poll)            \
	X(epoll_create1)   \
	X(epoll_ctl)       \
	X(epoll_wait)      \
	X(eventfd)         \
	X(signalfd)        \
	X(timerfd_create)  \
	X(timerfd_settime) \
	X(socketpair)      \
	X(pipe2)           \
	X(dup)             \
	X(fcntl)           \
	X(sendmsg)         \
	X(recvmsg)         \
	X(memfd_create)    \
	X(ftruncate)       \
	X(lseek)           \
	X(fork)            \
	X(posix_spawn)     \
	X(pthread_create)  \
	X(fstat)           \
	X(stat)            \
	X(statx)           \
	X(fstatat)         \
	X(readlink)        \
	X(mkdirat)         \
	X(renameat)        \
	X(perf_event_open) \
	X(dlopen)          \
	X(memory)          \
	X(descriptors)

enum call {
#define CALL_ENUM(name) CALL_##name,
	CALLS(CALL_ENUM)
#undef CALL_ENUM
		N_CALLS
};

static const char *const call_names[N_CALLS] = {
#define CALL_NAME(name) #name,
	CALLS(CALL_NAME)
#undef CALL_NAME
};

enum role { ROLE_MAIN, ROLE_HELPER, ROLE_NONE };

static struct {
	_Atomic uint64_t *counts; /* NULL: neither counts nor fails calls */
	enum role role, failing;
	enum call call;
	uint64_t at;
	int error;
	bool on;
	int trace_fd;
	atomic_int traced;
	int traces; /* maximum number of traces */
} plan = {.call = N_CALLS, .trace_fd = -1};

/* Set while a trace is written, since writing allocates. */
static _Thread_local bool tracing;

static void trace(void)
{
	void *callers[32];
	int n;

	if (plan.trace_fd < 0 || tracing || atomic_fetch_add(&plan.traced, 1) >= plan.traces)
		return;
	tracing = true;
	n = backtrace(callers, 32);
	backtrace_symbols_fd(callers, n, plan.trace_fd);
	(void)!write(plan.trace_fd, "\n", 1);
	tracing = false;
}

static bool count_call(enum call call)
{
	uint64_t n = atomic_fetch_add(&plan.counts[plan.role * N_CALLS + call], 1);

	return plan.call == call && plan.role == plan.failing &&
		(plan.on ? n >= plan.at : n == plan.at);
}

/* Counts the call.  Returns whether it must fail, and then sets errno. */
static bool fails(enum call call, enum call group)
{
	bool failing;

	if (!plan.counts || tracing)
		return false;
	failing = count_call(call);
	if (group != N_CALLS)
		failing |= count_call(group);
	if (!failing)
		return false;
	trace();
	errno = plan.error;
	return true;
}

/* The C library's own allocator. dlsym() needs it, and malloc() may be called before any
 * constructor. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

static void *find_real(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

#define REAL(name)                                                   \
	({                                                           \
		static __typeof__(&name) real_;                      \
		if (!real_)                                          \
			real_ = (__typeof__(&name))find_real(#name); \
		real_;                                               \
	})

/* Defines a call that returns `failed` if it must fail.  WRAP64 also defines its alias with 64. */
#define WRAP(type, name, group, failed, params, args) \
	type name params                              \
	{                                             \
		if (fails(CALL_##name, group))        \
			return failed;                \
		return REAL(name) args;               \
	}
#define WRAP64(type, name, group, failed, params, args) \
	WRAP(type, name, group, failed, params, args)   \
	type name##64 params                            \
	{                                               \
		return name args;                       \
	}

/* --- memory --- */

void *malloc(size_t size)
{
	return fails(CALL_malloc, CALL_memory) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(CALL_calloc, CALL_memory) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	/* realloc() to size 0 frees, and freeing cannot fail. */
	if ((!old || size) && fails(CALL_realloc, CALL_memory))
		return NULL;
	return __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (fails(CALL_reallocarray, CALL_memory))
		return NULL;
	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(old, bytes);
}

int posix_memalign(void **out, size_t align, size_t size)
{
	void *at = fails(CALL_posix_memalign, CALL_memory) ? NULL : __libc_memalign(align, size);

	if (!at)
		return ENOMEM;
	*out = at;
	return 0;
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails(CALL_aligned_alloc, CALL_memory) ? NULL : __libc_memalign(align, size);
}

void *mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
	if (fails(CALL_mmap, fd < 0 ? CALL_memory : N_CALLS))
		return MAP_FAILED;
	return REAL(mmap)(at, len, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
	return mmap(at, len, protection, flags, fd, offset);
}

/* --- files --- */

static mode_t take_mode(int flags, va_list *list)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(*list, mode_t) : 0;
}

#define OPEN(name)                                      \
	int name(const char *path, int flags, ...)      \
	{                                               \
		va_list list;                           \
		mode_t mode;                            \
                                                        \
		va_start(list, flags);                  \
		mode = take_mode(flags, &list);         \
		va_end(list);                           \
		if (fails(CALL_open, CALL_descriptors)) \
			return -1;                      \
		return REAL(open)(path, flags, mode);   \
	}
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                            \
	int name(int dir_fd, const char *path, int flags, ...)  \
	{                                                       \
		va_list list;                                   \
		mode_t mode;                                    \
                                                                \
		va_start(list, flags);                          \
		mode = take_mode(flags, &list);                 \
		va_end(list);                                   \
		if (fails(CALL_openat, CALL_descriptors))       \
			return -1;                              \
		return REAL(openat)(dir_fd, path, flags, mode); \
	}
OPENAT(openat)
OPENAT(openat64)

WRAP64(FILE *, fopen, CALL_descriptors, NULL, (const char *path, const char *mode), (path, mode))
WRAP(FILE *, fdopen, N_CALLS, NULL, (int fd, const char *mode), (fd, mode))
WRAP(DIR *, opendir, CALL_descriptors, NULL, (const char *path), (path))
WRAP(DIR *, fdopendir, N_CALLS, NULL, (int fd), (fd))
WRAP(struct dirent *, readdir, N_CALLS, NULL, (DIR * dir), (dir))
struct dirent64 *readdir64(DIR *dir)
{
	return fails(CALL_readdir, N_CALLS) ? NULL : REAL(readdir64)(dir);
}

WRAP(ssize_t, read, N_CALLS, -1, (int fd, void *to, size_t len), (fd, to, len))

/* Writes to a terminal never fail: it has no space to lack, and strobe does not redraw lost
 * output. */
ssize_t write(int fd, const void *from, size_t len)
{
	int error = errno;
	bool is_terminal = isatty(fd);

	errno = error;
	return !is_terminal && fails(CALL_write, N_CALLS) ? -1 : REAL(write)(fd, from, len);
}

WRAP64(ssize_t, pread, N_CALLS, -1, (int fd, void *to, size_t len, off_t at), (fd, to, len, at))
WRAP64(ssize_t, pwrite, N_CALLS, -1, (int fd, const void *from, size_t len, off_t at),
	(fd, from, len, at))
WRAP64(int, ftruncate, N_CALLS, -1, (int fd, off_t len), (fd, len))
WRAP64(off_t, lseek, N_CALLS, -1, (int fd, off_t at, int whence), (fd, at, whence))
/* Both kinds of struct stat are equal on 64 bits. */
#define STAT(name, params, args) WRAP(int, name, N_CALLS, -1, params, args)
#define STAT64(name, params, args) \
	int name##64 params        \
	{                          \
		return name args;  \
	}
STAT(fstat, (int fd, struct stat *out), (fd, out))
STAT64(fstat, (int fd, struct stat64 *out), (fd, (struct stat *)out))
STAT(stat, (const char *path, struct stat *out), (path, out))
STAT64(stat, (const char *path, struct stat64 *out), (path, (struct stat *)out))
STAT(fstatat, (int dir_fd, const char *path, struct stat *out, int flags),
	(dir_fd, path, out, flags))
STAT64(fstatat, (int dir_fd, const char *path, struct stat64 *out, int flags),
	(dir_fd, path, (struct stat *)out, flags))
WRAP(int, statx, N_CALLS, -1,
	(int dir_fd, const char *path, int flags, unsigned int mask, struct statx *out),
	(dir_fd, path, flags, mask, out))
WRAP(ssize_t, readlink, N_CALLS, -1, (const char *path, char *to, size_t len), (path, to, len))
WRAP(int, mkdirat, N_CALLS, -1, (int dir_fd, const char *path, mode_t mode), (dir_fd, path, mode))
WRAP(int, renameat, N_CALLS, -1, (int from_fd, const char *from, int to_fd, const char *to),
	(from_fd, from, to_fd, to))

/* Marks the stream as failed, with glibc's _IO_ERR_SEEN. */
static void spoil(FILE *stream)
{
	stream->_flags |= 0x20;
}

size_t fread(void *to, size_t size, size_t n, FILE *stream)
{
	if (!fails(CALL_fread, N_CALLS))
		return REAL(fread)(to, size, n, stream);
	spoil(stream);
	return 0;
}

size_t fwrite(const void *from, size_t size, size_t n, FILE *stream)
{
	if (stream == stderr || !fails(CALL_fwrite, N_CALLS))
		return REAL(fwrite)(from, size, n, stream);
	spoil(stream);
	return 0;
}

char *fgets(char *to, int size, FILE *stream)
{
	if (!fails(CALL_fgets, N_CALLS))
		return REAL(fgets)(to, size, stream);
	spoil(stream);
	return NULL;
}

ssize_t getdelim(char **to, size_t *size, int end, FILE *stream)
{
	if (!fails(CALL_getdelim, N_CALLS))
		return REAL(getdelim)(to, size, end, stream);
	spoil(stream);
	return -1;
}

/* getline() in glibc's header calls this function. */
ssize_t __getdelim(char **to, size_t *size, int end, FILE *stream)
{
	return getdelim(to, size, end, stream);
}

int fflush(FILE *stream)
{
	if (!stream || stream == stderr || !fails(CALL_fflush, N_CALLS))
		return REAL(fflush)(stream);
	spoil(stream);
	return EOF;
}

/* --- other system calls --- */

int ioctl(int fd, unsigned long request, ...)
{
	unsigned long argument;
	va_list list;

	va_start(list, request);
	argument = va_arg(list, unsigned long);
	va_end(list);
	return fails(CALL_ioctl, N_CALLS) ? -1 : REAL(ioctl)(fd, request, argument);
}

#define FCNTL(name)                                        \
	int name(int fd, int command, ...)                 \
	{                                                  \
		unsigned long argument;                    \
		va_list list;                              \
                                                           \
		va_start(list, command);                   \
		argument = va_arg(list, unsigned long);    \
		va_end(list);                              \
		if (fails(CALL_fcntl, N_CALLS))            \
			return -1;                         \
		return REAL(fcntl)(fd, command, argument); \
	}
FCNTL(fcntl)
FCNTL(fcntl64)

WRAP(int, poll, N_CALLS, -1, (struct pollfd * fds, nfds_t n, int timeout_ms), (fds, n, timeout_ms))
WRAP(int, epoll_create1, CALL_descriptors, -1, (int flags), (flags))
WRAP(int, epoll_ctl, N_CALLS, -1, (int fd, int op, int other, struct epoll_event *event),
	(fd, op, other, event))
WRAP(int, epoll_wait, N_CALLS, -1, (int fd, struct epoll_event *events, int n, int timeout_ms),
	(fd, events, n, timeout_ms))
WRAP(int, eventfd, CALL_descriptors, -1, (unsigned int value, int flags), (value, flags))
WRAP(int, signalfd, CALL_descriptors, -1, (int fd, const sigset_t *mask, int flags),
	(fd, mask, flags))
WRAP(int, timerfd_create, CALL_descriptors, -1, (clockid_t clock, int flags), (clock, flags))
WRAP(int, timerfd_settime, N_CALLS, -1,
	(int fd, int flags, const struct itimerspec *when, struct itimerspec *old),
	(fd, flags, when, old))
WRAP(int, socketpair, CALL_descriptors, -1, (int domain, int type, int protocol, int fds[2]),
	(domain, type, protocol, fds))
WRAP(int, pipe2, CALL_descriptors, -1, (int fds[2], int flags), (fds, flags))
WRAP(int, dup, CALL_descriptors, -1, (int fd), (fd))
WRAP(ssize_t, sendmsg, N_CALLS, -1, (int fd, const struct msghdr *message, int flags),
	(fd, message, flags))
WRAP(ssize_t, recvmsg, N_CALLS, -1, (int fd, struct msghdr *message, int flags),
	(fd, message, flags))
WRAP(int, memfd_create, CALL_descriptors, -1, (const char *name, unsigned int flags), (name, flags))
WRAP(pid_t, fork, CALL_memory, -1, (void), ())
WRAP(int, pthread_create, CALL_memory, plan.error,
	(pthread_t * thread, const pthread_attr_t *attr, void *(*run)(void *), void *ctx),
	(thread, attr, run, ctx))
WRAP(int, posix_spawn, CALL_memory, plan.error,
	(pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[]),
	(pid, path, actions, attr, argv, envp))

void *dlopen(const char *path, int mode)
{
	return fails(CALL_dlopen, N_CALLS) ? NULL : REAL(dlopen)(path, mode);
}

long syscall(long number, ...)
{
	long args[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open && fails(CALL_perf_event_open, CALL_descriptors))
		return -1;
	if (number == SYS_openat2 && fails(CALL_openat2, CALL_descriptors))
		return -1;
	return REAL(syscall)(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

/* --- the plan --- */

static void become_helper(void)
{
	if (plan.role == ROLE_MAIN)
		plan.role = ROLE_HELPER;
}

static enum call find_call(const char *name)
{
	for (unsigned int i = 0; i < N_CALLS; i++)
		if (!strcmp(call_names[i], name))
			return (enum call)i;
	abort();
}

static void read_plan(const char *text)
{
	char role[16], call[32], often[16], path[1024] = "";

	if (sscanf(text, "%15s %31s %" SCNu64 " %d %15s %1023s", role, call, &plan.at, &plan.error,
		    often, path) < 5)
		abort();
	plan.failing = strcmp(role, "helper") ? ROLE_MAIN : ROLE_HELPER;
	plan.call = find_call(call);
	plan.on = !strcmp(often, "on");
	if (path[0]) {
		void *warm[1];

		backtrace(warm, 1); /* allocates at its first call */
		plan.traces =
			getenv("STROBE_FAULT_TRACES") ? atoi(getenv("STROBE_FAULT_TRACES")) : 1;
		plan.trace_fd = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	}
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("STROBE_FAULT_FILE"), *text = getenv("STROBE_FAULT");
	const char *name = program_invocation_short_name;
	size_t bytes = 2 * N_CALLS * sizeof(uint64_t);
	void *at;
	int fd;

	/* Other commands that strobe starts are left alone. */
	if (!path || strncmp(name, "strobe", 6) != 0)
		return;
	plan.role = strcmp(name, "strobe") ? ROLE_HELPER : ROLE_MAIN;
	if (text)
		read_plan(text);
	fd = REAL(open)(path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	at = REAL(mmap)(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return;
	pthread_atfork(NULL, NULL, become_helper);
	plan.counts = at;
}
