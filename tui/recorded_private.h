/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorded_private.h - for recorded.c, which reads a recording, and recorded_sums.c, which compares with it.
 */
#ifndef TUI_RECORDED_PRIVATE_H
#define TUI_RECORDED_PRIVATE_H

#include "tui/early.h"
#include "tui/recorded.h"

#include <stdatomic.h>

enum opening {
	OPENING,
	OPENED, /* or not: error tells */
	ABANDONED, /* the thread cleans up */
};

struct recorded {
	struct request request; /* the path is its own, all else borrowed */
	char *path, *files[1];
	char name[128];
	struct session session;
	_Atomic int opening;
	int error; /* of opening it */
	char message[1024];
	int opened_fd;
	bool loaded;
	struct early early;
	struct engine_status status;
	/* Rows by something else than symbols, as they were asked for last. */
	struct table *table;
	struct group_by table_by;
	uint64_t table_serial;
};

#endif
