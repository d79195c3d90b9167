/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * system_dirs.c - see system_dirs.h.
 */
#include "sampler/machine/system_dirs.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct system_dirs this_system = {.sysfs = "/sys", .proc = "/proc"};

static void look_around(void)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !this_system.tracefs; i++) {
		char path[64] = "";

		strcat(strcat(path, places[i]), "/events");
		/* An unreadable directory exists too: report that it cannot be read. */
		if (!access(path, F_OK) || errno == EACCES)
			this_system.tracefs = places[i];
	}
}

const struct system_dirs *system_dirs(void)
{
	pthread_once(&once, look_around);
	return &this_system;
}
