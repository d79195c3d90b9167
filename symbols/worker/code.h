/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code.h - the worker's answers to WIRE_LINES and WIRE_CODE.
 */
#ifndef SYMBOLS_WORKER_CODE_H
#define SYMBOLS_WORKER_CODE_H

#include "symbols/wire/wire.h"

/* Answers one request with len bytes of payload (8-byte aligned).  Writes *out_len bytes to out
 * (WIRE_PACKET_BYTES).  *table is an fd that the caller closes; -1 if none. */
void worker_code_answer(const struct wire_message *request, const void *payload, size_t len,
	const int fds[WIRE_FDS_MAX], struct wire_message *answer, char *out, size_t *out_len,
	int *table);

#endif
