/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fetch.h - debug files and programs from a debuginfod server, one after the other, by a thread of its own.
 *
 * Nothing here touches the network, loads libdebuginfod or starts the thread before fetch_ask().  The servers are those of
 * $DEBUGINFOD_URLS; what comes is kept in libdebuginfod's cache.  A server may lie: what it sent is a file that somebody
 * else chose.  All functions may be called by any thread, but for new and free.
 */
#ifndef SYMBOLS_FETCH_H
#define SYMBOLS_FETCH_H

#include "symbols/opener.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fetch;

enum fetch_kind { FETCH_DEBUG, FETCH_PROGRAM, FETCH_KINDS };

struct fetch_id {
	enum fetch_kind kind;
	uint8_t build_id[SYMBOLS_BUILD_ID_MAX];
	size_t build_id_len;
};

int fetch_new(struct fetch **out); /* 0 or -ENOMEM */
/* The eventfd that is written to when something has come, or failed; it stays the caller's.  Before anything is asked for. */
void fetch_answer_to(struct fetch *fetch, int fd);
/* End what is at work: the thread uses nothing any more.  NULL is a no-op. */
void fetch_end(struct fetch *fetch);
void fetch_free(struct fetch *fetch); /* ends it, too; NULL is a no-op */

bool fetch_has_server(void); /* does $DEBUGINFOD_URLS name one? */

/* Queue it.  0; -EALREADY: it waits, is at work, or is here; -EINVAL: no build-id; -EDESTADDRREQ: $DEBUGINFOD_URLS names no
 * server; -ENOMEM, -errno.  What failed before may be asked for again. */
int fetch_ask(struct fetch *fetch, const struct fetch_id *id);

/* The next one that is done, each told once.  False: none.  *error: 0: it is here; ENOENT: no server has it; ECANCELED: fetch_cancel();
 * ENOPKG: libdebuginfod is not installed; positive errno. */
bool fetch_take(struct fetch *fetch, struct fetch_id *id, int *error);

/* Open what has come.  0, -ENOENT, -errno. */
int fetch_open(struct fetch *fetch, const struct fetch_id *id, struct opener_file *out);

/* Give up the one at work and all that wait. */
void fetch_cancel(struct fetch *fetch);

struct fetch_status {
	size_t waiting; /* with the one at work */
	struct fetch_id id; /* at work */
	uint64_t received, total; /* bytes of it; total 0: not known */
};
void fetch_status(struct fetch *fetch, struct fetch_status *out);

#endif
