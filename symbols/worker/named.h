/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * named.h - answers WIRE_NAMED: finds the symbols of a name.
 *
 * Runs in the worker.
 */
#ifndef SYMBOLS_WORKER_NAMED_H
#define SYMBOLS_WORKER_NAMED_H

#include "symbols/elf/elfsyms.h"
#include "symbols/wire/wire.h"

/* Find a name of len bytes in a file and its other symbol sources, or in kernel symbols as text.
 * Write the answer's payload to out (WIRE_PACKET_BYTES) and its length to *out_len.  Return 0 or
 * -errno. */
int worker_named_file(const struct elffile *elf, const struct elffile *const more[ELFSYMS_MORE],
	const char *name, size_t len, char *out, size_t *out_len);
int worker_named_kallsyms(int fd, const char *name, size_t len, char *out, size_t *out_len,
	struct wire_message *answer);

#endif
