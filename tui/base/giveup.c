/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * giveup.c - see giveup.h.
 */
#include "tui/base/giveup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#define AGAIN_S 1

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

#define N_ENDING (sizeof(ending) / sizeof(ending[0]))

static atomic_int watched = -1, closed = -1; /* closed: a descriptor that cannot be written */
static atomic_bool came;

static void on_signal(int number)
{
	int saved = errno, fd = watched;

	(void)number;
	came = true;
	if (fd >= 0)
		(void)!dup3(closed, fd, O_CLOEXEC);
	/* Try again later: the call to interrupt may not have begun. */
	alarm(AGAIN_S);
	errno = saved;
}

void giveup_here(bool here)
{
	sigset_t signals;

	sigemptyset(&signals);
	/* The repeated signal must reach the same thread. */
	sigaddset(&signals, SIGALRM);
	for (size_t i = 0; i < N_ENDING; i++)
		sigaddset(&signals, ending[i]);
	pthread_sigmask(here ? SIG_UNBLOCK : SIG_BLOCK, &signals, NULL);
}

int giveup_begin(void)
{
	/* Without SA_RESTART, so that calls fail with EINTR. */
	const struct sigaction action = {.sa_handler = on_signal};
	struct sigaction old;

	came = false;
	if (closed < 0)
		closed = open("/", O_PATH | O_CLOEXEC); /* not /dev/null, since /dev may be empty */
	if (closed < 0 || sigaction(SIGALRM, &action, NULL))
		return -errno;
	for (size_t i = 0; i < N_ENDING; i++)
		if (sigaction(ending[i], NULL, &old) ||
			(old.sa_handler != SIG_IGN && sigaction(ending[i], &action, NULL)))
			return -errno;
	giveup_here(true);
	return 0;
}

void giveup_watch(int fd)
{
	watched = fd;
	/* The signal may have come while the output was opened. */
	if (fd >= 0 && came)
		giveup_now();
}

bool giveup_came(void)
{
	return came;
}

void giveup_now(void)
{
	on_signal(0);
}

void giveup_end(void)
{
	giveup_here(false);
	watched = -1;
	alarm(0);
	if (closed >= 0)
		close(closed);
	closed = -1;
}
