/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timedopen.c - see timedopen.h.  The last user of the shared data frees it: caller or thread.
 */
#include "symbols/base/timedopen.h"
#include "symbols/base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEFT_MAX 32 /* maximum of hanging threads; beyond it nothing is opened */

unsigned int timedopen_first_ms = 2000, timedopen_next_ms = 100;

/* May fall below zero for a moment: drop() may count down before the caller counts up. */
static atomic_int n_left;

#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

struct opening {
	struct thread thread;
	int dir_fd; /* owned duplicate, or AT_FDCWD */
	unsigned long long resolve;
	bool regular;
	bool looks; /* calls stat(2) alone: no fd */
	int ret; /* an fd, 0 or -errno */
	struct stat st;
	char path[];
};

struct reading {
	struct thread thread;
	int fd; /* owned duplicate */
	uint64_t at;
	size_t size;
	ssize_t ret; /* bytes read or -errno */
	char bytes[];
};

static int open_path(int dir_fd, const char *path, unsigned long long resolve, uint64_t flags)
{
	struct open_how how = {.flags = flags, .resolve = resolve};
	int fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));

	/* Seccomp filters that do not know the call refuse it with EPERM. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM) && resolve == 0)
		fd = openat(dir_fd, path, (int)flags);
	return fd < 0 ? -errno : fd;
}

static int open_now(
	int dir_fd, const char *path, unsigned long long resolve, bool regular, struct stat *st)
{
	char self[64];

	/* Opening a device or a pipe can have effects; looking at it through O_PATH has none. */
	const int fd =
		open_path(dir_fd, path, resolve, O_PATH | O_CLOEXEC | (regular ? 0 : O_DIRECTORY));
	if (fd < 0 || !regular)
		return fd;
	const int err = fstat(fd, st) < 0 ? -errno : S_ISREG(st->st_mode) ? 0 : -ENOEXEC;
	if (err) {
		close(fd);
		return err;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	const struct stat seen = *st;
	int real = open(self, READ_FLAGS);
	/* No /proc is mounted: the file is opened by its path once more. */
	if (real < 0 && errno == ENOENT && resolve == 0)
		real = openat(dir_fd, path, READ_FLAGS);
	int ret = real < 0 ? -errno : real;
	if (real >= 0 && fstat(real, st) < 0)
		ret = -errno;
	else if (real >= 0 && (st->st_dev != seen.st_dev || st->st_ino != seen.st_ino))
		ret = -ESTALE;
	if (real >= 0 && ret < 0)
		close(real);
	close(fd);
	return ret;
}

/* Runs a call in a thread; if none can be started, runs it here without a limit.  Returns false if
 * it hangs; drop() frees it later. */
static bool call_within(struct thread *thread, unsigned int limit_ms, void (*run)(void *arg),
	void (*drop)(void *arg), void *arg)
{
	if (thread_start(thread, "strobe-open", run, drop, arg) < 0) {
		run(arg);
		return true;
	}
	if (thread_wait(thread, limit_ms))
		return true;
	atomic_fetch_add(&n_left, 1);
	return false;
}

static void free_opening(struct opening *opening)
{
	if (opening->dir_fd >= 0)
		close(opening->dir_fd);
	free(opening);
}

static void run_opening(void *arg)
{
	struct opening *opening = arg;

	if (opening->looks)
		opening->ret = stat(opening->path, &opening->st) < 0 ? -errno : 0;
	else
		opening->ret = open_now(opening->dir_fd, opening->path, opening->resolve,
			opening->regular, &opening->st);
}

static void drop_opening(void *arg)
{
	struct opening *opening = arg;

	if (opening->ret >= 0 && !opening->looks)
		close(opening->ret);
	free_opening(opening);
	atomic_fetch_sub(&n_left, 1);
}

static struct opening *new_opening(int dir_fd, const char *path)
{
	struct opening *opening = calloc(1, sizeof(*opening) + strlen(path) + 1);

	if (!opening)
		return NULL;
	strcpy(opening->path, path);
	/* The caller may close dir_fd while a thread still hangs. */
	opening->dir_fd = dir_fd < 0 ? dir_fd : fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	if (dir_fd >= 0 && opening->dir_fd < 0) {
		free(opening);
		return NULL;
	}
	return opening;
}

/* Consumes opening, which may be NULL. */
static int wait_opening(struct opening *opening, struct stat *st)
{
	if (!opening)
		return errno == EMFILE ? -EMFILE : -ENOMEM;
	const unsigned int limit_ms =
		atomic_load(&n_left) > 0 ? timedopen_next_ms : timedopen_first_ms;
	if (!call_within(&opening->thread, limit_ms, run_opening, drop_opening, opening))
		return -ETIMEDOUT;
	const int ret = opening->ret;
	if (st)
		*st = opening->st;
	free_opening(opening);
	return ret;
}

int timedopen(
	int dir_fd, const char *path, unsigned long long resolve, bool regular, struct stat *st)
{
	if (atomic_load(&n_left) >= LEFT_MAX)
		return -ETIMEDOUT;
	struct opening *opening = new_opening(dir_fd, path);
	if (opening) {
		opening->resolve = resolve;
		opening->regular = regular;
	}
	return wait_opening(opening, st);
}

int timedopen_stat(const char *path, struct stat *st)
{
	if (atomic_load(&n_left) >= LEFT_MAX)
		return -ETIMEDOUT;
	struct opening *opening = new_opening(AT_FDCWD, path);
	if (opening)
		opening->looks = true;
	return wait_opening(opening, st);
}

static void free_reading(struct reading *reading)
{
	close(reading->fd);
	free(reading);
}

static void run_reading(void *arg)
{
	struct reading *reading = arg;

	reading->ret = pread(reading->fd, reading->bytes, reading->size, (off_t)reading->at);
	if (reading->ret < 0)
		reading->ret = -errno;
}

static void drop_reading(void *arg)
{
	free_reading(arg);
	atomic_fetch_sub(&n_left, 1);
}

ssize_t timedopen_read(int fd, uint64_t at, void *out, size_t size)
{
	if (atomic_load(&n_left) >= LEFT_MAX)
		return -ETIMEDOUT;
	struct reading *reading = malloc(sizeof(*reading) + size);
	if (!reading)
		return -ENOMEM;
	reading->at = at;
	reading->size = size;
	reading->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (reading->fd < 0) {
		const int error = errno;
		free(reading);
		return -error;
	}
	/* The file was opened, so its disk may be slow but is not dead: always the longer limit. */
	if (!call_within(&reading->thread, timedopen_first_ms, run_reading, drop_reading, reading))
		return -ETIMEDOUT;
	const ssize_t ret = reading->ret;
	if (ret > 0)
		memcpy(out, reading->bytes, (size_t)ret);
	free_reading(reading);
	return ret;
}
