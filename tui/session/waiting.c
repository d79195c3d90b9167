/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiting.c - see waiting.h.
 *
 * Commands block their signals before they wait.  The descriptor becomes readable when a signal is
 * pending; it is not read, so the signal stays pending.
 */
#include "tui/session/waiting.h"

#include "tui/base/clean.h"
#include "tui/base/sentence.h"
#include "tui/session/request.h"

#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void tell(const char *symbol, const char *path, void *ctx)
{
	char name[128], file[256];

	(void)ctx;
	if (isatty(STDERR_FILENO))
		sentence_print(stderr, "looking for %s in %s ... (^C gives it up)",
			clean_string(name, sizeof(name), symbol),
			clean_string(file, sizeof(file), path));
}

void waiting_begin(struct waiting *waiting, struct request *request)
{
	sigset_t signals;

	waiting->wait = (struct resolve_wait){.stop_fd = -1, .tell = tell};
	if (!resolve_is_needed(request->engine.events, request->engine.n_events))
		return;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	/* If this fails, the wait ends by its time limit. */
	waiting->wait.stop_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	request->wait = &waiting->wait;
}

void waiting_end(struct waiting *waiting)
{
	if (waiting->wait.stop_fd >= 0)
		close(waiting->wait.stop_fd);
	waiting->wait.stop_fd = -1;
}
