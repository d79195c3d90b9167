/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * editor.c - see editor.h.
 */
#include "tui/terminal/editor.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The terminal sends these to the editor and to strobe, but they are meant for the editor. */
static const int shared[] = {SIGINT, SIGQUIT, SIGTSTP};
#define N_SHARED (sizeof(shared) / sizeof(*shared))

static const char *command(void)
{
	static const char *const names[] = {"VISUAL", "EDITOR"};

	for (size_t i = 0; i < 2; i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return value;
	}
	return "vi";
}

static int spawn(pid_t *pid, const char *path, uint32_t line, const sigset_t *mask)
{
	char *text, at[16], *const shell = (char *)(uintptr_t) "sh";
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int ret;

	/* Use the shell, since a command such as "code -w" has arguments. */
	if (asprintf(&text, "exec %s \"$@\"", command()) < 0)
		return -ENOMEM;
	snprintf(at, sizeof(at), "+%" PRIu32, line);
	char *const arguments[] = {
		shell, (char *)(uintptr_t) "-c", text, shell, at, (char *)(uintptr_t)path, NULL};

	sigemptyset(&defaults);
	for (size_t i = 0; i < N_SHARED; i++)
		sigaddset(&defaults, shared[i]);
	ret = posix_spawnattr_init(&attributes);
	if (!ret) {
		posix_spawnattr_setsigmask(&attributes, mask);
		posix_spawnattr_setsigdefault(&attributes, &defaults);
		posix_spawnattr_setflags(
			&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
		ret = posix_spawn(pid, "/bin/sh", NULL, &attributes, arguments, environ);
		posix_spawnattr_destroy(&attributes);
	}
	free(text);
	return -ret;
}

static int wait_for(pid_t pid)
{
	int status;

	for (;;) {
		if (waitpid(pid, &status, WUNTRACED) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (!WIFSTOPPED(status))
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		/* The shell that started strobe waits for this process, so stop it, too. */
		kill(getpid(), SIGSTOP);
		kill(pid, SIGCONT);
	}
}

int editor_run(const char *path, uint32_t line, const sigset_t *mask)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction old[N_SHARED];
	pid_t pid;
	int ret;

	for (size_t i = 0; i < N_SHARED; i++)
		sigaction(shared[i], NULL, &old[i]);
	sigaction(SIGQUIT, &ignore, NULL);
	ret = spawn(&pid, path, line, mask);
	if (!ret)
		ret = wait_for(pid);
	/* Setting SIG_IGN discards pending signals, which were blocked meanwhile. */
	for (size_t i = 0; i < N_SHARED; i++) {
		sigaction(shared[i], &ignore, NULL);
		sigaction(shared[i], &old[i], NULL);
	}
	return ret;
}
