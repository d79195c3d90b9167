/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_client.h - interface between symbols.c and code.c, the two halves of the client.
 */
#ifndef SYMBOLS_CLIENT_CODE_CLIENT_H
#define SYMBOLS_CLIENT_CODE_CLIENT_H

#include "symbols/client/symbols.h"

struct code_client;
struct texts;

/* --- code.c --- */

/* Creates the client; must run before any thread starts.  answers_fd is owned by the caller.
 * Returns 0 or -errno. */
int code_client_new(struct code_client **out, const struct symbols_config *config, int answers_fd);
bool code_client_free(struct code_client *client); /* see loader_free() */
int code_client_recorded(struct code_client *client, const struct symbols_recorded *recorded);
bool code_client_collect(struct code_client *client); /* true: answers have come */
bool code_client_is_waiting(const struct code_client *client);
int code_client_worker_pid(const struct code_client *client); /* -1: none now */
struct texts *code_client_texts(const struct code_client *client);
bool code_client_take_note(struct code_client *client, struct symbols_note *out);

/* --- symbols.c --- */

struct code_client *symbols_code_client(const struct symbols *symbols);

/* Returns the source of an image; NULL if it was not requested.  Borrowed. */
const struct symbols_source *symbols_source_of(const struct symbols *symbols, uint32_t key);

#endif
