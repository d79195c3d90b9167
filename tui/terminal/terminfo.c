/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * terminfo.c - see terminfo.h.
 */
#include "tui/terminal/terminfo.h"

#include "symbols/base/timedopen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Opens the file of a type as curses does: folder/x/xterm.  len: bytes of the folder's name. */
static bool hangs(const char *folder, size_t len, const char *below, const char *type)
{
	struct stat st;
	char *path;
	int fd;

	if (asprintf(&path, "%.*s%s/%c/%s", (int)len, folder, below, type[0], type) < 0)
		return false;
	fd = timedopen(AT_FDCWD, path, 0, true, &st);
	free(path);
	if (fd >= 0)
		close(fd);
	return fd == -ETIMEDOUT;
}

static const struct {
	const char *variable, *below;
} places[TERMINFO_PLACES] = {{"TERMINFO", ""}, {"HOME", "/.terminfo"}, {"TERMINFO_DIRS", ""}};

void terminfo_hide(struct terminfo_hidden *hidden, const char *type)
{
	for (size_t i = 0; i < TERMINFO_PLACES; i++) {
		const char *value = getenv(places[i].variable), *at = value;

		hidden->values[i] = NULL;
		while (at && *at) {
			size_t len = strcspn(at, ":");

			if (len && hangs(at, len, places[i].below, type)) {
				hidden->values[i] = strdup(value);
				if (hidden->values[i])
					unsetenv(places[i].variable);
				break;
			}
			at += len + (at[len] == ':');
		}
	}
}

void terminfo_show(struct terminfo_hidden *hidden)
{
	for (size_t i = 0; i < TERMINFO_PLACES; i++) {
		if (hidden->values[i])
			(void)setenv(places[i].variable, hidden->values[i], 1);
		free(hidden->values[i]);
		hidden->values[i] = NULL;
	}
}
