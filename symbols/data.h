/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data.h - the data symbols of images known to symbols.h: variables, tables, strings that have a name.
 *
 * They are read when they are asked for, by the same loader and worker, and are not kept on disk: few profiles need them.
 * For the thread that calls symbols.h; nothing blocks.
 */
#ifndef SYMBOLS_DATA_H
#define SYMBOLS_DATA_H

#include "symbols/symbols.h"

/* Ask for those of an image that was requested (symbols_request()), of SYMBOLS_FILE or the running kernel; once is enough.
 * 0, -EINVAL: no such image, or none that has data; -ENOMEM.  symbols_collect() tells SYMBOLS_CHANGED_DATA. */
int symbols_data_request(struct symbols *symbols, uint32_t key);

/* UNASKED, PENDING, READY, NONE, UNREADABLE. */
enum symbols_state symbols_data_state(const struct symbols *symbols, uint32_t key);

/* The data symbol that covers an offset of the image, as of the address where its file is mapped; behind the end of the file
 * (.bss) offsets go on as addresses do.  False where the table is not there (yet), or nothing covers it. */
bool symbols_data_find(
	const struct symbols *symbols, uint32_t key, uint64_t offset, struct symbol *out);

#endif
