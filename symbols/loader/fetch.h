/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fetch.h - gets debug files and programs from a debuginfod server, one at a time, in its own
 * thread.
 *
 * Nothing here touches the network, loads libdebuginfod or starts the thread before fetch_ask().
 * $DEBUGINFOD_URLS names the servers; libdebuginfod's cache keeps the files.  A server may lie:
 * another person may have chosen the contents of its files.  Any thread may call all functions,
 * except fetch_new() and fetch_free().
 */
#ifndef SYMBOLS_LOADER_FETCH_H
#define SYMBOLS_LOADER_FETCH_H

#include "symbols/loader/opener.h"

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

int fetch_new(struct fetch **out); /* returns 0 or -ENOMEM */
/* Sets the eventfd that is written to after a file came or failed; owned by the caller.  Call it
 * before the first question. */
void fetch_answer_to(struct fetch *fetch, int fd);
/* Ends the transfer at work: the thread writes no more answers.  NULL is a no-op. */
void fetch_end(struct fetch *fetch);
void fetch_free(struct fetch *fetch); /* calls fetch_end(), too; NULL is a no-op */

bool fetch_has_server(void); /* returns true if $DEBUGINFOD_URLS names a server */

/* Queues a file; a failed one may be asked for again.  Returns 0; -EALREADY if it waits, is at work
 * or is here; -EINVAL without a build-id; -EDESTADDRREQ if $DEBUGINFOD_URLS names no server;
 * -ENOMEM; or -errno. */
int fetch_ask(struct fetch *fetch, const struct fetch_id *id);

/* Takes the next finished file; each is reported once.  Returns false if there is none.  *error is
 * 0 if the file is here, else a positive errno.  ENOENT: no server has it; ECANCELED:
 * fetch_cancel(); ENOPKG: libdebuginfod is not installed. */
bool fetch_take(struct fetch *fetch, struct fetch_id *id, int *error);

/* Opens a file that has come.  Returns 0, -ENOENT or -errno. */
int fetch_open(struct fetch *fetch, const struct fetch_id *id, struct opener_file *out);

/* Gives up the file at work and all that wait. */
void fetch_cancel(struct fetch *fetch);

struct fetch_status {
	size_t waiting; /* files, with the one at work */
	struct fetch_id id; /* the file at work */
	uint64_t received, total; /* its bytes; total 0: unknown */
};
void fetch_status(struct fetch *fetch, struct fetch_status *out);

#endif
