/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data.h - the data symbols of images known to symbols.h: variables, tables, strings that have a
 * name.
 *
 * They are read on request, by the same loader and worker, and are not kept on disk: few profiles
 * need them.  For the thread that calls symbols.h; no function blocks.
 */
#ifndef SYMBOLS_CLIENT_DATA_H
#define SYMBOLS_CLIENT_DATA_H

#include "symbols/client/symbols.h"

/* Asks for the data symbols of a requested image (symbols_request()): a SYMBOLS_FILE or the running
 * kernel.  Once is enough.  Returns 0; -EINVAL for other images; or -ENOMEM.  symbols_collect()
 * reports SYMBOLS_CHANGED_DATA. */
int symbols_data_request(struct symbols *symbols, uint32_t key);

/* Returns UNASKED, PENDING, READY, NONE or UNREADABLE. */
enum symbols_state symbols_data_state(const struct symbols *symbols, uint32_t key);

/* Finds the data symbol that covers an offset of the image.  Offsets grow like addresses in memory,
 * even past the file's end (.bss).  Returns false if the table is not there (yet), or no symbol
 * covers the offset. */
bool symbols_data_find(
	const struct symbols *symbols, uint32_t key, uint64_t offset, struct symbol *out);

#endif
