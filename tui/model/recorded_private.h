/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorded_private.h - internals for recorded.c, which reads a recording, and recorded_sums.c,
 * which compares with it.
 */
#ifndef TUI_MODEL_RECORDED_PRIVATE_H
#define TUI_MODEL_RECORDED_PRIVATE_H

#include "sampler/control/status.h"
#include "tui/model/recorded.h"
#include "tui/session/early.h"
#include "tui/session/request.h"

#include <stdatomic.h>

enum opening {
	OPENING,
	OPENED, /* or failed: see error */
	ABANDONED, /* the thread frees the object */
};

struct recorded {
	struct request request; /* a copy; owns only the path, borrows the rest */
	char *path, *files[1];
	char name[128];
	struct session session;
	_Atomic int opening;
	int error; /* -errno of opening */
	char message[1024];
	int opened_fd;
	bool loaded;
	struct early early;
	struct engine_status status;
	/* Cached rows by other keys than symbols, with their query. */
	struct table *table;
	struct group_by table_by;
	uint64_t table_serial;
};

#endif
